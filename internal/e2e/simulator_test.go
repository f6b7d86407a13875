//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// simulated is a script's server. Each script has its own, since logins and
// faults belong to a server and scripts run side by side.
type simulated struct {
	server *mssqlsim.Server
	db     *mssqlsim.Database
	mark   mssqlsim.LSN
	clock  shopClock

	mu   sync.Mutex
	held *hold
}

// hold makes one statement wait before it runs.
type hold struct {
	fragment         string // of its text
	taken            bool
	reached, release chan struct{}
	once             sync.Once
}

func (h *hold) let() { h.once.Do(func() { close(h.release) }) }

// request hears every request before it runs, on the goroutine of its
// connection.
func (s *simulated) request(e tds.Event) {
	s.mu.Lock()
	h := s.held
	if h == nil || h.taken || !strings.Contains(e.String(), h.fragment) {
		s.mu.Unlock()
		return
	}
	h.taken = true
	s.mu.Unlock()
	close(h.reached)
	<-h.release
}

func (s *simulated) close() {
	if s.held != nil {
		s.held.let()
	}
	s.server.Close()
}

// shopClock is a server's clock: the machine's, set forward.
type shopClock struct{ ahead atomic.Int64 }

func (c *shopClock) Now() time.Time {
	return time.Now().UTC().Add(time.Duration(c.ahead.Load()))
}

const (
	simDatabase = "shop"
	// patience is how long a script waits for what must come; it only ends
	// scripts that would hang.
	patience = time.Minute
)

// simCommands are the words after sim, with what they take:
//
//	new | empty            a server with dbo.orders, or with nothing; sets SHOP_MSSQL_URL and SIM_URL
//	exec SQL               runs a batch
//	tx SQL...              runs statements in one transaction
//	freeze | resume        stops capture; lets it catch up
//	later DURATION         sets the server's clock forward
//	mark                   remembers the newest LSN
//	cleanup INSTANCE       purges changes up to the newest LSN
//	restore                sets the log back to the mark, as restoring an older backup in place does
//	replace                another database behind the same URL
//	login NAME             a login without rights, which SHOP_MSSQL_URL then uses
//	grant NAME OBJECT [COLUMN...]  SELECT for a login, of some columns only when they are named
//	revoke NAME OBJECT
//	fault MATCH NUMBER TIMES MESSAGE   answers statements that hold MATCH with an error
//	drop MATCH TIMES       cuts the connection of statements that hold MATCH
//	hold TEXT              the next statement that holds the text waits before it runs
//	reached                waits until it has come
//	release                lets it go on
var simCommands = map[string]struct {
	args int // exact; -1 = one or more
	do   func(ts *testscript.TestScript, s *simulated, args []string) error
}{
	"exec": {1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		return s.db.Exec(context.Background(), args[0])
	}},
	"tx": {-1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		return s.db.Exec(context.Background(), "BEGIN TRANSACTION;\n"+strings.Join(args, ";\n")+";\nCOMMIT TRANSACTION;")
	}},
	"freeze": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error { s.db.Freeze(); return nil }},
	"resume": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error { s.db.Resume(); return nil }},
	"later": {1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		d, err := time.ParseDuration(args[0])
		s.clock.ahead.Add(int64(d))
		return err
	}},
	"mark": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error {
		s.mark = s.db.MaxLSN()
		return nil
	}},
	"cleanup": {1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		return s.db.Cleanup(args[0], s.db.MaxLSN())
	}},
	"restore": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error { s.db.Restore(s.mark); return nil }},
	"twin": {0, func(ts *testscript.TestScript, s *simulated, _ []string) error {
		text, err := os.ReadFile(filepath.Join(shopFolder, "shop.sql"))
		if err != nil {
			return err
		}
		ts.Setenv("SHOP_MSSQL_URL", s.server.DSN("twin"))
		return s.server.Database("twin").Exec(context.Background(), string(text))
	}},
	"replace": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error { s.db.Replace(); return nil }},
	"login": {1, func(ts *testscript.TestScript, s *simulated, args []string) error {
		s.server.AddLogin(args[0], "Reader1!")
		ts.Setenv("SHOP_MSSQL_URL", s.server.UserDSN(args[0], "Reader1!", simDatabase))
		return nil
	}},
	"grant": {-1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		if len(args) < 2 {
			return errors.New("usage: sim grant NAME OBJECT [COLUMN...]")
		}
		s.server.Login(args[0]).Grant(simDatabase, args[1], args[2:]...)
		return nil
	}},
	"revoke": {2, func(_ *testscript.TestScript, s *simulated, args []string) error {
		s.server.Login(args[0]).Revoke(simDatabase, args[1])
		return nil
	}},
	"fault": {4, func(_ *testscript.TestScript, s *simulated, args []string) error {
		number, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil {
			return err
		}
		times, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		_, err = s.server.Inject(mssqlsim.ErrorFault(args[0], times, int32(number), args[3], 0))
		return err
	}},
	"drop": {2, func(_ *testscript.TestScript, s *simulated, args []string) error {
		times, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		_, err = s.server.Inject(mssqlsim.DropFault(args[0], times, tds.DropBefore, 0))
		return err
	}},
	"hold": {1, func(_ *testscript.TestScript, s *simulated, args []string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = &hold{fragment: args[0], reached: make(chan struct{}), release: make(chan struct{})}
		return nil
	}},
	"reached": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error {
		over := time.NewTimer(patience)
		defer over.Stop()
		select {
		case <-s.held.reached:
			return nil
		case <-over.C:
			return fmt.Errorf("no statement held %q", s.held.fragment)
		}
	}},
	"release": {0, func(_ *testscript.TestScript, s *simulated, _ []string) error { s.held.let(); return nil }},
}

func sim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: sim COMMAND ARGS")
	}
	if args[0] == "new" || args[0] == "empty" {
		newSimulated(ts, args[0] == "new")
		return
	}
	s := scriptOf(ts).sim
	command, ok := simCommands[args[0]]
	switch n := len(args) - 1; {
	case !ok:
		ts.Fatalf("there is no sim %s", args[0])
	case s == nil:
		ts.Fatalf("sim new comes first")
	case command.args >= 0 && command.args != n || command.args < 0 && n == 0:
		ts.Fatalf("sim %s takes %d arguments, not %d", args[0], command.args, n)
	}
	ts.Check(command.do(ts, s, args[1:]))
}

func newSimulated(ts *testscript.TestScript, filled bool) {
	s := scriptOf(ts)
	if s.sim != nil {
		s.sim.close()
	}
	fresh := &simulated{}
	server, err := mssqlsim.Start(context.Background(), mssqlsim.Options{Trace: fresh.request, Clock: &fresh.clock})
	ts.Check(err)
	fresh.server, fresh.db = server, server.Database(simDatabase)
	s.sim = fresh
	if filled {
		text, err := os.ReadFile(filepath.Join(shopFolder, "shop.sql"))
		ts.Check(err)
		ts.Check(s.sim.db.Exec(context.Background(), string(text)))
	}
	ts.Setenv("SHOP_MSSQL_URL", server.DSN(simDatabase))
	ts.Setenv("SIM_URL", server.DSN(simDatabase))
	u, err := url.Parse(server.DSN(simDatabase))
	ts.Check(err)
	ts.Setenv("SIM_HOST", u.Host)
}
