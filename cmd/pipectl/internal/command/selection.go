package command

import (
	"slices"
	"strings"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
)

// asChosen takes a selection as it was given.
func (w *workspace) asChosen(s cli.Selection) (cli.Selection, error) { return s, nil }

// chosen turns what -target or -exclude name into steps. A source, a sink or a
// table is none: whoever names one means every step that hangs on it.
func (w *workspace) chosen(names []string) ([]addr.Address, error) {
	named, err := w.resolveAll(names)
	if err != nil {
		return nil, err
	}
	var out []addr.Address
	for _, a := range named {
		switch a.Kind {
		case addr.Source, addr.Sink, addr.Table:
			steps := w.hangingOn(a)
			if len(steps) == 0 {
				steps = append(steps, a) // chooses nothing, where no name at all would choose everything
			}
			out = append(out, steps...)
		default:
			out = append(out, a)
		}
	}
	return out, nil
}

// applyOf is the command that carries out what a plan shows: with its choice of
// steps and its values. A sensitive value is for the person to write again.
func (w *workspace) applyOf(a cli.Plan) string {
	words := []string{"pipectl", "apply"}
	add := func(name, value string) { words = append(words, name, diag.Shell(value)) }
	for _, file := range a.VarFiles {
		add("-var-file", file)
	}
	for _, given := range a.Vars {
		name, _, _ := strings.Cut(given, "=")
		if _, shown := w.config.Variables[strings.TrimSpace(name)]; !shown {
			given = name + "=VALUE"
		}
		add("-var", given)
	}
	if len(a.Targets) > 0 {
		add("-target", strings.Join(a.Targets, ","))
	}
	if len(a.Exclude) > 0 {
		add("-exclude", strings.Join(a.Exclude, ","))
	}
	return strings.Join(append(words, diag.Shell(a.Path)), " ")
}

// hangingOn are the steps that read or write a source, a sink or a table.
func (w *workspace) hangingOn(a addr.Address) []addr.Address {
	var out []addr.Address
	for _, s := range w.config.Streams {
		if meansOne(a, s.Table, w.config.Table(s.Table).Source, s.To) {
			out = append(out, s.Addr)
		}
	}
	for _, v := range w.config.Silvers {
		if meansOne(a, v.To) || slices.Contains(out, v.From) {
			out = append(out, v.Addr)
		}
	}
	for _, c := range w.config.Checks {
		if slices.Contains(out, c.Silver) {
			out = append(out, c.Addr)
		}
	}
	return out
}

// meansOne reports whether an address is one of several, or the block whose
// instance one of them is.
func meansOne(a addr.Address, of ...addr.Address) bool {
	return slices.ContainsFunc(of, func(b addr.Address) bool { return a == b || !a.Keyed && a == b.Block() })
}

// checksOf adds the checks of what is chosen: whoever names a table, a stream or
// a silver means what is compared with it.
func (w *workspace) checksOf(s cli.Selection) (cli.Selection, error) {
	if len(s.Targets) == 0 {
		return s, nil
	}
	chosen, err := w.chosen(s.Targets)
	if err != nil {
		return s, err
	}
	s.Targets = append([]string(nil), s.Targets...)
	for i := range w.config.Checks {
		c := &w.config.Checks[i]
		if slices.ContainsFunc(chosen, func(a addr.Address) bool { return meansOne(a, c.Silver, w.config.Silver(c.Silver).From) }) {
			s.Targets = append(s.Targets, c.Addr.String())
		}
	}
	return s, nil
}

// nothingChosen is the error of a command that would do nothing: a gate must
// not be passed because nothing was asked.
func nothingChosen(command string) error {
	if command == "check" {
		return diag.Errorf(diag.KindConfiguration, "check.nothing", "Name a check, or what has one: a silver, its stream or its table. A silver without a check block is compared by nothing.",
			"No check is chosen, so nothing would be proven").Err()
	}
	if command == "status" {
		return diag.Errorf(diag.KindConfiguration, "run.nothing", "Streams and silvers have a status; -target and -exclude choose among them.",
			"No stream or silver is chosen, so there is nothing to show").Err()
	}
	return diag.Errorf(diag.KindConfiguration, "run.nothing", "Streams, silvers and checks are steps; -target and -exclude choose among them.",
		"No step is chosen, so nothing would be done").Err()
}

// watchable refuses checks that are named for a watch, which carries out none.
func (w *workspace) watchable(s cli.Selection) error {
	chosen, err := w.resolveAll(s.Targets)
	if err != nil {
		return err
	}
	for i, a := range chosen {
		if a.Kind == addr.Check {
			return diag.Errorf(diag.KindConfiguration, "run.watch_check", "Start checks now and then beside the watch: pipectl check -target "+diag.Shell(s.Targets[i])+" "+diag.Shell(w.config.Path),
				"%s is no step of a watch, which keeps streams and silvers at the head of their source", a).Err()
		}
	}
	return nil
}

// onlyChecks leaves the checks of a plan. They wait for nothing: they compare
// what is there.
func onlyChecks(p *plan.Plan) {
	var steps []plan.Step
	for _, s := range p.Steps {
		if s.Address.Kind == addr.Check {
			s.After = nil
			if why := p.Step(s.Blocked); why != nil {
				// What keeps stream or silver from running speaks against the comparison, too.
				s.Diagnostics = append(s.Diagnostics, blockedBy(p, why)...)
			}
			steps = append(steps, s)
		}
	}
	p.Steps = steps
}

// blockedBy are the errors of a step, or of the one that blocks it.
func blockedBy(p *plan.Plan, s *plan.Step) diag.List {
	for !s.Blocked.IsZero() && p.Step(s.Blocked) != nil {
		s = p.Step(s.Blocked)
	}
	return s.Diagnostics.Errors()
}
