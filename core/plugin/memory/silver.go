package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// Silver is a silver that keeps the current row per key by ranking all of
// bronze since its newest complete snapshot in every run: slow and plainly
// right, for tests of what calls it.
type Silver struct{}

// Close releases nothing.
func (Silver) Close() error { return nil }

// PlanSilver wants the target to hold bronze's captured columns.
func (Silver) PlanSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host) (plugin.SilverPlan, error) {
	plan := plugin.SilverPlan{Tables: []plugin.TableSpec{{Table: req.Target, Schema: targetSchema(req.InputSchema), Layout: plugin.LayoutMerge}}}
	states, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Input}})
	if err != nil {
		return plan, fmt.Errorf("looking at %q: %w", req.Input.Name, err)
	}
	if states[0].Exists {
		plan.Pending = "apply"
	}
	return plan, nil
}

// targetSchema is bronze's captured columns: those that no contract name, all
// of which begin with an underscore, belongs to.
func targetSchema(bronze *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, f := range bronze.Fields() {
		if !strings.HasPrefix(f.Name, "_") {
			fields = append(fields, f)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// RunSilver ranks, merges and reports the position.
func (Silver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	result := plugin.SilverResult{Version: -1}
	view, err := host.Ledger.ReadLedger(ctx, req.Target.Name)
	if err != nil {
		return result, fmt.Errorf("reading the ledger of %q: %w", req.Target.Name, err)
	}
	states, err := host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Input, req.Target}})
	if err != nil {
		return result, fmt.Errorf("looking at %q: %w", req.Input.Name, err)
	}
	if !states[0].Exists {
		return result, nil
	}
	result.BronzeFound = true
	result.Rebuilt = view.Snapshot != "" && view.Snapshot != view.Position.RebuiltFrom
	if progress != nil {
		progress(plugin.Progress{Stage: "rank", RowsTotal: states[0].Rows})
	}
	current, greatest, read, err := rankBronze(ctx, req, view, host.Tables, states[0].Version)
	if err != nil {
		return result, err
	}
	result.RowsRead = read
	commit, err := replaceTarget(ctx, req, host.Tables, current)
	if err != nil {
		return result, err
	}
	result.Inserted, result.Updated, result.Deleted, result.Version = commit.Inserted, commit.Updated, commit.Deleted, commit.Version
	result.Position = plugin.TargetPosition{Applied: max(greatest, view.Position.Applied), RebuiltFrom: view.Snapshot}
	if view.Open != nil {
		result.Position.Open = view.Open.Snapshot
	}
	result.Verdict, err = host.Ledger.Advance(ctx, plugin.AdvanceRequest{Target: req.Target.Name, Position: result.Position, HoldVerdict: view.Open != nil})
	if err != nil {
		return result, fmt.Errorf("advancing %q: %w", req.Target.Name, err)
	}
	return result, nil
}

type ranked struct {
	lsn, seqval string
	deleted     bool
	row         []cell
}

// rankBronze finds the last row per key among the rows of bronze that count.
func rankBronze(ctx context.Context, req plugin.SilverRequest, view plugin.LedgerView, tables plugin.Tables, version int64) (map[string]ranked, string, int64, error) {
	frames, err := tables.Scan(ctx, plugin.ScanRequest{Table: req.Input, Version: version, Filter: plugin.Filter{Any: []plugin.Clause{{All: []plugin.Term{{
		Column: plugin.ColumnStartLSN, Op: plugin.OpGE, Literals: []plugin.Literal{{Type: plugin.LiteralString, Text: view.Snapshot}},
	}}}}}})
	if err != nil {
		return nil, "", 0, fmt.Errorf("scanning %q: %w", req.Input.Name, err)
	}
	reader, err := rows.NewReader(frames, memory.DefaultAllocator)
	if err != nil {
		return nil, "", 0, fmt.Errorf("scanning %q: %w", req.Input.Name, err)
	}
	schema := reader.Schema()
	column := func(name string) int { return schema.FieldIndices(name)[0] }
	keys, captured := columnsOf(schema, req.Key), columnsOf(schema, fieldNames(targetSchema(schema)))
	best, greatest, read := map[string]ranked{}, "", int64(0)
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error {
		for _, row := range cellsOf(batch) {
			lsn, _ := row[column(plugin.ColumnStartLSN)].(string)
			operation := row[column(plugin.ColumnOperation)]
			if lsn < view.Snapshot || !req.Until.IsZero() && lsn > req.Until.Text || operation == int64(plugin.OpUpdateBefore) {
				continue
			}
			read++
			if operation != int64(plugin.OpSnapshot) {
				greatest = max(greatest, lsn)
			}
			seqval, _ := row[column(plugin.ColumnSeqval)].(string)
			key := keyOf(row, keys)
			if old, ok := best[key]; ok && (old.lsn > lsn || old.lsn == lsn && old.seqval > seqval) {
				continue
			}
			kept := make([]cell, len(captured))
			for i, c := range captured {
				kept[i] = row[c]
			}
			best[key] = ranked{lsn: lsn, seqval: seqval, deleted: operation == int64(plugin.OpDelete), row: kept}
		}
		return nil
	})
	if err != nil {
		return nil, "", 0, fmt.Errorf("ranking %q: %w", req.Input.Name, err)
	}
	return best, greatest, read, nil
}

func fieldNames(schema *arrow.Schema) []string {
	var out []string
	for _, f := range schema.Fields() {
		out = append(out, f.Name)
	}
	return out
}

// replaceTarget makes the target hold exactly the ranked rows, by a merge.
func replaceTarget(ctx context.Context, req plugin.SilverRequest, tables plugin.Tables, current map[string]ranked) (plugin.CommitResult, error) {
	schema := targetSchema(req.InputSchema)
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: req.Target, Mode: plugin.WriteMerge, Schema: schema, MergeSchema: true, BaseVersion: -1,
		Merge: &plugin.Merge{Keys: req.Key, DeleteAbsent: true},
	})
	if err != nil {
		return plugin.CommitResult{}, fmt.Errorf("opening a merge into %q: %w", req.Target.Name, err)
	}
	var list [][]cell
	for _, key := range slices.Sorted(maps.Keys(current)) {
		if !current[key].deleted {
			list = append(list, current[key].row)
		}
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, stream(ctx, schema, allColumns(schema), list, nil))
	if err != nil {
		return plugin.CommitResult{}, fmt.Errorf("writing to %q: %w", req.Target.Name, err)
	}
	result, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}})
	if err != nil {
		return plugin.CommitResult{}, fmt.Errorf("committing to %q: %w", req.Target.Name, err)
	}
	return result, nil
}
