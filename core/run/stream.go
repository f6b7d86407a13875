package run

import (
	"context"
	"math"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// listener follows a stream; calls come one at a time.
type listener struct {
	// moved hears that the position moved, works that a batch was carried out or
	// that there is none to carry out.
	moved, works func()
	// waits hears that the source does not answer, answered that it does again; its
	// answer is whether somebody was told of that.
	waits    func(error)
	answered func() bool
	// heard hears of every call of the source that was answered.
	heard func()
}

// stream brings a stream up to the newest position, or keeps it there; the
// listener may be nil.
func (x *execution) stream(ctx context.Context, a addr.Address, r *StepResult, watch bool, l *listener) error {
	s := x.Config.Stream(a)
	cfg, err := x.streamConfig(ctx, s)
	if err != nil {
		return err
	}
	cfg.Watch, cfg.Poll = watch, x.Poll
	attention := x.attend(a, x.Config.Table(s.Table).Source, tableIn(s.Target, s.To), l)
	defer attention.end()
	cfg.Source = askedSource{Source: cfg.Source, object: cfg.Info.Object, attention: attention}
	if l != nil {
		cfg.Source = askingSource{Source: cfg.Source, until: x.untilStopped}
	}
	// Only what was planned, and so accepted, reads a whole table, and that once.
	cfg.SnapshotKnown = r.Kind != plan.FullSnapshot || hasSnapshot(r.Stream)
	cfg.Warn = x.warn(r)
	at, stage := "", ""
	cfg.Progress = func(p stream.Progress) {
		if p.Stage == stageIdle {
			attention.rests()
		} else {
			attention.comes(sign{p.Stage, p.Rows, p.Batch, p.Position.Text})
		}
		x.tell(Event{
			Kind: StepProgress, Address: a, Stage: p.Stage, Rows: p.Rows, RowsTotal: p.RowsTotal, Rate: p.Rate,
			Position: p.Position, Batch: p.Batch, Lag: p.Lag,
		})
		if l == nil {
			return
		}
		if p.Stage == stageIdle || at != "" && p.Position.Text != at {
			l.works()
		}
		// A snapshot has its position from its first row on, and is there when
		// something else follows it.
		if p.Position.Text != at || stage == "snapshot" && p.Stage != stage {
			l.moved()
		}
		at, stage = p.Position.Text, p.Stage
	}
	result := stream.Result{SnapshotRows: -1}
	err = x.onTimeline(ctx, a, func(ctx context.Context) error {
		result, err = stream.Run(ctx, cfg)
		return err
	})
	if r.Stream != nil { // a repeated step adds up
		result.Batches += r.Stream.Batches
		result.Rows += r.Stream.Rows
		result.SnapshotRows = max(result.SnapshotRows, r.Stream.SnapshotRows)
		if result.End.IsZero() { // it did not come so far as to know
			result.End = r.Stream.End
		}
	}
	r.Stream = &result
	return err
}

// stageIdle is the stage of a stream that waits for changes.
const stageIdle = "idle"

// tableIn names a table of a sink, for people.
func tableIn(target string, sink addr.Address) string { return target + " in " + sink.String() }

// hasSnapshot reports whether bronze held the whole snapshot at the end of an
// earlier try: it stands somewhere, or has appended rows and recorded nothing yet.
func hasSnapshot(earlier *stream.Result) bool {
	return earlier != nil && (!earlier.End.IsZero() || earlier.SnapshotRows > 0)
}

func (x *execution) streamConfig(ctx context.Context, s *model.Stream) (stream.Config, error) {
	table := x.Config.Table(s.Table)
	lake, err := x.lake(s.Addr)
	if err != nil {
		return stream.Config{}, err
	}
	source, err := x.Plugins.Source(ctx, table.Source)
	if err != nil {
		return stream.Config{}, err
	}
	info, err := x.info(s)
	if err != nil {
		return stream.Config{}, err
	}
	return stream.Config{
		AppID: s.AppID, Source: source, Table: planner.SourceTable(table, s), Database: info.database, Info: info.info,
		Tables: lake.Tables, Bronze: plugin.TableRef{Name: s.Target, Path: s.Path}, Ledger: lake.Ledger, State: lake.State,
		Holder: x.Holder, Bootstrap: s.Bootstrap, StartingPosition: s.StartingPosition, MaxCommits: s.MaxCommitsPerBatch,
		Granularity: ledger.Granularity(s.Granularity), Stop: x.Stop, Clock: x.Clock, Sleep: x.Sleep,
		Slots: x.slotsOf(table.Source, source),
	}, nil
}

// slotsOf bounds the reads of one source over all streams, whichever sinks they
// write to: its connections are there once. No sink that takes rows of the
// source in this run gets more parts at a time than it can serve.
func (x *execution) slotsOf(source addr.Address, from plugin.Source) stream.Slots {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slots := x.slots[source]; slots != nil {
		return slots
	}
	limits := plugin.Limits{MaxParts: math.MaxInt}
	for i := range x.Config.Streams {
		s := &x.Config.Streams[i]
		if lake := x.Lakes[s.To]; lake != nil && x.results[s.Addr] != nil && x.Config.Table(s.Table).Source == source {
			limits.MaxParts = min(limits.MaxParts, lake.Tables.Limits().MaxParts)
		}
	}
	x.slots[source] = stream.NewSlots(from.Limits(), limits)
	return x.slots[source]
}
