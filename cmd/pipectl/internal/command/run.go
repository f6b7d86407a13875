package command

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/dsl"
)

// apply creates and changes tables, accepts what is declared, and does the
// work. Its path may be a saved plan.
func apply(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseApply(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, saved, err := openApply(ctx, e, a)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	selection := a.Selection
	if saved != nil {
		selection = cli.Selection{Targets: saved.Targets, Exclude: saved.Exclude}
	}
	planning, stop := e.interruptible(ctx)
	p, lakes, err := w.plan(planning, selection, a.TakeOver)
	stop()
	if err == nil && selection.Given() && len(p.Steps) == 0 {
		err = nothingChosen("apply")
	}
	if err == nil {
		err = e.interruption()
	}
	if err != nil {
		return w.fail(err), nil
	}
	if saved != nil {
		// A server out of reach is no change of what was planned on.
		if err := p.Errors().Err(); err != nil {
			return w.fail(err), nil
		}
		if err := saved.Differences(p).Err(); err != nil {
			return w.fail(err), nil
		}
		e.Streams.Diagnostics(saved.Edited(), w.excerpt)
	} else if !a.JSON {
		if err := e.Streams.Plan(p, ""); err != nil {
			return 0, err
		}
		e.Streams.Diagnostics(append(w.warnings, p.Warnings()...), w.excerpt)
	}
	if !a.Yes && saved == nil {
		if e.Streams.Unwritten() != nil {
			return exit.Failed, nil // nobody is asked of a plan that was not shown
		}
		if code, ok := e.confirm(); !ok {
			return code, nil
		}
	}
	w.planFile = saved != nil
	return w.execute(ctx, p, lakes, "apply", a.Grace, run.Request{
		Apply: true, TablesOnly: a.TablesOnly, Whole: !selection.Given(), Jobs: a.Jobs,
	}), nil
}

// openApply opens a configuration, or the texts of a saved plan.
func openApply(ctx context.Context, e *Environment, a cli.Apply) (*workspace, *plan.Saved, error) {
	info, err := os.Stat(a.Path)
	if err != nil || info.IsDir() || strings.HasSuffix(a.Path, ".hcl") {
		w, err := open(ctx, e, a.Common, false)
		return w, nil, err
	}
	none := &workspace{env: e}
	if len(a.Targets)+len(a.Exclude)+len(a.TakeOver) > 0 {
		return none, nil, &cli.UsageError{Command: "apply", Problem: "A saved plan holds its choice of steps: leave out -target, -exclude and -take-over, or make a new plan with them."}
	}
	saved, err := plan.ReadSaved(a.Path)
	if err != nil {
		return none, nil, err
	}
	options := e.options(a.Common, false)
	options.Values = map[string]cty.Value{}
	for name, text := range saved.Variables {
		expr, diags := hclsyntax.ParseExpression([]byte(text), a.Path, hcl.InitialPos)
		if diags.HasErrors() {
			return none, nil, diag.Errorf(diag.KindConfiguration, "plan.file", "The file was changed after it was written. Make the plan again: `pipectl plan -out FILE`.", "The plan %s holds a variable %q that cannot be read", a.Path, name).Err()
		}
		value, diags := expr.Value(nil)
		if diags.HasErrors() {
			return none, nil, diag.Errorf(diag.KindConfiguration, "plan.file", "The file was changed after it was written. Make the plan again: `pipectl plan -out FILE`.", "The plan %s holds a variable %q that cannot be read", a.Path, name).Err()
		}
		options.Values[name] = value
	}
	var texts []model.File
	for _, f := range saved.Files {
		texts = append(texts, model.File{Path: f.Path, Content: []byte(f.Content), Config: f.Config})
	}
	files, list := dsl.Reload(saved.Path, texts, options)
	if files == nil {
		return none, nil, list.Err()
	}
	w, err := openFiles(ctx, e, a.Common, files)
	return w, &saved, err
}

// confirm asks the person at the terminal.
func (e *Environment) confirm() (int, bool) {
	if !e.Interactive {
		return e.fail(diag.Errorf(diag.KindConfiguration, "apply.confirm", "Give -yes, or a plan that was saved with `pipectl plan -out FILE`.",
			"apply asks before it changes anything, and there is no terminal to ask on").Err(), nil), false
	}
	e.Streams.Logf("\nCarry this out? Only yes is taken: ")
	answer := make(chan bool, 1)
	go func() { // nothing ends a read of a terminal but an answer, or the process
		line, err := bufio.NewReader(e.Stdin).ReadString('\n')
		answer <- strings.TrimSpace(line) == "yes" && err == nil
	}()
	select {
	case yes := <-answer:
		if !yes {
			e.Streams.Logf("Nothing has been changed.\n")
			return exit.Failed, false
		}
		return exit.Done, true
	case s := <-e.Signals:
		e.interrupted.Store(&s)
		e.Streams.Logf("\n")
		return e.fail(errInterrupted, nil), false
	}
}

// runCommand does the work of what apply accepted.
func runCommand(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseRun(args)
	if err != nil {
		return 0, err
	}
	return work(ctx, e, a, "run", (*workspace).asChosen, func(*plan.Plan) {})
}

// check compares silver tables with their sources and does nothing else.
func check(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseCheck(args)
	if err != nil {
		return 0, err
	}
	return work(ctx, e, a, "check", (*workspace).checksOf, onlyChecks)
}

// work carries out the steps of a command: choose turns what was given on its
// line into addresses, narrow leaves the steps of a plan that are its own.
func work(ctx context.Context, e *Environment, a cli.Run, command string, choose func(*workspace, cli.Selection) (cli.Selection, error), narrow func(*plan.Plan)) (int, error) {
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	selection, err := choose(w, a.Selection)
	if err != nil {
		return w.fail(err), nil
	}
	if a.Watch {
		if err := w.watchable(selection); err != nil {
			return w.fail(err), nil
		}
	}
	planning, stop := e.interruptible(ctx)
	p, lakes, err := w.plan(planning, selection, nil)
	stop()
	if err == nil {
		err = e.interruption()
	}
	if err != nil {
		return w.fail(err), nil
	}
	narrow(p)
	found := w.warnings
	if !a.JSON { // there the end of each step has its own
		found = append(slices.Clone(found), p.Warnings()...)
	}
	e.Streams.Diagnostics(found, w.excerpt)
	w.told = found
	if len(p.Steps) == 0 || a.Watch && !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Address.Kind != addr.Check }) {
		return w.fail(nothingChosen(command)), nil
	}
	req := run.Request{Watch: a.Watch, Poll: a.Poll, Jobs: a.Jobs}
	if a.Watch {
		req.Again = func(ctx context.Context, steps []addr.Address) (*plan.Plan, error) {
			return planner.Make(ctx, planner.Request{Config: w.config, Plugins: w.sessions, Used: w.used(), Targets: steps, Now: e.Clock, Lakes: lakes})
		}
	}
	return w.execute(ctx, p, lakes, command, a.Grace, req), nil
}

// execute carries out a plan under signal control, shows it, and records it.
func (w *workspace) execute(ctx context.Context, p *plan.Plan, lakes map[addr.Address]*planner.Lake, command string, grace time.Duration, req run.Request) int {
	e := w.env
	shown := e.Streams.NewRun(w.excerpt, e.Clock)
	shown.Told = w.told
	var work run.Work
	ctx, control := e.control(ctx, grace, func() { shown.Ending(work.Steps()) })
	defer control.end()
	started := e.Clock()
	req.Config, req.Plan, req.Plugins, req.Lakes = w.config, p, w.sessions, lakes
	req.Holder, req.Event, req.Clock, req.Stop, req.Work = w.holder(), shown.Event, e.Clock, control.stop, &work
	written := func() {}
	if req.Watch {
		shown.Watch = true
		again := time.NewTicker(recordAgain)
		defer again.Stop()
		j := newJournal(again.C, func(number int, known []outcome) {
			w.record(ctx, lakes, fmt.Sprintf("%s.%d", w.runID, number), command, started, known, exitOf(known))
		})
		written = j.close
		req.Event = func(event run.Event) {
			shown.Event(event)
			j.hear(event, e.Clock())
		}
	}
	result, err := run.Execute(ctx, req)
	written()
	codes := []int{control.code()}
	switch {
	case err == nil || len(result.Steps) > 0:
		shown.Result(result)
	default:
		e.Streams.Logf("\n")
	}
	if err != nil && control.code() == exit.Done {
		codes = append(codes, w.fail(err))
	}
	if req.Apply && (err != nil || result.Failed()) {
		if len(result.Steps) == 0 {
			e.Streams.Logf("\n")
		}
		shown.Accepted(w.acceptance(ctx, lakes, p, result.Tables, started), w.planFile)
	}
	for _, s := range result.Steps {
		if s.CutShort && control.firstCode() != exit.Done {
			continue // undecided because of the signal, which has a code of its own
		}
		codes = append(codes, exit.OfList(s.Diagnostics))
	}
	code := exit.First(codes...)
	if control.code() != exit.Done {
		code = control.code()
	}
	if code == exit.Done && result.CutShort {
		code = control.firstCode() // what follows must not take it for the whole
	}
	code = e.answered(code)
	var steps []outcome
	for _, s := range result.Steps {
		steps = append(steps, outcome{step: s})
	}
	w.record(ctx, lakes, w.runID, command, started, steps, code)
	shown.Finished(result, code)
	e.finished = true
	return code
}

// acceptance is what the lakes say of the steps of an apply that did not end
// well: those that were accepted when it was planned, and those that it accepted
// since it started. Only the lake that a step is for is asked: the one that it was
// moved from still holds its former acceptance. made are the tables that it came
// to make or change.
func (w *workspace) acceptance(ctx context.Context, lakes map[addr.Address]*planner.Lake, p *plan.Plan, made []plan.Table, started time.Time) view.Acceptance {
	var out view.Acceptance
	declared := map[addr.Address]map[string]state.Accepted{}
	for sink, lake := range lakes {
		accepted, err := lake.State.Declared(context.WithoutCancel(ctx))
		if err != nil {
			continue // told as the error of the apply; what is not known is not accepted
		}
		declared[sink] = accepted
	}
	for _, s := range p.Steps {
		now, ok := declared[w.sinkOf(s.Address)][s.Address.String()]
		switch {
		case !s.Accepted && (!ok || now.At.Before(started)):
			out.Not = append(out.Not, s.Address.String())
		case s.Diagnostics.HasErrors() || !s.Blocked.IsZero() || untaken(p, made, s.Address):
			out.Refused = append(out.Refused, s.Address.String())
		default:
			out.Accepted = append(out.Accepted, s.Address.String())
		}
	}
	return out
}

// untaken reports whether the table of a step was to be taken over, and was not.
func untaken(p *plan.Plan, made []plan.Table, a addr.Address) bool {
	return slices.ContainsFunc(p.Tables, func(t plan.Table) bool {
		return t.TakeOver && t.WrittenBy(a) && !slices.ContainsFunc(made, func(m plan.Table) bool { return m.Sink == t.Sink && m.Ref.Name == t.Ref.Name })
	})
}

// sinkOf is the sink of a step.
func (w *workspace) sinkOf(a addr.Address) addr.Address {
	if c := w.config.Check(a); c != nil {
		a = c.Silver
	}
	if s := w.config.Stream(a); s != nil {
		return s.To
	}
	if v := w.config.Silver(a); v != nil {
		return v.To
	}
	return addr.Address{}
}

// exitOf is the exit code of steps that have come so far.
func exitOf(known []outcome) int {
	var codes []int
	for _, o := range known {
		codes = append(codes, exit.OfList(o.step.Diagnostics))
	}
	return exit.First(codes...)
}

// record adds the run, or what is known of it, to the history of each lake; that
// it cannot is a warning.
func (w *workspace) record(ctx context.Context, lakes map[addr.Address]*planner.Lake, id, command string, started time.Time, outcomes []outcome, code int) {
	entry := state.Run{ID: id, Command: command, Started: started.UTC(), Finished: w.env.Clock().UTC(), Host: w.holder().Host, Version: plugin.Release, Exit: code}
	for _, o := range outcomes {
		s := o.step
		step := state.RunStep{Address: s.Address.String(), Kind: string(s.Kind), Reason: s.Reason, Status: string(s.Status),
			Seconds: s.Duration.Seconds(), Diagnostics: state.RunDiagnostics(s.Diagnostics)}
		if !o.at.IsZero() {
			step.Ended = new(o.at.UTC())
		}
		switch {
		case s.Stream != nil:
			step.Rows, step.Position = s.Stream.Rows, s.Stream.End.Text
		case s.Silver != nil:
			step.Rows, step.Position = s.Silver.RowsRead, s.Silver.Position.Applied
		case s.Check != nil:
			step.Rows = s.Check.SilverRows
		}
		entry.Steps = append(entry.Steps, step)
	}
	for _, lake := range lakes {
		if lake.State.Lineage() == "" {
			continue // nothing was applied here yet
		}
		if err := lake.State.PutRun(context.WithoutCancel(ctx), entry); err != nil {
			w.env.Streams.Diagnostics(diag.List{diag.Warningf("run.history", "", "The run could not be recorded in %s: %s", lake.State.Place(), diag.FromError(err)[0].Summary)}, nil)
		}
	}
}

func version(_ context.Context, e *Environment, args []string) (int, error) {
	if err := cli.ParseVersion(args); err != nil {
		return 0, err
	}
	e.Streams.Printf("pipectl %s\n", plugin.Release)
	return exit.Done, nil
}

func help(_ context.Context, e *Environment, args []string) (int, error) {
	name, err := cli.ParseHelp(args)
	if err != nil {
		return 0, err
	}
	text, ok := cli.Help(name)
	if !ok {
		return 0, cli.NoCommand(name)
	}
	e.Streams.Printf("%s", text)
	return exit.Done, nil
}
