package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const path = "t/a.parquet"

// written is a file of three rows and a struct, whose parts arrow-go opens in goroutines.
func written(t *testing.T) []byte {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true}), Nullable: true},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(`[{"id":1,"s":{"a":"x","b":[1,2]}},{"id":2,"s":null},{"id":3,"s":{"a":null,"b":[]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read reads all of a file, and says how many rows came.
func read(ctx context.Context, st store.Store) (rows int64, err error) {
	src, err := store.Open(ctx, st, path)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	f, err := Open(src, parquet.NewReaderProperties(memory.DefaultAllocator))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic")
		}
	}()
	r, err := pqarrow.NewFileReader(f.Reader, pqarrow.ArrowReadProperties{BatchSize: 2}, memory.DefaultAllocator)
	if err != nil {
		return 0, f.Cause(err)
	}
	rr, err := r.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return 0, f.Cause(err)
	}
	defer rr.Release()
	for rr.Next() {
		rows += rr.RecordBatch().NumRows()
	}
	if err := rr.Err(); err != nil {
		return rows, f.Cause(err)
	}
	return rows, nil
}

func holding(t *testing.T, data []byte) *store.Memory {
	t.Helper()
	st := store.NewMemory(nil)
	if err := st.Put(t.Context(), path, data); err != nil {
		t.Fatal(err)
	}
	return st
}

// Each byte of a file is set to each of some values: reading ends, by itself, whatever goroutine meets the damage.
func TestADamagedByte(t *testing.T) {
	t.Parallel()
	data := written(t)
	if rows, err := read(t.Context(), holding(t, data)); err != nil || rows != 3 {
		t.Fatalf("undamaged: %d rows, %v", rows, err)
	}
	refused := 0
	for at := range data {
		for _, b := range []byte{0, 1, 0x15, 0x7f, 0x80, 0xff, data[at] + 1} {
			damaged := bytes.Clone(data)
			damaged[at] = b
			if _, err := read(t.Context(), holding(t, damaged)); err != nil {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was seen")
	}
}

// What a footer says wrong is damage, and says what.
func TestFootersThatLie(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]chunk{
		"-1 bytes at 4, in a file of 100 bytes":                  {start: 4, bytes: -1},
		"50 bytes at 51, in a file of 100 bytes":                 {start: 51, bytes: 50},
		"1 bytes at -4, in a file of 100 bytes":                  {start: -4, bytes: 1},
		"9223372036854775807 bytes at 4, in a file of 100 bytes": {start: 4, bytes: 1<<63 - 1},
		"4 values in 3 rows":                                     {start: 4, bytes: 10, values: 4, rows: 3},
		"2 values in 3 rows":                                     {start: 4, bytes: 10, values: 2, rows: 3, repeated: true},
	} {
		if err := c.check(100); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
	for _, c := range []chunk{{start: 4, bytes: 96}, {start: 4, bytes: 10, values: 4, rows: 3, repeated: true}, {}} {
		if err := c.check(100); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// An error of the store is told as what it is: a file that cannot be reached for a while is not damaged.
func TestAnErrorOfTheStoreIsNoDamage(t *testing.T) {
	t.Parallel()
	data := written(t)
	broken := errors.New("broken")
	for nth := 1; ; nth++ {
		st := store.NewFaulty(holding(t, data), store.Fault{Op: store.OpGetRange, Nth: nth, Effect: store.Fail, Err: broken})
		_, err := read(t.Context(), st)
		if err == nil {
			if nth < 4 {
				t.Errorf("reading took %d calls", nth-1)
			}
			break
		}
		if !errors.Is(err, broken) || errors.Is(err, ErrDamaged) {
			t.Errorf("call %d failed: %v", nth, err)
		}
	}
	if _, err := read(t.Context(), holding(t, data[:len(data)/2])); !errors.Is(err, ErrDamaged) {
		t.Errorf("half of a file: %v", err)
	}
}
