package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/workload"
)

// Addresses of the steps of lifeConfig.
const (
	streamStep = "stream.orders"
	silverStep = "silver.orders"
	checkStep  = "check.orders"
)

// changeRead is in every statement that reads the rows of a range.
const changeRead = "[dbo_orders_CT] AS c JOIN"

// writes are what follows the rows of a batch, by the folder of the lake in which
// a file tells of it: commits of the facts, marks, commits of the control table.
var writes = map[string]string{
	"facts":   "ops/ingestion_facts/_delta_log",
	"mark":    "_pipectl/shop/streams/bronze.orders/commits",
	"verdict": "ops/table_finalization/_delta_log",
}

const lifeConfig = `
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url = env("SHOP_MSSQL_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table                 = table.orders
  to                    = sink.lake
  target                = "bronze.orders"
  bootstrap             = "full"
  max_commits_per_batch = 8
  granularity           = "minute"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

check "reconcile" "orders" {
  silver      = silver.orders
  bucket_rows = 500
  sample      = 1
}
`

// life is a database, the shop that changes it, and the lake that follows it.
type life struct {
	t      testing.TB
	server *mssqlsim.Server
	db     *mssqlsim.Database
	orders *workload.Orders
	clock  shopClock
	dir    string
	// temp is the folder for temporary files of the programs that run; its path
	// is short enough for sockets.
	temp string

	mu  sync.Mutex // guards current and what it points at
	now *attempt
}

// perSale is how much further the database's clock is after a transaction. The
// verdict, which counts in minutes here, then moves with nearly every batch, and
// not with the first one of a life alone.
const perSale = 10 * time.Second

// newLife makes a database with rows orders, and no lake yet.
func newLife(t testing.TB, seed uint64, rows int) *life {
	t.Helper()
	l := newLifeOf(t)
	var err error
	if l.orders, err = workload.NewOrders(t.Context(), l.db.Model(), workload.Options{Rows: rows, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	return l
}

// newLifeOf makes an empty database.
func newLifeOf(t testing.TB) *life {
	t.Helper()
	l := &life{t: t}
	var err error
	if l.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "shop.hcl"), []byte(lifeConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	if l.temp, err = os.MkdirTemp("/tmp", "pipectl-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(l.temp) })
	if l.server, err = mssqlsim.Start(context.Background(), mssqlsim.Options{Trace: l.request, Clock: &l.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.server.Close)
	l.db = l.server.Database("shop")
	return l
}

// sell commits transactions of the shop.
func (l *life) sell(n int) {
	l.t.Helper()
	for range n {
		if err := l.transaction(); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *life) transaction() error {
	l.clock.ahead.Add(int64(perSale))
	_, err := l.orders.Transaction(context.Background())
	return err
}

// shot is a signal at a point of a run.
type shot struct {
	// victim is the plugin that is hit, "plugins" for each of them, "host", or
	// "group": the host and every plugin, as a service manager and a terminal do.
	victim string
	signal syscall.Signal
	// step is the one in whose course it is hit, "" while the run is planned.
	step string
	// on is "request" (to the database), "read" (a request for changes), "file" (of
	// the lake) or one of writes, and n which of them in the step it waits for.
	on string
	n  int
}

func (s shot) String() string {
	step := s.step
	if step == "" {
		step = "planning"
	}
	return fmt.Sprintf("%s to %s at %s %d of %s", unix.SignalName(s.signal), s.victim, s.on, s.n, step)
}

// place counts what happens in a step.
type place struct{ step, on string }

// attempt is one run of the program.
type attempt struct {
	life *life
	args string
	cmd  *exec.Cmd
	// code is the exit code, -1 after a signal that was not handled.
	code           int
	stdout, stderr bytes.Buffer
	// fired tells whether the shot was.
	fired bool
	// orphans are the plugins of a host that was killed.
	orphans []orphan

	shot   *shot
	step   string
	counts map[place]int
	// live is how many transactions the shop still makes while the stream reads.
	live int
	// listen hears of requests, with the life locked; it may be nil.
	listen func(on string)
	// hit and fault are told after the shot and when the server does wrong on purpose.
	hit, fault chan struct{}
}

// request hears of every request to the database, before it is answered.
func (l *life) request(e tds.Event) {
	l.mu.Lock()
	a := l.now
	if a != nil && e.Kind == "fault" {
		select {
		case a.fault <- struct{}{}:
		default: // one is told already
		}
	}
	if a == nil || e.Kind != "batch" && e.Kind != "rpc" && e.Kind != "tran" {
		l.mu.Unlock()
		return
	}
	a.count("request")
	if strings.Contains(fmt.Sprint(e.SQL, e.Params), changeRead) {
		a.count("read")
	}
	sell := a.step == streamStep && a.live > 0
	if sell {
		a.live--
	}
	l.mu.Unlock()
	if sell {
		// It stops with the server; then the comparison shows what is missing.
		_ = l.transaction()
	}
}

// count counts one event of the step at hand and fires when the time has come.
// The life is locked.
func (a *attempt) count(on string) {
	at := place{a.step, on}
	a.counts[at]++
	if a.listen != nil {
		a.listen(on)
	}
	s := a.shot
	if s == nil || a.fired || s.step != a.step || s.on != on || a.counts[at] < s.n {
		return
	}
	a.fired = a.fire()
}

// fire sends the signal; false when the victim does not run at this moment.
func (a *attempt) fire() bool {
	host := a.cmd.Process.Pid
	if a.shot.victim == "host" && a.shot.signal == syscall.SIGKILL {
		// It goes no further while its plugins are looked for.
		_ = syscall.Kill(host, syscall.SIGSTOP)
	}
	var victims []int
	for _, p := range pluginProcesses(a.life.dir) {
		if p.parent != host {
			continue
		}
		if a.shot.victim == "host" {
			o, err := follow(p)
			if err == nil {
				a.orphans = append(a.orphans, o)
			}
		}
		if slices.Contains([]string{p.plugin, "plugins", "group"}, a.shot.victim) {
			victims = append(victims, p.pid)
		}
	}
	if a.shot.victim == "host" || a.shot.victim == "group" {
		victims = append(victims, host)
	}
	hit := false
	for _, pid := range victims {
		hit = syscall.Kill(pid, a.shot.signal) == nil || hit
	}
	if hit {
		close(a.hit)
	}
	return hit
}

// signal sends a signal to a started program.
func (a *attempt) signal(s syscall.Signal) {
	a.life.mu.Lock()
	defer a.life.mu.Unlock()
	// It may have ended meanwhile, which its exit code shows.
	_ = a.cmd.Process.Signal(s)
}

// start prepares to run the program with its output in JSON.
func (l *life) start(shot *shot, live int, args ...string) *attempt {
	l.t.Helper()
	a := &attempt{
		life: l, args: strings.Join(args, " "), shot: shot, live: live, counts: map[place]int{},
		cmd: exec.Command(pipectl(l.t), append(args, "shop.hcl")...), hit: make(chan struct{}), fault: make(chan struct{}, 1),
	}
	a.cmd.Dir = l.dir
	a.cmd.Env = append(os.Environ(), "SHOP_MSSQL_URL="+l.server.DSN("shop"), "TMPDIR="+l.temp, "NO_COLOR=1", "PWD="+l.dir)
	// A program that hangs is killed, after it has told where.
	a.cmd.WaitDelay = patience
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = a
	return a
}

// run runs the program to its end.
func (l *life) run(shot *shot, live int, args ...string) *attempt {
	l.t.Helper()
	a := l.start(shot, live, args...)
	a.wait(nil)
	return a
}

// wait runs a started program to its end; heard is told each line of standard
// error.
func (a *attempt) wait(heard func(line string)) {
	l := a.life
	l.t.Helper()
	watch, err := watchLake(l.dir, func(path string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		a.count("file")
		for on, folder := range writes {
			if name := filepath.Base(path); filepath.Dir(path) == filepath.Join(l.dir, "lake", folder) && name[0] >= '0' && name[0] <= '9' {
				a.count(on) // not a temporary file
			}
		}
	})
	if err != nil {
		l.t.Fatal(err)
	}
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	stderr, err := a.cmd.StderrPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	err = a.cmd.Start()
	l.mu.Unlock()
	if err != nil {
		l.t.Fatal(err)
	}
	stuck := time.AfterFunc(2*patience, func() { _ = a.cmd.Process.Signal(syscall.SIGABRT) }) // it prints its goroutines
	var pipes sync.WaitGroup
	pipes.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			a.stderr.WriteString(lines.Text() + "\n")
			if heard != nil {
				heard(lines.Text())
			}
		}
	})
	pipes.Go(func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			a.stdout.WriteString(lines.Text() + "\n")
			var event struct{ Type, Address string }
			if json.Unmarshal(lines.Bytes(), &event) == nil && event.Type == "started" {
				l.mu.Lock()
				a.step = event.Address
				l.mu.Unlock()
			}
		}
	})
	pipes.Wait()
	err = a.cmd.Wait()
	stuck.Stop()
	l.mu.Lock()
	l.now = nil
	l.mu.Unlock()
	if err := watch.close(); err != nil {
		l.t.Fatal(err)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		a.code = exit.ExitCode()
	case err != nil:
		l.t.Fatal(err)
	}
}

// mustEnd holds the exit code against the one wanted.
func (a *attempt) mustEnd(code int) {
	a.life.t.Helper()
	if a.code != code {
		what := "no shot"
		if a.shot != nil {
			what = fmt.Sprintf("%v (fired: %v)", *a.shot, a.fired)
		}
		a.life.t.Fatalf("pipectl %s, %s: exit %d, want %d\n%s%s", a.args, what, a.code, code, a.stdout.String(), a.stderr.String())
	}
}

// nothingRuns holds that no plugin is left of what ran in the life's folder.
func (l *life) nothingRuns() {
	l.t.Helper()
	for _, p := range pluginProcesses(l.dir) {
		l.t.Errorf("plugin %s (process %d, child of %d) still runs", p.plugin, p.pid, p.parent)
	}
}
