package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
)

// planCommand shows what would happen.
func planCommand(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlan(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	p, _, err := w.plan(ctx, a.Selection, nil)
	if err != nil {
		return w.fail(err), nil
	}
	if err := e.Streams.Plan(p, "pipectl apply "+diag.Shell(a.Path)); err != nil {
		return 0, err
	}
	if !a.JSON {
		if list := append(p.Errors(), append(w.warnings, p.Warnings()...)...); len(list) > 0 {
			e.Streams.Logf("\n")
			e.Streams.Diagnostics(list, w.excerpt)
		}
	}
	errs := p.Errors()
	switch {
	case a.Out == "":
	case len(errs) > 0:
		e.Streams.Logf("\nThe plan was not saved, because it has errors.\n")
	default:
		if err := w.save(a, p); err != nil {
			return w.fail(err), nil
		}
		e.Streams.Logf("Saved. To carry out exactly this: pipectl apply %s\n", diag.Shell(a.Out))
	}
	switch {
	case len(errs) > 0:
		return exit.OfList(errs), nil
	case a.DetailedExitCode && p.Changed():
		return exit.Pending, nil
	}
	return exit.Done, nil
}

// plan makes a plan of the chosen steps.
func (w *workspace) plan(ctx context.Context, s cli.Selection, takeOver []string) (*plan.Plan, map[addr.Address]*planner.Lake, error) {
	targets, err := w.resolveAll(s.Targets)
	if err != nil {
		return nil, nil, err
	}
	exclude, err := w.resolveAll(s.Exclude)
	if err != nil {
		return nil, nil, err
	}
	taken, err := w.resolveAll(takeOver)
	if err != nil {
		return nil, nil, err
	}
	lakes, err := w.lakes(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	p, err := planner.Make(ctx, planner.Request{
		Config: w.config, Plugins: w.sessions, Used: w.used(), Targets: targets, Exclude: exclude, TakeOver: taken,
		Now: w.env.Clock, Lakes: lakes,
	})
	return p, lakes, err
}

// save writes the plan with the texts it was made from. A text that holds a
// secret is not saved.
func (w *workspace) save(a cli.Plan, p *plan.Plan) error {
	for _, d := range w.warnings {
		if d.Code == "value.literal_secret" {
			return diag.Errorf(diag.KindConfiguration, "plan.secret", "Take it from the environment with env(), so that a saved plan holds no secret.",
				"The plan was not saved: the configuration holds a secret in clear").Err()
		}
	}
	data, err := p.MarshalJSON()
	if err != nil {
		return err
	}
	saved := plan.Saved{Path: a.Path, Variables: map[string]string{}, Conditions: p.Conditions(), Plan: data, Targets: a.Targets, Exclude: a.Exclude}
	for _, f := range w.config.Files {
		saved.Files = append(saved.Files, plan.SavedFile{Path: f.Path, Content: string(f.Content), Config: f.Config})
	}
	for name, value := range w.config.Variables {
		saved.Variables[name] = strings.TrimSpace(string(hclwrite.TokensForValue(value).Bytes()))
	}
	return saved.Write(a.Out)
}

// resolveAll turns names of the command line into addresses.
func (w *workspace) resolveAll(names []string) ([]addr.Address, error) {
	var out []addr.Address
	for _, name := range names {
		a, err := w.resolve(name)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// resolve finds what a name means: an address, or the name of a declared
// table. Where the two name different things it asks for the address.
func (w *workspace) resolve(name string) (addr.Address, error) {
	byTable := addr.Address{}
	for _, s := range w.config.Streams {
		if s.Target == name {
			byTable = s.Addr
		}
	}
	for _, v := range w.config.Silvers {
		if v.Target == name {
			byTable = v.Addr
		}
	}
	a, err := addr.Parse(name)
	declared := err == nil && w.declares(a)
	switch {
	case declared && !byTable.IsZero() && byTable != a:
		return a, diag.Errorf(diag.KindConfiguration, "address.ambiguous", fmt.Sprintf("Name one of them: %s, or the address %s of the table.", a, byTable),
			"%s is an address and also the name of the table of %s", name, byTable).Err()
	case declared:
		return a, nil
	case !byTable.IsZero():
		return byTable, nil
	}
	return a, diag.Errorf(diag.KindConfiguration, "address.unknown", "This configuration declares: "+strings.Join(w.addresses(), ", ")+".",
		"Nothing is called %s", name).Err()
}

// declares reports whether an address, or the block of instances that it
// names, is declared.
func (w *workspace) declares(a addr.Address) bool {
	if _, ok := w.config.OriginOf(a); ok {
		return true
	}
	for _, text := range w.addresses() {
		if b, err := addr.Parse(text); err == nil && b.Block() == a {
			return true
		}
	}
	return false
}

// addresses lists what commands can name.
func (w *workspace) addresses() []string {
	var out []string
	c := w.config
	for _, s := range c.Sources {
		out = append(out, s.Addr.String())
	}
	for _, s := range c.Sinks {
		out = append(out, s.Addr.String())
	}
	for _, t := range c.Tables {
		out = append(out, t.Addr.String())
	}
	for _, s := range c.Streams {
		out = append(out, s.Addr.String())
	}
	for _, v := range c.Silvers {
		out = append(out, v.Addr.String())
	}
	for _, k := range c.Checks {
		out = append(out, k.Addr.String())
	}
	return out
}
