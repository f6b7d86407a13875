package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/pipectl/pipectl/core/sdk"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// serveSimulator is the process of the simulator: it prints its URL, does what
// lines of standard input say and answers each with "ok" or the error. It ends
// with its input.
//
//	load N      inserts N orders before anything is captured
//	capture     switches change data capture on
//	insert N    inserts N orders
//	change N    makes N change rows of every kind
//	sales N     makes a captured table of six columns with N rows
//	fifty N     makes the tables of examples/fifty-tables.hcl with N rows each
func serveSimulator(in io.Reader, out io.Writer) error {
	stop, err := sdk.Profile("simulator")
	if err != nil {
		return err
	}
	ctx := context.Background()
	server, err := mssqlsim.Start(ctx, mssqlsim.Options{})
	if err != nil {
		return errors.Join(err, stop())
	}
	defer server.Close()
	db := server.Database(shopDatabase)
	s, err := newShop(db)
	if err != nil {
		return errors.Join(err, stop())
	}
	fmt.Fprintln(out, server.DSN(shopDatabase))
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var word string
		var n int64
		if _, err := fmt.Sscan(lines.Text()+" 0", &word, &n); err != nil {
			return err
		}
		switch word {
		case "load":
			err = s.insert(ctx, n, 10_000)
		case "capture":
			err = s.capture(db)
		case "insert":
			err = s.insert(ctx, n, perCommit)
		case "change":
			err = s.change(ctx, n)
		case "sales":
			err = sales(ctx, db, n)
		case "fifty":
			err = fiftyTables(ctx, db, n)
		default:
			err = fmt.Errorf("there is no command %q", word)
		}
		if err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		fmt.Fprintln(out, "ok")
	}
	return stop()
}

// simulator is a running process of the simulator.
type simulator struct {
	url string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// simulatorVariable in the environment makes this program a server: the
// simulator, or one with canned rows.
const (
	simulatorVariable = "PIPECTL_BENCH_SIMULATOR"
	simulatorServer   = "simulator"
	cannedServer      = "canned"
)

// serve is the process of a server.
func serve(kind string, in io.Reader, out io.Writer) error {
	switch kind {
	case simulatorServer:
		return serveSimulator(in, out)
	case cannedServer:
		return serveCanned(in, out)
	}
	return fmt.Errorf("%s is %q, which is no server", simulatorVariable, kind)
}

// startSimulator starts it as a process of its own, so that neither its memory
// nor its work count as the program's.
func (b *bench) startSimulator(ctx context.Context) (*simulator, error) {
	return b.startServer(ctx, simulatorServer)
}

// startServer starts a server as a process of its own.
func (b *bench) startServer(ctx context.Context, kind string) (*simulator, error) {
	cmd := exec.CommandContext(ctx, b.self)
	cmd.Env = append(os.Environ(), simulatorVariable+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server %s: %w", kind, err)
	}
	s := &simulator{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	if !s.out.Scan() {
		return nil, errors.Join(fmt.Errorf("the server %s does not start", kind), s.close())
	}
	s.url = s.out.Text()
	return s, nil
}

// do sends commands and waits for each.
func (s *simulator) do(commands ...string) error {
	for _, c := range commands {
		if _, err := fmt.Fprintln(s.in, c); err != nil {
			return fmt.Errorf("telling the simulator %q: %w", c, err)
		}
		if !s.out.Scan() {
			return fmt.Errorf("the simulator ended at %q", c)
		}
		if answer := s.out.Text(); answer != "ok" {
			return fmt.Errorf("the simulator answers %q with: %s", c, strings.TrimSpace(answer))
		}
	}
	return nil
}

func (s *simulator) close() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }
