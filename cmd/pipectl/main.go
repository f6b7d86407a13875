// Command pipectl moves the changes of a database into lakehouse tables and
// proves that they arrived.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/bundled"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/command"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/sdk"
)

func main() {
	if sdk.Main(bundled.Plugins()) {
		return
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	_, noColor := os.LookupEnv("NO_COLOR")
	sdk.SpareCollections() // rows pass through
	stopProfile, err := sdk.Profile("pipectl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := command.Main(context.Background(), &command.Environment{
		Streams: view.NewStreams(os.Stdout, os.Stderr, noColor), Stdin: os.Stdin, Interactive: term.IsTerminal(int(os.Stdin.Fd())),
		Lookup: os.LookupEnv, Clock: time.Now, Signals: signals,
	}, os.Args[1:])
	if err := stopProfile(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
