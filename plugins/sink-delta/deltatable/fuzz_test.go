package deltatable_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// fuzzedTables have files of all types, nested ones, INT96, and deletion vectors.
var fuzzedTables = []string{"spark-types-all", "spark-nested", "rs-types", "spark-dv-delete", "spark-mapping-name"}

// someDataFile is the first data file of a golden table.
func someDataFile(tb testing.TB, st *store.Memory) (path string, data []byte) {
	tb.Helper()
	for info, err := range st.List(tb.Context(), golden.Path+"/", "") {
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(info.Path, ".parquet") && !strings.Contains(info.Path, "_delta_log") {
			if data, err = st.Get(tb.Context(), info.Path); err != nil {
				tb.Fatal(err)
			}
			return info.Path, data
		}
	}
	tb.Fatal("no data file")
	return "", nil
}

// FuzzDataFile: a data file that is damaged, but as long as the log says, gives
// rows or an error that names it, never a panic, whichever goroutine reads it.
func FuzzDataFile(f *testing.F) {
	for i, name := range fuzzedTables {
		_, data := someDataFile(f, golden.Load(f, name).Store)
		f.Add(uint8(i), 0, []byte(nil))
		f.Add(uint8(i), len(data)-100, []byte{0xff, 0xff, 0xff, 0x7f})
		f.Add(uint8(i), 40, []byte{0x15, 0x80, 0x80})
	}
	f.Fuzz(func(t *testing.T, table uint8, at int, over []byte) {
		g := golden.Load(t, fuzzedTables[int(table)%len(fuzzedTables)])
		path, data := someDataFile(t, g.Store)
		if at < 0 || at >= len(data) {
			return
		}
		copy(data[at:], over)
		if err := g.Store.Put(t.Context(), path, data); err != nil {
			t.Fatal(err)
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		tab, err := goldenTable(t.Context(), g, options(mem))
		if err != nil {
			t.Fatal(err)
		}
		s, err := tab.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Scan(t.Context(), deltatable.ScanSpec{})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for {
			rec, err := rows.Next(t.Context())
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if name := path[strings.LastIndexByte(path, '/')+1:]; !strings.Contains(err.Error(), name) {
					t.Fatalf("the error does not name the file: %v", err)
				}
				return
			}
			rec.Release()
		}
	})
}
