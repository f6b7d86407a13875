package silver

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

// actionColumn tells the sink what to do with a row; it is not stored.
const actionColumn = "__pipectl_action"

// application carries out one decision: select, rank, merge.
type application struct {
	current  *current
	req      plugin.SilverRequest
	host     plugin.Host
	view     plugin.LedgerView
	bronze   plugin.TableState
	taken    plugin.Txn // bronze's newest whole snapshot
	known    bool       // silver has recorded it
	base     base
	shape    bronzeShape
	decision decision
	progress func(plugin.Progress)

	selection *selection
}

// run merges in one commit and fills the result's counts. Without anything to
// do silver gets no commit.
func (a *application) run(ctx context.Context, result *plugin.SilverResult) error {
	a.selection = &selection{decision: a.decision, shape: a.shape, instances: a.req.Instances, bronze: a.req.Input.Name, alloc: a.current.alloc}
	ranked := rankedSchema(a.shape, a.bronze.Schema)
	ranker, err := latest.New(ranked, latest.Options{
		Keys: a.req.Key, Order: a.order(), Budget: a.current.budget, SpillDir: a.current.spillDir, Allocator: a.current.alloc, Moves: a.moves(),
	})
	if err != nil {
		return err
	}
	defer ranker.Close()
	if !a.shape.commands {
		result.Diagnostics = append(result.Diagnostics, diag.Warningf("silver.no_command_id",
			"Several statements of one transaction on one row are then ordered by sequence alone.", "%s has no %s", a.req.Input.Name, plugin.ColumnCommandID))
	}
	if err := a.scan(ctx, ranker, ranked); err != nil {
		return err
	}
	result.RowsRead = a.selection.rows
	if !a.due() {
		return nil
	}
	committed, err := a.merge(ctx, ranker, ranked)
	if err != nil {
		return err
	}
	result.Rebuilt = a.decision.rebuild
	result.Inserted, result.Updated, result.Deleted = committed.Inserted, committed.Updated, committed.Deleted
	result.Version = committed.Version
	a.base.applied++
	return nil
}

// due reports whether there is something to merge. A rebuild without rows has to
// be made where the target has some: those are of whoever wrote it before, and
// the verdict must not be given over them.
func (a *application) due() bool {
	return a.selection.rows > 0 || a.decision.fromSnapshot() || a.decision.rebuild && a.base.rows != 0
}

// position is where the target stands after what was selected.
func (a *application) position() plugin.TargetPosition {
	return a.decision.position(a.view.Position, a.view, a.selection.top)
}

// lastMerge is the number of the target's last merge, nil before the first that
// was counted.
func (a *application) lastMerge() *int64 {
	if a.base.applied < 0 {
		return nil
	}
	return &a.base.applied
}

func (a *application) order() latest.Order {
	o := latest.Order{Position: plugin.ColumnStartLSN, Sequence: plugin.ColumnSeqval, Operation: plugin.ColumnOperation}
	if a.shape.commands {
		o.Command = plugin.ColumnCommandID
	}
	return o
}

func (a *application) scan(ctx context.Context, ranker *latest.Ranker, ranked *arrow.Schema) error {
	frames, err := a.host.Tables.Scan(ctx, plugin.ScanRequest{
		Table: a.req.Input, Version: a.bronze.Version, Columns: a.shape.scanColumns(), Filter: a.decision.filter(a.shape),
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", a.req.Input.Name, err)
	}
	reader, err := rows.NewReader(frames, a.current.alloc)
	if err != nil {
		return fmt.Errorf("reading %s: %w", a.req.Input.Name, err)
	}
	_, err = reader.ForEach(func(batch arrow.RecordBatch) error {
		kept, err := a.selection.keep(batch, ranked)
		if err != nil || kept == nil {
			return err
		}
		defer kept.Release()
		a.tell("scan", a.selection.rows)
		return ranker.Add(kept)
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", a.req.Input.Name, err)
	}
	return nil
}

// merge sends the row of each key that says what became of it to the sink: a
// delete where it shows the key gone, else an upsert. A before-image means that the
// row went to another key.
func (a *application) merge(ctx context.Context, ranker *latest.Ranker, ranked *arrow.Schema) (plugin.CommitResult, error) {
	spec := targetSpec(a.req, a.shape)
	txns := []plugin.Txn{{AppID: plugin.MergesApp, Version: a.base.applied + 1}}
	if a.decision.rebuild && !a.known {
		txns = append(txns, a.taken)
	}
	write, err := a.host.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{
		Table: a.req.Target, Mode: plugin.WriteMerge, Schema: spec.Schema,
		RequireID: a.base.id, BaseVersion: a.base.version, Txns: txns,
		Merge: &plugin.Merge{Keys: a.req.Key, Guard: a.decision.guard(), Action: actionColumn, DeleteAbsent: a.decision.rebuild},
	})
	if err != nil {
		return plugin.CommitResult{}, fmt.Errorf("opening the merge into %s: %w", a.req.Target.Name, err)
	}
	if write.Already {
		return plugin.CommitResult{}, overtaken(a.req.Target.Name)
	}
	committed, err := a.send(ctx, write.WriteID, ranker, actionSchema(spec.Schema))
	if err != nil {
		// The write is void either way; its own error is the one to tell.
		_ = a.host.Tables.Abort(context.WithoutCancel(ctx), write.WriteID)
		return plugin.CommitResult{}, fmt.Errorf("merging into %s: %w", a.req.Target.Name, err)
	}
	if committed.Outcome == plugin.Already {
		return plugin.CommitResult{}, overtaken(a.req.Target.Name)
	}
	return committed, nil
}

func (a *application) send(ctx context.Context, writeID string, ranker *latest.Ranker, schema *arrow.Schema) (plugin.CommitResult, error) {
	var sent int64
	frames := rows.Produce(ctx, schema, func(ctx context.Context, w *rows.Writer) error {
		return ranker.Newest(ctx, func(newest arrow.RecordBatch) error {
			batch, err := withAction(newest, schema, a.current.alloc)
			if err != nil {
				return err
			}
			defer batch.Release()
			sent += batch.NumRows()
			a.tell("merge", sent)
			return w.Write(batch)
		})
	})
	defer frames.Close()
	part, err := a.host.Tables.WritePart(ctx, plugin.WritePartRequest{WriteID: writeID}, frames)
	if err != nil {
		return plugin.CommitResult{}, err
	}
	position := a.position()
	metadata, err := mark{Writer: writer, Target: a.req.Target.Name, Applied: position.Applied, Rebuilt: position.RebuiltFrom}.text()
	if err != nil {
		return plugin.CommitResult{}, err
	}
	return a.host.Tables.Commit(ctx, plugin.CommitRequest{WriteID: writeID, Tokens: []string{part.Token}, UserMetadata: metadata})
}

func (a *application) tell(stage string, n int64) {
	if a.progress != nil {
		a.progress(plugin.Progress{Stage: stage, Rows: n, RowsTotal: -1})
	}
}

func actionSchema(target *arrow.Schema) *arrow.Schema {
	fields := append(target.Fields(), arrow.Field{Name: actionColumn, Type: arrow.BinaryTypes.String, Nullable: true})
	return arrow.NewSchema(fields, nil)
}

// withAction returns the target's columns of a ranked batch and what to do
// with each row.
func withAction(ranked arrow.RecordBatch, schema *arrow.Schema, alloc memory.Allocator) (arrow.RecordBatch, error) {
	operation, err := columnOf[*array.Int32](ranked, plugin.ColumnOperation)
	if err != nil {
		return nil, err
	}
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.Reserve(operation.Len())
	for i := range operation.Len() {
		switch operation.Value(i) {
		case plugin.OpDelete, plugin.OpUpdateBefore:
			b.Append("D")
		default:
			b.Append("U")
		}
	}
	actions := b.NewArray()
	defer actions.Release()
	columns := make([]arrow.Array, schema.NumFields())
	for i, f := range schema.Fields() {
		if f.Name == actionColumn {
			columns[i] = actions
			continue
		}
		at := ranked.Schema().FieldIndices(f.Name)
		if len(at) != 1 {
			return nil, fmt.Errorf("the ranked rows have no column %q", f.Name)
		}
		columns[i] = ranked.Column(at[0])
	}
	return array.NewRecordBatch(schema, columns, ranked.NumRows()), nil
}
