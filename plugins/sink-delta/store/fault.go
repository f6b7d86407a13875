package store

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
)

// Op names a call of Store.
type Op string

// The seven calls. A stream made by Create on a Faulty store counts as one
// OpPut when it is closed.
const (
	OpGet         Op = "get"
	OpGetRange    Op = "get range"
	OpHead        Op = "head"
	OpPut         Op = "put"
	OpPutIfAbsent Op = "put if absent"
	OpList        Op = "list"
	OpDelete      Op = "delete"
)

// Writes reports whether the call changes the store.
func (o Op) Writes() bool { return o == OpPut || o == OpPutIfAbsent || o == OpDelete }

// Effect is what happens to a call that a Fault picks.
type Effect int

const (
	// Fail returns an error without doing anything.
	Fail Effect = iota + 1
	// Ambiguous does what was asked and returns an error all the same, as a
	// request whose answer was lost.
	Ambiguous
	// Kill does nothing, and neither does any later call: the process died
	// before the call.
	Kill
	// KillAfter does what was asked; the answer and every later call fail: the
	// process died after the call.
	KillAfter
)

// Errors of a Faulty store.
var (
	// ErrInjected is the error of Fail and Ambiguous.
	ErrInjected = errors.New("injected fault")
	// ErrKilled is the error of every call from a Kill or KillAfter on.
	ErrKilled = errors.New("injected kill")
)

// Fault picks one call and says what happens to it.
type Fault struct {
	// Op restricts the fault to one kind of call; empty means any.
	Op Op
	// Path restricts it to paths (of List: prefixes) that contain this text.
	Path string
	// Nth picks the nth call that fits, from 1; 0 means every one.
	Nth int
	// Effect is what happens to it.
	Effect Effect
	// Err, when set, is wrapped in place of ErrInjected or ErrKilled.
	Err error

	seen int
}

// Call is a call that a Faulty store was asked for.
type Call struct {
	Op   Op
	Path string
}

// Faulty passes calls to another store, except those that its faults pick. It
// is for tests of what happens when storage fails or a process dies.
type Faulty struct {
	inner Store

	mu     sync.Mutex
	faults []*Fault
	killed error
	calls  []Call
	before func(Call)
}

var _ Store = (*Faulty)(nil)

// NewFaulty returns a store that passes calls to inner.
func NewFaulty(inner Store, faults ...Fault) *Faulty {
	f := &Faulty{inner: inner}
	for i := range faults {
		f.faults = append(f.faults, &faults[i])
	}
	return f
}

// Before sets a function that runs before every call, outside any lock: the
// place to let another writer act in between.
func (f *Faulty) Before(do func(Call)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = do
}

// Calls returns the calls seen so far, failed ones included.
func (f *Faulty) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// begin decides about a call: whether to do it, and the error to return.
func (f *Faulty) begin(op Op, path string) (do bool, err error) {
	f.mu.Lock()
	before := f.before
	f.mu.Unlock()
	if before != nil {
		before(Call{op, path})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, Call{op, path})
	if f.killed != nil {
		return false, pathError(string(op), path, f.killed)
	}
	for _, fault := range f.faults {
		if fault.Op != "" && fault.Op != op || !strings.Contains(path, fault.Path) {
			continue
		}
		fault.seen++
		if fault.Nth != 0 && fault.seen != fault.Nth {
			continue
		}
		cause := fault.Err
		switch fault.Effect {
		case Kill, KillAfter:
			if cause == nil {
				cause = ErrKilled
			}
			f.killed = cause
		default:
			if cause == nil {
				cause = ErrInjected
			}
		}
		return fault.Effect == Ambiguous || fault.Effect == KillAfter, pathError(string(op), path, cause)
	}
	return true, nil
}

// read runs a call that returns a value.
func read[T any](f *Faulty, op Op, path string, call func() (T, error)) (T, error) {
	do, fault := f.begin(op, path)
	var zero T
	if fault != nil {
		if do {
			call()
		}
		return zero, fault
	}
	return call()
}

// write runs a call that returns only an error.
func (f *Faulty) write(op Op, path string, call func() error) error {
	do, fault := f.begin(op, path)
	if !do {
		return fault
	}
	if err := call(); err != nil && fault == nil {
		return err
	}
	return fault
}

// Get implements Store.
func (f *Faulty) Get(ctx context.Context, path string) ([]byte, error) {
	return read(f, OpGet, path, func() ([]byte, error) { return f.inner.Get(ctx, path) })
}

// GetRange implements Store.
func (f *Faulty) GetRange(ctx context.Context, path string, off, n int64) ([]byte, error) {
	return read(f, OpGetRange, path, func() ([]byte, error) { return f.inner.GetRange(ctx, path, off, n) })
}

// Head implements Store.
func (f *Faulty) Head(ctx context.Context, path string) (Info, error) {
	return read(f, OpHead, path, func() (Info, error) { return f.inner.Head(ctx, path) })
}

// Put implements Store.
func (f *Faulty) Put(ctx context.Context, path string, data []byte) error {
	return f.write(OpPut, path, func() error { return f.inner.Put(ctx, path, data) })
}

// PutIfAbsent implements Store.
func (f *Faulty) PutIfAbsent(ctx context.Context, path string, data []byte) error {
	return f.write(OpPutIfAbsent, path, func() error { return f.inner.PutIfAbsent(ctx, path, data) })
}

// List implements Store.
func (f *Faulty) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if _, fault := f.begin(OpList, prefix); fault != nil {
			yield(Info{}, fault)
			return
		}
		f.inner.List(ctx, prefix, startAfter)(yield)
	}
}

// Delete implements Store.
func (f *Faulty) Delete(ctx context.Context, path string) error {
	return f.write(OpDelete, path, func() error { return f.inner.Delete(ctx, path) })
}
