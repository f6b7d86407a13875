package deltatable_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
)

// TestAlter: metadata-only commits, only for what is not there yet.
func TestAlter(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	table := mustCreate(t, memoryStore(), plain, nil, options(mem))
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
	description := "new"
	changes := deltatable.Changes{
		AddColumns:  []arrow.Field{field("n", arrow.PrimitiveTypes.Int32), field("V", arrow.BinaryTypes.String)},
		Comments:    map[string]string{"id": "key", "n": "number"},
		Description: &description,
		Properties:  map[string]string{"pipectl.schema": "2"},
	}
	for i, wantChanged := range []bool{true, false} {
		s, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		version, changed, err := s.Alter(t.Context(), changes)
		if err != nil || changed != wantChanged || version != 2 {
			t.Fatalf("time %d: version %d, changed %v, %v", i, version, changed, err)
		}
	}
	wantRows(t, table, schemaOf(plain.Field(0), plain.Field(1), changes.AddColumns[0]), []row{{int64(1), "a", nil}})
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Alter(t.Context(), deltatable.Changes{AddColumns: []arrow.Field{field("a b", arrow.PrimitiveTypes.Int32)}})
	if !errors.Is(err, deltatable.ErrSchema) || !strings.Contains(err.Error(), "delta.columnMapping.mode") || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("an odd name without mapping: %v", err)
	}
	_, _, err = s.Alter(t.Context(), deltatable.Changes{AddColumns: []arrow.Field{field("V", arrow.PrimitiveTypes.Int32)}})
	if !errors.Is(err, deltatable.ErrSchema) {
		t.Errorf("another type: %v", err)
	}
}

// TestRetype: types change while there is no file that they would have to fit. A file
// that came since is a conflict, and so is the new type for a write that began before.
func TestRetype(t *testing.T) {
	t.Parallel()
	mem := checkedMemory(t)
	text := schemaOf(plain.Field(0), field("V", arrow.PrimitiveTypes.Int64))
	retype := func(s *deltatable.Snapshot) error {
		_, _, err := s.Alter(t.Context(), deltatable.Changes{Retype: s.Retypable(text)})
		return err
	}
	empty := func() (*deltatable.Table, *deltatable.Snapshot) {
		table := mustCreate(t, memoryStore(), plain, nil, options(mem))
		s, err := table.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return table, s
	}
	table, s := empty()
	if n := len(s.Retypable(plain)); n != 0 {
		t.Errorf("%d columns of the same type are to change", n)
	}
	if err := retype(s); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, mem, table, appendSpec(text), []row{{int64(1), int64(2)}})
	wantRows(t, table, schemaOf(plain.Field(0), field("v", arrow.PrimitiveTypes.Int64)), []row{{int64(1), int64(2)}})

	table, s = empty()
	mustWrite(t, mem, table, appendSpec(plain), []row{{int64(1), "a"}})
	if err := retype(s); !errors.Is(err, deltalog.ErrConflict) {
		t.Errorf("beside an append: %v", err)
	}
	wantRows(t, table, plain, []row{{int64(1), "a"}})
	if s, err := table.Snapshot(t.Context()); err != nil || s.Retypable(text) != nil {
		t.Errorf("with a file: %v", err)
	} else if _, _, err := s.Alter(t.Context(), deltatable.Changes{Retype: text.Fields()}); !errors.Is(err, deltatable.ErrSchema) {
		t.Errorf("asked for with a file: %v", err)
	}

	table, s = empty()
	w, err := table.Begin(t.Context(), appendSpec(plain))
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Part(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batch := batchOf(t, mem, plain, []row{{int64(1), "a"}})
	defer batch.Release()
	if err := p.Write(batch); err != nil {
		t.Fatal(err)
	}
	done, err := p.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := retype(s); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context(), []string{done.Token}, ""); err == nil {
		t.Error("rows of the old type are in the table")
	}
	_ = w.Abort(t.Context())
}
