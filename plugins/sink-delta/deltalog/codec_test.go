package deltalog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// plain is the codec of tables whose tests are not about compression: new
// encoders of zstd take most of the time of a small checkpoint, and many times
// that under the race detector, where a sync.Pool drops every fourth.
const plain = "uncompressed"

// Delta protocol: Table Properties (delta.parquet.compression.codec).
func TestCheckpointsAreCompressedAsTheTableAsks(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]compress.Compression{
		"":                compress.Codecs.Zstd,
		"zstd":            compress.Codecs.Zstd,
		"ZSTD":            compress.Codecs.Zstd,
		"of another time": compress.Codecs.Zstd,
		"snappy":          compress.Codecs.Snappy,
		"Snappy":          compress.Codecs.Snappy,
		"gzip":            compress.Codecs.Gzip,
		"lz4_raw":         compress.Codecs.Lz4Raw,
		"none":            compress.Codecs.Uncompressed,
		plain:             compress.Codecs.Uncompressed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := store.NewMemory(nil)
			props := map[string]string{}
			if name != "" {
				props[propCodec] = name
			}
			table := mustCreate(t, st, CreateSpec{Properties: props})
			for i := range 3 {
				tx := table.Begin(mustSnapshot(t, table))
				tx.AddFile(testFile(fmt.Sprint("f", i), 1, 9))
				mustCommit(t, tx)
			}
			s := mustSnapshot(t, table)
			if err := table.Checkpoint(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if got := describe(fromCheckpointOnly(t, st, "orders", s.Version())); got != describe(s) {
				t.Errorf("from the checkpoint:\n%s\nbefore:\n%s", got, describe(s))
			}
			checkpoints := 0
			for info, err := range st.List(t.Context(), "orders/"+logDir+"/", "") {
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(info.Path, ".parquet") {
					continue
				}
				checkpoints++
				data, err := st.Get(t.Context(), info.Path)
				if err != nil {
					t.Fatal(err)
				}
				r, err := file.NewParquetReader(bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				for i := range r.MetaData().NumColumns() {
					chunk, err := r.MetaData().RowGroup(0).ColumnChunk(i)
					if err != nil {
						t.Fatal(err)
					}
					if chunk.Compression() != want {
						t.Errorf("%s is %s, not %s", chunk.PathInSchema(), chunk.Compression(), want)
					}
				}
			}
			if checkpoints != 1 {
				t.Errorf("%d checkpoints", checkpoints)
			}
		})
	}
}
