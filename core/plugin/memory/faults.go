package memory

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// ErrKill, returned by a hook, kills the pretended process at that point.
var ErrKill = errors.New("kill the process here")

// Point is one place at which a process may die: before or after a call.
type Point struct {
	// Call is role and method: "Tables.Commit", "Source.Read". The frames of a
	// stream have points of their own: "Source.Read.Recv".
	Call string
	// After is false before the call is made, true when it was made and its
	// answer is on its way.
	After bool
	// Detail is the table's name, the object's key or the write's id, "" when
	// there is none.
	Detail string
}

// String is "before Tables.Commit write-1".
func (p Point) String() string {
	when := "before "
	if p.After {
		when = "after "
	}
	if p.Detail == "" {
		return when + p.Call
	}
	return when + p.Call + " " + p.Detail
}

// Faults breaks the calls of sessions wrapped by it, which together pretend
// to be one process: when it is killed, the call under way and every later one
// fail, in all of them. The zero value breaks nothing.
type Faults struct {
	// Hook, when not nil, is called at every point. An error fails the call:
	// before it is made, or after it was carried out (a lost answer). ErrKill
	// kills. The hook may use the Lake and the Database. It must be set before
	// the first call.
	Hook func(Point) error
	// Death is the error of calls to a dead process; nil means the transient
	// diagnostic "plugin.crashed" that the host gives.
	Death error

	mu     sync.Mutex
	dead   bool
	points []Point
	counts map[Point]int
	rules  []rule
	killAt int // 1-based index of a point, 0 = none
}

type rule struct {
	call  string
	after bool
	n     int
	err   error
}

// Fail lets the n-th call (from 1) of a name fail without being made.
func (f *Faults) Fail(call string, n int, err error) { f.add(rule{call: call, n: n, err: err}) }

// Lose lets the n-th call of a name be made and its answer be lost.
func (f *Faults) Lose(call string, n int, err error) {
	f.add(rule{call: call, after: true, n: n, err: err})
}

// KillBefore and KillAfter kill the process at the n-th call of a name.
func (f *Faults) KillBefore(call string, n int) { f.Fail(call, n, ErrKill) }

// KillAfter kills when the call was carried out and its answer is on its way.
func (f *Faults) KillAfter(call string, n int) { f.Lose(call, n, ErrKill) }

// KillAt kills at the k-th point (from 1) of all: a test that first counts
// Points of a whole run and then kills at each has tried every crash.
func (f *Faults) KillAt(k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killAt = k
}

func (f *Faults) add(r rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, r)
}

// Points lists every point that was passed.
func (f *Faults) Points() []Point {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.points)
}

// Kill kills the process now.
func (f *Faults) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// Dead reports whether the process was killed.
func (f *Faults) Dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// at passes a point and returns the error with which the call fails there.
func (f *Faults) at(p Point) error {
	if err := f.pass(p); err != nil {
		return err
	}
	if f.Hook == nil {
		return nil
	}
	err := f.Hook(p)
	if errors.Is(err, ErrKill) {
		f.Kill()
		return f.death(p)
	}
	return err
}

func (f *Faults) pass(p Point) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return f.death(p)
	}
	f.points = append(f.points, p)
	if f.counts == nil {
		f.counts = map[Point]int{}
	}
	name := Point{Call: p.Call, After: p.After}
	f.counts[name]++
	err := error(nil)
	for _, r := range f.rules {
		if r.call == p.Call && r.after == p.After && r.n == f.counts[name] {
			err = r.err
		}
	}
	if f.killAt == len(f.points) || errors.Is(err, ErrKill) {
		f.dead = true
		return f.death(p)
	}
	return err
}

func (f *Faults) death(p Point) error {
	if f.Death != nil {
		return f.Death
	}
	return diag.Errorf(diag.KindTransient, "plugin.crashed", "", "The plugin process ended %s", p).Err()
}

// call makes one call between its two points.
func call[T any](f *Faults, name, detail string, do func() (T, error)) (T, error) {
	var none T
	if err := f.at(Point{Call: name, Detail: detail}); err != nil {
		return none, err
	}
	out, err := do()
	if lost := f.at(Point{Call: name, After: true, Detail: detail}); lost != nil {
		if r, ok := any(out).(plugin.FrameReader); ok && err == nil {
			lost = errors.Join(lost, closing(r))
		}
		return none, lost
	}
	return out, err
}

func closing(r plugin.FrameReader) error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("closing a stream whose opening was lost: %w", err)
	}
	return nil
}

// frames gives a stream points around each of its frames.
func (f *Faults) frames(name, detail string, r plugin.FrameReader) plugin.FrameReader {
	return &faultyFrames{FrameReader: r, faults: f, name: name + ".Recv", detail: detail}
}

type faultyFrames struct {
	plugin.FrameReader
	faults       *Faults
	name, detail string
}

func (r *faultyFrames) Recv() (plugin.Frame, error) {
	return call(r.faults, r.name, r.detail, r.FrameReader.Recv)
}
