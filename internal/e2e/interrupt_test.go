//go:build linux

package e2e

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// A plugin that stands still is found by keepalive, which asks after 10 s and
// waits for 10 more, and killed by its process id; the step is repeated with a
// new process.
func TestAFrozenPluginIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keepalive")
	}
	t.Parallel()
	l := newLife(t, 3, 200)
	l.run(nil, 0, "apply", "-yes", "-json").mustEnd(0)
	l.sell(40)
	a := l.run(&shot{victim: "sink-delta", signal: syscall.SIGSTOP, step: streamStep, on: "file", n: 30}, 0, "run", "-json")
	if !a.fired {
		t.Fatal("nothing was stopped")
	}
	a.mustEnd(0)
	if !strings.Contains(a.stdout.String(), "it stopped answering and was killed") {
		t.Errorf("the run does not tell what it found:\n%s", a.stdout.String())
	}
	l.nothingRuns()
	l.silverIsTheSource()
	l.bronzeIsTheLog()
}

// A first SIGTERM, to the program and all its plugins as a service manager
// sends it, or SIGINT, as a terminal does at Ctrl-C, ends the run after the batch
// in hand, with nothing left running, and with its own code only when that left
// something out. The plugins outlive it: without them no batch would be finished.
func TestASignalFinishesTheBatchInHand(t *testing.T) {
	t.Parallel()
	first := seed(t)
	for name, tt := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"SIGTERM": {syscall.SIGTERM, 143}, "SIGINT": {syscall.SIGINT, 130}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(first, uint64(tt.signal)))
			l := newLife(t, 4, 300)
			l.run(nil, 0, "apply", "-yes", "-tables-only", "-json").mustEnd(0)
			for _, p := range phases {
				s := shot{victim: "group", signal: tt.signal, step: p.step, on: "request", n: 1 + random.IntN(8)}
				switch p.name {
				case "silver":
					s.on = "file"
				case "check":
					l.run(nil, 0, "run", "-json").mustEnd(0)
				}
				l.sell(p.sold)
				a := l.run(&s, 0, p.args...)
				for !a.fired && s.n > 1 {
					s.n /= 2
					l.sell(p.sold)
					a = l.run(&s, 0, p.args...)
				}
				t.Logf("%s: %v (fired: %v), exit %d", p.name, s, a.fired, a.code)
				a.pluginsLived()
				switch {
				case !a.fired:
					t.Errorf("%s: %v never came", p.name, s)
				case p.step == "":
					a.mustEnd(tt.code) // nothing was in hand, so there was nothing to finish
				default:
					want, told := 0, a.stdout.String()
					if strings.Contains(told, `"cut_short":true`) {
						want = tt.code
					} else if strings.Contains(told, `"status":"skipped"`) {
						t.Errorf("%s: steps were left out and the run does not say so:\n%s", p.name, told)
					}
					a.mustEnd(want)
					l.batchesAreDone()
					l.bronzeIsTheLogSoFar()
				}
				l.nothingRuns()
			}
			l.run(nil, 0, "run", "-json").mustEnd(0)
			l.silverIsTheSource()
			l.bronzeIsTheLog()
		})
	}
}

// A terminal that closes tells every process of it. It is for the program to say
// what follows: no plugin ends by itself, as when the program runs under nohup.
func TestPluginsOutliveATerminal(t *testing.T) {
	t.Parallel()
	l := newLife(t, 9, 100)
	l.run(nil, 0, "apply", "-yes", "-json").mustEnd(0)
	for _, s := range []shot{{step: streamStep, on: "request", n: 4}, {step: silverStep, on: "file", n: 2}, {step: checkStep, on: "request", n: 2}} {
		s.victim, s.signal = "plugins", syscall.SIGHUP
		l.sell(20)
		a := l.run(&s, 0, "run", "-json")
		if !a.fired {
			t.Errorf("%v never came", s)
		}
		a.mustEnd(0)
		a.pluginsLived()
	}
	l.nothingRuns()
	l.silverIsTheSource()
	l.bronzeIsTheLog()
}

// pluginsLived holds that no plugin ended before the program did.
func (a *attempt) pluginsLived() {
	a.life.t.Helper()
	for _, told := range []string{a.stdout.String(), a.stderr.String()} {
		if strings.Contains(told, "ended unexpectedly") || strings.Contains(told, "starting a plugin again") {
			a.life.t.Errorf("pipectl %s, %v: a plugin ended:\n%s", a.args, *a.shot, told)
		}
	}
}

// A gate stays closed when a signal came before all its checks were made.
func TestACheckThatWasNotMadeProvesNothing(t *testing.T) {
	t.Parallel()
	l := newLife(t, 7, 100)
	config := lifeConfig + "\ncheck \"reconcile\" \"second\" {\n  silver = silver.orders\n}\n"
	if err := os.WriteFile(filepath.Join(l.dir, "shop.hcl"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	l.run(nil, 0, "apply", "-yes", "-json").mustEnd(0)
	a := l.run(&shot{victim: "host", signal: syscall.SIGTERM, step: checkStep, on: "request", n: 1}, 0, "check", "-json", "-jobs", "1")
	if !a.fired || !strings.Contains(a.stdout.String(), `"status":"skipped"`) {
		t.Fatalf("no check was skipped:\n%s", a.stdout.String())
	}
	a.mustEnd(143)
	l.nothingRuns()
}

// A second SIGTERM cancels the batch, which the next run repeats.
func TestSecondTerminationCancels(t *testing.T) {
	t.Parallel()
	l := newLife(t, 5, 200)
	l.run(nil, 0, "apply", "-yes", "-json").mustEnd(0)
	l.sell(20)
	if _, err := l.server.Inject(mssqlsim.Fault{Match: changeRead, Times: 1, Wrong: tds.Fault{Delay: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	a := l.start(nil, 0, "run", "-json")
	done, first := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(first)
		select {
		case <-a.fault: // the batch is being read
			a.signal(syscall.SIGTERM)
		case <-done:
		}
	}()
	a.wait(func(line string) {
		if strings.Contains(line, "A second signal cancels") {
			a.signal(syscall.SIGTERM)
		}
	})
	close(done)
	<-first
	a.mustEnd(143)
	l.nothingRuns()
	l.run(nil, 0, "run", "-json").mustEnd(0)
	l.silverIsTheSource()
	l.bronzeIsTheLog()
}

// A batch of more than 100,000 rows is read in several ranges at once. Rows of
// a range that broke off are dropped, after they were relayed, whatever broke:
// the source or its connection.
func TestRowsOfABrokenRangeAreDropped(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t)
	err := l.db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"order_id"}, Columns: []mssqlsim.Column{{Name: "order_id", Type: "int"}, {Name: "note", Type: "varchar(20)", Nullable: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.db.EnableCDC(); err != nil {
		t.Fatal(err)
	}
	if err := l.db.EnableTable("dbo.orders", mssqlsim.Capture{}); err != nil {
		t.Fatal(err)
	}
	l.run(nil, 0, "apply", "-yes", "-json", "-exclude", checkStep).mustEnd(0)
	for commit := range 8 { // which one batch takes
		_, err := l.db.Tx(context.Background(), func(tx *mssqlsim.Tx) error {
			for n := range 14_000 {
				if err := tx.Insert("dbo.orders", commit*14_000+n, "row"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The source dies in the second range. When the batch is repeated, the
	// connection of its second range is cut: the fourth read of all.
	cut := mssqlsim.DropFault(changeRead, 1, tds.DropRows, 9000)
	cut.Skip = 3
	fault, err := l.server.Inject(cut)
	if err != nil {
		t.Fatal(err)
	}
	a := l.run(&shot{victim: "source-mssql", signal: syscall.SIGKILL, step: streamStep, on: "read", n: 2}, 0, "run", "-json", "-exclude", checkStep)
	a.mustEnd(0)
	if !a.fired || fault.Hits() != 1 {
		t.Errorf("the source was killed: %v; %d reads were cut, want one", a.fired, fault.Hits())
	}
	l.silverIsTheSource()
	l.bronzeIsTheLog()
	l.nothingRuns()
}

// An apply that is cut off anywhere leaves what the next one completes.
func TestInterruptedApplyIsCompleted(t *testing.T) {
	t.Parallel()
	first := seed(t)
	apply := []string{"apply", "-yes", "-tables-only", "-json"}
	calm := newLife(t, 6, 10).run(nil, 0, apply...)
	calm.mustEnd(0)
	points := calm.counts[place{"", "file"}]
	random := rand.New(rand.NewPCG(first, 0))
	// The first and last point, and some between them.
	at := []int{1, points}
	for range max(4, crashes(t)/5) {
		at = append(at, 1+random.IntN(points))
	}
	for i, n := range at {
		victim := []string{"host", "sink-delta"}[i%2]
		var l *life
		var a *attempt
		// A file in a new folder is heard of once or three times, as the watch of
		// the folder is late or in time, and the last one comes as apply ends. Where
		// the machine is busy, apply may end before any is heard of.
		for tries := 0; a == nil || !a.fired && n <= points/3 && tries < 10; tries++ {
			l = newLife(t, 6, 10)
			a = l.run(&shot{victim: victim, signal: syscall.SIGKILL, on: "file", n: n}, 0, apply...)
			t.Logf("%v of %d: fired %v, exit %d", *a.shot, points, a.fired, a.code)
		}
		if !a.fired && n <= points/3 {
			t.Fatalf("%v never came", *a.shot)
		}
		l.run(nil, 0, apply...).mustEnd(0)
		for _, o := range a.orphans {
			o.end(t)
		}
		l.run(nil, 0, "run", "-json").mustEnd(0)
		l.silverIsTheSource()
		l.bronzeIsTheLog()
		l.nothingRuns()
	}
}
