package deltatable_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/ndjson"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
)

// refusesWrites are the golden tables that are not written, with what the error
// must name. changes: they take appends, and nothing that changes a row.
var refusesWrites = map[string]struct {
	name    string
	changes bool
}{
	"rs-constraints":                {"checkConstraints", false},
	"spark-constraints":             {"checkConstraints", false},
	"spark-clustered":               {"clustering", false},
	"spark-defaults":                {"allowColumnDefaults", false},
	"spark-generated":               {"generatedColumns", false},
	"spark-iceberg-compat":          {"icebergCompatV2", false},
	"spark-identity":                {"identityColumns", false},
	"spark-row-tracking":            {"rowTracking", false},
	"spark-mapping-id":              {"columnMapping", false},
	"broken-unknown-writer-feature": {"notYetInvented", false},
	"broken-writer-version":         {"writer version 8", false},
	"rs-cdf":                        {"changeDataFeed", true},
	"spark-cdf":                     {"changeDataFeed", true},
	"spark-cdf-dv":                  {"changeDataFeed", true},
	"spark-append-only":             {"appendOnly", true},
}

// goldenWrite is one golden table that is written to.
type goldenWrite struct {
	t      *testing.T
	mem    memory.Allocator
	g      *golden.Table
	table  *deltatable.Table
	schema *arrow.Schema
	all    arrow.RecordBatch // its rows
	before []string          // the same as lines
}

func newGoldenWrite(t *testing.T, name string) *goldenWrite {
	t.Helper()
	w := &goldenWrite{t: t, mem: checkedMemory(t), g: golden.Load(t, name)}
	var err error
	if w.table, err = goldenTable(t.Context(), w.g, options(w.mem)); err != nil {
		t.Fatal(err)
	}
	s, err := w.table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.schema = s.Schema()
	if w.all, err = allRows(t.Context(), s, w.mem); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.all.Release)
	w.before = w.lines(w.all)
	return w
}

// allRows are the rows of a snapshot as one batch.
func allRows(ctx context.Context, s *deltatable.Snapshot, mem memory.Allocator) (arrow.RecordBatch, error) {
	rows, err := s.Scan(ctx, deltatable.ScanSpec{Ordered: true})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := make([][]arrow.Array, s.Schema().NumFields())
	for i, f := range s.Schema().Fields() {
		columns[i] = []arrow.Array{array.MakeArrayOfNull(mem, f.Type, 0)}
	}
	defer func() {
		for _, c := range columns {
			for _, a := range c {
				a.Release()
			}
		}
	}()
	var n int64
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, c := range rec.Columns() {
			c.Retain()
			columns[i] = append(columns[i], c)
		}
		n += rec.NumRows()
		rec.Release()
	}
	joined := make([]arrow.Array, len(columns))
	for i, c := range columns {
		if joined[i], err = array.Concatenate(c, mem); err != nil {
			return nil, err
		}
		defer joined[i].Release()
	}
	return array.NewRecordBatch(s.Schema(), joined, n), nil
}

func (w *goldenWrite) lines(rec arrow.RecordBatch) []string {
	w.t.Helper()
	var out bytes.Buffer
	enc, err := ndjson.NewEncoder(&out, rec.Schema())
	if err == nil {
		err = enc.Encode(rec)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.normal(sorted(out.String()))
}

// normal takes an empty partition text, which only delta-rs writes, for what the
// protocol says it is.
func (w *goldenWrite) normal(lines []string) []string {
	if w.g.Name == "rs-partition-empty" {
		for i, l := range lines {
			lines[i] = strings.ReplaceAll(l, `"p":""`, `"p":null`)
		}
		slices.Sort(lines)
	}
	return lines
}

// row is one row of the table with its action; columns that are no key come from
// the row with the number other.
func (w *goldenWrite) row(n, other int64, action string) arrow.RecordBatch {
	w.t.Helper()
	cols := make([]arrow.Array, 0, w.schema.NumFields()+1)
	for i, f := range w.schema.Fields() {
		from := other
		if slices.Contains(w.g.Facts.Key, f.Name) {
			from = n
		}
		cols = append(cols, array.NewSlice(w.all.Column(i), from, from+1))
	}
	b := array.NewStringBuilder(w.mem)
	defer b.Release()
	b.Append(action)
	cols = append(cols, b.NewArray())
	rec := array.NewRecordBatch(withAction(w.schema), cols, 1)
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// plain is a row without its action, as a line.
func (w *goldenWrite) plain(rec arrow.RecordBatch) string {
	n := rec.NumCols() - 1
	flat := array.NewRecordBatch(w.schema, rec.Columns()[:n], rec.NumRows())
	defer flat.Release()
	return w.lines(flat)[0]
}

// want opens the table anew and compares its rows; with before, also those of
// the version before the writes.
func (w *goldenWrite) want(rows []string) {
	w.t.Helper()
	table, err := goldenTable(w.t.Context(), w.g, options(w.mem))
	if err != nil {
		w.t.Fatal(err)
	}
	got := w.normal(rowsIn(w.t, table))
	rows = slices.Sorted(slices.Values(rows))
	compareLines(w.t, got, rows)
	s, err := table.SnapshotAt(w.t.Context(), *w.g.Facts.Version)
	if err != nil {
		w.t.Fatal(err)
	}
	old, err := dump(w.t.Context(), s, deltatable.ScanSpec{})
	if err != nil {
		w.t.Fatal(err)
	}
	compareLines(w.t, w.normal(old), w.before)
}

// lessOne are lines less one that is line.
func lessOne(lines []string, line string) []string {
	i := slices.Index(lines, line)
	if i < 0 {
		return append(slices.Clone(lines), "nothing to take away: "+line)
	}
	return slices.Delete(slices.Clone(lines), i, i+1)
}

// TestGoldenTablesAreWritten: every golden table that can be read is appended
// to, overwritten, merged into and checkpointed, with the rows that a model says
// and with the version before still there; or it refuses, naming what stands in
// the way, and has the rows that it had.
func TestGoldenTablesAreWritten(t *testing.T) {
	t.Parallel()
	written := 0
	for _, name := range golden.Names(t) {
		facts := golden.Load(t, name).Facts
		if facts.Outcome.Read != "ok" || refusesVariant[name] != "" {
			continue
		}
		refused, refuses := refusesWrites[name]
		if facts.Outcome.Write == "ok" && refuses {
			t.Errorf("%s may be written, and is refused", name)
		}
		if refuses && facts.Outcome.Write != "refuse" && !strings.Contains(facts.Outcome.WriteFeatures, refused.name) {
			t.Errorf("%s is refused for %s, which is not among %s", name, refused.name, facts.Outcome.WriteFeatures)
		}
		if !refuses {
			written++
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for op, run := range map[string]func(w *goldenWrite) error{
				"append": (*goldenWrite).append, "overwrite": (*goldenWrite).overwrite, "merge": (*goldenWrite).merge, "checkpoint": (*goldenWrite).checkpoint, "optimize": (*goldenWrite).optimize,
			} {
				t.Run(op, func(t *testing.T) {
					t.Parallel()
					w := newGoldenWrite(t, name)
					err := run(w)
					if refuses && !(refused.changes && (op == "append" || op == "checkpoint" || op == "optimize")) {
						if err == nil || !strings.Contains(err.Error(), refused.name) {
							t.Errorf("got %v, want a refusal that names %s", err, refused.name)
						}
						w.want(w.before)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
	if written < 60 {
		t.Errorf("only %d tables are written", written)
	}
}

// append adds all rows once more, twice.
func (w *goldenWrite) append() error {
	want := w.before
	for range 2 {
		if _, err := writeRecord(w.t.Context(), w.table, appendSpec(w.schema), w.all); err != nil {
			return err
		}
		want = slices.Concat(want, w.before)
		w.want(want)
	}
	return nil
}

// optimize adds all rows once more, and packs all files into one of each partition.
func (w *goldenWrite) optimize() error {
	if err := w.append(); err != nil {
		return err
	}
	got, err := w.table.Optimize(w.t.Context(), deltatable.OptimizeSpec{PurgeAbove: 1e-9})
	if err != nil {
		return err
	}
	if w.all.NumRows() > 0 && (got.RemovedFiles < 2 || got.AddedFiles == 0) {
		w.t.Errorf("%+v", got)
	}
	w.want(slices.Concat(w.before, w.before, w.before))
	again, err := w.table.Optimize(w.t.Context(), deltatable.OptimizeSpec{PurgeAbove: 1e-9})
	// The empty texts of delta-rs and NULL are one partition, written as two files first.
	if err == nil && again.Commits != 0 && w.g.Name != "rs-partition-empty" {
		w.t.Errorf("once more: %+v", again)
	}
	return err
}

// overwrite leaves the first half of the rows, then all of them.
func (w *goldenWrite) overwrite() error {
	half := w.all.NewSlice(0, w.all.NumRows()/2)
	defer half.Release()
	for _, rec := range []arrow.RecordBatch{half, w.all} {
		if _, err := writeRecord(w.t.Context(), w.table, deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: w.schema}, rec); err != nil {
			return err
		}
		w.want(w.lines(rec))
	}
	return nil
}

// merge deletes the first row, gives the second the values of the third, and
// then brings both back as they were.
func (w *goldenWrite) merge() error {
	if w.all.NumRows() < 3 {
		return w.mergeNothing()
	}
	spec := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(w.schema), Merge: &deltatable.MergeSpec{Keys: w.g.Facts.Key, Action: "_action"}}
	want := w.before
	for _, step := range []struct {
		n, other int64
		action   string
		result   deltatable.Result
	}{
		{0, 0, "D", deltatable.Result{Deleted: 1}},
		{1, 2, "U", deltatable.Result{Updated: 1}},
		{0, 0, "U", deltatable.Result{Inserted: 1}},
		{1, 1, "U", deltatable.Result{Updated: 1}},
		{0, 2, "U", deltatable.Result{Updated: 1}},
	} {
		rec := w.row(step.n, step.other, step.action)
		got, err := writeRecord(w.t.Context(), w.table, spec, rec)
		line := w.plain(rec)
		rec.Release()
		if err != nil {
			return err
		}
		if got.Inserted != step.result.Inserted || got.Updated != step.result.Updated || got.Deleted != step.result.Deleted {
			w.t.Errorf("row %d, %s: %s", step.n, step.action, describe(got))
		}
		if step.result.Inserted == 0 {
			want = lessOne(want, w.current(want, step.n))
		}
		if step.action == "U" {
			want = append(slices.Clone(want), line)
		}
		w.want(want)
	}
	return nil
}

// current is the line that row n has in lines: as the table had it, or with the
// values of the third row.
func (w *goldenWrite) current(lines []string, n int64) string {
	for _, other := range []int64{n, 2} {
		rec := w.row(n, other, "U")
		line := w.plain(rec)
		rec.Release()
		if slices.Contains(lines, line) {
			return line
		}
	}
	return "no such row"
}

// mergeNothing is the merge of a table with too few rows: none matches.
func (w *goldenWrite) mergeNothing() error {
	rec := array.NewRecordBatch(withAction(w.schema), w.empty(), 0)
	defer rec.Release()
	_, err := writeRecord(w.t.Context(), w.table, deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(w.schema),
		Merge: &deltatable.MergeSpec{Keys: []string{w.schema.Field(0).Name}, Action: "_action"}}, rec)
	if err == nil {
		w.want(w.before)
	}
	return err
}

func (w *goldenWrite) empty() []arrow.Array {
	var cols []arrow.Array
	for _, f := range withAction(w.schema).Fields() {
		a := array.MakeArrayOfNull(w.mem, f.Type, 0)
		w.t.Cleanup(a.Release)
		cols = append(cols, a)
	}
	return cols
}

// checkpoint writes a checkpoint of the newest version, and of the next one.
func (w *goldenWrite) checkpoint() error {
	for range 2 {
		s, err := w.table.Snapshot(w.t.Context())
		if err != nil {
			return err
		}
		if err := w.table.Log().Checkpoint(w.t.Context(), s.Log()); err != nil {
			return err
		}
		want := w.normal(rowsIn(w.t, w.table))
		w.want(want)
		if _, err := writeRecord(w.t.Context(), w.table, appendSpec(w.schema), w.all); err != nil {
			return err
		}
		w.want(slices.Concat(want, w.before))
	}
	return nil
}
