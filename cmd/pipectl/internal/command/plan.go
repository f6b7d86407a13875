package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/run"
)

// planCommand shows what would happen.
func planCommand(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlan(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	if err := creatable(a.Out); err != nil {
		return e.fail(err, nil), nil
	}
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	ctx, stop := e.interruptible(ctx)
	defer stop()
	p, _, err := w.plan(ctx, a.Selection, nil)
	if err == nil && a.Selection.Given() && len(p.Steps) == 0 {
		err = nothingChosen("plan")
	}
	if err != nil {
		return w.fail(err), nil
	}
	if err := e.Streams.Plan(p, w.applyOf(a)); err != nil {
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

// creatable reports a file of -out that cannot be written, before the work.
func creatable(out string) error {
	if out == "" {
		return nil
	}
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return notSaved(out, errors.New("it is a folder"))
	case err == nil: // is written anew
		f, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			return notSaved(out, err)
		}
		return f.Close()
	}
	f, err := os.CreateTemp(filepath.Dir(out), ".pipectl-*")
	if err != nil {
		return notSaved(out, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func notSaved(out string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) { // the path is told already, and a file on trial has none of its own
		err = at.Err
	}
	return diag.Errorf(diag.KindUnavailable, "plan.write", "Give -out a file in a folder that exists and that you may write to.",
		"The plan cannot be saved as %s: %v", out, err).Err()
}

// plan makes a plan of the chosen steps.
func (w *workspace) plan(ctx context.Context, s cli.Selection, takeOver []string) (*plan.Plan, map[addr.Address]*planner.Lake, error) {
	targets, err := w.chosen(s.Targets)
	if err != nil {
		return nil, nil, err
	}
	exclude, err := w.chosen(s.Exclude)
	if err != nil {
		return nil, nil, err
	}
	taken, err := w.resolveAll(takeOver)
	if err != nil {
		return nil, nil, err
	}
	patient := w.patient()
	defer patient.End()
	lakes, err := w.lakes(ctx, patient)
	if err != nil {
		return nil, nil, err
	}
	p, err := planner.Make(ctx, planner.Request{
		Config: w.config, Plugins: patient, Used: w.used(), Targets: targets, Exclude: exclude, TakeOver: taken,
		Now: w.env.Clock, Lakes: lakes,
	})
	return p, lakes, err
}

// patient are the plugins as they are asked outside of a run, which may take as long
// as a server or a store does. What is said meanwhile goes where people look, so that a document in
// JSON stays one.
func (w *workspace) patient() *run.Patient {
	s, clock := w.env.Streams, w.env.Clock
	return run.NewPatient(w.sessions, clock,
		func(asked addr.Address, d diag.Diagnostic) {
			s.Meanwhile(w.config.Locate(asked, diag.List{d})[0], w.excerpt)
		},
		func(asked addr.Address, waited time.Duration) { s.Logf("%s\n", view.GoesOn(clock(), asked, waited)) })
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
	saved := plan.Saved{Path: a.Path, Variables: map[string]string{}, Lakes: p.Lakes(), Conditions: p.Conditions(), Plan: data, Targets: a.Targets, Exclude: a.Exclude}
	for _, f := range w.config.Files {
		saved.Files = append(saved.Files, plan.SavedFile{Path: f.Path, Content: string(f.Content), Config: f.Config})
	}
	for name, value := range w.config.Variables {
		saved.Variables[name] = strings.TrimSpace(string(hclwrite.TokensForValue(value).Bytes()))
	}
	if err := saved.Write(a.Out); err != nil {
		return notSaved(a.Out, err)
	}
	return nil
}
