package memory

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// Check is a check that compares row counts only, for tests of what calls it.
type Check struct{}

// Close releases nothing.
func (Check) Close() error { return nil }

// PlanCheck plans one comparison.
func (Check) PlanCheck(context.Context, plugin.CheckRequest, plugin.Host) (plugin.CheckPlan, error) {
	return plugin.CheckPlan{Summary: "row counts compared"}, nil
}

// RunCheck counts the source and silver, and looks again for a source that
// moved meanwhile: then it cannot tell.
func (Check) RunCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	result := plugin.CheckResult{RunID: "memory", Buckets: 1, Failures: map[string]int64{}, SilverVersion: -1}
	view, err := host.Ledger.ReadLedger(ctx, req.Silver.Name)
	if err != nil {
		return result, fmt.Errorf("reading the ledger of %q: %w", req.Silver.Name, err)
	}
	result.SilverApplied = view.Position.Applied
	states, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Silver}})
	if err != nil {
		return result, fmt.Errorf("looking at %q: %w", req.Silver.Name, err)
	}
	result.SilverVersion = states[0].Version
	stamp, err := host.Source.Stamp(ctx, req.Source)
	if err != nil {
		return result, fmt.Errorf("reading the position of %q: %w", req.Object, err)
	}
	result.SourceEnd = stamp.Text
	frames, err := host.Source.Aggregate(ctx, plugin.AggregateRequest{Table: req.Source, Kind: plugin.AggregateCount, Keys: req.Key})
	if err == nil {
		result.SourceRows, err = firstInt(frames)
	}
	if err != nil {
		return result, fmt.Errorf("counting %q: %w", req.Object, err)
	}
	if states[0].Exists {
		frames, err = host.Tables.Scan(ctx, plugin.ScanRequest{Table: req.Silver, Version: states[0].Version, Columns: req.Key})
		if err == nil {
			result.SilverRows, err = countRows(frames)
		}
		if err != nil {
			return result, fmt.Errorf("counting %q: %w", req.Silver.Name, err)
		}
	}
	if events.Progress != nil {
		events.Progress(plugin.Progress{Stage: "count", Rows: result.SourceRows, RowsTotal: result.SourceRows})
	}
	result.Outcome, result.Match = plugin.Equal, 1
	if result.SourceRows != result.SilverRows {
		finding := plugin.Finding{Kind: "MISMATCH", Detail: fmt.Sprintf("%d rows at the source, %d in silver", result.SourceRows, result.SilverRows)}
		result.Outcome, result.Match, result.Mismatch = plugin.Different, 0, 1
		if after, err := host.Source.Stamp(ctx, req.Source); err != nil {
			return result, fmt.Errorf("reading the position of %q again: %w", req.Object, err)
		} else if after.Text != view.Position.Applied && after.Text > view.Position.Applied {
			finding.Kind = "IN_FLIGHT"
			result.Outcome, result.Mismatch, result.InFlight = plugin.Undecided, 0, 1
		}
		result.Failures[finding.Kind]++
		if events.Finding != nil {
			events.Finding(finding)
		}
	}
	return result, nil
}

// firstInt reads the one number of an aggregate.
func firstInt(frames plugin.FrameReader) (int64, error) {
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return 0, err
	}
	var n int64
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error {
		column, ok := batch.Column(0).(*array.Int64)
		if !ok || column.Len() != 1 {
			return fmt.Errorf("an aggregate answered %v", batch.Schema())
		}
		n = column.Value(0)
		return nil
	})
	return n, err
}

func countRows(frames plugin.FrameReader) (int64, error) {
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return 0, err
	}
	end, err := reader.ForEach(func(arrow.RecordBatch) error { return nil })
	return end.Rows, err
}
