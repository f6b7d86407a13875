package graph

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOrderPutsDependenciesFirstAndKeepsTheOrderOfAdding(t *testing.T) {
	t.Parallel()
	g := New[string]()
	for _, n := range []string{"check", "other", "silver", "stream"} {
		g.Add(n)
	}
	g.Connect("check", "silver")
	g.Connect("silver", "stream")
	g.Connect("silver", "stream")
	got, err := g.Order()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"other", "stream", "silver", "check"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := g.Needs("silver"); !slices.Equal(got, []string{"stream"}) {
		t.Errorf("needs of silver: %v", got)
	}
}

func TestCircleIsNamed(t *testing.T) {
	t.Parallel()
	g := New[string]()
	g.Connect("z", "a")
	g.Connect("a", "b")
	g.Connect("b", "c")
	g.Connect("c", "a")
	_, err := g.Walk(context.Background(), 1, func(context.Context, string) error { return nil })
	var cycle *CycleError[string]
	if !errors.As(err, &cycle) || len(cycle.Nodes) != 3 {
		t.Fatalf("got %v, want a circle of three", err)
	}
	if want := "dependencies go in a circle: a -> b -> c -> a"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestFailureSkipsDependentsAndNothingElse(t *testing.T) {
	t.Parallel()
	g := New[string]()
	g.Connect("silver.a", "stream.a")
	g.Connect("check.a", "silver.a")
	g.Connect("silver.b", "stream.b")
	broken := errors.New("broken")
	got, err := g.Walk(context.Background(), 2, func(_ context.Context, n string) error {
		if n == "stream.a" {
			return broken
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	skipped := Result[string]{Status: Skipped, Because: "stream.a", Blocked: true}
	want := map[string]Result[string]{
		"stream.a": {Status: Failed, Err: broken}, "silver.a": skipped, "check.a": skipped,
		"stream.b": {Status: Done}, "silver.b": {Status: Done},
	}
	for n, w := range want {
		if got[n] != w {
			t.Errorf("%s: got %+v, want %+v", n, got[n], w)
		}
	}
}

func TestCancelledWalkStartsNothingMore(t *testing.T) {
	t.Parallel()
	g := New[int]()
	for i := range 5 {
		g.Add(i)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	got, err := g.Walk(ctx, 1, func(_ context.Context, n int) error {
		if n == 1 {
			cancel(stop)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []Status{Done, Done, Skipped, Skipped, Skipped} {
		if got[n].Status != want || (want == Skipped) != (got[n].Err == stop) {
			t.Errorf("node %d: got %v %v, want %v", n, got[n].Status, got[n].Err, want)
		}
	}
}

// TestWalkKeepsOrderAndBound walks random graphs with random failures.
func TestWalkKeepsOrderAndBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "nodes")
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		g := New[int]()
		fails := make([]bool, n)
		for i := range n {
			g.Add(i)
			fails[i] = rapid.IntRange(0, 5).Draw(t, "fails") == 0
			for range rapid.IntRange(0, 3).Draw(t, "edges") {
				if i > 0 {
					g.Connect(i, rapid.IntRange(0, i-1).Draw(t, "on"))
				}
			}
		}
		var (
			mu      sync.Mutex
			done    = map[int]bool{}
			running atomic.Int32
		)
		got, err := g.Walk(context.Background(), limit, func(_ context.Context, i int) error {
			if now := running.Add(1); int(now) > limit {
				t.Errorf("%d visits at once, limit %d", now, limit)
			}
			defer running.Add(-1)
			mu.Lock()
			defer mu.Unlock()
			for _, need := range g.Needs(i) {
				if !done[need] {
					t.Errorf("%d ran before %d was done", i, need)
				}
			}
			if fails[i] {
				return errors.New("failed")
			}
			done[i] = true
			return nil
		})
		if err != nil || len(got) != n {
			t.Fatalf("%d results of %d, error %v", len(got), n, err)
		}
		for i := range n {
			blocked := false
			for _, need := range g.Needs(i) {
				blocked = blocked || got[need].Status != Done
			}
			want := Done
			switch {
			case blocked:
				want = Skipped
			case fails[i]:
				want = Failed
			}
			if got[i].Status != want {
				t.Errorf("node %d: got %v, want %v", i, got[i].Status, want)
			}
			if got[i].Blocked && got[got[i].Because].Status != Failed {
				t.Errorf("node %d blames %d, which did not fail", i, got[i].Because)
			}
		}
	})
}
