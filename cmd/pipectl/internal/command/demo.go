package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/bundled"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/examples"
)

// demoVariable is what the quickstart reads its connection from.
const demoVariable = "SHOP_MSSQL_URL"

// demo runs the quickstart against the built-in SQL Server simulator. Every
// step is a command of this program, as one would type it.
func demo(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseDemo(args)
	if err != nil {
		return 0, err
	}
	d, err := newDemo(ctx, e, a)
	if err != nil {
		return 0, err
	}
	defer d.simulator.Close()
	d.say("This is pipectl's main job on your machine: SQL Server change data capture -> bronze -> silver -> verdict -> check.")
	d.say("A SQL Server simulator is running in this process with %d orders%s. Everything else is what runs in production:\nthe same program, plugins as processes of their own, the wire protocol of SQL Server, Delta files.", a.Rows, d.changing())
	d.say("Everything lies in %s:\n  quickstart.hcl   the configuration\n  demo.env         the variable to set in a second terminal\n  lake/            the tables and the state", d.dir)
	// A signal ends the step at hand, and the demo with it: the step is told, which
	// ends by its own rules.
	ctx, end := e.interruptible(ctx)
	defer end()
	story := d.tour
	if a.Watch {
		story = d.watch
	}
	code, err := story(ctx)
	end()
	switch s := e.interrupted.Load(); {
	case s == nil:
		return code, err
	case a.Watch:
		return exit.Done, nil // it was to go on until then
	default:
		d.say("Ended by a signal. What there is lies in %s; a new demo needs a new folder.", d.dir)
		return signalCode(*s), nil
	}
}

// demonstration is one demo under way.
type demonstration struct {
	env       *Environment
	args      cli.Demo
	dir       string
	program   string
	simulator *bundled.Simulator
}

func newDemo(ctx context.Context, e *Environment, a cli.Demo) (*demonstration, error) {
	dir := a.Dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "pipectl-demo-"); err != nil {
			return nil, unwritable(dir, err)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "lake")); err == nil && len(entries) > 0 {
		return nil, diag.Errorf(diag.KindConfiguration, "demo.used", "Give a new folder with -dir, or remove that one: the simulator starts with a new database each time, and a lake follows one database.",
			"%s holds a lake already", dir).Err()
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	simulator, err := bundled.StartSimulator(ctx, a.Rows, a.Rate)
	if err != nil {
		return nil, err
	}
	d := &demonstration{env: e, args: a, dir: dir, program: program, simulator: simulator}
	if err := d.write(); err != nil {
		return nil, errors.Join(unwritable(dir, err), simulator.Close())
	}
	return d, nil
}

func unwritable(dir string, err error) error {
	return diag.Errorf(diag.KindUnavailable, "demo.dir", "Give a folder that can be written with -dir.", "The demo cannot use %s: %v", dir, err).Err()
}

// write lays out the folder.
func (d *demonstration) write() error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, "quickstart.hcl"), examples.Quickstart, 0o644); err != nil {
		return err
	}
	env := fmt.Sprintf("export %s='%s'\n", demoVariable, d.simulator.URL())
	return os.WriteFile(filepath.Join(d.dir, "demo.env"), []byte(env), 0o600)
}

func (d *demonstration) changing() string {
	if d.args.Rate == 0 {
		return " and no live workload"
	}
	return fmt.Sprintf(" and %d changes a second", d.args.Rate)
}

func (d *demonstration) say(format string, args ...any) { d.env.Streams.Printf(format+"\n\n", args...) }

// run carries out one command and returns its exit code.
func (d *demonstration) run(ctx context.Context, why string, args ...string) (int, error) {
	d.env.Streams.Printf("--- %s\n$ pipectl %s\n", why, strings.Join(args, " "))
	code, err := d.start(ctx, args...)
	d.env.Streams.Printf("\n")
	return code, err
}

func (d *demonstration) start(ctx context.Context, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, d.program, args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), demoVariable+"="+d.simulator.URL())
	cmd.Stdout, cmd.Stderr = d.env.Streams.Out, d.env.Streams.Err
	// A signal reaches the whole group; the command ends by its own rules.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	err := cmd.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode(), nil
	case err != nil:
		return exit.Failed, fmt.Errorf("running pipectl %s: %w", args[0], err)
	}
	return exit.Done, nil
}

// tour is the whole story once; it ends by itself.
func (d *demonstration) tour(ctx context.Context) (int, error) {
	const config = "quickstart.hcl"
	steps := []struct {
		why   string
		quiet bool // the workload is paused before it
		args  []string
	}{
		{why: "What would happen? Nothing is changed by this.", args: []string{"plan", config}},
		{why: "Create the tables, copy the source once, follow its changes, make silver, and compare.", args: []string{"apply", "-yes", config}},
		{why: "Later, as often as you like: only what changed since. The check compares row by row while the shop goes on selling;\n    rows in flight are looked at again until they are decided.", args: []string{"run", config}},
		{why: "Once more.", args: []string{"run", config}},
		{why: "The plan now: no table to create or change, only data to read.", args: []string{"plan", config}},
		{why: "The shop closes for the night: one last run.", quiet: true, args: []string{"run", "-exclude", "check.orders", config}},
		{why: "And the proof: every row of silver against its row in the source.", args: []string{"check", config}},
		{why: "How far has each table come?", args: []string{"status", config}},
		{why: "A few rows of silver.", args: []string{"table", "rows", "-max", "3", "lake/silver/orders"}},
		{why: "The verdict that downstream jobs gate on: everything up to finalized_until is in.", args: []string{"table", "rows", "-json", "lake/ops/table_finalization"}},
	}
	for _, step := range steps {
		if ctx.Err() != nil {
			return exit.Done, ctx.Err()
		}
		if step.quiet {
			d.simulator.Pause()
		}
		code, err := d.run(ctx, step.why, step.args...)
		if err != nil || code != exit.Done {
			return code, err
		}
	}
	if err := d.compare(); err != nil {
		return 0, err
	}
	d.say("What to try next:\n  %s table history %s\n  %s demo -watch -dir NEWDIR     keeps going; it says what to type in a second terminal", d.program, quoted(filepath.Join(d.dir, "lake", "bronze", "orders")), d.program)
	return exit.Done, nil
}

// compare says what the last check proved in numbers of the source itself.
func (d *demonstration) compare() error {
	n, err := d.simulator.Orders()
	if err != nil {
		return fmt.Errorf("counting the orders: %w", err)
	}
	d.say("Silver equals the source: the check above compared every one of the %d orders that the simulator holds.", n)
	return nil
}

// watch keeps streams and silver at the head until it is interrupted.
func (d *demonstration) watch(ctx context.Context) (int, error) {
	const config = "quickstart.hcl"
	code, err := d.run(ctx, "Create the tables, copy the source once, follow its changes, make silver, and compare.", "apply", "-yes", config)
	if err != nil || code != exit.Done {
		return code, err
	}
	d.say("In a second terminal:\n  cd %s\n  . ./demo.env\n  %s status quickstart.hcl\n  %s check quickstart.hcl\nInterrupt (Ctrl-C) ends the demo.", quoted(d.dir), d.program, d.program)
	return d.run(ctx, "Keep streams and silver at the head until interrupted.", "run", "-watch", config)
}

// quoted makes a path one word for a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " '\"$&;()") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
