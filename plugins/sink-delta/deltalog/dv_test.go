package deltalog

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

func TestZ85OfItsSpecification(t *testing.T) {
	t.Parallel()
	// ZeroMQ RFC 32, the test case.
	raw := []byte{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B}
	if got := encodeZ85(raw); got != "HelloWorld" {
		t.Errorf("%s", got)
	}
	if got, err := decodeZ85("HelloWorld"); err != nil || string(got) != string(raw) {
		t.Errorf("%x, %v", got, err)
	}
	for _, bad := range []string{"Hello1", "Hell\"", "#####", "Hell\xff"} {
		if _, err := decodeZ85(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestVectorFileNameOfTheProtocolText(t *testing.T) {
	t.Parallel()
	// Delta protocol: Deletion Vectors, example 1.
	off := int32(4)
	dv := &DeletionVector{StorageType: "u", PathOrInlineDV: "ab^-aqEH.-t@S}K{vb[*k^", Offset: &off, SizeInBytes: 40, Cardinality: 6}
	if got, err := dv.file(); err != nil || got != "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin" {
		t.Errorf("%s, %v", got, err)
	}
	if dv.ID() != "uab^-aqEH.-t@S}K{vb[*k^@4" {
		t.Errorf("id %s", dv.ID())
	}
}

func TestVectorOfDatabricks(t *testing.T) {
	t.Parallel()
	// A payload written by Databricks that deletes row 1.
	raw, err := hex.DecodeString("d1d339640100000000000000000000003a3000000100000000000000100000000100")
	must(err)
	rows, err := decodeVector(raw)
	if err != nil || rows.GetCardinality() != 1 || !rows.Contains(1) {
		t.Fatalf("%v, %v", rows, err)
	}
	if back, err := encodeVector(rows); err != nil || string(back) != string(raw) {
		t.Errorf("%x, %v", back, err)
	}
}

func TestVectorsOfOneCommitShareAFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		mem := store.NewMemory(nil)
		table := mustCreate(t, mem, CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}})
		d := table.NewDeletionVectors()
		if d.Path() != "" || d.Close(t.Context()) != nil {
			r.Fatal("an empty file was written")
		}
		var want []*roaring64.Bitmap
		var got []*DeletionVector
		for range rapid.IntRange(1, 4).Draw(r, "vectors") {
			b := roaring64.New()
			b.AddMany(rapid.SliceOfN(rapid.Uint64Range(0, 1<<34), 1, 20).Draw(r, "rows"))
			if rapid.Bool().Draw(r, "run") {
				b.AddRange(10, 70_000)
			}
			want = append(want, b.Clone())
			dv, err := d.Add(b)
			if err != nil {
				r.Fatal(err)
			}
			got = append(got, dv)
		}
		if err := d.Close(t.Context()); err != nil {
			r.Fatal(err)
		}
		for i, dv := range got {
			rows, err := table.ReadDeletionVector(t.Context(), dv)
			if err != nil || !rows.Equals(want[i]) {
				r.Fatalf("vector %d: %v", i, err)
			}
		}
		// Any flipped byte is noticed by every vector that has it.
		data, err := mem.Get(t.Context(), d.Path())
		if err != nil {
			r.Fatal(err)
		}
		at := rapid.IntRange(0, len(data)-1).Draw(r, "at")
		data[at] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		if err := mem.Put(t.Context(), d.Path(), data); err != nil {
			r.Fatal(err)
		}
		broken := 0
		for i, dv := range got {
			rows, err := table.ReadDeletionVector(t.Context(), dv)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "deletion_vector_") {
					r.Fatal(err)
				}
				broken++
			} else if !rows.Equals(want[i]) {
				r.Fatalf("vector %d changed without an error", i)
			}
		}
		if broken == 0 {
			r.Fatalf("byte %d was flipped and nobody noticed", at)
		}
	})
}

func TestVectorDescriptorsThatLie(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	table := mustCreate(t, mem, CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}})
	d := table.NewDeletionVectors()
	good, err := d.Add(roaring64.BitmapOf(1, 2, 3))
	must(err)
	must(d.Close(t.Context()))
	change := func(f func(dv *DeletionVector)) *DeletionVector {
		c := *good
		off := *good.Offset
		c.Offset = &off
		f(&c)
		return &c
	}
	for name, dv := range map[string]*DeletionVector{
		"cardinality":     change(func(dv *DeletionVector) { dv.Cardinality = 2 }),
		"size":            change(func(dv *DeletionVector) { dv.SizeInBytes-- }),
		"offset":          change(func(dv *DeletionVector) { *dv.Offset = 2 }),
		"offset 0":        change(func(dv *DeletionVector) { dv.Offset = nil }),
		"far offset":      change(func(dv *DeletionVector) { *dv.Offset = 1 << 30 }),
		"negative size":   change(func(dv *DeletionVector) { dv.SizeInBytes = -1 }),
		"huge size":       change(func(dv *DeletionVector) { dv.SizeInBytes = 1<<31 - 1 }),
		"storage type":    change(func(dv *DeletionVector) { dv.StorageType = "x" }),
		"short name":      change(func(dv *DeletionVector) { dv.PathOrInlineDV = "abc" }),
		"path upwards":    change(func(dv *DeletionVector) { dv.PathOrInlineDV = "../" + dv.PathOrInlineDV }),
		"inline, no z85":  {StorageType: "i", PathOrInlineDV: "~~~~~", SizeInBytes: 4},
		"inline, too few": {StorageType: "i", PathOrInlineDV: "00000", SizeInBytes: 40},
		// The inline example of the protocol text has the magic number of another layout.
		"inline, old layout": {StorageType: "i", PathOrInlineDV: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", SizeInBytes: 40, Cardinality: 6},
	} {
		if _, err := table.ReadDeletionVector(t.Context(), dv); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rows, err := table.ReadDeletionVector(t.Context(), good); err != nil || rows.GetCardinality() != 3 {
		t.Errorf("%v, %v", rows, err)
	}
	if rows, err := table.ReadDeletionVector(t.Context(), nil); err != nil || !rows.IsEmpty() {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestReplacedVectorKeepsStatisticsWide(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, store.NewMemory(nil), CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}})
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("a", 1, 9))
	mustCommit(t, tx)
	for i := range uint64(2) {
		d := table.NewDeletionVectors()
		rows := roaring64.New()
		rows.AddRange(0, i+1)
		dv, err := d.Add(rows)
		must(err)
		must(d.Close(t.Context()))
		s := mustSnapshot(t, table)
		a, _ := s.File("a")
		tx := table.Begin(s)
		tx.ReplaceDeletionVector(a, dv)
		mustCommit(t, tx)
		a, ok := mustSnapshot(t, table).File("a")
		n, _ := a.NumRecords()
		live, _ := a.LiveRecords()
		if !ok || n != 9 || live != 9-int64(i+1) || strings.Count(a.Stats, `"tightBounds":false`) != 1 || strings.Contains(a.Stats, "true") {
			t.Errorf("%+v", a)
		}
	}
	if s := mustSnapshot(t, table); s.NumFiles() != 1 {
		t.Error(describe(s))
	}
}
