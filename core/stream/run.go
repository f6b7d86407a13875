package stream

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// trimEvery is after how many batches of one run old offsets are removed.
const trimEvery = 100

func (s *stream) run(ctx context.Context) error {
	log, err := s.begin(ctx)
	if err != nil {
		return err
	}
	next, err := s.resume(ctx, log)
	if err != nil {
		return err
	}
	var target plugin.Position // none: the newest
	for {
		if s.stopped() {
			s.result.Stopped = s.Watch || target.IsZero() || s.result.End.Text != target.Text
			break
		}
		latest, err := s.Source.Latest(ctx, plugin.LatestRequest{Table: s.Table, After: s.result.End, Until: target, MaxCommits: s.MaxCommits})
		if err != nil {
			return fmt.Errorf("asking for the newest position: %w", err)
		}
		if !s.Watch && target.IsZero() {
			target = latest.Newest
		}
		s.report.update(func(p *Progress) { p.Newest = latest.Newest })
		// The first batch of a checkpoint is carried out even when it is empty, so
		// that the facts show a stream that began.
		if latest.End.Text == s.result.End.Text && next > 0 {
			if !s.Watch {
				break
			}
			if err := s.idle(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.advance(ctx, next, latest.End); err != nil {
			return err
		}
		next++
		if next%trimEvery == 0 {
			s.trim(ctx, next-1)
		}
	}
	if s.result.Batches > 0 {
		s.trim(ctx, next-1)
	}
	return nil
}

// begin makes the checks that come before anything is read, and returns how
// far the checkpoint has come.
func (s *stream) begin(ctx context.Context) (state.Log, error) {
	own := s.State.Stream(s.AppID)
	if err := own.Check(ctx, s.identity); err != nil {
		return state.Log{}, err
	}
	if err := own.Renew(ctx, s.identity); err != nil {
		return state.Log{}, err
	}
	generation, err := own.Generation(ctx)
	if err != nil {
		return state.Log{}, err
	}
	s.generation = generation.Number
	s.sinkID = ledger.SinkID(s.AppID, s.generation)
	s.checkpoint = own.Checkpoint(s.generation)
	// The tables first, then the log: what a table records has an offset by then.
	if err := s.lookAtTables(ctx); err != nil {
		return state.Log{}, err
	}
	log, err := s.checkpoint.Load(ctx)
	if err != nil {
		return state.Log{}, err
	}
	if err := s.checkLog(ctx, log); err != nil {
		return state.Log{}, err
	}
	start := generation.Snapshot
	if s.generation == 0 && s.Bootstrap == model.BootstrapFull {
		if start, err = s.bootstrap(ctx, log); err != nil {
			return state.Log{}, err
		}
	}
	switch {
	case log.Newest >= 0: // the log wins over any starting position
		s.result.End = log.Offset.Start
	case !start.IsZero():
		s.result.End = start
	default:
		if s.result.End, err = s.Source.Start(ctx, plugin.StartRequest{Table: s.Table, From: cmp.Or(s.StartingPosition, "earliest")}); err != nil {
			return state.Log{}, fmt.Errorf("finding the starting position: %w", err)
		}
	}
	return log, nil
}

// lookAtTables reads what bronze and facts record of this stream, and brings a
// bronze table of an older layout up to date.
func (s *stream) lookAtTables(ctx context.Context) error {
	states, err := s.Tables.GetTables(ctx, plugin.GetTablesRequest{
		Tables: []plugin.TableRef{s.Bronze, s.Ledger.Facts()},
		AppIDs: []string{s.sinkID, ledger.FactsApp(s.sinkID), ledger.EventsApp(s.AppID), plugin.SnapshotsApp},
	})
	if err != nil {
		return fmt.Errorf("looking at table %s: %w", s.Bronze.Name, err)
	}
	bronze, facts := states[0], states[1]
	if !bronze.Exists {
		return diag.Errorf(diag.KindStale, "stream.no_target", "apply creates it. If it was there before, its rows are gone: restore it. "+plugin.LoadAnew,
			"Table %s does not exist", s.Bronze.Name).Err()
	}
	s.bronze = bronze
	s.bronzeTxn, s.factsTxn, s.eventsTxn = Txn(bronze, s.sinkID), Txn(facts, ledger.FactsApp(s.sinkID)), Txn(facts, ledger.EventsApp(s.AppID))
	spec, err := BronzeSpec(s.Bronze, s.Info.Schema)
	if err != nil {
		return err
	}
	due, err := ledger.Due(bronze, spec, s.Warn)
	if err != nil || !due {
		return err
	}
	if _, err := s.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: bronze.ID}); err != nil {
		return fmt.Errorf("bringing table %s up to date: %w", s.Bronze.Name, err)
	}
	return nil
}

// checkLog compares the checkpoint with what the tables record.
func (s *stream) checkLog(ctx context.Context, log state.Log) error {
	return Reach{
		SinkID: s.sinkID, State: s.State.Place(), Newest: log.Newest, Committed: log.Committed, Checkpoint: s.checkpoint, Bronze: s.Bronze.Name, Forgets: s.bronze.TxnsExpire,
		BronzeTxn: s.bronzeTxn, FactsTxn: s.factsTxn,
	}.Check(ctx, s.Ledger)
}

// resume repeats the batch that a former run did not finish, or makes sure that
// its last verdict was given; it returns the number of the next batch.
func (s *stream) resume(ctx context.Context, log state.Log) (int64, error) {
	if log.Newest < 0 {
		return 0, nil
	}
	if log.Committed < log.Newest {
		return log.Newest + 1, s.batch(ctx, log.Newest, log.Offset)
	}
	s.result.End = log.Offset.End
	return log.Newest + 1, s.moveVerdict(ctx)
}

// advance stores the next offset and carries the batch out.
func (s *stream) advance(ctx context.Context, n int64, end plugin.Position) error {
	if n == 0 {
		if err := s.State.Stream(s.AppID).Claim(ctx, s.identity); err != nil {
			return err
		}
	}
	stored, err := s.checkpoint.PutOffset(ctx, n, state.Offset{Start: s.result.End, End: end})
	if err != nil {
		return fmt.Errorf("storing offset %d: %w", n, err)
	}
	if stored.Start.Text != s.result.End.Text {
		return diag.Errorf(diag.KindInternal, "stream.offsets", "Another run may be working on this stream; run again.",
			"Offset %d of %q starts at %s, not where batch %d ended (%s)", n, s.sinkID, stored.Start.Text, n-1, s.result.End.Text).Err()
	}
	return s.batch(ctx, n, stored)
}

func (s *stream) stopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// idle waits for the next poll. A verdict that failed is tried again meanwhile.
func (s *stream) idle(ctx context.Context) error {
	if err := s.moveVerdict(ctx); err != nil {
		return err
	}
	s.report.update(func(p *Progress) { p.Stage = "idle" })
	poll, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() { // ends with poll, and is waited for below
		defer close(done)
		select {
		case <-s.Stop:
			cancel()
		case <-poll.Done():
		}
	}()
	err := s.Sleep(poll, s.Poll)
	cancel()
	<-done
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.stopped() {
		return nil
	}
	return err
}

// trim removes old offsets; what stays behind after a failure is removed by a
// later run.
func (s *stream) trim(ctx context.Context, newest int64) {
	if err := s.checkpoint.Trim(ctx, newest); err != nil && ctx.Err() == nil {
		s.Warn(diag.Warningf("stream.trim", "A later run does it.", "Old offsets of %q could not be removed: %v", s.sinkID, err))
	}
}

// verdictState is what is known of bronze's verdict.
type verdictState struct {
	stored   *int64
	failures int
	told     time.Time
}

// repeatWarning is how often a watch that cannot move the verdict says so.
const repeatWarning = 10 * time.Minute

// moveVerdict moves bronze's verdict to what the stream's position proves. A
// watch goes on when that fails and tries again with its next batch or poll.
func (s *stream) moveVerdict(ctx context.Context) error {
	candidate, ok := s.Granularity.Candidate(s.result.End)
	if known := s.verdict.stored; known != nil && (!ok || candidate <= *known) {
		return nil // verdicts only move forward, so this one is given already
	}
	verdicts, err := s.Ledger.AdvanceAll(ctx, ledger.Verdict{
		Table: s.Bronze.Name, End: s.result.End, Granularity: s.Granularity, Place: ledger.Place{Path: s.Bronze.Place(), ID: s.bronze.ID},
	})
	if err == nil {
		stored := verdicts[s.Bronze.Name]
		s.verdict = verdictState{stored: stored}
		s.result.Verdict = stored
		return nil
	}
	err = fmt.Errorf("moving the verdict of %s: %w", s.Bronze.Name, err)
	// A name that another table has does not pass: bronze is to stop before more of
	// it stands in facts under that name.
	if !s.Watch || ctx.Err() != nil || diag.HasCode(err, ledger.CodeNameTaken) {
		return err
	}
	s.verdict.failures++
	if now := s.Clock(); s.verdict.failures == 1 || now.Sub(s.verdict.told) >= repeatWarning {
		s.verdict.told = now
		s.Warn(diag.Warningf("stream.verdict", "The rows are there; the next batch tries again.",
			"The verdict of %s did not move (failure %d in a row): %v", s.Bronze.Name, s.verdict.failures, err))
	}
	return nil
}
