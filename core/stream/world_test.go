package stream_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

const (
	orders = "dbo.orders"
	bronze = "bronze.orders"
	facts  = "ops.ingestion_facts"
	verds  = "ops.table_finalization"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a source and a lake that outlive runs.
type world struct {
	db       *memory.Database
	lake     *memory.Lake
	warnings []diag.Diagnostic
	sleeps   []time.Duration
	calls    []memory.Point

	mu  sync.Mutex
	now time.Time
}

func newWorld() *world {
	w := &world{db: memory.NewDatabase("shop"), lake: memory.NewLake(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.db.CreateTable(orders, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil), "id")
	w.db.CreateTable("dbo.other", arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil), "id")
	return w
}

// clock ticks a millisecond at each look.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

// later lets time pass, so that the lock of a dead run expires.
func (w *world) later() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(2 * state.LockTTL)
}

func (w *world) warn(d diag.Diagnostic) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, d)
}

func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sleeps = append(w.sleeps, d)
	return ctx.Err()
}

func (w *world) warned(code string) int {
	n := 0
	for _, d := range w.warnings {
		if d.Code == code {
			n++
		}
	}
	return n
}

// at is a commit time.
func at(minute int) time.Time {
	return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

func (w *world) insert(minute int, ids ...int) plugin.Position {
	var changes []memory.Change
	for _, id := range ids {
		changes = append(changes, memory.Insert(orders, memory.Row{"id": id, "note": fmt.Sprint("n", id)}))
	}
	return w.db.Commit(at(minute), changes...)
}

func (w *world) idle(minute int) plugin.Position { return w.db.Commit(at(minute)) }

func (w *world) update(minute, id int, from, to string) plugin.Position {
	return w.db.Commit(at(minute), memory.Update(orders, memory.Row{"id": id, "note": from}, memory.Row{"id": id, "note": to}))
}

func (w *world) table(partitions int) plugin.SourceTable {
	return plugin.SourceTable{
		Address: "table.orders",
		Object:  cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal(orders)}),
		Read:    cty.ObjectVal(map[string]cty.Value{"partitions": cty.NumberIntVal(int64(partitions))}),
	}
}

type option func(*stream.Config)

func bootstrap(c *stream.Config)              { c.Bootstrap = "full" }
func maxCommits(n int) option                 { return func(c *stream.Config) { c.MaxCommits = n } }
func appID(id string) option                  { return func(c *stream.Config) { c.AppID = id } }
func partitions(w *world, n int) option       { return func(c *stream.Config) { c.Table = w.table(n) } }
func slots(n int) option                      { return func(c *stream.Config) { c.Slots = make(stream.Slots, n) } }
func granular(g ledger.Granularity) option    { return func(c *stream.Config) { c.Granularity = g } }
func watching(c *stream.Config)               { c.Watch = true }
func skipping(c *stream.Config)               { c.SkipLost = true }
func progress(f func(stream.Progress)) option { return func(c *stream.Config) { c.Progress = f } }

// books makes the ledger's tables.
func (w *world) books(t testing.TB) {
	t.Helper()
	if err := ledger.New(w.lake.Open(), ledger.Options{Facts: facts, Control: verds}).Ensure(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// create does what apply does before any work: the tables.
func (w *world) create(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	source, tables := w.db.Open(), w.lake.Open()
	got, err := source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{w.table(1)}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, got.Tables[0].Schema)
	if err != nil {
		t.Fatal(err)
	}
	w.books(t)
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec}); err != nil {
		t.Fatal(err)
	}
}

// run carries one run out, over calls that faults may break (nil: none).
func (w *world) run(faults *memory.Faults, options ...option) (stream.Result, error) {
	ctx := context.Background()
	source, tables := w.db.Open(), w.lake.Open()
	got, err := source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{w.table(1)}})
	if err != nil {
		return stream.Result{}, err
	}
	if faults == nil {
		faults = &memory.Faults{}
	}
	source, tables = faults.Source(source), faults.Tables(tables)
	store, err := state.Open(ctx, state.InSink(tables, "sink.lake"), state.Options{
		Name: "shop", Clock: w.clock, After: func(time.Duration) <-chan time.Time { return nil },
	})
	if err != nil {
		return stream.Result{}, err
	}
	cfg := stream.Config{
		AppID: "orders-v1", Source: source, Table: w.table(2), Database: got.Database(), Info: got.Tables[0],
		Tables: tables, Bronze: plugin.TableRef{Name: bronze},
		Ledger: ledger.New(tables, ledger.Options{Facts: facts, Control: verds, Clock: w.clock, Sleep: w.sleep, Warn: w.warn}),
		State:  store, Holder: state.Holder{Run: "r1", Host: "here", PID: 1},
		Slots: make(stream.Slots, 1), Clock: w.clock, Sleep: w.sleep, Warn: w.warn, Random: func() float64 { return 0 },
	}
	for _, o := range options {
		o(&cfg)
	}
	result, err := stream.Run(ctx, cfg)
	w.calls = faults.Points()
	return result, err
}

func (w *world) mustRun(t testing.TB, options ...option) stream.Result {
	t.Helper()
	result, err := w.run(nil, options...)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	w.later()
	return result
}

// volatile columns depend on the clock.
var volatile = []string{"started_at", "duration_ms", "written_at", "updated_at"}

// lines is a table as sorted text, without what depends on the clock.
func (w *world) lines(table string) []string {
	var out []string
	for _, row := range w.lake.Rows(table) {
		out = append(out, line(row))
	}
	slices.Sort(out)
	return out
}

func line(row map[string]any) string {
	var cells []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		switch v := row[name].(type) {
		case nil:
		case time.Time:
			if !slices.Contains(volatile, name) {
				cells = append(cells, name+"="+v.Format("2006-01-02T15:04:05.000"))
			}
		default:
			if !slices.Contains(volatile, name) {
				cells = append(cells, fmt.Sprintf("%s=%v", name, v))
			}
		}
	}
	return strings.Join(cells, " ")
}

// batches are the lines of batch rows of the facts and of their events.
func (w *world) batches() []string {
	return slices.DeleteFunc(w.lines(facts), func(l string) bool { return !strings.Contains(l, "batch_id=") })
}

// factsOf are the facts rows of one event, "" for batches.
func (w *world) factsOf(event string) []map[string]any {
	var out []map[string]any
	for _, row := range w.lake.Rows(facts) {
		if have, _ := row["event"].(string); have == event {
			out = append(out, row)
		}
	}
	return out
}

// log is the offsets and commit marks, by key.
func (w *world) log() map[string]string {
	out := map[string]string{}
	for key, data := range w.lake.Objects() {
		switch {
		case strings.Contains(key, "/offsets/"), strings.HasSuffix(key, "stream.json"):
			out[key] = string(data)
		case strings.Contains(key, "/commits/"):
			out[key] = "done"
		}
	}
	return out
}
