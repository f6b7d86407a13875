package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipectl/pipectl/internal/built"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// startAim is how long a test or a person waits for an empty simulator at most.
const startAim = 0.050

// started is how long an empty simulator takes to start: the program, from the
// start of its process to the line that says it is ready, and the server within
// a test, with its first database.
func (b *bench) started(ctx context.Context) error {
	binary := filepath.Join(b.dir, "mssqlsim")
	if err := built.Program(filepath.Join(b.root, "plugins", "source-mssql", "cmd", "mssqlsim"), binary); err != nil {
		return err
	}
	process, err := several(b.size.starts, func() (time.Duration, error) { return startProcess(ctx, binary) })
	if err != nil {
		return err
	}
	b.add(figure{name: "simulator: start of mssqlsim to its ready line", ours: millis(process), aim: "<= 50 ms", met: process <= startAim})
	within, err := several(b.size.starts, func() (time.Duration, error) { return startWithin(ctx) })
	if err != nil {
		return err
	}
	b.add(figure{name: "simulator: start within a process", ours: millis(within), aim: "<= 50 ms", met: within <= startAim})
	return nil
}

// startProcess starts the program and ends it.
func startProcess(ctx context.Context, binary string) (took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, binary)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("starting mssqlsim: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took = time.Since(began)
	if err == nil && !strings.HasPrefix(line, "mssqlsim ready ") {
		err = fmt.Errorf("mssqlsim began with %q", line)
	}
	return took, errors.Join(err, cmd.Process.Signal(os.Interrupt), cmd.Wait())
}

// startWithin starts a server in this process, with a database, and ends it.
func startWithin(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	server, err := mssqlsim.Start(ctx, mssqlsim.Options{})
	if err != nil {
		return 0, err
	}
	server.Database(shopDatabase)
	took := time.Since(began)
	server.Close()
	return took, nil
}
