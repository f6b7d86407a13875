package deltalog

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// parquetObjects are the Parquet files in the log of a golden table: checkpoints, and sidecars.
func parquetObjects(tb testing.TB, st store.Store) map[string][]byte {
	tb.Helper()
	out := map[string][]byte{}
	for info, err := range st.List(tb.Context(), golden.Path+"/"+logDir+"/", "") {
		if err != nil {
			tb.Fatal(err)
		}
		if !strings.HasSuffix(info.Path, ".parquet") {
			continue
		}
		data, err := st.Get(tb.Context(), info.Path)
		if err != nil {
			tb.Fatal(err)
		}
		out[info.Path] = data
	}
	return out
}

// FuzzCheckpoint: a checkpoint or a sidecar that is damaged gives its actions or an
// error that says so, never a panic, whichever goroutine reads it.
func FuzzCheckpoint(f *testing.F) {
	for _, name := range []string{"spark-checkpoint-classic", "spark-checkpoint-struct-stats", "spark-v2ckpt-parquet", "spark-v2ckpt-dv", "rs-checkpoint"} {
		for _, data := range parquetObjects(f, golden.Load(f, name).Store) {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		st := store.NewMemory(nil)
		path := "t/_delta_log/00000000000000000001.checkpoint.parquet"
		if err := st.Put(t.Context(), path, data); err != nil {
			t.Fatal(err)
		}
		table, err := newTable(st, "t", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.readParquetCheckpoint(t.Context(), newState(table), st, path, nil); err != nil && !strings.Contains(err.Error(), path) {
			t.Fatalf("the error does not name the file: %v", err)
		}
	})
}
