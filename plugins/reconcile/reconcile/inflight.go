package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/core/plugin"
)

// inFlight finds the keys that changed after a position: those in bronze that
// silver may not have applied, and those the source has captured and bronze
// does not hold yet. It is pinned after the source was read, so that whatever
// that read saw too early is found here.
//
// A commit that capture has not processed yet is in no change table. A look may
// wait for capture to pass what the source's read can have seen; without that,
// or where it takes too long, the difference such a commit makes is a mismatch,
// and clears on a later run.
type inFlight struct {
	run    *run
	bronze plugin.TableState
	// lower is the position that both sides certainly hold; "" is none.
	lower string
	until plugin.Position
}

// pinInFlight pins bronze and then reads the newest position. end is the
// position read before the source's rows.
func (r *run) pinInFlight(ctx context.Context, end string) (*inFlight, error) {
	states, err := r.host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{r.req.Bronze}})
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", r.req.Bronze.Name, err)
	}
	f := &inFlight{run: r, bronze: states[0], lower: min(end, r.view.Position.Applied)}
	f.until, err = r.newest(ctx)
	return f, err
}

// awaitInFlight waits for capture, where the look may, and then pins: read is when
// the source's read was over.
func (r *run) awaitInFlight(ctx context.Context, read time.Time, end string) (*inFlight, error) {
	if err := r.awaitCapture(ctx, read); err != nil {
		return nil, err
	}
	return r.pinInFlight(ctx, end)
}

// errEnough stops a walk through keys.
var errEnough = errors.New("enough keys seen")

// keys hands every key in flight to use, in canonical form and valid during
// the call; a key may come several times. use may stop it with errEnough.
func (f *inFlight) keys(ctx context.Context, use func(key []byte) error) error {
	after, err := f.fromBronze(ctx, use)
	if err == nil {
		err = f.fromSource(ctx, after, use)
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for keys in flight: %w", err)
	}
	return nil
}

// fromBronze hands out the keys of changes above lower, and returns bronze's
// position: the newest change or chunked snapshot in it. A whole snapshot does
// not count, since one taken for a switch can be stamped above the stream's
// position.
func (f *inFlight) fromBronze(ctx context.Context, use func([]byte) error) (position string, err error) {
	position = f.lower
	if !f.bronze.Exists {
		return position, nil
	}
	r, schema := f.run, f.bronze.Schema
	columns := []string{plugin.ColumnStartLSN, plugin.ColumnOperation}
	for _, name := range []string{plugin.ColumnSnapshot, plugin.ColumnChunk} {
		if schema.HasField(name) {
			columns = append(columns, name)
		}
	}
	for _, k := range r.subject.key {
		if name := fieldNamed(schema, k.name); name != "" {
			columns = append(columns, name)
		}
	}
	req := plugin.ScanRequest{Table: r.req.Bronze, Version: f.bronze.Version, Columns: columns}
	if f.lower != "" {
		req.Filter = where(plugin.Term{Column: plugin.ColumnStartLSN, Op: plugin.OpGT, Literals: []plugin.Literal{text(f.lower)}})
	}
	var seen int64
	err = r.scan(ctx, req, func(batch arrow.RecordBatch) error {
		seen += batch.NumRows()
		r.tell("in flight", seen, -1)
		top, err := f.bronzeBatch(batch, use)
		position = max(position, top)
		return err
	})
	return position, err
}

func (f *inFlight) bronzeBatch(batch arrow.RecordBatch, use func([]byte) error) (top string, err error) {
	position, err := columnOf[*array.String](batch, plugin.ColumnStartLSN)
	if err != nil {
		return "", err
	}
	operation, err := columnOf[*array.Int32](batch, plugin.ColumnOperation)
	if err != nil {
		return "", err
	}
	var snapshot *array.String
	var chunk *array.Int32
	if batch.Schema().HasField(plugin.ColumnSnapshot) && batch.Schema().HasField(plugin.ColumnChunk) {
		if snapshot, err = columnOf[*array.String](batch, plugin.ColumnSnapshot); err != nil {
			return "", err
		}
		if chunk, err = columnOf[*array.Int32](batch, plugin.ColumnChunk); err != nil {
			return "", err
		}
	}
	keys, err := f.run.bindNamed(f.run.subject.key, batch)
	if err != nil {
		return "", err
	}
	var key []byte
	for i := range int(batch.NumRows()) {
		if position.Value(i) <= f.lower {
			continue
		}
		if operation.Value(i) == plugin.OpSnapshot {
			if chunk != nil && chunk.IsValid(i) && snapshot.IsValid(i) && snapshot.Value(i) > top {
				top = string([]byte(snapshot.Value(i))) // the batch does not live on
			}
			continue
		}
		if position.Value(i) > top {
			top = string([]byte(position.Value(i)))
		}
		key = appendRow(key[:0], keys, i)
		if err := use(key); err != nil {
			return top, err
		}
	}
	return top, nil
}

// fromSource hands out the keys of captured changes that bronze does not hold,
// read as a stream would read them. Changes that were purged cannot arrive any
// more, so their keys are not in flight: they are skipped, and said so.
func (f *inFlight) fromSource(ctx context.Context, after string, use func([]byte) error) error {
	r := f.run
	if f.until.Text <= after {
		return nil
	}
	start := plugin.Position{Text: after}
	if start.IsZero() {
		oldest, err := r.host.Source.Start(ctx, plugin.StartRequest{Table: r.req.Source, From: "earliest"})
		if err != nil {
			return err
		}
		start = plugin.Position{Text: oldest.Text}
	}
	plan, err := r.host.Source.PlanBatch(ctx, plugin.PlanBatchRequest{Table: r.req.Source, Start: start, End: f.until, SkipLost: true})
	if err != nil {
		return err
	}
	for _, e := range plan.Events {
		if e.Name == "data_skipped" {
			r.warn("reconcile.changes_lost", "The stream needs a decision about them first (see its on_data_loss).",
				"Changes of %s that bronze does not hold were purged: what they changed shows as different", r.req.Object)
		}
	}
	var seen int64
	for _, part := range plan.Ranges {
		frames, err := r.host.Source.Read(ctx, plugin.ReadRequest{Table: r.req.Source, Range: part, Columns: r.req.Key})
		if err != nil {
			return err
		}
		err = r.forEach(frames, func(batch arrow.RecordBatch) error {
			keys, err := r.bindNamed(r.subject.key, batch)
			if err != nil {
				return err
			}
			var key []byte
			for i := range int(batch.NumRows()) {
				key = appendRow(key[:0], keys, i)
				if err := use(key); err != nil {
					return err
				}
			}
			seen += batch.NumRows()
			r.tell("in flight", seen, -1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bindNamed reads columns of a batch by name; one that is absent is NULL.
func (r *run) bindNamed(kinds []kind, batch arrow.RecordBatch) ([]column, error) {
	out := make([]column, len(kinds))
	for i, k := range kinds {
		var a arrow.Array
		if name := fieldNamed(batch.Schema(), k.name); name != "" {
			a = batch.Column(batch.Schema().FieldIndices(name)[0])
		}
		c, err := k.bind(a)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func appendRow(dst []byte, columns []column, row int) []byte {
	for _, c := range columns {
		dst = c.appendTo(dst, row)
	}
	return dst
}

func columnOf[A arrow.Array](batch arrow.RecordBatch, name string) (A, error) {
	var none A
	at := batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return none, fmt.Errorf("the rows have no column %q", name)
	}
	a, ok := batch.Column(at[0]).(A)
	if !ok {
		return none, fmt.Errorf("column %q has type %s, want %T", name, batch.Column(at[0]).DataType(), none)
	}
	return a, nil
}

func text(s string) plugin.Literal { return plugin.Literal{Type: plugin.LiteralString, Text: s} }

// where selects rows that meet all terms.
func where(terms ...plugin.Term) plugin.Filter {
	return plugin.Filter{Any: []plugin.Clause{{All: terms}}}
}
