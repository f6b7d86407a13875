package mssqlsim

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/history"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/workload"
)

// Main is the program mssqlsim: it starts a server, fills a database as the arguments say, prints one line when it is
// ready, and serves until the context ends. It returns the exit code: 0, 1 when something failed, 2 for wrong arguments.
//
// The ready line is "mssqlsim ready ADDRESS URL"; the URL has no password.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := program{stdin: stdin, stdout: stdout}
	fs := flag.NewFlagSet("mssqlsim", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&p.options.Listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 chooses a free one")
	fs.StringVar(&p.options.Password, "password", DefaultPassword, "password of the login sa")
	fs.StringVar(&p.database, "database", "shop", "`name` of the database")
	fs.StringVar(&p.sql, "sql", "", "`file` with T-SQL to run at the start; a line GO ends a batch")
	fs.StringVar(&p.history, "history", "", "`file` with a history to play")
	fs.BoolVar(&p.stepwise, "stepwise", false, "play the history to its next step, print the step, and go on when a line comes in")
	fs.StringVar(&p.workload, "workload", "", "`name` of a workload: orders")
	fs.IntVar(&p.load.Rows, "rows", 10_000, "rows the workload loads")
	fs.IntVar(&p.load.Rate, "rate", 0, "transactions a second of the workload")
	fs.Uint64Var(&p.load.Seed, "seed", 1, "seed of the workload")
	mode := fs.String("tls", "off", "encryption: off, login, on or strict")
	fs.StringVar(&p.certificate, "certificate", "", "`file` to write the certificate to, as PEM; clients that ask for strict encryption need it")
	version := fs.String("version", "2022", "product version: 2016, 2017, 2019, 2022 or azure")
	fs.StringVar(&p.options.Zone, "zone", "UTC", "Windows `name` of the server's time zone")
	capture := fs.String("capture", "", "`mode` of capture: poll, at the polling interval of its job, or commit, right behind each commit; default is poll, with -history commit")
	memory := fs.Int64("memory", tsql.DefaultMemory>>20, "`MiB` of rows that one session may hold in sorts, groups, joins, changes and open cursors")
	trace := fs.Bool("trace", false, "print every request to standard error")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	p.options.TLS, p.options.Version, p.options.Capture = TLSMode(*mode), Version(*version), CaptureMode(*capture)
	if *capture == "" && p.history == "" {
		p.options.Capture = CapturePolls
	}
	p.options.Idles = p.history == ""
	p.options.Memory = *memory << 20
	if wrong := p.wrong(fs); wrong != "" {
		fmt.Fprintln(stderr, "mssqlsim: "+wrong)
		return 2
	}
	if *trace {
		var mu sync.Mutex
		p.options.Trace = func(e tds.Event) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(stderr, e)
		}
	}
	if err := p.run(ctx); err != nil {
		fmt.Fprintf(stderr, "mssqlsim: %v\n", err)
		return 1
	}
	return 0
}

// program is one run of Main.
type program struct {
	options  Options
	database string
	sql      string
	history  string
	stepwise bool
	workload string
	load     workload.Options

	certificate string // file to write it to
	stdin       io.Reader
	stdout      io.Writer
}

func (p *program) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := Start(ctx, p.options)
	if err != nil {
		return err
	}
	defer server.Close()
	if p.certificate != "" {
		if err := os.WriteFile(p.certificate, server.Certificate(), 0o644); err != nil {
			return fmt.Errorf("writing the certificate: %w", err)
		}
	}
	db := server.Database(p.database)
	if p.sql != "" {
		if err := db.runFile(ctx, p.sql); err != nil {
			return err
		}
	}
	if p.workload != "" {
		w, err := workload.NewOrders(ctx, db.Model(), p.load)
		if err != nil {
			return err
		}
		w.Start(ctx)
		defer func() { err = errors.Join(err, w.Stop()) }()
	}
	var player *history.Player
	if p.history != "" {
		if player, err = history.Open(p.history, db.Model(), history.Options{}); err != nil {
			return err
		}
		if !p.stepwise {
			if err := player.Drain(ctx); err != nil {
				return err
			}
		}
	}
	u := server.url(p.database)
	if p.options.TLS == TLSStrict && p.certificate != "" {
		u.RawQuery += "&certificate=" + url.QueryEscape(p.certificate)
	}
	u.User = url.User("sa")
	if _, err := fmt.Fprintf(p.stdout, "mssqlsim ready %s %s\n", server.Addr(), u); err != nil {
		return err
	}
	if p.stepwise {
		if err := p.steps(ctx, player); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// steps plays a history step by step. Lines come in through a goroutine of its own, since a read of standard input
// cannot be interrupted; it ends with the input or, at the latest, with the process.
func (p *program) steps(ctx context.Context, player *history.Player) error {
	lines := make(chan struct{})
	go func() {
		defer close(lines)
		for sc := bufio.NewScanner(p.stdin); sc.Scan(); {
			select {
			case lines <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		step, err := player.Next(ctx)
		if errors.Is(err, io.EOF) {
			_, err = fmt.Fprintln(p.stdout, "end")
			return err
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "step %s %s %s\n", step.Name, step.Action, step.Args); err != nil {
			return err
		}
		select {
		case _, ok := <-lines:
			if !ok {
				return nil // the input has ended: the history stays where it is
			}
		case <-ctx.Done():
			return nil
		}
	}
}
