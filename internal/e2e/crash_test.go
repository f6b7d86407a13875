//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Every part of the program is a process of its own, so each may die alone:
// of a fault of its own, or because the kernel needed its memory.
var processes = []string{"source-mssql", "sink-delta", "silver", "reconcile", "host"}

// The program starts one process per plugin: itself, with a hidden argument.
func TestPluginsAreProcesses(t *testing.T) {
	t.Parallel()
	l := newLife(t, 1, 20)
	l.run(nil, 0, "apply", "-yes", "-tables-only").mustEnd(0)
	var seen []pluginProcess
	a := l.start(nil, 0, "run", "-json")
	a.listen = func(string) {
		if a.step == streamStep && seen == nil {
			seen = pluginProcesses(l.dir)
		}
	}
	a.wait(nil)
	a.mustEnd(0)
	l.nothingRuns()
	var names []string
	for _, p := range seen {
		if p.parent != a.cmd.Process.Pid {
			t.Errorf("plugin %s is a child of %d, not of the program", p.plugin, p.parent)
		}
		if p.args[0] != pipectl(t) {
			t.Errorf("plugin %s was started as %q", p.plugin, p.args)
		}
		names = append(names, p.plugin)
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(processes))
	want = slices.DeleteFunc(want, func(name string) bool { return name == "host" })
	if !slices.Equal(names, want) {
		t.Errorf("plugins %v, want %v", names, want)
	}
}

// crashes is how many kills TestKill makes: PIPECTL_CRASHES, by default one of
// each process in each phase.
func crashes(t *testing.T) int {
	text := os.Getenv("PIPECTL_CRASHES")
	if text == "" {
		return len(processes) * len(phases)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PIPECTL_CRASHES=%q is no number of kills", text)
	}
	return n
}

// seed is printed, and taken from PIPECTL_SEED to repeat a test.
func seed(t *testing.T) uint64 {
	n := uint64(time.Now().UnixNano())
	if text := os.Getenv("PIPECTL_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("PIPECTL_SEED=%q is no seed", text)
		}
	}
	t.Logf("PIPECTL_SEED=%d", n)
	return n
}

// phase is a time of a life at which something is killed.
type phase struct {
	name string
	// step is the one that is hit; see shot.
	step string
	// on is what to count, at most so often.
	on map[string]int
	// sold is how many transactions wait, and live how many come while the
	// stream reads.
	sold, live int
	args       []string
}

// A life goes through them in this order. The counts are what happens at least
// in such a step.
var phases = []phase{
	{"bootstrap", streamStep, map[string]int{"request": 16, "file": 40}, 0, 12, []string{"run", "-json", "-exclude", checkStep}},
	{"planning", "", map[string]int{"request": 6}, 20, 0, []string{"run", "-json", "-exclude", checkStep}},
	{"changes", streamStep, map[string]int{"request": 40, "file": 120}, 60, 20, []string{"run", "-json", "-exclude", checkStep}},
	{"silver", silverStep, map[string]int{"file": 16}, 40, 0, []string{"run", "-json", "-exclude", checkStep}},
	{"check", checkStep, map[string]int{"request": 8}, 0, 0, []string{"check", "-json"}},
}

// TestKill kills every process at random points of every phase while the shop
// goes on selling, and runs again at once. What is there meanwhile tells no more
// than is so; in the end nothing is lost and nothing doubled.
func TestKill(t *testing.T) {
	t.Parallel()
	first, n := seed(t), crashes(t)
	// The lives wait more than they work, for pauses after a crash above all, so
	// more of them go on at once than -parallel says.
	var lives sync.WaitGroup
	defer lives.Wait()
	slots := make(chan struct{}, len(processes))
	for number := range (n + len(phases) - 1) / len(phases) {
		victim := processes[number%len(processes)]
		slots <- struct{}{}
		lives.Go(func() {
			defer func() { <-slots }()
			t.Run(fmt.Sprintf("%s-%d", victim, number), func(t *testing.T) {
				random := rand.New(rand.NewPCG(first, uint64(number)))
				l := newLife(t, random.Uint64(), 1200)
				l.run(nil, 0, "apply", "-yes", "-tables-only", "-json").mustEnd(0)
				kills := 0
				for _, p := range phases[:min(len(phases), n-number*len(phases))] {
					l.kill(p, victim, random)
					kills++
				}
				l.run(nil, 0, "run", "-json").mustEnd(0)
				l.silverIsTheSource()
				l.bronzeIsTheLog()
				l.batchesAreDone()
				l.nothingRuns()
				// A crash leaves behind what was being written: a few files each.
				if litter := l.litter(); len(litter) > 6*kills {
					t.Errorf("%d kills left %d files behind: %v", kills, len(litter), litter)
				}
			})
		})
	}
}

// TestKillAtAWrite kills the program right after one of the writes that tell of
// others: whoever asks then must find what it tells of. A silver moves the control
// table twice, so at the first time it dies between its position and its verdict.
func TestKillAtAWrite(t *testing.T) {
	t.Parallel()
	l := newLife(t, 8, 100)
	l.run(nil, 0, "apply", "-yes", "-json").mustEnd(0)
	args := []string{"run", "-json", "-exclude", checkStep}
	for _, s := range []shot{
		{step: streamStep, on: "facts", n: 2}, {step: streamStep, on: "mark", n: 2},
		{step: streamStep, on: "verdict", n: 1}, {step: streamStep, on: "verdict", n: 2},
		{step: silverStep, on: "verdict", n: 1}, {step: silverStep, on: "verdict", n: 2},
	} {
		s.victim, s.signal = "host", syscall.SIGKILL
		var a *attempt
		// Where the machine is busy, a write may be seen before the step that made it
		// is known to have begun, and is not counted.
		for tries := 0; a == nil || (a.outran(s.victim) || !a.fired && a.code == 0) && tries < 20; tries++ {
			l.sell(30)
			a = l.run(&s, 0, args...)
		}
		if !a.fired {
			t.Fatalf("%v never came", s)
		}
		a.mustEnd(-1)
		l.orderHolds()
		l.run(nil, 0, args...).mustEnd(0)
		for _, o := range a.orphans {
			o.end(t)
		}
		l.nothingRuns()
	}
	l.silverIsTheSource()
	l.bronzeIsTheLog()
	l.batchesAreDone()
}

// outran reports whether the host had ended when it was to be killed: what was
// waited for came at its very end.
func (a *attempt) outran(victim string) bool { return victim == "host" && a.fired && a.code == 0 }

// kill kills the victim once in a phase and runs again.
func (l *life) kill(p phase, victim string, random *rand.Rand) {
	l.t.Helper()
	on := "request"
	if len(p.on) > 1 && random.IntN(2) == 0 || p.on["request"] == 0 {
		on = "file"
	}
	s := shot{victim: victim, signal: syscall.SIGKILL, step: p.step, on: on, n: 1 + random.IntN(p.on[on])}
	var a *attempt
	for {
		if p.name == "check" {
			l.run(nil, 0, "run", "-json", "-exclude", checkStep).mustEnd(0)
		}
		l.sell(p.sold)
		a = l.run(&s, p.live, p.args...)
		if a.fired && !a.outran(victim) {
			break
		}
		if s.n == 1 {
			l.t.Fatalf("%s: %v never came", p.name, s)
		}
		a.mustEnd(0)
		s.n = (s.n + 1) / 2
	}
	l.t.Logf("%s: %v, exit %d", p.name, s, a.code)
	switch {
	case victim == "host":
		a.mustEnd(-1)
	case p.step != "":
		a.mustEnd(0) // the plugin was started again, and the step repeated
	case a.code != 0:
		a.mustEnd(4)
	}
	l.orderHolds()
	// The next run does not wait: not for a lock of the dead, nor for its plugins.
	l.run(nil, p.live, p.args...).mustEnd(0)
	for _, o := range a.orphans {
		o.end(l.t)
	}
	l.nothingRuns()
}
