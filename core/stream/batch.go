package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// batch carries out steps 3 to 9 for a stored offset. Every step finds out by
// itself whether it was done before.
func (s *stream) batch(ctx context.Context, n int64, offset state.Offset) error {
	s.report.update(func(p *Progress) { p.Stage, p.Batch, p.Position = "changes", n, offset.Start })
	// Facts are written after the rows: when they are there, only what follows
	// them is left, and the changes may be purged by now.
	if s.factsTxn < n {
		done, err := s.carry(ctx, n, offset)
		if err != nil {
			return fmt.Errorf("batch %d of %s: %w", n, s.sinkID, err)
		}
		if err := s.Ledger.RecordBatches(ctx, done); err != nil {
			return fmt.Errorf("batch %d of %s: %w", n, s.sinkID, err)
		}
		s.factsTxn = n
		s.result.Rows += done.Counts.Rows
	}
	if err := s.checkpoint.PutCommit(ctx, n, s.bronzeTxn); err != nil {
		return fmt.Errorf("marking batch %d of %s as done: %w", n, s.sinkID, err)
	}
	s.result.Batches++
	s.result.End = offset.End
	s.report.update(func(p *Progress) { p.Position = offset.End })
	return s.moveVerdict(ctx)
}

// carry plans, reads and appends the rows of a batch.
func (s *stream) carry(ctx context.Context, n int64, offset state.Offset) (ledger.Batch, error) {
	out := ledger.Batch{AppID: s.sinkID, Number: n, Target: s.Bronze.Name}
	var plan plugin.BatchPlan
	if offset.Start.Text != offset.End.Text {
		var err error
		plan, err = s.Source.PlanBatch(ctx, plugin.PlanBatchRequest{
			Table: s.Table, Start: offset.Start, End: offset.End, SkipLost: s.SkipLost,
		})
		if err != nil {
			return out, fmt.Errorf("planning: %w", err)
		}
	}
	if err := s.accepts(plan.Discontinued); err != nil {
		return out, err
	}
	for _, e := range plan.Events {
		s.Warn(diag.Warningf("stream."+e.Name, eventWords(e), "%s: %s at %s", s.Info.Object, strings.ReplaceAll(e.Name, "_", " "), e.Position.Text))
	}
	for _, w := range plan.Warnings {
		s.Warn(w)
		if !slices.Contains(out.Warnings, w.Summary) {
			out.Warnings = append(out.Warnings, w.Summary)
		}
	}
	out.Events = plan.Events
	out.StartedAt = s.Clock()
	if len(plan.Ranges) > 0 {
		if err := s.write(ctx, plan, &out); err != nil {
			return out, err
		}
	}
	s.warnOfEarlierCommits(&out)
	out.Duration = s.Clock().Sub(out.StartedAt)
	if out.Counts.Rows > 0 && len(out.Metrics) == 0 && !s.unmeasured {
		s.unmeasured = true
		s.Warn(diag.Warningf("stream.no_metrics", "Lag and headroom of its facts rows are NULL.", "The source of %s measures nothing", s.Info.Object))
	}
	return out, nil
}

// warnOfEarlierCommits tells that commits came with times before the verdict, as
// when the source's clock was set back, or another server with a clock behind took
// over: a period that was final has got rows. Positions still order them, so
// tables are right; only the verdict, which does not move back, was early.
func (s *stream) warnOfEarlierCommits(out *ledger.Batch) {
	if s.verdict.stored == nil || out.Counts.Rows == 0 {
		return
	}
	for _, p := range []plugin.Position{out.Counts.Least, out.Counts.Greatest} {
		at, known := p.Commit()
		if !known || at.UnixMicro() >= *s.verdict.stored {
			continue
		}
		w := diag.Warningf("stream.earlier_commits", "The source's clock was set back, or a server with a clock behind took over. The rows are in; jobs that read the period as final before lack them.",
			"%s has commits of %s, and %s was final until %s before they came", s.Info.Object, at.Format(commitTime), s.Bronze.Name, time.UnixMicro(*s.verdict.stored).UTC().Format(commitTime))
		s.Warn(w)
		out.Warnings = append(out.Warnings, w.Summary)
		return
	}
}

// commitTime is how commit times are told, UTC.
const commitTime = "2006-01-02 15:04:05.000"

// write is steps 4 to 6.
func (s *stream) write(ctx context.Context, plan plugin.BatchPlan, out *ledger.Batch) error {
	schema, err := withSinkColumns(plan.Schema)
	if err != nil {
		return err
	}
	begun, err := s.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: s.Bronze, Mode: plugin.WriteAppend, Schema: schema, MergeSchema: true,
		Txns:      []plugin.Txn{{AppID: s.sinkID, Version: out.Number}},
		RequireID: s.bronze.ID, BaseVersion: -1,
	})
	if err != nil {
		return fmt.Errorf("writing to %s: %w", s.Bronze.Name, err)
	}
	reads := make([]plugin.ReadRequest, len(plan.Ranges))
	for i, r := range plan.Ranges {
		reads[i] = plugin.ReadRequest{Table: s.Table, Range: r}
	}
	// A write that is done already is read again without a part: the facts need
	// its counts.
	into := target{writeID: begun.WriteID, constants: batchConstants(out.Number), discard: begun.Already}
	ends, tokens, err := s.relay(ctx, into, reads)
	if err != nil {
		s.abort(ctx, into)
		return err
	}
	for _, end := range ends {
		out.Counts.Add(end)
		out.Events = append(out.Events, end.Events...)
		if end.Metrics != nil {
			out.Metrics = append(out.Metrics, *end.Metrics)
		}
	}
	if out.Counts.Rows == 0 {
		s.abort(ctx, into)
		return nil
	}
	if _, err := s.commit(ctx, into, tokens, ledger.BatchMetadata(*out)); err != nil {
		return err
	}
	s.bronzeTxn = max(s.bronzeTxn, out.Number)
	return nil
}

// abort drops the files of a write; they are found as unreferenced otherwise.
func (s *stream) abort(ctx context.Context, into target) {
	if into.discard {
		return
	}
	if err := s.Tables.Abort(context.WithoutCancel(ctx), into.writeID); err != nil && ctx.Err() == nil {
		s.Warn(diag.Warningf("stream.abort", "Files that no commit names may stay behind; they are no part of the table.",
			"A write to %s was given up and could not be cleaned up: %s", s.Bronze.Name, diag.FromError(err)[0].Summary))
	}
}

// commit makes the parts durable. A commit whose answer was lost is asked for
// again: the sink then says how it ended.
func (s *stream) commit(ctx context.Context, into target, tokens []string, metadata string) (plugin.CommitOutcome, error) {
	if into.discard {
		return plugin.Nothing, nil
	}
	var committed plugin.CommitResult
	err := s.retry(ctx, func() (err error) {
		committed, err = s.Tables.Commit(ctx, plugin.CommitRequest{WriteID: into.writeID, Tokens: tokens, UserMetadata: metadata})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("committing to %s: %w", s.Bronze.Name, err)
	}
	return committed.Outcome, nil
}
