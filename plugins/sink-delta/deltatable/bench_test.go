package deltatable_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltatable"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// benchRows is the size of the table: DELTATABLE_BENCH_ROWS, or few rows so
// that a run of all benchmarks stays short. The figures that matter are those
// of 10,000,000.
func benchRows() int64 {
	if n, err := strconv.ParseInt(os.Getenv("DELTATABLE_BENCH_ROWS"), 10, 64); err == nil && n > 0 {
		return n
	}
	return 200_000
}

// changeLog is the schema of the benchmarks: a table as change data capture
// gives it.
var changeLog = schemaOf(
	field("id", arrow.PrimitiveTypes.Int64),
	field("op", arrow.BinaryTypes.String),
	field("lsn", arrow.BinaryTypes.String),
	field("seq", arrow.PrimitiveTypes.Int64),
	field("name", arrow.BinaryTypes.String),
	field("status", arrow.BinaryTypes.String),
	field("amount", &arrow.Decimal128Type{Precision: 18, Scale: 2}),
	field("qty", arrow.PrimitiveTypes.Int32),
	field("created_at", &arrow.TimestampType{Unit: arrow.Microsecond}),
	field("updated_at", &arrow.TimestampType{Unit: arrow.Microsecond}),
	field("note", arrow.BinaryTypes.String),
)

// changeBatches makes rows with the ids that next gives, and an action behind
// each when the schema has one.
func changeBatches(schema *arrow.Schema, n int64, seed uint64, lsn int64, next func(r *rand.Rand) (id int64, action string), each func(arrow.RecordBatch)) {
	statuses := []string{"new", "open", "paid", "shipped", "returned", "cancelled"}
	words := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa")
	r := rand.New(rand.NewPCG(seed, 7))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var text []byte
	for done := int64(0); done < n; {
		size := min(64<<10, n-done)
		b.Reserve(int(size))
		for range size {
			id, action := next(r)
			b.Field(0).(*array.Int64Builder).Append(id)
			b.Field(1).(*array.StringBuilder).Append(action)
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%020x", lsn+done))
			b.Field(3).(*array.Int64Builder).Append(done)
			text = text[:0]
			for range 8 + r.IntN(12) {
				text = append(text, byte('a'+r.IntN(26)))
			}
			b.Field(4).(*array.StringBuilder).BinaryBuilder.Append(text)
			b.Field(5).(*array.StringBuilder).Append(statuses[r.IntN(len(statuses))])
			b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(r.Int64N(10_000_000)))
			b.Field(7).(*array.Int32Builder).Append(int32(r.IntN(1000)))
			b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + id*1000))
			b.Field(9).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + done*1357 + r.Int64N(1000)))
			if r.IntN(3) == 0 {
				b.Field(10).AppendNull()
			} else {
				text = text[:0]
				for range 3 + r.IntN(4) {
					text = append(append(text, words[r.IntN(len(words))]...), ' ')
				}
				b.Field(10).(*array.StringBuilder).BinaryBuilder.Append(text)
			}
			if schema.NumFields() > 11 {
				b.Field(11).(*array.StringBuilder).Append(action)
			}
			done++
		}
		each(b.NewRecordBatch())
	}
}

func sequence(from int64) func(*rand.Rand) (int64, string) {
	return func(*rand.Rand) (int64, string) { from++; return from - 1, "I" }
}

// BenchmarkAppend reports as "ratio" how fast an append is beside arrow-go
// writing the same batches into one Parquet file with the same options: 1 is as
// fast, more is faster.
func BenchmarkAppend(b *testing.B) {
	rows := min(benchRows(), 2_000_000)
	var batches []arrow.RecordBatch
	changeBatches(changeLog, rows, 1, 0, sequence(0), func(rec arrow.RecordBatch) { batches = append(batches, rec) })
	opts := deltatable.Options{TargetFileSize: 4 << 30, RowGroupBytes: 4 << 30}
	st, err := store.NewLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	table := mustCreate(b, st, changeLog, nil, opts)
	raw := filepath.Join(b.TempDir(), "raw.parquet")
	var ours, theirs time.Duration
	for b.Loop() {
		runtime.GC()
		start := time.Now()
		rawParquet(b, raw, batches)
		theirs += time.Since(start)
		runtime.GC()
		start = time.Now()
		writeBatches(b, table, deltatable.WriteSpec{Mode: deltatable.Append, Schema: changeLog}, batches)
		ours += time.Since(start)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "ratio")
	b.ReportMetric(float64(rows)*float64(b.N)/ours.Seconds(), "rows/s")
}

func writeBatches(b *testing.B, table *deltatable.Table, spec deltatable.WriteSpec, batches []arrow.RecordBatch) {
	ctx := context.Background()
	w, err := table.Begin(ctx, spec)
	if err != nil {
		b.Fatal(err)
	}
	p, err := w.Part(ctx)
	if err != nil {
		b.Fatal(err)
	}
	for _, rec := range batches {
		if err := p.Write(rec); err != nil {
			b.Fatal(err)
		}
	}
	done, err := p.Close()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.Commit(ctx, []string{done.Token}, ""); err != nil {
		b.Fatal(err)
	}
}

// rawParquet is the yardstick: arrow-go's Parquet writer alone.
func rawParquet(b *testing.B, path string, batches []arrow.RecordBatch) {
	props := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1), parquet.WithVersion(parquet.V2_6),
		parquet.WithMaxRowGroupLength(1 << 20), parquet.WithDictionaryDefault(false), parquet.WithStoreDecimalAsInteger(true),
	}
	for _, c := range []string{"op", "status", "qty"} {
		props = append(props, parquet.WithDictionaryFor(c, true))
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	w, err := pqarrow.NewFileWriter(changeLog, buf, parquet.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
	if err != nil {
		b.Fatal(err)
	}
	for _, rec := range batches {
		if err := w.WriteBuffered(rec); err != nil {
			b.Fatal(err)
		}
	}
	for _, err := range []error{w.Close(), buf.Flush(), f.Sync()} {
		if err != nil {
			b.Fatal(err)
		}
	}
	f.Close()
}

// BenchmarkMerge reports as "ratio" how long a merge of one change per hundred
// rows takes, in times that arrow-go needs to read the key column alone, with
// the same number of files at once.
func BenchmarkMerge(b *testing.B) {
	rows := benchRows()
	dir := b.TempDir()
	if d := os.Getenv("DELTATABLE_BENCH_DIR"); d != "" {
		dir = d
		if err := os.RemoveAll(filepath.Join(dir, "base")); err != nil {
			b.Fatal(err)
		}
	}
	base := filepath.Join(dir, "base")
	st, err := store.NewLocal(base)
	if err != nil {
		b.Fatal(err)
	}
	table := mustCreate(b, st, changeLog, map[string]string{"delta.enableDeletionVectors": "true"}, deltatable.Options{})
	const files = 10
	for i := range int64(files) {
		func() {
			ctx := context.Background()
			w, err := table.Begin(ctx, deltatable.WriteSpec{Mode: deltatable.Append, Schema: changeLog})
			if err != nil {
				b.Fatal(err)
			}
			p, err := w.Part(ctx)
			if err != nil {
				b.Fatal(err)
			}
			changeBatches(changeLog, rows/files, uint64(i), 0, sequence(i*rows/files), func(rec arrow.RecordBatch) {
				defer rec.Release()
				if err := p.Write(rec); err != nil {
					b.Fatal(err)
				}
			})
			done, err := p.Close()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := w.Commit(ctx, []string{done.Token}, ""); err != nil {
				b.Fatal(err)
			}
		}()
	}
	// 70 % updates, 20 % deletes, 10 % inserts.
	seen := map[int64]bool{}
	fresh := rows
	change := func(r *rand.Rand) (int64, string) {
		x := r.IntN(10)
		if x == 0 {
			fresh++
			return fresh, "U"
		}
		for {
			if id := r.Int64N(rows); !seen[id] {
				seen[id] = true
				return id, map[bool]string{true: "D", false: "U"}[x <= 2]
			}
		}
	}
	var changes []arrow.RecordBatch
	changeBatches(withAction(changeLog), rows/100, 99, 1<<40, change, func(rec arrow.RecordBatch) { changes = append(changes, rec) })
	seen = nil

	for _, guard := range []string{"", "lsn"} {
		b.Run("guard="+guard, func(b *testing.B) {
			var ours, theirs []time.Duration
			n := 0
			for b.Loop() {
				n++
				copied := filepath.Join(dir, fmt.Sprintf("copy-%s-%d", guard, n))
				linkTree(b, base, copied)
				runtime.GC()
				start := time.Now()
				readKeys(b, filepath.Join(copied, "silver/orders"))
				theirs = append(theirs, time.Since(start))
				runtime.GC()
				start = time.Now()
				mergeChanges(b, copied, changes, guard)
				ours = append(ours, time.Since(start))
				os.RemoveAll(copied)
			}
			slices.Sort(ours)
			slices.Sort(theirs)
			b.ReportMetric(float64(ours[len(ours)/2])/float64(theirs[len(theirs)/2]), "ratio")
			b.ReportMetric(ours[len(ours)/2].Seconds()*1000, "merge-ms")
			b.ReportMetric(theirs[len(theirs)/2].Seconds()*1000, "keys-ms")
			b.ReportMetric(peakMiB(), "peak-MiB")
		})
	}
}

func mergeChanges(b *testing.B, dir string, changes []arrow.RecordBatch, guard string) {
	ctx := context.Background()
	st, err := store.NewLocal(dir)
	if err != nil {
		b.Fatal(err)
	}
	table, err := deltatable.Open(ctx, st, "silver/orders", deltatable.Options{})
	if err != nil {
		b.Fatal(err)
	}
	writeBatches(b, table, deltatable.WriteSpec{Mode: deltatable.Merge, Schema: withAction(changeLog),
		Merge: &deltatable.MergeSpec{Keys: []string{"id"}, Action: "_action", Guard: guard}}, changes)
}

// BenchmarkFirstMerge reports as "ratio" how long a merge into an empty table
// takes, in times that arrow-go needs to write the same batches.
func BenchmarkFirstMerge(b *testing.B) {
	rows := min(benchRows(), 2_000_000)
	var plain, changes []arrow.RecordBatch
	changeBatches(changeLog, rows, 1, 0, sequence(0), func(rec arrow.RecordBatch) { plain = append(plain, rec) })
	from := int64(0)
	upsert := func(*rand.Rand) (int64, string) { from++; return from - 1, "U" }
	changeBatches(withAction(changeLog), rows, 1, 0, upsert, func(rec arrow.RecordBatch) { changes = append(changes, rec) })
	raw := filepath.Join(b.TempDir(), "raw.parquet")
	var ours, theirs time.Duration
	for b.Loop() {
		dir := b.TempDir()
		st, err := store.NewLocal(dir)
		if err != nil {
			b.Fatal(err)
		}
		mustCreate(b, st, changeLog, nil, deltatable.Options{})
		runtime.GC()
		start := time.Now()
		rawParquet(b, raw, plain)
		theirs += time.Since(start)
		runtime.GC()
		start = time.Now()
		mergeChanges(b, dir, changes, "lsn")
		ours += time.Since(start)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(rows)*float64(b.N)/ours.Seconds(), "rows/s")
}

// readKeys is the yardstick: arrow-go reads the first column of all files.
func readKeys(b *testing.B, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) == 0 {
		b.Fatal("no data files", err)
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, path := range files {
		g.Go(func() error {
			f, err := file.OpenParquetFile(path, false)
			if err != nil {
				return err
			}
			defer f.Close()
			r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 64 << 10}, memory.DefaultAllocator)
			if err != nil {
				return err
			}
			batches, err := r.GetRecordReader(context.Background(), []int{0}, nil)
			if err != nil {
				return err
			}
			defer batches.Release()
			for batches.Next() {
			}
			return batches.Err()
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
}

// linkTree copies a folder by hard links.
func linkTree(b *testing.B, from, to string) {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
	if err != nil {
		b.Fatal(err)
	}
}

// peakMiB is the process's peak memory, 0 where the system does not tell.
func peakMiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
