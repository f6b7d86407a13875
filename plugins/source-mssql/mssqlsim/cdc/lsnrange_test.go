package cdc

import (
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func TestSearchNearFindsWhatSearchFindsFromAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		first := rapid.IntRange(0, n).Draw(t, "first")
		near := rapid.IntRange(0, n+5).Draw(t, "near") // beyond the end, when entries were cleaned up
		f := func(i int) bool {
			if i < 0 || i >= n {
				t.Fatalf("asked for %d of %d", i, n)
			}
			return i >= first
		}
		if got, want := searchNear(n, near, f), sort.Search(n, f); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

func TestSearchNearAsksLittleForANeighbour(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, x := range []struct{ near, first, most int }{{1000, 1001, 2}, {1000, 1000, 2}, {1000, 999, 4}, {0, 0, 1}, {n, n, 1}, {1000, 1008, 8}} {
		asked := 0
		if got := searchNear(n, x.near, func(i int) bool { asked++; return i >= x.first }); got != x.first || asked > x.most {
			t.Errorf("from %d: %d after %d questions, want %d after %d", x.near, got, asked, x.first, x.most)
		}
	}
}
