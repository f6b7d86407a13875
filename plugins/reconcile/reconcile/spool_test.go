package reconcile

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// Joining gives the same pairs in memory, in files and divided again, and
// leaves no file behind.
func TestJoinPairsEqualKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.SampledFrom([]int64{3000, 100_000, 1 << 30, 1 << 30}).Draw(t, "budget")
		loaded, streamed := newSpool(dir, budget, 0), newSpool(dir, budget, 0)
		defer loaded.close()
		defer streamed.close()
		fill := func(s *spool, name string) map[string]int {
			counts := map[string]int{}
			size := rapid.SampledFrom([]int{0, 10, 3000}).Draw(t, name+" size")
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 40).Draw(t, name) {
				key := fmt.Sprint("key", n)
				if err := s.add(xxh3.HashString(key), []byte(key), make([]byte, size)); err != nil {
					t.Fatal(err)
				}
				counts[key]++
			}
			return counts
		}
		left, right := fill(loaded, "loaded"), fill(streamed, "streamed")
		gotLeft, gotRight := map[string]int{}, map[string]int{}
		err := join(context.Background(), loaded, streamed, max(budget/4, 1), func(tab *table, each func(func(record) error) error) error {
			err := each(func(r record) error {
				gotRight[string(r.key)]++
				n := 0
				tab.find(r.hash, r.key, func(*slot, record) bool { n++; return false })
				if n != left[string(r.key)] || tab.has(r.hash, r.key) != (n > 0) {
					return fmt.Errorf("%s has %d partners, want %d", r.key, n, left[string(r.key)])
				}
				return nil
			})
			if err != nil {
				return err
			}
			return tab.rest(context.Background(), func(r record) error { gotLeft[string(r.key)]++; return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(gotLeft, left) || !maps.Equal(gotRight, right) {
			t.Fatalf("loaded %v of %v, streamed %v of %v", gotLeft, left, gotRight, right)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestASpoolStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	s := newSpool(t.TempDir(), 1<<20, 0)
	defer s.close()
	var want []uint64
	for i := range 20_000 {
		hash := xxh3.HashString(fmt.Sprint(i))
		if err := s.add(hash, []byte("key"), make([]byte, 200)); err != nil {
			t.Fatal(err)
		}
		if s.held > s.budget {
			t.Fatalf("%d bytes held", s.held)
		}
		want = append(want, hash)
	}
	var got []uint64
	for i := range fanout {
		if err := s.each(context.Background(), i, func(r record) error { got = append(got, r.hash); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d records came back, %d went in", len(got), len(want))
	}
}

func TestACancelledJoinStops(t *testing.T) {
	t.Parallel()
	s := newSpool(t.TempDir(), 0, 0)
	defer s.close()
	if err := s.add(1, []byte("k"), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.each(ctx, s.partOf(1), func(record) error { return nil }); err == nil {
		t.Error("it went on")
	}
}

func TestAKeyFilterForgetsNoKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := newKeyFilter(rapid.Int64Range(0, 1000).Draw(t, "n"), rapid.Int64Range(0, 1<<16).Draw(t, "bytes"))
		hashes := rapid.SliceOf(rapid.Uint64()).Draw(t, "hashes")
		for _, h := range hashes {
			f.note(h)
		}
		for _, h := range hashes {
			if !f.may(h) {
				t.Fatalf("%x is forgotten", h)
			}
		}
	})
	if f := newKeyFilter(10, 1<<20); f.may(5) {
		t.Error("an empty filter knows a key")
	}
}
