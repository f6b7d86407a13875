package deltatable_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

var plain = schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("v", arrow.BinaryTypes.String))

func appendSpec(schema *arrow.Schema) deltatable.WriteSpec {
	return deltatable.WriteSpec{Mode: deltatable.Append, Schema: schema}
}

// TestTxnSkipsWhatIsRecorded: the skip rule is at or above, not only equal, and
// a skipped write makes no commit.
func TestTxnSkipsWhatIsRecorded(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	spec := appendSpec(plain)
	spec.Txns = []deltatable.Txn{{AppID: "orders-v1", Version: 5}}
	if got := mustWrite(t, mem, table, spec, []row{{int64(1), "a"}}); got.Outcome != deltatable.Committed || got.Inserted != 1 {
		t.Fatalf("first: %s", describe(got))
	}
	for _, version := range []int64{5, 4} {
		spec.Txns = []deltatable.Txn{{AppID: "orders-v1", Version: version}}
		got := mustWrite(t, mem, table, spec, []row{{int64(2), "b"}})
		if got.Outcome != deltatable.Already || got.Version != 1 {
			t.Errorf("version %d: %s at table version %d", version, describe(got), got.Version)
		}
	}
	spec.Txns = []deltatable.Txn{{AppID: "orders-v10", Version: 1}}
	if got := mustWrite(t, mem, table, spec, []row{{int64(3), "c"}}); got.Outcome != deltatable.Committed {
		t.Errorf("another application: %s", describe(got))
	}
	wantRows(t, table, plain, []row{{int64(1), "a"}, {int64(3), "c"}})
}

// TestTxnRace: two writes of one txn version that begin together; one commits,
// the other finds it done and removes its files.
func TestTxnRace(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	table := mustCreate(t, st, plain, nil, options(mem))
	spec := appendSpec(plain)
	spec.Txns = []deltatable.Txn{{AppID: "a", Version: 1}}
	var results []deltatable.Result
	var writes []*deltatable.Write
	var tokens []string
	for i := range 2 {
		w, err := table.Begin(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rec := batchOf(t, mem, plain, []row{{int64(i), "x"}})
		if err := p.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		done, err := p.Close()
		if err != nil {
			t.Fatal(err)
		}
		writes, tokens = append(writes, w), append(tokens, done.Token)
	}
	for i, w := range writes {
		r, err := w.Commit(t.Context(), tokens[i:i+1], "")
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if results[0].Outcome != deltatable.Committed || results[1].Outcome != deltatable.Already {
		t.Errorf("outcomes %v and %v", results[0].Outcome, results[1].Outcome)
	}
	if files := filesIn(t, st); len(files) != 1 {
		t.Errorf("data files %q", files)
	}
}

// TestCommit: only named parts are in, the others' files go, a repeated Commit
// says the same, user metadata is verbatim.
func TestCommit(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	table := mustCreate(t, st, plain, nil, options(mem))
	w, err := table.Begin(t.Context(), appendSpec(plain))
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for i := range 4 {
		p, err := w.Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rec := batchOf(t, mem, plain, []row{{int64(i), "x"}})
		defer rec.Release()
		if err := p.Write(rec); err != nil {
			t.Fatal(err)
		}
		if i == 3 { // an attempt that broke
			if err := p.Abort(t.Context()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		done, err := p.Close()
		if err != nil {
			t.Fatal(err)
		}
		if done.Rows != 1 || done.Bytes == 0 {
			t.Errorf("part %d: %d rows, %d bytes", i, done.Rows, done.Bytes)
		}
		tokens = append(tokens, done.Token)
	}
	const metadata = `{"rows": 2,"batch_id":7}`
	if _, err := w.Commit(t.Context(), []string{"nobody's"}, metadata); err == nil {
		t.Error("a token that no part has was taken")
	}
	first, err := w.Commit(t.Context(), []string{tokens[0], tokens[2], tokens[0]}, metadata)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Commit(t.Context(), []string{tokens[0], tokens[2]}, metadata)
	if err != nil || again != first {
		t.Errorf("repeated: %s, %v, first %s", describe(again), err, describe(first))
	}
	if err := w.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantRows(t, table, plain, []row{{int64(0), "x"}, {int64(2), "x"}})
	if files := filesIn(t, st); len(files) != 2 {
		t.Errorf("data files %q", files)
	}
	for c, err := range table.Log().History(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Info.UserMetadata == nil || *c.Info.UserMetadata != metadata {
			t.Errorf("version %d: user metadata %v", c.Version, c.Info.UserMetadata)
		}
		if c.Info.OperationMetrics["numOutputRows"] != "2" {
			t.Errorf("metrics %v", c.Info.OperationMetrics)
		}
	}
	if _, err := w.Part(t.Context()); !errors.Is(err, deltatable.ErrWriteClosed) {
		t.Errorf("a part after the commit: %v", err)
	}
}

// TestNothingToWrite: no rows, no commit, except when an overwrite takes rows
// away.
func TestNothingToWrite(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	over := deltatable.WriteSpec{Mode: deltatable.Overwrite, Schema: plain}
	merge := deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(plain), Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}}
	for name, spec := range map[string]deltatable.WriteSpec{"append": appendSpec(plain), "overwrite": over, "merge": merge} {
		if got := mustWrite(t, mem, table, spec, nil); got.Outcome != deltatable.Nothing || got.Version != 0 {
			t.Errorf("%s without rows: %s at version %d", name, describe(got), got.Version)
		}
	}
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}, {int64(2), "b"}})
	if got := mustWrite(t, mem, table, over); got.Outcome != deltatable.Committed || got.Deleted != 2 {
		t.Errorf("emptying: %s", describe(got))
	}
	wantRows(t, table, plain, nil)
}

// TestBaseVersion: later commits that changed no rows are no conflict, others
// are, when the write begins and while it runs.
func TestBaseVersion(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
	base := int64(1)
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Alter(t.Context(), deltatable.Changes{Properties: map[string]string{"pipectl.x": "1"}}); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []deltatable.Mode{deltatable.Append, deltatable.Overwrite, deltatable.Merge} {
		spec := deltatable.WriteSpec{Mode: mode, Schema: plain, BaseVersion: &base}
		rows := []row{{int64(2), "b"}}
		if mode == deltatable.Merge {
			spec.Schema, spec.Merge = withAction(plain), &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}
			rows = []row{{int64(2), "b", "U"}}
		}
		w, err := table.Begin(t.Context(), spec)
		if err != nil {
			t.Fatalf("mode %v after a change of properties: %v", mode, err)
		}
		p, err := w.Part(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rec := batchOf(t, mem, spec.Schema, rows)
		if err := p.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
		done, err := p.Close()
		if err != nil {
			t.Fatal(err)
		}
		other := mustWrite(t, mem, table, appendSpec(plain), []row{{int64(3), "c"}})
		if _, err := w.Commit(t.Context(), []string{done.Token}, ""); !errors.Is(err, deltalog.ErrConflict) {
			t.Errorf("mode %v after rows changed meanwhile: %v", mode, err)
		}
		w.Abort(t.Context())
		if _, err := table.Begin(t.Context(), spec); !errors.Is(err, deltalog.ErrConflict) {
			t.Errorf("mode %v after rows changed before: %v", mode, err)
		}
		base = other.Version
	}
}

// TestTableReplaced: a write planned on another table of the same path fails.
func TestTableReplaced(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, memoryStore(), plain, nil, options(memory.DefaultAllocator))
	spec := appendSpec(plain)
	spec.TableID = "another"
	if _, err := table.Begin(t.Context(), spec); !errors.Is(err, deltatable.ErrReplaced) {
		t.Errorf("got %v", err)
	}
	spec = appendSpec(plain)
	spec.BaseVersion = new(int64(1)) // the table is at 0
	if _, err := table.Begin(t.Context(), spec); !errors.Is(err, deltatable.ErrReplaced) {
		t.Errorf("a table that was put back: %v", err)
	}
}

// TestMergeSchema: new columns in the same commit, at the end, NULL before;
// names without regard to case; what the rows lack is NULL.
func TestMergeSchema(t *testing.T) {
	t.Parallel()
	for _, mapping := range []string{"none", "name"} {
		t.Run("mapping "+mapping, func(t *testing.T) {
			t.Parallel()
			mem := checkedMemory(t)
			table := mustCreate(t, memoryStore(), plain, map[string]string{"delta.columnMapping.mode": mapping}, options(mem))
			mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
			wide := schemaOf(field("ID", arrow.PrimitiveTypes.Int64), field("extra", arrow.FixedWidthTypes.Date32))
			_, err := write(t.Context(), t, mem, table, appendSpec(wide), []row{{int64(2), arrow.Date32(3)}})
			if !errors.Is(err, deltatable.ErrSchema) || !strings.Contains(err.Error(), `"extra"`) {
				t.Errorf("without schema merge: %v", err)
			}
			spec := appendSpec(wide)
			spec.MergeSchema = true
			got := mustWrite(t, mem, table, spec, []row{{int64(2), arrow.Date32(3)}})
			if got.Version != 2 {
				t.Errorf("the schema change took a commit of its own: version %d", got.Version)
			}
			mustWrite(t, mem, table, spec, []row{{int64(3), nil}})
			wantRows(t, table, schemaOf(plain.Field(0), plain.Field(1), wide.Field(1)),
				[]row{{int64(1), "a", nil}, {int64(2), nil, arrow.Date32(3)}, {int64(3), nil, nil}})
		})
	}
}

// TestTypeChange: a wider type is taken only by a table that allows it, any
// other change never, and the error says what to do.
func TestTypeChange(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	narrow := schemaOf(field("id", arrow.PrimitiveTypes.Int32), field("d", &arrow.Decimal128Type{Precision: 5, Scale: 2}))
	wide := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("d", &arrow.Decimal128Type{Precision: 5, Scale: 2}))
	spec := appendSpec(wide)
	spec.MergeSchema = true
	table := mustCreate(t, memoryStore(), narrow, nil, options(mem))
	if _, err := write(t.Context(), t, mem, table, spec, []row{{int64(1) << 40, nil}}); !errors.Is(err, deltatable.ErrSchema) || !strings.Contains(err.Error(), "delta.enableTypeWidening") {
		t.Errorf("widening without the property: %v", err)
	}
	other := appendSpec(schemaOf(field("id", arrow.BinaryTypes.String)))
	other.MergeSchema = true
	if _, err := write(t.Context(), t, mem, table, other, []row{{"x"}}); !errors.Is(err, deltatable.ErrSchema) || !strings.Contains(err.Error(), "write a new table") {
		t.Errorf("another type: %v", err)
	}
	table = mustCreate(t, memoryStore(), narrow, map[string]string{"delta.enableTypeWidening": "true"}, options(mem))
	mustWrite(t, mem, table, appendSpec(narrow), []row{{int32(7), nil}})
	mustWrite(t, mem, table, spec, []row{{int64(1) << 40, nil}})
	// Narrow rows still fit.
	mustWrite(t, mem, table, appendSpec(narrow), []row{{int32(8), nil}})
	wantRows(t, table, wide, []row{{int64(7), nil}, {int64(1) << 40, nil}, {int64(8), nil}})
}

// TestRefusedRows: what cannot be written says where and what.
func TestRefusedRows(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	notNull := schemaOf(arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}, field("v", arrow.BinaryTypes.String))
	table := mustCreate(t, memoryStore(), notNull, nil, options(mem))
	if _, err := write(t.Context(), t, mem, table, appendSpec(plain), []row{{nil, "x"}}); err == nil || !strings.Contains(err.Error(), `"id" is NOT NULL`) {
		t.Errorf("NULL in a NOT NULL column: %v", err)
	}
	if _, err := write(t.Context(), t, mem, table, appendSpec(schemaOf(field("v", arrow.BinaryTypes.String))), []row{{"x"}}); err == nil || !strings.Contains(err.Error(), `"id" is NOT NULL`) {
		t.Errorf("a NOT NULL column left out: %v", err)
	}
	twice := schemaOf(field("id", arrow.PrimitiveTypes.Int64), field("ID", arrow.PrimitiveTypes.Int64))
	if _, err := table.Begin(t.Context(), appendSpec(twice)); err == nil || !strings.Contains(err.Error(), "two columns") {
		t.Errorf("a column twice: %v", err)
	}
	merge := func(m deltatable.MergeSpec, schema *arrow.Schema, rows ...row) error {
		_, err := write(t.Context(), t, mem, table, deltatable.WriteSpec{Mode: deltatable.Merge, Schema: schema, Merge: &m}, rows)
		return err
	}
	keyed := deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no key":           {merge(deltatable.MergeSpec{Action: "_action"}, withAction(plain)), "key columns"},
		"unknown key":      {merge(deltatable.MergeSpec{Keys: []string{"nr"}, Action: "_action"}, withAction(plain)), `"nr"`},
		"no action":        {merge(keyed, plain), `"_action"`},
		"wrong action":     {merge(keyed, withAction(plain), row{int64(1), "a", "X"}), `"X"`},
		"null action":      {merge(keyed, withAction(plain), row{int64(1), "a", nil}), "NULL"},
		"unknown guard":    {merge(deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action", Guard: "g"}, withAction(plain)), `"g"`},
		"duplicate key":    {merge(keyed, withAction(plain), row{int64(4), "a", "U"}, row{int64(5), "a", "U"}, row{int64(4), "b", "D"}), "id = 4"},
		"insert of a NULL": {merge(deltatable.MergeSpec{Keys: []string{"v"}, Action: "_action"}, withAction(plain), row{nil, "a", "U"}), `"id" is NOT NULL`},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %s", name, c.err, c.want)
		}
	}
	if err := merge(keyed, withAction(plain), row{int64(4), "a", "U"}, row{int64(4), "b", "D"}); !errors.Is(err, deltatable.ErrDuplicateKey) {
		t.Errorf("duplicate key: %v", err)
	}
	wantRows(t, table, notNull, nil)
}

// TestCreate: comments, description and properties; a second creator gets the
// first one's table; odd names bring column mapping, others do not.
func TestCreate(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	commented := schemaOf(arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true, Metadata: arrow.NewMetadata([]string{"comment"}, []string{"the key"})})
	spec := deltatable.Spec{Schema: commented, Description: "orders, as they are", Properties: map[string]string{"pipectl.kind": "silver"}}
	for i := range 2 {
		table, created, err := deltatable.CreateIfAbsent(t.Context(), st, "a/b", spec, options(mem))
		if err != nil || created != (i == 0) {
			t.Fatalf("creator %d: created %v, %v", i, created, err)
		}
		s, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := s.Schema().Field(0).Metadata.GetValue("comment"); c != "the key" {
			t.Errorf("comment %q", c)
		}
		m := s.Log().Metadata()
		if m.Description != spec.Description || m.Configuration["pipectl.kind"] != "silver" || s.Log().MappingMode() != deltalog.MappingNone {
			t.Errorf("metadata %+v", m)
		}
	}
	odd := schemaOf(field("order id", arrow.PrimitiveTypes.Int64), field("v(1)", arrow.BinaryTypes.String))
	table := mustCreate(t, st, odd, nil, options(mem))
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Log().MappingMode() != deltalog.MappingName {
		t.Errorf("mapping %s", s.Log().MappingMode())
	}
	mustWrite(t, mem, table, appendSpec(odd), []row{{int64(1), "x"}})
	wantRows(t, table, odd, []row{{int64(1), "x"}})
}

// TestFilesRoll: files end at the target size, every row is in exactly one, and
// checkpoints come by themselves.
func TestFilesRoll(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	st := memoryStore()
	opts := options(mem)
	opts.TargetFileSize = 1
	table := mustCreate(t, st, plain, nil, opts)
	var all []row
	for i := range 12 {
		rows := []row{{int64(i), fmt.Sprint(i)}, {int64(i), nil}, {nil, "x"}}
		all = append(all, rows...)
		mustWrite(t, mem, table, appendSpec(plain), rows)
	}
	wantRows(t, table, plain, all)
	if n := len(filesIn(t, st)); n != 24 { // batches of two rows and of one
		t.Errorf("%d files", n)
	}
	var checkpoints []string
	for info, err := range st.List(t.Context(), "silver/orders/_delta_log/", "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(info.Path, "checkpoint.parquet") {
			checkpoints = append(checkpoints, info.Path)
		}
	}
	if !slices.Equal(checkpoints, []string{"silver/orders/_delta_log/00000000000000000010.checkpoint.parquet"}) {
		t.Errorf("checkpoints %q", checkpoints)
	}
}

// TestSeveralTxns: a write with several keys is done when all are recorded;
// when only a part is, its rows are neither all there nor all missing.
func TestSeveralTxns(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	spec := appendSpec(plain)
	spec.Txns = []deltatable.Txn{{AppID: "a", Version: 1}, {AppID: "b", Version: 4}}
	for i, want := range []deltatable.Outcome{deltatable.Committed, deltatable.Already} {
		if got := mustWrite(t, mem, table, spec, []row{{int64(1), "a"}}); got.Outcome != want {
			t.Fatalf("write %d: %s", i, describe(got))
		}
	}
	spec.Txns = []deltatable.Txn{{AppID: "a", Version: 1}, {AppID: "b", Version: 5}}
	if _, err := table.Begin(t.Context(), spec); !errors.Is(err, deltalog.ErrConcurrentTransaction) {
		t.Fatalf("a part recorded: %v", err)
	}
	wantRows(t, table, plain, []row{{int64(1), "a"}})
}
