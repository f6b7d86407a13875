package deltalog

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// testClock moves a second with each look at it and does not wait.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *testClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

func testOptions(more ...Option) []Option {
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	return append([]Option{
		WithClock(newTestClock()),
		WithRandom(func() float64 { mu.Lock(); defer mu.Unlock(); return rng.Float64() }),
		WithEngine("test"),
	}, more...)
}

func ordersSchema() *Struct {
	return &Struct{Fields: []Field{
		{Name: "id", Type: Long, Nullable: true},
		{Name: "name", Type: String, Nullable: true},
		{Name: "amount", Type: Decimal{18, 2}, Nullable: true},
	}}
}

func mustCreate(t testing.TB, st store.Store, spec CreateSpec, opts ...Option) *Table {
	t.Helper()
	if spec.Schema == nil {
		spec.Schema = ordersSchema()
	}
	table, err := Create(t.Context(), st, "orders", spec, testOptions(opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func mustSnapshot(t testing.TB, table *Table) *Snapshot {
	t.Helper()
	s, err := table.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testFile is a file whose ids go from lo to hi.
func testFile(name string, lo, hi int64) *Add {
	st := &Stats{NumRecords: hi - lo + 1, TightBounds: true, Columns: []ColumnStats{
		{Path: []string{"id"}, Type: Long, Min: IntValue(lo), Max: IntValue(hi)},
	}}
	text, err := st.Encode()
	if err != nil {
		panic(err)
	}
	return &Add{Path: name, Size: 100, ModificationTime: 1, DataChange: true, Stats: text, PartitionValues: map[string]*string{}}
}

func mustCommit(t testing.TB, tx *Transaction) int64 {
	t.Helper()
	v, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func idBetween(lo, hi int64) Predicate {
	return Where(
		Comparison{Column: "id", Op: OpGe, Values: []Value{IntValue(lo)}},
		Comparison{Column: "id", Op: OpLe, Values: []Value{IntValue(hi)}})
}

// describe is everything that a snapshot says, as text to compare.
func describe(s *Snapshot) string {
	var files []string
	for a := range s.Files(nil) {
		raw, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		files = append(files, string(raw))
	}
	slices.Sort(files)
	var txns []string
	for t := range s.Txns() {
		txns = append(txns, fmt.Sprint(t.AppID, "=", t.Version))
	}
	meta, err := json.Marshal(s.Metadata())
	if err != nil {
		panic(err)
	}
	protocol, err := json.Marshal(s.Protocol())
	if err != nil {
		panic(err)
	}
	var domains []string
	for _, d := range s.Domains() {
		c, _ := s.Domain(d)
		domains = append(domains, d+"="+c)
	}
	return fmt.Sprintf("version %d\n%s\n%s\n%v\n%v\n%d files, %d bytes\n%v", s.Version(), meta, protocol, txns, domains,
		s.NumFiles(), s.SizeInBytes(), files)
}
