package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// final is the gate for schedulers: whether the period that ends at -until is
// complete in every named table.
func final(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseFinal(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := openLakes(ctx, e, a.Common)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	addresses, err := w.gated(a)
	if err != nil {
		return w.fail(err), nil
	}
	patient := w.patient()
	defer patient.End()
	lakes, err := w.lakes(ctx, patient)
	if err != nil {
		return w.fail(err), nil
	}
	var rows []view.FinalRow
	codes := []int{exit.Done}
	for _, address := range addresses {
		row, code, err := w.finalRow(ctx, lakes, address, a)
		if err != nil {
			return w.fail(err), nil
		}
		rows = append(rows, row)
		codes = append(codes, code)
	}
	if err := e.Streams.Final(rows, a.Until); err != nil {
		return 0, err
	}
	if !a.JSON { // which has it in the answer, as one document
		e.Streams.Diagnostics(besideFinal(rows), w.excerpt)
	}
	// One table whose period will not come by itself decides over all that wait.
	if slices.Contains(codes, exit.Unhealthy) {
		return exit.Unhealthy, nil
	}
	return exit.First(codes...), nil
}

// besideFinal are the warnings beside the answer: the period is complete, but
// another program has changed rows, or nobody can tell whether one has.
func besideFinal(rows []view.FinalRow) diag.List {
	var out diag.List
	for _, r := range rows {
		if d := r.Stopped; d.Code != "" {
			out = append(out, diag.Warningf(d.Code, "The period is complete all the same. No run of this configuration goes on there; `pipectl plan` says what to do.", "%s", d.Summary))
		}
		if r.Foreign != nil {
			out = append(out, plugin.ForeignCommit(r.Table, *r.Foreign))
		}
		if r.ForeignUnknown != "" {
			out = append(out, diag.Warningf("final.foreign_unknown", r.ForeignUnknown+"\nThe period is complete all the same.",
				"Whether another program has changed rows of %s since it was last written cannot be told", r.Table))
		}
	}
	return out
}

// gated are the streams and silvers that names and tags mean.
func (w *workspace) gated(a cli.Final) ([]addr.Address, error) {
	named, err := w.resolveAll(a.Names)
	if err != nil {
		return nil, err
	}
	var out []addr.Address
	add := func(candidate addr.Address, tags []string) {
		is := func(b addr.Address) bool { return b == candidate || !b.Keyed && b == candidate.Block() }
		tagged := slices.ContainsFunc(a.Tags, func(t string) bool { return slices.Contains(tags, t) })
		if slices.ContainsFunc(named, is) || tagged {
			out = append(out, candidate)
		}
	}
	for _, s := range w.config.Streams {
		add(s.Addr, s.Tags)
	}
	for _, v := range w.config.Silvers {
		add(v.Addr, v.Tags)
	}
	for i, n := range named {
		if n.Kind != addr.Stream && n.Kind != addr.Silver {
			return nil, diag.Errorf(diag.KindConfiguration, "final.no_verdict", "Name a stream or a silver.", "%s has no verdict of its own", a.Names[i]).Err()
		}
	}
	if len(out) == 0 {
		return nil, diag.Errorf(diag.KindConfiguration, "final.nothing", "", "No stream or silver has one of the tags %q", a.Tags).Err()
	}
	return out, nil
}

func (w *workspace) finalRow(ctx context.Context, lakes map[addr.Address]*planner.Lake, a addr.Address, args cli.Final) (view.FinalRow, int, error) {
	target, sink := "", addr.Address{}
	if s := w.config.Stream(a); s != nil {
		target, sink = s.Target, s.To
	} else if v := w.config.Silver(a); v != nil {
		target, sink = v.Target, v.To
	}
	lake := lakes[sink]
	row := view.FinalRow{Address: a.String(), Table: target, Version: -1}
	at, err := w.standing(ctx, lake, a)
	if err != nil {
		return row, 0, err
	}
	stopped, err := w.stopped(ctx, lake, a)
	if err != nil {
		return row, 0, err
	}
	row.Verdict = at.control.FinalizedUntil
	if planner.OfAnotherTable(stopped) {
		at.lost = stopped
	}
	switch {
	// Whatever the verdict says was true of rows that are not there any more.
	case at.lost != nil:
		row.Reason = reason(at.lost)
		return row, exit.Unhealthy, nil
	case !at.table.Exists:
		row.Reason = absent(lake)
		return row, exit.Unhealthy, nil
	}
	if args.Pin {
		row.Version = at.table.Version
	}
	if at.behind != "" {
		row.Reason = at.behind
		hopeless, err := w.hopeless(ctx, lake, a)
		if err != nil || hopeless == "" {
			return row, exit.Different, err
		}
		row.Reason += ". But " + hopeless
		return row, exit.Unhealthy, nil
	}
	if row.Verdict != nil && !time.UnixMicro(*row.Verdict).Before(args.Until) {
		row.Final = true
		if stopped != nil {
			row.Stopped = diag.FromError(stopped)[0]
		}
		// A word beside the answer, which it neither changes nor ends.
		if row.Foreign, err = w.foreign(ctx, lake, a, at); err != nil {
			if ctx.Err() != nil {
				return row, 0, err
			}
			row.Foreign, row.ForeignUnknown = at.control.Position.Foreign, reason(err)
		}
		return row, exit.Done, nil
	}
	if row.Reason, err = w.hopeless(ctx, lake, a); err != nil {
		return row, 0, err
	}
	if row.Reason != "" {
		return row, exit.Unhealthy, nil
	}
	row.Reason = "not yet"
	if stopped != nil {
		row.Reason += ": " + reason(stopped)
	}
	return row, exit.Different, nil
}

// foreign is the newest version of a silver that exists in which another program
// changed rows, nil when none did: the one that a run has recorded, or one that no run
// has seen yet.
func (w *workspace) foreign(ctx context.Context, lake *planner.Lake, a addr.Address, at standing) (*int64, error) {
	known := at.control.Position.Foreign
	v, sink := w.config.Silver(a), lake.Sink
	if v == nil || !w.can(ctx, sink.Plugin, plugin.RoleSink, sink.Type).History {
		return known, nil
	}
	description, err := w.plugins[v.Plugin].Describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking plugin %s for its name: %w", v.Plugin, err)
	}
	return plugin.ChangedByOthers(ctx, lake.Tables, at.table, at.control.Position, description.Name)
}

// waitsForPerson are the exit codes of failures that no further run mends.
var waitsForPerson = []int{exit.Decision, exit.Schema, exit.Stale, exit.Configuration}

// hopeless says why a period will not come by itself, "" when it may.
func (w *workspace) hopeless(ctx context.Context, lake *planner.Lake, a addr.Address) (string, error) {
	declared, err := lake.State.Declared(ctx)
	if err != nil {
		return "", err
	}
	chain := []addr.Address{a}
	if v := w.config.Silver(a); v != nil {
		chain = append(chain, v.From)
		from, err := w.standing(ctx, lake, v.From)
		if err != nil {
			return "", err
		}
		if from.lost != nil { // no run goes on over that
			return reason(from.lost), nil
		}
	}
	runs, _, err := lake.State.Runs(ctx, statusRuns)
	if err != nil {
		return "", err
	}
	for _, step := range chain {
		digest, err := w.config.Digest(step)
		if err != nil {
			return "", err
		}
		if accepted, ok := declared[step.String()]; !ok || accepted.Digest != digest {
			return fmt.Sprintf("%s is not accepted: run pipectl apply", step), nil
		}
		if text, kind := lastFailure(runs, step); slices.Contains(waitsForPerson, exit.Of(kind)) {
			return fmt.Sprintf("%s failed: %s", step, text), nil
		}
	}
	return "", nil
}
