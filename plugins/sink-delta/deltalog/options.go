package deltalog

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Clock tells the time and waits. Tests give one that does neither.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, and returns ctx.Err() then.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the clock of the machine.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Retry bounds how long a commit goes on after other writers took its version
// number, or after a storage call failed. Before repetition i (from 0) it waits
// a random time between 0 and min(Max, Base * 2^i). The two are counted apart,
// and a wait for the next number is never longer than a second: the table is
// well, somebody just got through.
type Retry struct {
	// Budget is the time from the first attempt after which no further one is
	// begun.
	Budget time.Duration
	// Base and Max bound the waits.
	Base, Max time.Duration
}

// DefaultRetry begins quickly: a lost version number is settled by trying the
// next.
func DefaultRetry() Retry {
	return Retry{Budget: time.Minute, Base: 25 * time.Millisecond, Max: 10 * time.Second}
}

// longestRace bounds the wait of a commit that only lost its version number.
const longestRace = time.Second

type options struct {
	clock      Clock
	retry      Retry
	random     func() float64
	engine     string
	log        *slog.Logger
	open       func(ctx context.Context, location string) (store.Store, error)
	checkpoint bool
}

func defaultOptions() options {
	return options{
		clock:  systemClock{},
		retry:  DefaultRetry(),
		random: rand.Float64,
		engine: "pipectl",
		log:    slog.New(slog.DiscardHandler),
		open: func(_ context.Context, location string) (store.Store, error) {
			return nil, fmt.Errorf("the table refers to %q outside of its folder, and no way to open other places was given", location)
		},
		checkpoint: true,
	}
}

// Option changes how a table is opened.
type Option func(*options)

// WithClock replaces the system's clock.
func WithClock(c Clock) Option { return func(o *options) { o.clock = c } }

// WithRetry replaces the default of a minute of attempts at most ten seconds
// apart.
func WithRetry(r Retry) Option { return func(o *options) { o.retry = r } }

// WithRandom replaces the source of jitter: numbers in [0,1).
func WithRandom(random func() float64) Option { return func(o *options) { o.random = random } }

// WithEngine sets the engineInfo of commits, for example "pipectl/1.2.0".
func WithEngine(info string) Option { return func(o *options) { o.engine = info } }

// WithLogger sets where warnings go: a checkpoint that could not be written, a
// hint that was ignored.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.log = l } }

// WithOpener says how to open the places that absolute paths in the log name,
// as shallow clones have them. location is a URL of a folder. Without it such
// files are refused.
func WithOpener(open func(ctx context.Context, location string) (store.Store, error)) Option {
	return func(o *options) { o.open = open }
}

// WithoutCheckpoints stops commits from writing checkpoints.
func WithoutCheckpoints() Option { return func(o *options) { o.checkpoint = false } }
