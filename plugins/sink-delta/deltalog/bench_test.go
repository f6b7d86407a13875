package deltalog

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// manyFiles is a snapshot of n files with the statistics of three columns.
func manyFiles(tb testing.TB, table *Table, n int) *Snapshot {
	s := mustSnapshot(tb, table).fork()
	s.files = newFileSet()
	b := &batch{}
	for i := range n {
		a := testFile(fmt.Sprintf("part-%08d-3f0c1a2b-4d5e-6f70-8192-a3b4c5d6e7f8.c000.zstd.parquet", i), int64(i)*10, int64(i)*10+9)
		a.Stats = fmt.Sprintf(`{"numRecords":1000,"minValues":{"id":%d,"name":"customer-%08d","amount":1.50},"maxValues":{"id":%d,"name":"customer-%08d","amount":99.75},"nullCount":{"id":0,"name":3,"amount":0},"tightBounds":true}`,
			i*10, i, i*10+9, i+1)
		b.adds = append(b.adds, a)
	}
	s.apply(b)
	s.files.seal()
	return &Snapshot{state: *s}
}

func BenchmarkCheckpointWrite(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			table := mustCreate(b, store.NewMemory(nil), CreateSpec{})
			s := manyFiles(b, table, n)
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Checkpoint(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
		})
	}
}

func BenchmarkOpenFromCheckpoint(b *testing.B) {
	for _, n := range []int{10, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			mem := store.NewMemory(nil)
			table := mustCreate(b, mem, CreateSpec{})
			if err := table.Checkpoint(b.Context(), manyFiles(b, table, n)); err != nil {
				b.Fatal(err)
			}
			var s *Snapshot
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				var err error
				if s, err = table.loadAt(b.Context(), newest); err != nil || s.NumFiles() != n {
					b.Fatal(err, s)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(n), "heap-bytes/file")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
			runtime.KeepAlive(s)
		})
	}
}

func BenchmarkPrune(b *testing.B) {
	table := mustCreate(b, store.NewMemory(nil), CreateSpec{})
	s := manyFiles(b, table, 100_000)
	p := idBetween(500_005, 500_025)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range s.Files(p) {
			n++
		}
		if n != 3 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(s.NumFiles())*float64(b.N)/b.Elapsed().Seconds(), "files/s")
}

func BenchmarkCommit(b *testing.B) {
	table := mustCreate(b, store.NewMemory(nil), CreateSpec{}, WithoutCheckpoints())
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		tx := table.Begin(mustSnapshot(b, table))
		i++
		tx.SetTxn("app", int64(i))
		tx.AddFile(testFile(fmt.Sprint("f", i), 1, 9))
		mustCommit(b, tx)
	}
}
