// Package command is what each command does: it loads a configuration, starts
// the plugins, calls the core and hands the result to a view. Each command
// returns an exit code; everything for the user goes through the view.
package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/run"
)

// Environment is what commands take from the world.
type Environment struct {
	Streams *view.Streams
	Stdin   io.Reader
	// Interactive tells that a person can answer a question.
	Interactive bool
	// Lookup is os.LookupEnv.
	Lookup func(string) (string, bool)
	Clock  func() time.Time
	// Signals are SIGINT and SIGTERM.
	Signals <-chan os.Signal

	// interrupted is the signal that ended interruptible work, nil when none did.
	interrupted atomic.Pointer[os.Signal]
	// finished tells that the last line of a run's events was written.
	finished bool
}

// errInterrupted ends a command after interruptible work that a signal came to
// too late to break it off.
var errInterrupted = errors.New("a signal came")

// interruption is errInterrupted when a signal came.
func (e *Environment) interruption() error {
	if e.interrupted.Load() == nil {
		return nil
	}
	return errInterrupted
}

// fail shows an error and returns its code.
func (e *Environment) fail(err error, excerpt view.Excerpt) int {
	var asked *cli.HelpRequest
	if errors.As(err, &asked) {
		e.Streams.Printf("%s", asked.Text)
		return exit.Done
	}
	if s := e.interrupted.Load(); s != nil {
		e.Streams.Logf("Interrupted before anything was changed.\n")
		return signalCode(*s)
	}
	var usage *cli.UsageError
	if errors.As(err, &usage) {
		e.Streams.Diagnostics(diag.List{diag.Errorf(diag.KindConfiguration, "usage", "", "%s", usage.Error())}, nil)
		return exit.Configuration
	}
	list := diag.FromError(err)
	e.Streams.Diagnostics(list, excerpt)
	return exit.OfList(list)
}

// answered is the code of a command whose work ended with a code: where Out did
// not take its answer, whoever waits for it must not go on as if it were there. A
// code that says of a failure stays.
func (e *Environment) answered(code int) int {
	if err := e.Streams.Unwritten(); err != nil && !view.ReaderGone(err) && (code == exit.Done || code == exit.Pending) {
		return exit.Failed
	}
	return code
}

// Main carries out one command line and returns the exit code.
func Main(ctx context.Context, e *Environment, args []string) int {
	code := e.answered(e.carryOut(ctx, args))
	if err := e.Streams.Unwritten(); err != nil && !view.ReaderGone(err) {
		e.Streams.JSON = false // Out takes no message either
		var at *fs.PathError
		if errors.As(err, &at) { // its path is a name of the system for standard output
			err = at.Err
		}
		e.Streams.Diagnostics(diag.List{diag.Errorf(diag.KindInternal, "output.write",
			"What stands there is not whole. Make room, or write elsewhere, and start the command again; what it did besides its answer is done.",
			"Standard output could not be written: %v", err)}, nil)
	}
	return code
}

// carryOut does what a command line says.
func (e *Environment) carryOut(ctx context.Context, args []string) int {
	if len(args) == 0 {
		text, _ := cli.Help("")
		e.Streams.Printf("%s", text)
		return exit.Configuration
	}
	name, rest := args[0], args[1:]
	work, ok := commands[name]
	if !ok {
		e.Streams.JSON = cli.AsksForJSON(args)
		return e.fail(cli.NoCommand(name), nil)
	}
	code, err := work(ctx, e, rest)
	var asked *cli.HelpRequest
	if errors.As(err, &asked) {
		return e.fail(err, nil)
	}
	if lost := e.Streams.Unwritten(); lost != nil && errors.Is(err, lost) {
		err = nil // told by Main, as of the commands that do not look at each write
	}
	if err != nil {
		// A line that cannot be understood tells all the same in which form its error is wanted.
		e.Streams.JSON = e.Streams.JSON || cli.AsksForJSON(rest)
		code = e.fail(err, nil)
	}
	if e.Streams.JSON && slices.Contains(eventful, name) && !e.finished {
		e.Streams.NewRun(nil, e.Clock).Finished(run.Result{CutShort: code == exit.Interrupted || code == exit.Terminated}, code)
	}
	return code
}

// eventful are the commands whose JSON form is events, of which the last one is
// finished, whatever happened.
var eventful = []string{"apply", "run", "check"}

// commands maps a name to what it does. An error is shown and gives the code.
var commands = map[string]func(context.Context, *Environment, []string) (int, error){
	"demo":     demo,
	"validate": validate,
	"fmt":      format,
	"plan":     planCommand,
	"apply":    apply,
	"run":      runCommand,
	"check":    check,
	"status":   status,
	"final":    final,
	"show":     show,
	"graph":    graphCommand,
	"tail":     tail,
	"table":    table,
	"plugins":  plugins,
	"unlock":   unlock,
	"version":  version,
	"help":     help,
	"-h":       help,
	"-help":    help,
	"--help":   help,
	"-version": version,
}
