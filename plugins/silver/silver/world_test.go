package silver_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver"
)

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
	older  bool  // bronze is written by a release that counts them for any table
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
	made, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: bronzeName}, Schema: bronzeSchema, Layout: plugin.LayoutAppend}})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		batch := bronzeBatch(list)
		defer batch.Release()
		var txns []plugin.Txn
		if list[0].op == plugin.OpSnapshot {
			txns = []plugin.Txn{{AppID: plugin.SnapshotsApp, Version: w.taken}}
			if !w.older {
				txns = append(txns, plugin.Txn{AppID: plugin.SnapshotsOf(made.ID), Version: w.taken})
			}
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

// anew makes bronze anew, without rows and counting from the start.
func (w *world) anew() {
	w.lake.DropTable(bronzeName)
	w.taken = 0
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
		if len(w.state) > 1 && rapid.IntRange(0, 3).Draw(t, "keys pass on") == 0 {
			w.passOn(t, &command, add)
			continue
		}
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

// passOn gives the keys of several rows to each other and to keys that are free, in
// one statement, which logs the rows in any order: as pairs, or as a delete and an
// insert.
func (w *world) passOn(t *rapid.T, command *int32, add func(op, id int32, note string)) {
	var from []int32
	for id := range w.state {
		from = append(from, id)
	}
	slices.Sort(from)
	from = rapid.Permutation(from).Draw(t, "moved")[:rapid.IntRange(2, len(from)).Draw(t, "moving")]
	free := []int32{}
	for id := int32(1); id <= 4; id++ {
		if _, there := w.state[id]; !there {
			free = append(free, id)
		}
	}
	to := rapid.Permutation(append(free, from...)).Draw(t, "to")[:len(from)]
	pairs := rapid.Bool().Draw(t, "as pairs")
	after := maps.Clone(w.state)
	for _, id := range from {
		delete(after, id)
	}
	for i, id := range from {
		*command++
		note := w.state[id] + rapid.SampledFrom([]string{"", "~"}).Draw(t, "changed")
		removal, arrival := plugin.OpDelete, plugin.OpInsert
		if pairs {
			removal, arrival = plugin.OpUpdateBefore, plugin.OpUpdateAfter
		}
		add(removal, id, w.state[id])
		add(arrival, to[i], note)
		after[to[i]] = note
	}
	w.state = after
}
