package silver_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	bronzeName = "bronze.orders"
	silverName = "silver.orders"
)

var (
	ntz          = &arrow.TimestampType{Unit: arrow.Microsecond}
	bronzeFields = []arrow.Field{
		{Name: "_capture_instance", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_start_lsn", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_seqval", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_operation", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "_command_id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "_commit_ts", Type: ntz, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_batch_id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "_snapshot", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "_chunk", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}
	bronzeSchema = arrow.NewSchema(bronzeFields, nil)
)

// logRow is one row of bronze; a snapshot row has op 0 and no sequence.
type logRow struct {
	instance string
	lsn      int
	command  int32
	op       int32
	id       int32
	note     string
	snapshot int
	chunk    int32 // -1 = none
}

func lsn(n int) string { return fmt.Sprintf("0x%020X", n) }

// world is a source table, bronze and the ledger, as a stream would have left
// them.
type world struct {
	lake   *fake.Lake
	ledger *fake.Ledger
	state  map[int32]string // the source table
	lsn    int
	taken  int64 // whole snapshots in bronze
	budget int64 // of memory, for ranking
}

func newWorld() *world {
	w := &world{lake: fake.NewLake(), ledger: &fake.Ledger{Views: map[string]plugin.LedgerView{}}, state: map[int32]string{}, budget: 1}
	w.ledger.Verdict = func(view plugin.LedgerView, _ plugin.AdvanceRequest) *int64 {
		if !view.BronzeEnd.HasCommit {
			return view.Verdict
		}
		end := view.BronzeEnd.CommitMicros
		return &end
	}
	return w
}

type failer interface {
	Fatal(...any)
	Helper()
}

// write appends rows to bronze and moves its verdict to the end of the log.
func (w *world) write(t failer, list ...logRow) {
	t.Helper()
	ctx := context.Background()
	tables := w.lake.Open()
	defer tables.Close()
	if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: bronzeName}, Schema: bronzeSchema, Layout: plugin.LayoutAppend}}); err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		batch := bronzeBatch(list)
		defer batch.Release()
		var txns []plugin.Txn
		if list[0].op == plugin.OpSnapshot {
			txns = []plugin.Txn{{AppID: plugin.SnapshotsApp, Version: w.taken}}
			w.taken++
		}
		wr, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: bronzeName}, Mode: plugin.WriteAppend, Schema: bronzeSchema, BaseVersion: -1, Txns: txns})
		if err != nil {
			t.Fatal(err)
		}
		part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: wr.WriteID}, rows.FromBatches(bronzeSchema, batch))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: wr.WriteID, Tokens: []string{part.Token}}); err != nil {
			t.Fatal(err)
		}
	}
	view := w.ledger.Views[silverName]
	view.BronzeEnd = plugin.Position{Text: lsn(w.lsn), CommitMicros: int64(w.lsn), HasCommit: true}
	w.ledger.Views[silverName] = view
}

// empty takes every row out of bronze, as another program can.
func (w *world) empty(t failer) {
	t.Helper()
	ctx := context.Background()
	tables := w.lake.Open()
	defer tables.Close()
	wr, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: bronzeName}, Mode: plugin.WriteOverwrite, Schema: bronzeSchema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: wr.WriteID}); err != nil {
		t.Fatal(err)
	}
}

func bronzeBatch(list []logRow) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, bronzeSchema)
	defer b.Release()
	for _, r := range list {
		if r.instance == "" {
			r.instance = "dbo_orders"
		}
		b.Field(0).(*array.StringBuilder).Append(r.instance)
		b.Field(1).(*array.StringBuilder).Append(lsn(r.lsn))
		b.Field(3).(*array.Int32Builder).Append(r.op)
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(r.lsn))
		b.Field(6).(*array.Int32Builder).Append(r.id)
		b.Field(7).(*array.StringBuilder).Append(r.note)
		b.Field(8).AppendNull()
		if r.op == plugin.OpSnapshot {
			b.Field(2).AppendNull()
			b.Field(4).AppendNull()
			b.Field(9).(*array.StringBuilder).Append(lsn(r.snapshot))
		} else {
			b.Field(2).(*array.StringBuilder).Append(lsn(r.lsn))
			b.Field(4).(*array.Int32Builder).Append(r.command)
			b.Field(9).AppendNull()
		}
		if r.chunk >= 0 && r.op == plugin.OpSnapshot && r.snapshot != r.lsn {
			b.Field(10).(*array.Int32Builder).Append(r.chunk)
		} else {
			b.Field(10).AppendNull()
		}
	}
	return b.NewRecordBatch()
}

// snapshotRows are the rows of a whole snapshot of the source table now.
func (w *world) snapshotRows() []logRow {
	var list []logRow
	for _, id := range slices.Sorted(maps.Keys(w.state)) {
		list = append(list, logRow{lsn: w.lsn, op: plugin.OpSnapshot, id: id, note: w.state[id], snapshot: w.lsn})
	}
	return list
}

// apply runs silver once over a lake that faults may break.
func (w *world) apply(faults *fake.Faults) (plugin.SilverResult, error) {
	ctx := context.Background()
	session, err := silver.New("test").OpenSilver(ctx, plugin.OpenRequest{Component: "current", MemoryBudget: w.budget})
	if err != nil {
		return plugin.SilverResult{}, err
	}
	defer session.Close()
	tables := faults.Tables(w.lake.Open())
	defer tables.Close()
	return session.RunSilver(ctx, request(), plugin.Host{Tables: tables, Ledger: faults.Ledger(w.ledger.Step())}, nil)
}

func request() plugin.SilverRequest {
	return plugin.SilverRequest{
		Address: "silver.orders", Input: plugin.TableRef{Name: bronzeName}, Target: plugin.TableRef{Name: silverName},
		Key: []string{"id"}, Instances: []string{"dbo_orders", "dbo_orders_v2"}, InputSchema: bronzeSchema,
	}
}

func (w *world) silver() map[int32]string {
	got := map[int32]string{}
	for _, row := range w.lake.Rows(silverName) {
		got[int32(row["id"].(int64))] = row["note"].(string)
	}
	return got
}

// Whatever the history, wherever a run dies, silver equals the source as of
// bronze's head after the next run that ends, and no verdict is ahead of it.
func TestSilverEqualsTheSource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		gap := false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"commit", "commit", "lose", "snapshot", "read again", "apply"}).Draw(t, "step") {
			case "commit":
				changes := w.commit(t)
				if gap {
					continue // changes after a gap reach bronze only after a snapshot
				}
				w.write(t, changes...)
			case "lose":
				if len(w.commit(t)) > 0 {
					gap = true
				}
			case "snapshot":
				w.lsn++
				w.write(t, w.snapshotRows()...)
				if len(w.state) == 0 || rapid.Bool().Draw(t, "event") {
					view := w.ledger.Views[silverName]
					view.Snapshot = lsn(w.lsn)
					w.ledger.Views[silverName] = view
				}
				gap = false
			case "read again":
				// Bronze is emptied after silver was built, and the source has come no
				// further: the position is that of the rows before, the values are not.
				if gap || len(w.state) == 0 {
					continue
				}
				if rapid.Bool().Draw(t, "at a snapshot") {
					w.lsn++
					w.write(t, w.snapshotRows()...)
				}
				w.applyUntilItEnds(t)
				for id := range w.state {
					w.state[id] += rapid.SampledFrom([]string{"", "!"}).Draw(t, "changed")
				}
				w.empty(t)
				w.write(t, w.snapshotRows()...)
			case "apply":
				if gap {
					continue
				}
				w.applyUntilItEnds(t)
				if got := w.silver(); w.lake.Rows(bronzeName) != nil && !maps.Equal(got, w.state) {
					t.Fatalf("silver %v, source %v", got, w.state)
				}
			}
		}
	})
}

func (w *world) applyUntilItEnds(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "crashes") {
		var faults fake.Faults
		faults.KillAt(rapid.IntRange(1, 30).Draw(t, "kill at"))
		if _, err := w.apply(&faults); err != nil && !faults.Dead() {
			t.Fatal(err)
		}
	}
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict != nil && *result.Verdict > int64(w.lsn) {
		t.Fatalf("verdict %d at commit %d", *result.Verdict, w.lsn)
	}
}

// commit changes the source table in one transaction and returns its rows.
func (w *world) commit(t *rapid.T) []logRow {
	w.lsn++
	var list []logRow
	command := int32(0)
	add := func(op, id int32, note string) {
		list = append(list, logRow{lsn: w.lsn, command: command, op: op, id: id, note: note, chunk: -1})
	}
	for range rapid.IntRange(0, 4).Draw(t, "statements") {
		command++
		id := rapid.Int32Range(1, 4).Draw(t, "id")
		note := rapid.StringMatching(`[a-c]{0,2}`).Draw(t, "note")
		before, exists := w.state[id]
		other := rapid.Int32Range(1, 4).Draw(t, "other")
		_, taken := w.state[other]
		switch {
		case !exists:
			add(plugin.OpInsert, id, note)
			w.state[id] = note
		case rapid.Bool().Draw(t, "delete"):
			add(plugin.OpDelete, id, before)
			delete(w.state, id)
		case !taken && rapid.Bool().Draw(t, "as a pair"):
			add(plugin.OpUpdateBefore, id, before)
			add(plugin.OpUpdateAfter, other, note)
			delete(w.state, id)
			w.state[other] = note
		case !taken:
			add(plugin.OpDelete, id, before)
			add(plugin.OpInsert, other, note)
			delete(w.state, id)
			w.state[other] = note
		default:
			add(plugin.OpUpdateBefore, id, before)
			add(plugin.OpUpdateAfter, id, note)
			w.state[id] = note
		}
	}
	return list
}

// A snapshot that was read again while the source stood still has the position
// of the one before. It is told by its number, and only once.
func TestASnapshotThatWasReadAgainAtItsPositionCounts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state[1], w.state[2] = "a", "b"
	w.snapshot(t)
	apply := func(rebuilt bool, want map[int32]string) {
		t.Helper()
		tables := w.lake.Open()
		defer tables.Close()
		if plan, err := w.planOver(t, tables); err != nil || strings.HasPrefix(plan.Pending, "changes") == rebuilt && plan.Pending != "" {
			t.Fatalf("planned %q, %v", plan.Pending, err)
		}
		if result, err := w.apply(&fake.Faults{}); err != nil || result.Rebuilt != rebuilt {
			t.Fatalf("%+v, %v", result, err)
		}
		if got := w.silver(); !maps.Equal(got, want) {
			t.Fatalf("silver %v, want %v", got, want)
		}
	}
	before := maps.Clone(w.state)
	apply(true, before)
	apply(false, before)
	w.state[1] = "with a value that was left out"
	delete(w.state, 2)
	w.empty(t)
	apply(false, before) // bronze without rows takes nothing from silver
	w.write(t, w.snapshotRows()...)
	apply(true, w.state)
	apply(false, w.state)
	w.change(t, 1, "c")
	apply(false, w.state)
	apply(false, w.state)
}

func TestARunWithoutWorkCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	for i, want := range []bool{true, false} {
		result, err := w.apply(&fake.Faults{})
		if err != nil {
			t.Fatal(err)
		}
		if result.Rebuilt != want || result.Position.Applied != lsn(5) {
			t.Fatalf("run %d: %+v", i, result)
		}
	}
	writes := 0
	for _, c := range w.lake.History(silverName) {
		if c.DataChange {
			writes++
		}
	}
	if writes != 1 {
		t.Fatalf("%d commits of rows in silver, want 1", writes)
	}
}

func TestAnEmptiedTablesSnapshotEmptiesSilver(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
	// The snapshot left no row in bronze; only its event shows it.
	view := w.ledger.Views[silverName]
	view.Snapshot = lsn(9)
	w.ledger.Views[silverName] = view
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.silver()) != 0 || result.Deleted != 1 || result.Position.RebuiltFrom != lsn(9) {
		t.Fatalf("silver %v after %+v", w.silver(), result)
	}
}

func TestAnOpenChunkedSnapshotHoldsTheVerdict(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 5
	w.write(t, logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1})
	view := w.ledger.Views[silverName]
	view.Open = &plugin.OpenSnapshot{Snapshot: lsn(7), Keys: []string{"id"}}
	w.ledger.Views[silverName] = view
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict != nil || result.Position.Open != lsn(7) || result.Position.Wave != nil {
		t.Fatalf("%+v", result)
	}
	w.ledger.ChunkRows = map[string][]plugin.ChunkRow{lsn(7): {{Index: 0, Wave: 0, Stamp: lsn(8)}}}
	if _, err := w.apply(&fake.Faults{}); !diag.Is(err, diag.KindUnsupported) {
		t.Fatalf("error %v", err)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	insert := logRow{lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "a", chunk: -1}
	for name, tc := range map[string]struct {
		before func(t *testing.T, w *world)
		req    func(*plugin.SilverRequest)
		code   string
		says   string
	}{
		"rows of a foreign instance are never skipped": {
			before: func(t *testing.T, w *world) {
				foreign := insert
				foreign.instance = "dbo_lines"
				w.write(t, insert, foreign)
			}, code: "silver.unknown_instance", says: `"dbo_lines"`},
		"a key that is not captured": {
			before: func(t *testing.T, w *world) { w.write(t, insert) },
			req:    func(r *plugin.SilverRequest) { r.Key = []string{"ID"} },
			code:   "silver.key_not_captured", says: `"ID"`},
		"no key at all": {
			before: func(t *testing.T, w *world) { w.write(t, insert) },
			req:    func(r *plugin.SilverRequest) { r.Key = nil },
			code:   "silver.no_key", says: "no unique index"},
		"chunk rows the facts do not know": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert, logRow{lsn: 9, op: plugin.OpSnapshot, id: 2, snapshot: 8, chunk: 0})
			}, code: "silver.chunks_unknown", says: "chunked snapshot"},
		"chunk rows newer than the snapshot that the facts know": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert, logRow{lsn: 9, op: plugin.OpSnapshot, id: 2, snapshot: 8, chunk: 0})
				view := w.ledger.Views[silverName]
				view.Snapshot = lsn(5)
				w.ledger.Views[silverName] = view
			}, code: "silver.chunks_unknown", says: "chunked snapshot"},
		"silver is gone but was applied to": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				if _, err := w.apply(&fake.Faults{}); err != nil {
					t.Fatal(err)
				}
				w.lake.DropTable(silverName)
			}, code: "silver.table_gone", says: lsn(5)},
		"bronze has a wider type": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				narrow := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int16, Nullable: true}}, nil)
				tables := w.lake.Open()
				defer tables.Close()
				if _, err := tables.ApplyTable(context.Background(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: silverName}, Schema: narrow, Layout: plugin.LayoutMerge}}); err != nil {
					t.Fatal(err)
				}
			}, code: "silver.type_changed", says: `Column "id" is int32 in bronze and int16`},
		"the target is a change log": {
			before: func(t *testing.T, w *world) {
				w.write(t, insert)
				w.makeChangeLog(t, silverName)
			}, code: "silver.target_is_bronze", says: "silver.orders holds changes, not current rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.lsn = 9
			tc.before(t, w)
			req := request()
			if tc.req != nil {
				tc.req(&req)
			}
			session, err := silver.New("test").OpenSilver(context.Background(), plugin.OpenRequest{Component: "current"})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tables := w.lake.Open()
			defer tables.Close()
			_, err = session.RunSilver(context.Background(), req, plugin.Host{Tables: tables, Ledger: w.ledger}, nil)
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != tc.code || !strings.Contains(err.Error(), tc.says) || list[0].Detail == "" {
				t.Fatalf("error %v (%+v)", err, list)
			}
		})
	}
}

// makeChangeLog makes a table as a stream makes it.
func (w *world) makeChangeLog(t *testing.T, name string) {
	t.Helper()
	tables := w.lake.Open()
	defer tables.Close()
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: name}, Schema: bronzeSchema}}); err != nil {
		t.Fatal(err)
	}
}

// A target that two names lead to bronze is refused by the plan, too, and
// nothing is added to it.
func TestSilverIsNeverPlannedIntoAChangeLog(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.makeChangeLog(t, silverName)
	session, err := silver.New("test").OpenSilver(t.Context(), plugin.OpenRequest{Component: "current"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tables := w.lake.Open()
	defer tables.Close()
	_, err = session.PlanSilver(t.Context(), request(), plugin.Host{Tables: tables, Ledger: w.ledger})
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "silver.target_is_bronze" {
		t.Fatalf("error %v", err)
	}
}

func TestNoBronzeIsAWarningAndNoTable(t *testing.T) {
	t.Parallel()
	w := newWorld()
	result, err := w.apply(&fake.Faults{})
	if err != nil || result.BronzeFound || len(result.Diagnostics) != 1 || w.lake.Rows(silverName) != nil {
		t.Fatalf("%+v %v", result, err)
	}
}

func TestRowsOfEveryInstanceOfTheTableApply(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.lsn = 6
	w.write(t, logRow{instance: "DBO_Orders", lsn: 5, command: 1, op: plugin.OpInsert, id: 1, note: "old", chunk: -1},
		logRow{instance: "dbo_orders_v2", lsn: 6, command: 1, op: plugin.OpUpdateAfter, id: 1, note: "new", chunk: -1})
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
	if got := w.silver(); got[1] != "new" || len(got) != 1 {
		t.Fatalf("silver %v", got)
	}
}
