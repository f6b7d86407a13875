package ledger

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Options name the tables of a ledger and what it takes from the world.
type Options struct {
	// Facts and Control are the dotted names.
	Facts, Control string
	// Warn hears what a person should know and nobody must act on at once.
	Warn func(diag.Diagnostic)
	// Clock is the wall clock; nil = time.Now.
	Clock func() time.Time
	// Sleep waits before a write is tried again; nil waits on a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random draws from [0, 1); nil = math/rand.
	Random func() float64
}

// Ledger is the facts and control tables of one sink. It may be used by
// several goroutines.
type Ledger struct {
	tables         plugin.Tables
	facts, control plugin.TableRef
	warn           func(diag.Diagnostic)
	clock          func() time.Time
	sleep          func(context.Context, time.Duration) error
	random         func() float64

	mu     sync.Mutex          // guards opened; never held while calling the sink
	opened map[string]struct{} // tables ready to be written

	// One goroutine at a time writes to each table, since they would only get in
	// each other's way: every write to control rewrites the same file, and of
	// appends to facts all but one would lose the number of their commit.
	factsTurn, controlTurn turn
}

// turn is held by who has sent into it.
type turn chan struct{}

// New returns the ledger of a sink; it touches nothing yet.
func New(tables plugin.Tables, opts Options) *Ledger {
	l := &Ledger{
		tables: tables,
		facts:  plugin.TableRef{Name: opts.Facts}, control: plugin.TableRef{Name: opts.Control},
		warn: opts.Warn, clock: opts.Clock, sleep: opts.Sleep, random: opts.Random,
		opened:    map[string]struct{}{},
		factsTurn: make(turn, 1), controlTurn: make(turn, 1),
	}
	if l.warn == nil {
		l.warn = func(diag.Diagnostic) {}
	}
	if l.clock == nil {
		l.clock = time.Now
	}
	if l.sleep == nil {
		l.sleep = sleep
	}
	if l.random == nil {
		l.random = rand.Float64
	}
	return l
}

// Facts names the facts table.
func (l *Ledger) Facts() plugin.TableRef { return l.facts }

// Control names the control table.
func (l *Ledger) Control() plugin.TableRef { return l.control }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Writes that lose to another commit are tried again: before try i (from 0) a
// pause of 0 to min(10, 0.5 x 2^i) seconds, none that would end later than a
// minute after the first try.
const (
	retryBudget  = time.Minute
	retryLongest = 10 * time.Second
	retryFirst   = 500 * time.Millisecond
)

// retry carries out write until it ends with something else than a conflict.
// Every write of the ledger may be repeated, because it carries a key or only
// moves forward.
func (l *Ledger) retry(ctx context.Context, write func() error) error {
	deadline := l.clock().Add(retryBudget)
	longest := retryFirst
	for {
		err := write()
		if !diag.Is(err, diag.KindConflict) {
			return err
		}
		left := deadline.Sub(l.clock())
		if left <= 0 {
			return err
		}
		if serr := l.sleep(ctx, min(left, time.Duration(l.random()*float64(longest)))); serr != nil {
			return serr
		}
		longest = min(2*longest, retryLongest)
	}
}

// retryAlone is retry for writes to a table of which the ledger makes one at a
// time. The turn goes to others while it pauses. The wait for the first turn,
// which is as long as others write, takes nothing from the time for tries.
func (l *Ledger) retryAlone(ctx context.Context, mine turn, write func() error) error {
	if err := mine.take(ctx); err != nil {
		return err
	}
	held := true
	return l.retry(ctx, func() error {
		if !held {
			if err := mine.take(ctx); err != nil {
				return err
			}
		}
		defer func() { <-mine; held = false }()
		return write()
	})
}

// take waits for the turn.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
