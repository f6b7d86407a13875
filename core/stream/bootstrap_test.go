package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/core/stream"
)

// append puts rows in JSON, one object each, into a table, as another program
// might have. Columns the schema lacks are left out of the table.
func (w *world) append(t *testing.T, table string, schema *arrow.Schema, lines ...string) {
	t.Helper()
	ctx, tables, ref := context.Background(), w.lake.Open(), plugin.TableRef{Name: table}
	if !slices.Contains(w.lake.TableNames(), table) {
		if _, err := tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: schema}}); err != nil {
			t.Fatal(err)
		}
	}
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, bytes.NewReader([]byte("["+strings.Join(lines, ",")+"]")))
	if err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, record))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}}); err != nil {
		t.Fatal(err)
	}
}

func columns(names ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, name := range names {
		typ := arrow.DataType(arrow.BinaryTypes.String)
		switch name {
		case "_operation", "_command_id", "_batch_id", "_chunk", "id":
			typ = arrow.PrimitiveTypes.Int32
		case "rows":
			typ = arrow.PrimitiveTypes.Int64
		case "_commit_ts":
			typ = &arrow.TimestampType{Unit: arrow.Microsecond}
		}
		fields = append(fields, arrow.Field{Name: name, Type: typ, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

var snapshotRows = columns("_capture_instance", "_start_lsn", "_operation", "_commit_ts", "id", "_snapshot", "_chunk")

func snapshotRow(instance, lsn string, id int, chunk string) string {
	minute := map[string]string{second: "1", third: "2"}[lsn] // when the world committed it
	return fmt.Sprintf(`{"_capture_instance": %q, "_start_lsn": %q, "_snapshot": %q, "_operation": 0, "_commit_ts": "2026-03-01 08:0%s:00", "id": %d, "_chunk": %s}`, instance, lsn, lsn, minute, id, chunk)
}

const (
	second = "0x0000002A000000020001"
	third  = "0x0000002A000000030001"
)

// snapshotWorld has five commits.
func snapshotWorld(t *testing.T) *world {
	w := newWorld()
	w.create(t)
	for i := range 5 {
		w.insert(i, i)
	}
	return w
}

func (w *world) changes() int {
	return len(slices.DeleteFunc(w.lake.Rows(bronze), func(r map[string]any) bool { return r["_operation"] == int64(0) }))
}

func TestAWholeSnapshotIsOneCommitUnderOneStamp(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	stamp := w.db.Newest()
	late := false
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if p.Call == "Source.OpenSnapshot" && p.After && !late {
			late = true // committed after the stamp and seen by the read: it comes again as a change
			w.insert(10, 10)
		}
		return nil
	}}
	got, err := w.run(faults, bootstrap, slots(3))
	if err != nil || got.SnapshotRows != 6 || got.Rows != 1 || got.End != w.db.Newest() {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := w.checkBootstrap(); err != nil {
		t.Error(err)
	}
	commits := w.dataCommits()
	want := fmt.Sprintf(`{"snapshot": "dbo_orders", "lsn": %q, "commit_ts": "2026-03-01T08:04:00.000"}`, stamp.Text)
	if len(commits) != 2 || commits[0].UserMetadata != want {
		t.Errorf("%d commits, metadata %s", len(commits), commits[0].UserMetadata)
	}
	event := w.factsOf("bootstrap")[0]
	if event["min_lsn"] != stamp.Text || event["rows"] != int64(6) || event["started_at"] == nil || event["duration_ms"] == nil || event["max_commit_ts"] != at(4) {
		t.Errorf("event %v", event)
	}
	w.later()
	w.insert(20, 20)
	again := w.mustRun(t, bootstrap)
	if again.SnapshotRows != -1 || again.Rows != 1 || w.count("Source.OpenSnapshot") != 0 || w.count("Tables.ApplyTable") != 0 {
		t.Errorf("the second run: %+v", again)
	}
	if len(w.factsOf("bootstrap")) != 1 || len(w.factsOf("snapshot_open")) != 1 {
		t.Error("the snapshot was recorded again")
	}
}

func TestASnapshotThatIsThereIsFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule   string
		schema *arrow.Schema
		rows   []string
		want   string // where the stream starts, "" = a snapshot is taken
	}{
		{"the newest of several", snapshotRows, []string{snapshotRow("dbo_orders", second, 1, "null"), snapshotRow("dbo_orders", third, 1, "null"), snapshotRow("dbo_orders", second, 2, "null")}, third},
		{"instances compare ignoring case", snapshotRows, []string{snapshotRow("DBO_Orders", second, 1, "null")}, second},
		{"rows of another table do not count", snapshotRows, []string{snapshotRow("dbo_lines", second, 1, "null")}, ""},
		{"rows of chunks do not count", snapshotRows, []string{snapshotRow("dbo_orders", third, 1, "4")}, ""},
		{"rows from before _snapshot carry the position as their own", columns("_capture_instance", "_start_lsn", "_operation", "id"),
			[]string{fmt.Sprintf(`{"_capture_instance": "dbo_orders", "_start_lsn": %q, "_operation": 0, "id": 1}`, second)}, second},
		{"changes do not count", columns("_capture_instance", "_start_lsn", "_operation", "id"),
			[]string{fmt.Sprintf(`{"_capture_instance": "dbo_orders", "_start_lsn": %q, "_operation": 2, "id": 1}`, second)}, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for i := range 5 {
				w.insert(i, i)
			}
			w.books(t)
			w.append(t, bronze, tt.schema, tt.rows...) // an older table, made by another program
			before := len(tt.rows)
			got := w.mustRun(t, bootstrap)
			if (got.SnapshotRows != -1) != (tt.want == "") {
				t.Fatalf("%+v", got)
			}
			if tt.want == "" {
				if n := len(w.lake.Rows(bronze)); n != before+5 {
					t.Errorf("%d rows", n)
				}
				return
			}
			event := w.factsOf("bootstrap")
			if len(event) != 1 || event[0]["min_lsn"] != tt.want || event[0]["rows"] != nil || event[0]["started_at"] != nil || event[0]["duration_ms"] != nil {
				t.Errorf("event %v", event)
			}
			// Every change after the snapshot, and none before it.
			for _, row := range w.lake.Rows(bronze)[before:] {
				if row["_start_lsn"].(string) <= tt.want {
					t.Errorf("row %v", row)
				}
			}
			if n, missing := len(w.lake.Rows(bronze))-before, map[string]int{second: 3, third: 2}[tt.want]; n != missing {
				t.Errorf("%d changes, want %d", n, missing)
			}
			// The table was brought up to date: comments, columns, number.
			states, err := w.lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: bronze}}})
			if err != nil || states[0].Properties[ledger.PropertySchemaVersion] != "2" || len(states[0].Schema.FieldIndices("_chunk")) != 1 {
				t.Errorf("%+v, %v", states, err)
			}
			w.insert(9, 9)
			if again := w.mustRun(t, bootstrap); again.Rows != 1 || again.SnapshotRows != -1 {
				t.Errorf("%+v", again)
			}
		})
	}
}

func TestASnapshotOfAnEmptyTableIsItsEventOnly(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.idle(1)
	got := w.mustRun(t, bootstrap)
	event := w.factsOf("bootstrap")
	if got.SnapshotRows != 0 || len(event) != 1 || event[0]["rows"] != int64(0) || len(w.dataCommits()) != 0 {
		t.Errorf("%+v, event %v", got, event)
	}
	w.insert(2, 1)
	if again := w.mustRun(t, bootstrap); again.SnapshotRows != -1 || again.Rows != 1 {
		t.Errorf("%+v", again)
	}
}

func TestASnapshotMayComeToAStreamThatRuns(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.mustRun(t)
	got := w.mustRun(t, bootstrap) // stamped exactly where the stream stands
	if got.SnapshotRows != 5 || got.Batches != 0 || w.changes() != 5 {
		t.Errorf("%+v, %d changes", got, w.changes())
	}
	if err := w.checkBootstrap(); err != nil {
		t.Error(err)
	}
	w.insert(9, 9)
	if again := w.mustRun(t, bootstrap); again.Rows != 1 || w.changes() != 6 {
		t.Errorf("%+v", again)
	}
}

func TestRowsOfASnapshotThatWereDeletedAreReadAgain(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.mustRun(t, bootstrap)
	w.insert(9, 9)
	// Someone empties bronze of snapshot rows.
	ctx, tables := context.Background(), w.lake.Open()
	state, err := tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: bronze}}})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: plugin.TableRef{Name: bronze}, Mode: plugin.WriteOverwrite, Schema: state[0].Schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID}); err != nil {
		t.Fatal(err)
	}
	if got := w.mustRun(t, bootstrap); got.SnapshotRows != 6 {
		t.Errorf("%+v", got)
	}
	if got := w.mustRun(t, bootstrap); got.SnapshotRows != -1 {
		t.Errorf("read a third time: %+v", got)
	}
	// The two are told apart by their number, whatever their positions are.
	of := plugin.SnapshotsOf(state[0].ID)
	state, err = tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: bronze}}, AppIDs: []string{plugin.SnapshotsApp, of}})
	if err != nil || state[0].Txns[plugin.SnapshotsApp] != 1 || state[0].Txns[of] != 1 {
		t.Errorf("%v, %v", state, err)
	}
}

var factsColumns = columns("app_id", "event", "target", "min_lsn", "max_lsn", "rows", "detail")

func opening(mode, lsn string) string {
	return fmt.Sprintf(`{"app_id": "orders-v1", "event": "snapshot_open", "target": %q, "min_lsn": %q, "max_lsn": %q, "rows": 0, "detail": "{\"mode\": \"%s\", \"kind\": \"bootstrap\", \"generation\": 0}"}`, bronze, lsn, lsn, mode)
}

func TestAChunkedSnapshotThatIsOpenKeepsAWholeOneOut(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.append(t, facts, factsColumns, opening("chunked", second))
	err := w.mustFail(t, diag.KindConfiguration, "stream.snapshot_open", bootstrap)
	if !strings.Contains(err.Error(), second) || !strings.Contains(err.Error(), "chunked") || len(w.lake.Rows(bronze)) != 0 {
		t.Errorf("got %v", err)
	}
	// Complete, it is where the stream starts.
	w.append(t, facts, factsColumns, fmt.Sprintf(`{"app_id": "orders-v1", "event": "bootstrap", "target": %q, "min_lsn": %q, "max_lsn": %q, "rows": 2}`, bronze, second, second))
	got := w.mustRun(t, bootstrap)
	if got.SnapshotRows != -1 || got.Rows != 3 {
		t.Errorf("%+v", got)
	}
}

func TestAWholeSnapshotThatIsOpenKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.append(t, facts, factsColumns, opening("full", second)) // of a run that died
	if got := w.mustRun(t, bootstrap); got.SnapshotRows != 5 {
		t.Errorf("%+v", got)
	}
}

func TestSnapshotsOfOtherStreamsAreTheirs(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.append(t, facts, factsColumns, strings.ReplaceAll(opening("chunked", second), "orders-v1", "orders-v10"))
	if got := w.mustRun(t, bootstrap); got.SnapshotRows != 5 {
		t.Errorf("%+v", got)
	}
}

func TestAStreamWithoutSnapshotStartsWhereItIsTold(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]int64{"": 5, "earliest": 5, "latest": 0, third: 2} {
		w := snapshotWorld(t)
		got := w.mustRun(t, func(c *stream.Config) { c.StartingPosition = from })
		if got.Rows != want {
			t.Errorf("from %q: %+v", from, got)
		}
	}
}

// A run that stood still, or the sink of a host that was killed, may come back
// after another run has taken over and read the table.
func TestASnapshotThatWasOvertakenIsNotAppended(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2, 3)
	overtaken := false
	_, err := w.run(nil, bootstrap, progress(func(p stream.Progress) {
		if p.Stage != "snapshot" || overtaken {
			return
		}
		overtaken = true
		w.later()
		w.mustRun(t, bootstrap)
	}))
	if !overtaken || !diag.Is(err, diag.KindConflict) {
		t.Fatalf("overtaken %v, error %v", overtaken, err)
	}
	w.later()
	w.mustRun(t, bootstrap)
	if err := w.checkBootstrap(); err != nil {
		t.Fatal(err)
	}
	if n := len(w.lake.Rows(bronze)); n != 3 {
		t.Errorf("bronze has %d rows, the table 3", n)
	}
}
