package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// assumedRate is the rows per second that an estimate takes when nothing was
// measured yet.
const assumedRate = 90_000

func (p *planning) planStreams(ctx context.Context) error {
	for i := range p.Config.Streams {
		s := &p.Config.Streams[i]
		table := p.Config.Table(s.Table)
		step := p.step(s.Addr, s.Origin, s.To, table.Source, s.Addr)
		if lake := p.lakes[s.To]; lake != nil && !step.Diagnostics.HasErrors() && p.reads(s) {
			if err := p.stream(ctx, lake, s, table, &step); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.fail(&step, err)
			}
		}
		if step.Diagnostics.HasErrors() {
			p.broken[s.Addr] = step.Diagnostics
		}
		if p.wanted(s.Addr) {
			p.out.Steps = append(p.out.Steps, step)
		}
	}
	return nil
}

// stream plans one stream: its bronze table, then what it would read and why.
func (p *planning) stream(ctx context.Context, lake *Lake, s *model.Stream, table *model.Table, step *plan.Step) error {
	source := p.sources[table.Source]
	info, ok := p.info[s.Addr]
	if !ok {
		return fmt.Errorf("source %s did not answer about %s", table.Source, table.Addr)
	}
	if err := p.timeline(ctx, lake, s, table.Source); err != nil {
		return err
	}
	// Diagnostics of a table are relative to the table's body.
	step.Diagnostics = append(step.Diagnostics, table.Origin.Locate(table.Addr, info.Diagnostics)...)
	if step.Diagnostics.HasErrors() {
		if p.logs[s.Addr].Newest < 0 { // all that is to be corrected before the snapshot
			needSnapshot(step)
		}
		return nil
	}
	step.Source = plan.Identity{Database: source.Identity, Table: info.Identity, Schema: schemaText(info.Schema)}
	if err := lake.Identical(ctx, s, source.Database(), info); err != nil {
		return err
	}
	if err := p.unreadable[tableIn{s.To, s.Target}]; err != nil {
		return err
	}
	if err := p.checkBronze(ctx, lake, s); err != nil {
		return err
	}
	spec, err := stream.BronzeSpec(plugin.TableRef{Name: s.Target, Path: s.Path}, info.Schema)
	if err != nil {
		return err
	}
	p.specs[s.Addr] = spec
	if p.wanted(s.Addr) {
		reached, err := p.reached(ctx, lake, s)
		if err != nil {
			return err
		}
		if err := p.drift(ctx, lake, s, table, info, reached, step); err != nil {
			return err
		}
		if names := stillLeftOut(p.tables[s.To][s.Target], info.Schema, info.Discontinued); len(names) > 0 && step.Accepted {
			step.Accepted, step.NotAccepted = false, fmt.Sprintf("%s has no rows, and is to forget first that %s was left out", s.Target, diag.Columns(names))
		}
		spec = leaveOut(spec, p.tables[s.To][s.Target], table, info, reached)
		err = p.table(ctx, lake, s.Addr, spec, len(captured(info.Schema)), info.Key)
		if err := retyped(step, p.tables[s.To][s.Target], s.Target, err); err != nil {
			return err
		}
		p.classify(step.Changes)
	}
	if err := p.streamWork(ctx, lake, s, table, info, step); err != nil {
		return err
	}
	if step.Kind == plan.FullSnapshot {
		needSnapshot(step)
	}
	return nil
}

// needSnapshot makes an error of what the source says that only a snapshot needs: it
// would be refused when it begins, perhaps at night.
func needSnapshot(step *plan.Step) {
	for i := range step.Diagnostics {
		if d := &step.Diagnostics[i]; d.Code == plugin.CodeSnapshotKeys || d.Code == plugin.CodeSnapshotIsolation {
			d.Severity, d.Kind = diag.Error, diag.KindConfiguration
		}
	}
}

func (p *planning) streamWork(ctx context.Context, lake *Lake, s *model.Stream, table *model.Table, info plugin.TableInfo, step *plan.Step) error {
	log := p.logs[s.Addr]
	known, found := false, false
	if s.Bootstrap == model.BootstrapFull {
		var err error
		if known, found, err = p.snapshot(ctx, lake, s, info, log.Newest >= 0); err != nil {
			return err
		}
		if known && !found {
			p.readAgain(s, log, step)
		}
	}
	if log.Newest >= 0 {
		step.Kind, step.Reason = plan.Changes, "it has a position"
		if log.Committed < log.Newest {
			if err := p.describeUnfinished(ctx, lake, s, log, step); err != nil {
				return err
			}
		}
		if s.Bootstrap == model.BootstrapFull && !found {
			step.Kind, step.Reason, step.Pending = plan.FullSnapshot, "no snapshot is in "+s.Target, true
			p.describeSnapshot(info, step)
		}
		return p.describeChanges(ctx, lake, s, info, log, step)
	}
	if s.Bootstrap != model.BootstrapFull {
		step.Kind, step.Reason, step.Pending = plan.Start, "it has no position yet and bootstrap is none", true
		text, err := p.describeStart(ctx, s, table)
		step.Detail = []string{text}
		return err
	}
	if found {
		step.Kind, step.Reason, step.Pending = plan.Start, "a snapshot is in "+s.Target+" already", true
		step.Detail = []string{"changes since that snapshot"}
		return nil
	}
	step.Kind, step.Reason, step.Pending = plan.FullSnapshot, "it has no position yet", true
	p.describeSnapshot(info, step)
	return nil
}

// describeStart says where a stream begins. The source is asked about a position,
// so that one it cannot begin at is told before a table is made; the words for
// its ends it always has.
func (p *planning) describeStart(ctx context.Context, s *model.Stream, table *model.Table) (string, error) {
	from := cmp.Or(s.StartingPosition, "earliest")
	text := "changes from " + from
	if from == "earliest" || from == "latest" {
		return text, nil
	}
	source, err := p.Plugins.Source(ctx, table.Source)
	if err != nil {
		return text, err
	}
	at, err := source.Start(ctx, plugin.StartRequest{Table: SourceTable(table, s), From: from})
	switch {
	case diag.Is(err, diag.KindNotReady): // the run waits for it
		return text, nil
	case err != nil:
		return text, fmt.Errorf("asking for the position to start at: %w", err)
	}
	return "changes after " + instant(at), nil
}

// readAgain asks for a new acceptance: the one that there is was of a snapshot
// that has been taken, and its rows are gone. An acceptance of a second one
// holds until the stream goes on.
func (p *planning) readAgain(s *model.Stream, log state.Log, step *plan.Step) {
	step.ReadAgain = &log.Newest
	accepted := p.accepted[s.To][s.Addr.String()]
	if step.Accepted && (accepted.ReadAgain == nil || *accepted.ReadAgain != log.Newest) {
		step.Accepted, step.NotAccepted = false, "the snapshot that was taken is no longer in "+s.Target
	}
}

func (p *planning) describeSnapshot(info plugin.TableInfo, step *plan.Step) {
	text := "all rows in one snapshot, then changes"
	switch {
	case info.RowsEstimate == 0:
		text = "all rows in one snapshot (statistics say there are none), then changes"
	case info.RowsEstimate > 0:
		text = "about " + quantity.Of(info.RowsEstimate, "row", "rows") + " in one snapshot, then changes"
	}
	step.Detail = append(step.Detail, text)
	var parts []string
	if oldest, ok := info.Oldest.Commit(); ok {
		parts = append(parts, fmt.Sprintf("oldest change kept is %s old", plan.Age(p.Now().Sub(oldest))))
	}
	if info.RowsEstimate >= 0 {
		seconds := max(info.RowsEstimate/assumedRate, 1)
		parts = append(parts, fmt.Sprintf("at %s rows/s (assumed) this takes about %s", quantity.Grouped(assumedRate), plan.Age(time.Duration(seconds)*time.Second)))
	}
	if len(parts) > 0 {
		step.Detail = append(step.Detail, strings.Join(parts, "; "))
	}
}

// describeUnfinished says what becomes of a batch without its commit: it is in
// the hands of a run that holds the stream's lock, or was interrupted or refused.
func (p *planning) describeUnfinished(ctx context.Context, lake *Lake, s *model.Stream, log state.Log, step *plan.Step) error {
	step.Pending = true
	holder, err := p.holder(ctx, lake, s)
	if err != nil {
		return err
	}
	if holder != nil {
		step.Detail = append(step.Detail, fmt.Sprintf("batch %d is in the hands of run %s (process %d on %s)", log.Newest, holder.Run, holder.PID, holder.Host))
		return nil
	}
	step.Detail = append(step.Detail, fmt.Sprintf("batch %d was not finished and is carried out again", log.Newest))
	return nil
}

// describeChanges says how much waits and how close the position is to being
// purged; changes needed next that are purged already are an error.
func (p *planning) describeChanges(ctx context.Context, lake *Lake, s *model.Stream, info plugin.TableInfo, log state.Log, step *plan.Step) error {
	at := CommittedEnd(log)
	switch {
	case log.Committed < log.Newest: // described already
	case info.Pending > 0 && info.Pending >= p.PendingLimit:
		step.Pending = true
		step.Detail = append(step.Detail, quantity.Grouped(p.PendingLimit)+"+ commits wait")
	case info.Pending > 0:
		step.Pending = true
		step.Detail = append(step.Detail, quantity.Of(info.Pending, "commit waits", "commits wait"))
	}
	if oldest, ok := info.Oldest.Commit(); ok {
		if commit, known := at.Commit(); known && commit.After(oldest) {
			step.Detail = append(step.Detail, fmt.Sprintf("its position is %s ahead of the oldest change kept", plan.Age(commit.Sub(oldest))))
		}
	}
	// The position itself was read; what comes right after it must still exist.
	if info.Oldest.IsZero() || at.Text >= info.Oldest.Text || info.Pending == 0 {
		return nil
	}
	return p.checkLoss(ctx, lake, s, info, log, step)
}

func schemaText(schema *arrow.Schema) string {
	var parts []string
	for _, f := range captured(schema) {
		parts = append(parts, f.Name+" "+f.Type.String())
	}
	return strings.Join(parts, ", ")
}

// metadataColumns are the columns of a source's rows that are not captured.
var metadataColumns = []string{
	plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation, plugin.ColumnCommandID, plugin.ColumnCommitTS,
}

func captured(schema *arrow.Schema) []arrow.Field {
	var out []arrow.Field
	for _, f := range schema.Fields() {
		if !slices.Contains(metadataColumns, f.Name) {
			out = append(out, f)
		}
	}
	return out
}
