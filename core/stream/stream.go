package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Config is one stream and everything that running it needs.
type Config struct {
	// AppID identifies the stream's writes for ever.
	AppID string
	// Source is the session, Table the table as every call names it.
	Source plugin.Source
	Table  plugin.SourceTable
	// Database is who the source is and Info what the table is, both from Inspect.
	Database plugin.Database
	Info     plugin.TableInfo
	// Tables is the session of the sink, Bronze the table in it. It must exist:
	// BronzeSpec says how.
	Tables plugin.Tables
	Bronze plugin.TableRef
	Ledger *ledger.Ledger
	State  *state.Store
	// Holder is who the lock names.
	Holder state.Holder

	// Bootstrap is one of the model's modes, "" = none.
	Bootstrap string
	// SnapshotKnown tells that the plan found the snapshot, or wants none: when
	// it is not in bronze after all, the run ends with kind stale instead of
	// reading the table.
	SnapshotKnown bool
	// StartingPosition is where a stream without snapshot begins: earliest,
	// latest or a position's text; "" = earliest.
	StartingPosition string
	// MaxCommits bounds a batch; 0 = no bound.
	MaxCommits int
	// SkipLost goes past purged changes instead of failing.
	SkipLost    bool
	Granularity ledger.Granularity

	// Watch keeps going after the newest position; without it the run ends at
	// the position that was the newest when it began. Poll is the pause of an
	// idle watch; 0 = a second.
	Watch bool
	Poll  time.Duration
	// Stop, when closed, ends the run after the batch in hand.
	Stop <-chan struct{}
	// Slots bounds the reads that run at once, over all streams that share it;
	// nil = what source and sink serve. See NewSlots.
	Slots Slots

	// Progress hears how far the run is; calls come one at a time and must
	// return at once. Warn hears what a person should know. Both may be nil.
	Progress func(Progress)
	Warn     func(diag.Diagnostic)

	// Clock, Sleep and Random stand for the world in tests; nil = the real one.
	Clock  func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Slots is a bound on concurrent reads; see NewSlots.
type Slots chan struct{}

// NewSlots returns a bound of min(reads of the source, parts of the sink), at
// least one. A read and its part take one slot together, so that neither ever
// waits for its partner's turn.
func NewSlots(source, sink plugin.Limits) Slots {
	return make(Slots, max(min(source.MaxReads, sink.MaxParts), 1))
}

// Result is what a run did.
type Result struct {
	// Batches and Rows count what this run carried, replays included.
	Batches, Rows int64
	// SnapshotRows is the size of the snapshot that this run took, -1 when none.
	SnapshotRows int64
	// End is where the stream stands.
	End plugin.Position
	// Verdict is bronze's, microseconds UTC, nil when none.
	Verdict *int64
	// Stopped is true when Stop ended the run before it came to its end.
	Stopped bool
}

// Progress is how far a run is.
type Progress struct {
	// Stage is "snapshot", "changes" or "idle".
	Stage string
	// Batch is the number of the batch in hand, -1 in a snapshot.
	Batch int64
	// Rows counts the rows relayed in this run, RowsTotal what a snapshot will
	// have, -1 when unknown.
	Rows, RowsTotal int64
	// Rate is rows per second of this run so far.
	Rate float64
	// Position is where the stream stands, Newest the source's newest position
	// known; Lag is the time between them, nil when it is not known.
	Position, Newest plugin.Position
	Lag              *time.Duration
}

// stream is one run.
type stream struct {
	Config
	sinkID     string
	generation int
	checkpoint *state.Checkpoint
	identity   state.Identity

	bronze     plugin.TableState
	bronzeTxn  int64 // newest batch that bronze records, -1 when none
	factsTxn   int64 // newest batch that the facts record, -1 when none
	eventsTxn  int64 // newest snapshot event that the facts record, -1 when none
	result     Result
	unmeasured bool // warned that the source measures nothing

	verdict verdictState
	report  reporter
}

// Run brings the stream up to the newest position of the source, or keeps it
// there (Watch). It takes the stream's lock. Every error leaves a state from
// which the next run goes on; errors of kind conflict, transient and
// unavailable may go away by themselves.
func Run(ctx context.Context, cfg Config) (result Result, err error) {
	s, err := newStream(cfg)
	if err != nil {
		return Result{SnapshotRows: -1}, err
	}
	lock, err := s.State.Lock(ctx, s.AppID, s.Holder)
	if err != nil {
		return s.result, err
	}
	held, release := lock.Keep(ctx)
	defer func() {
		if rerr := release(); err == nil {
			err = rerr
		}
	}()
	err = s.run(held)
	if cause := context.Cause(held); err != nil && cause != nil {
		// Say why the run was cancelled, not that it was. A lock that was lost
		// explains whatever failed after it.
		if errors.Is(err, context.Canceled) || !errors.Is(cause, context.Canceled) {
			err = cause
		}
	}
	return s.result, err
}

func newStream(cfg Config) (*stream, error) {
	s := &stream{Config: cfg, result: Result{SnapshotRows: -1}}
	if s.Bootstrap == "" {
		s.Bootstrap = model.BootstrapNone
	}
	if s.Bootstrap != model.BootstrapNone && s.StartingPosition != "" {
		return nil, diag.Errorf(diag.KindConfiguration, "stream.start", "Leave one of them out: a stream with a snapshot starts where the snapshot was taken.",
			"bootstrap = %q and starting_position = %q exclude each other", s.Bootstrap, s.StartingPosition).At("starting_position").Err()
	}
	if s.Bootstrap != model.BootstrapNone && s.Bootstrap != model.BootstrapFull {
		return nil, diag.Errorf(diag.KindConfiguration, "stream.bootstrap", "Allowed are none and full.",
			"bootstrap = %q is not built yet", s.Bootstrap).At("bootstrap").Err()
	}
	var err error
	if s.Granularity, err = ledger.ParseGranularity(string(s.Granularity)); err != nil {
		return nil, err
	}
	if err := s.Info.Diagnostics.Err(); err != nil {
		return nil, err
	}
	if s.Info.Schema == nil {
		return nil, fmt.Errorf("the source does not say what rows of %s look like", s.Info.Object)
	}
	if s.Slots == nil {
		s.Slots = NewSlots(s.Source.Limits(), s.Tables.Limits())
	}
	if s.Poll == 0 {
		s.Poll = time.Second
	}
	if s.Warn == nil {
		s.Warn = func(diag.Diagnostic) {}
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.Sleep == nil {
		s.Sleep = sleep
	}
	s.identity = state.Identity{Target: s.Bronze.Name, Source: s.Database.Identity, Alias: s.Database.Alias, Table: s.Info.Identity, Object: s.Info.Object}
	s.report = reporter{clock: s.Clock, hear: s.Progress, started: s.Clock(), now: Progress{Batch: -1, RowsTotal: -1}}
	return s, nil
}

// reporter keeps the progress of a run; several reads add to it at once.
type reporter struct {
	clock   func() time.Time
	hear    func(Progress)
	started time.Time

	mu  sync.Mutex
	now Progress
}

// update changes the progress and tells it.
func (r *reporter) update(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.now)
	if seconds := r.clock().Sub(r.started).Seconds(); seconds > 0 {
		r.now.Rate = float64(r.now.Rows) / seconds
	}
	r.now.Lag = nil
	at, known := r.now.Position.Commit()
	newest, reached := r.now.Newest.Commit()
	if known && reached {
		lag := max(newest.Sub(at), 0)
		r.now.Lag = &lag
	}
	if r.hear != nil {
		r.hear(r.now)
	}
}
