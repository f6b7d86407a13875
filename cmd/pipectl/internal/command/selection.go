package command

import (
	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
)

// asChosen takes a selection as it was given.
func (w *workspace) asChosen(s cli.Selection) (cli.Selection, error) { return s, nil }

// checksOf adds the checks of what is chosen: whoever names a table, a stream or
// a silver means what is compared with it.
func (w *workspace) checksOf(s cli.Selection) (cli.Selection, error) {
	if len(s.Targets) == 0 {
		return s, nil
	}
	chosen, err := w.resolveAll(s.Targets)
	if err != nil {
		return s, err
	}
	s.Targets = append([]string(nil), s.Targets...)
	for i := range w.config.Checks {
		c := &w.config.Checks[i]
		for _, a := range chosen {
			if w.comparedBy(c.Silver, a) {
				s.Targets = append(s.Targets, c.Addr.String())
				break
			}
		}
	}
	return s, nil
}

// comparedBy reports whether an address is a silver, or what it comes from. A
// block stands for all its instances.
func (w *workspace) comparedBy(silver, a addr.Address) bool {
	v := w.config.Silver(silver)
	s := w.config.Stream(v.From)
	for _, on := range []addr.Address{v.Addr, s.Addr, s.Table, w.config.Table(s.Table).Source} {
		if on == a || !a.Keyed && on.Block() == a {
			return true
		}
	}
	return false
}

// nothingChosen is the error of a command that would do nothing: a gate must
// not be passed because nothing was asked.
func nothingChosen(command string) error {
	if command == "check" {
		return diag.Errorf(diag.KindConfiguration, "check.nothing", "Name a check, or what has one: a silver, its stream or its table. A silver without a check block is compared by nothing.",
			"No check is chosen, so nothing would be proven").Err()
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
