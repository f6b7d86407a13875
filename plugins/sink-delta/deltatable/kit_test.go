package deltatable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// row holds one value per column: nil, or the Go value of the column's type.
type row []any

// failer is what testing.T and rapid.T share.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// batchOf builds a batch.
func batchOf(t failer, mem memory.Allocator, schema *arrow.Schema, rows []row) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for _, r := range rows {
		for i, v := range r {
			if v == nil {
				b.Field(i).AppendNull()
				continue
			}
			switch f := b.Field(i).(type) {
			case *array.Int64Builder:
				f.Append(v.(int64))
			case *array.Int32Builder:
				f.Append(v.(int32))
			case *array.Int16Builder:
				f.Append(v.(int16))
			case *array.Int8Builder:
				f.Append(v.(int8))
			case *array.BooleanBuilder:
				f.Append(v.(bool))
			case *array.Float32Builder:
				f.Append(v.(float32))
			case *array.Float64Builder:
				f.Append(v.(float64))
			case *array.StringBuilder:
				f.Append(v.(string))
			case *array.LargeStringBuilder:
				f.Append(v.(string))
			case *array.BinaryBuilder: // also large
				f.Append(v.([]byte))
			case *array.Decimal128Builder:
				f.Append(v.(decimal128.Num))
			case *array.Date32Builder:
				f.Append(v.(arrow.Date32))
			case *array.TimestampBuilder:
				f.Append(v.(arrow.Timestamp))
			default:
				t.Fatalf("no way to build %s", schema.Field(i).Type)
			}
		}
	}
	return b.NewRecordBatch()
}

// linesOf are the rows as the dump of a table shows them.
func linesOf(t failer, schema *arrow.Schema, rows []row) []string {
	t.Helper()
	rec := batchOf(t, memory.DefaultAllocator, schema, rows)
	defer rec.Release()
	var out bytes.Buffer
	enc, err := ndjson.NewEncoder(&out, schema)
	if err == nil {
		err = enc.Encode(rec)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	slices.Sort(lines)
	return lines
}

// testClock never waits: a sleep moves its time.
type testClock struct {
	now chan time.Time
}

func newTestClock() *testClock {
	c := &testClock{make(chan time.Time, 1)}
	c.now <- time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return c
}

func (c *testClock) Now() time.Time {
	t := <-c.now
	t = t.Add(time.Millisecond)
	c.now <- t
	return t
}

func (c *testClock) Sleep(ctx context.Context, d time.Duration) error {
	t := <-c.now
	c.now <- t.Add(d)
	return ctx.Err()
}

// options are options of tests: no waiting, leaks found by the caller.
func options(mem memory.Allocator) deltatable.Options {
	return deltatable.Options{Allocator: mem, Clock: newTestClock(), Random: func() float64 { return 0.5 }, Parallel: 2}
}

func memoryStore() *store.Memory { return store.NewMemory(time.Now) }

// checkedMemory fails the test when Arrow memory is left over at its end.
func checkedMemory(t *testing.T) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func mustCreate(t failer, st store.Store, schema *arrow.Schema, properties map[string]string, opts deltatable.Options) *deltatable.Table {
	t.Helper()
	table, created, err := deltatable.CreateIfAbsent(context.Background(), st, "silver/orders", deltatable.Spec{Schema: schema, Properties: properties}, opts)
	if err != nil || !created {
		t.Fatalf("created %v: %v", created, err)
	}
	return table
}

// write does a whole write: each of parts is written in one part, split into
// batches of two rows.
func write(ctx context.Context, t failer, mem memory.Allocator, table *deltatable.Table, spec deltatable.WriteSpec, parts ...[]row) (deltatable.Result, error) {
	t.Helper()
	w, err := table.Begin(ctx, spec)
	if err != nil {
		return deltatable.Result{}, err
	}
	if w.Already() {
		return w.Commit(ctx, nil, "")
	}
	var tokens []string
	for _, rows := range parts {
		p, err := w.Part(ctx)
		if err != nil {
			return deltatable.Result{}, err
		}
		for chunk := range slices.Chunk(rows, 2) {
			rec := batchOf(t, mem, spec.Schema, chunk)
			err := p.Write(rec)
			rec.Release()
			if err != nil {
				p.Abort(ctx)
				w.Abort(ctx)
				return deltatable.Result{}, err
			}
		}
		done, err := p.Close()
		if err != nil {
			p.Abort(ctx)
			w.Abort(ctx)
			return deltatable.Result{}, err
		}
		if done.Rows != int64(len(rows)) {
			t.Fatalf("the part says %d rows, %d were written", done.Rows, len(rows))
		}
		tokens = append(tokens, done.Token)
	}
	result, err := w.Commit(ctx, tokens, "")
	if err != nil {
		w.Abort(ctx)
	}
	return result, err
}

// writeRecord does a whole write of one part that holds rec.
func writeRecord(ctx context.Context, table *deltatable.Table, spec deltatable.WriteSpec, rec arrow.RecordBatch) (deltatable.Result, error) {
	w, err := table.Begin(ctx, spec)
	if err != nil {
		return deltatable.Result{}, err
	}
	part, err := w.Part(ctx)
	if err != nil {
		return deltatable.Result{}, err
	}
	if err := part.Write(rec); err != nil {
		return deltatable.Result{}, errors.Join(err, part.Abort(ctx), w.Abort(ctx))
	}
	done, err := part.Close()
	if err != nil {
		return deltatable.Result{}, errors.Join(err, part.Abort(ctx), w.Abort(ctx))
	}
	result, err := w.Commit(ctx, []string{done.Token}, "")
	if err != nil {
		err = errors.Join(err, w.Abort(ctx))
	}
	return result, err
}

func mustWrite(t failer, mem memory.Allocator, table *deltatable.Table, spec deltatable.WriteSpec, parts ...[]row) deltatable.Result {
	t.Helper()
	r, err := write(context.Background(), t, mem, table, spec, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsIn are the rows of the newest version, as sorted lines.
func rowsIn(t failer, table *deltatable.Table) []string {
	t.Helper()
	s, err := table.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	lines, err := dump(context.Background(), s, deltatable.ScanSpec{})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func wantRows(t failer, table *deltatable.Table, schema *arrow.Schema, rows []row) {
	t.Helper()
	got, want := rowsIn(t, table), linesOf(t, schema, rows)
	if !slices.Equal(got, want) {
		t.Fatalf("the table has\n%swant\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

// field is a nullable column.
func field(name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

func schemaOf(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }

// withAction is schema with the action column of a merge.
func withAction(schema *arrow.Schema) *arrow.Schema {
	return arrow.NewSchema(append(slices.Clone(schema.Fields()), field("_action", arrow.BinaryTypes.String)), nil)
}

// filesIn are the objects of a store below a folder, without the log.
func filesIn(t failer, st store.Store) (names []string) {
	t.Helper()
	for info, err := range st.List(context.Background(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(info.Path, "_delta_log") {
			names = append(names, info.Path)
		}
	}
	return names
}

func describe(r deltatable.Result) string {
	return fmt.Sprintf("%v +%d ~%d -%d", r.Outcome, r.Inserted, r.Updated, r.Deleted)
}
