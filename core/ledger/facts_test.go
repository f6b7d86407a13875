package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

func batchNumber(app string, n int64, rows int64) Batch {
	return Batch{AppID: app, Number: n, Target: "bronze." + app, Counts: Counts{Rows: rows}, StartedAt: time.UnixMicro(5), Duration: 1500 * time.Microsecond}
}

// told lists the facts as app, batch and event.
func (l *lake) told() string {
	var out []string
	for _, row := range l.Rows("ops.facts") {
		out = append(out, strings.ReplaceAll(fmt.Sprint(row["app_id"], ":", row["batch_id"], ":", row["event"]), "<nil>", ""))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestFactsOfSeveralStreamsAreOneCommit(t *testing.T) {
	t.Parallel()
	l := newLake()
	a, b := batchNumber("a", 0, 3), batchNumber("b", 4, 0)
	a.Events = []plugin.Event{{Name: "schema_change", Position: position("0x7", "2026-03-01T10:00:00"), Detail: "ALTER"}}
	if err := l.RecordBatches(ctx, a, b); err != nil {
		t.Fatal(err)
	}
	if got, want := l.told(), "a:0: a:0:schema_change b:4:"; got != want || len(l.History("ops.facts")) != 2 {
		t.Errorf("facts %s in %d versions", got, len(l.History("ops.facts")))
	}
	// What is recorded already is left out, alone and among others.
	for _, again := range [][]Batch{{a}, {a, b}, {batchNumber("b", 3, 1)}} {
		if err := l.RecordBatches(ctx, again...); err != nil || len(l.History("ops.facts")) != 2 {
			t.Errorf("%v, %d versions", err, len(l.History("ops.facts")))
		}
	}
	if err := l.RecordBatches(ctx, a, batchNumber("b", 5, 1)); err != nil {
		t.Fatal(err)
	}
	if got, want := l.told(), "a:0: a:0:schema_change b:4: b:5:"; got != want {
		t.Errorf("facts %s, want %s", got, want)
	}
	for _, row := range l.Rows("ops.facts") {
		if row["event"] == nil && (row["duration_ms"] != int64(1) || row["started_at"] == nil) {
			t.Errorf("row %v", row)
		}
	}
}

func TestFactsTableIsAsOthersMakeIt(t *testing.T) {
	t.Parallel()
	l := newLake()
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	const columns = "app_id utf8, batch_id int64, rows int64, min_lsn utf8, max_lsn utf8, min_commit_ts ts, max_commit_ts ts, deletes int64, inserts int64, updates int64, " +
		"started_at ts, duration_ms int64, source_rtt_ms float64, read_seconds float64, read_mb float64, network_wait_ms int64, retention_watermark_ts ts, " +
		"retention_headroom_hours float64, event utf8, lost_from_ts ts, lost_to_ts ts, source_max_commit_ts ts, capture_lag_seconds float64, " +
		"ingestion_lag_seconds float64, end_lsn utf8, end_commit_ts ts, detail utf8, target utf8, written_at ts"
	const control = "table_name utf8, finalized_until ts, end_lsn utf8, end_commit_ts ts, updated_at ts, applied_lsn utf8, snapshot_lsn utf8, open_snapshot_lsn utf8, snapshot_wave int32, " +
		"silver_version int64, foreign_version int64, silver_merge int64, table_path utf8, table_id utf8" // the last five are pipectl's own
	for _, tt := range []struct{ table, columns, version string }{{"ops.facts", columns, "14"}, {"ops.control", control, "4"}} {
		state := l.state(t, tt.table)
		var got []string
		for _, f := range state.Schema.Fields() {
			typ := f.Type.String()
			if f.Type.ID() == arrow.TIMESTAMP {
				if ts := f.Type.(*arrow.TimestampType); ts.TimeZone != "" || ts.Unit != arrow.Microsecond {
					t.Errorf("%s has type %s", f.Name, f.Type)
				}
				typ = "ts"
			}
			got = append(got, f.Name+" "+typ)
			if c, _ := f.Metadata.GetValue("comment"); c == "" || !f.Nullable {
				t.Errorf("column %s of %s has no comment or is not nullable", f.Name, tt.table)
			}
		}
		if strings.Join(got, ", ") != tt.columns || state.Properties[PropertySchemaVersion] != tt.version || len(state.Properties) != 1 || state.Description == "" {
			t.Errorf("%s: %s\nproperties %v", tt.table, strings.Join(got, ", "), state.Properties)
		}
	}
	if plan, err := l.Plan(ctx); err != nil || len(plan) != 0 {
		t.Errorf("plan %v, %v", plan, err)
	}
}

func TestAnOldTableIsMigratedOnce(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	late := []string{"source_rtt_ms", "read_seconds", "read_mb", "network_wait_ms", "retention_watermark_ts", "retention_headroom_hours", "event", "lost_from_ts",
		"lost_to_ts", "source_max_commit_ts", "capture_lag_seconds", "ingestion_lag_seconds", "end_lsn", "end_commit_ts", "detail"}
	l.put(t, "ops.facts", without(schemaOf(factsColumns), late...), nil, `{"app_id": "a", "batch_id": 0, "rows": 1, "target": "bronze.a"}`)
	if plan, err := l.Plan(ctx); err != nil || len(plan) != 2 || plan[0].Plan.Action != plugin.TableAlter || plan[1].Plan.Action != plugin.TableCreate {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if v := l.state(t, "ops.facts").Version; v != 1 {
		t.Fatalf("planning wrote version %d", v)
	}
	if err := l.RecordBatches(ctx, batchNumber("a", 1, 2)); !diag.HasCode(err, CodeTableOld) || !diag.Is(err, diag.KindStale) {
		t.Fatalf("a write that is not apply's migrates: %v", err)
	}
	if err := l.Check(ctx); !diag.HasCode(err, CodeTableOld) || l.state(t, "ops.facts").Version != 1 {
		t.Fatalf("the start of a run: %v", err)
	}
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.RecordBatches(ctx, batchNumber("a", 1, 2)); err != nil {
		t.Fatal(err)
	}
	state := l.state(t, "ops.facts")
	if state.Schema.NumFields() != len(factsColumns) || state.Properties[PropertySchemaVersion] != "14" {
		t.Errorf("%v, %v", state.Schema, state.Properties)
	}
	l.reopen()
	if err := l.RecordBatches(ctx, batchNumber("a", 2, 2)); err != nil {
		t.Fatal(err)
	}
	if got := l.state(t, "ops.facts").Version; got != state.Version+1 {
		t.Errorf("the second opening wrote %d versions besides the row", got-state.Version-1)
	}
	if got := l.told(); got != "a:0: a:1: a:2:" {
		t.Errorf("facts %s", got)
	}
}

func TestTablesOfNewerCode(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	wide, err := without(schemaOf(controlColumns)).AddField(9, arrow.Field{Name: "ours_to_come", Type: arrow.BinaryTypes.String, Nullable: true})
	if err != nil {
		t.Fatal(err)
	}
	l.put(t, "ops.control", wide, withVersion("7"), `{"table_name": "a", "ours_to_come": "x"}`)
	for range 2 {
		if _, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:00:00"), Hour); err != nil {
			t.Fatal(err)
		}
	}
	if row := l.Rows("ops.control")[0]; row["ours_to_come"] != "x" || row["end_lsn"] != "0x1" {
		t.Errorf("row %v", row)
	}
	if len(l.warnings) != 1 || l.state(t, "ops.control").Properties[PropertySchemaVersion] != "7" {
		t.Errorf("warnings %v", l.warnings)
	}
	l.put(t, "ops.facts", without(schemaOf(factsColumns)), map[string]string{PropertySchemaVersion: "20", PropertyMinVersion: "15"})
	err = l.RecordBatches(ctx, batchNumber("a", 1, 2))
	if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), "15") || !strings.Contains(err.Error(), "14") || len(l.Rows("ops.facts")) != 0 {
		t.Errorf("got %v", err)
	}
	l.put(t, "ops.bad", without(schemaOf(factsColumns)), withVersion("many"))
	if _, err := versionOf(l.state(t, "ops.bad"), PropertySchemaVersion); !diag.Is(err, diag.KindConfiguration) {
		t.Errorf("got %v", err)
	}
}

func TestAReadOnlyTableIsRefused(t *testing.T) {
	t.Parallel()
	l := newLake()
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	l.reopen()
	l.ReadOnly = "it has row tracking"
	if err := l.RecordBatches(ctx, batchNumber("a", 1, 2)); !diag.Is(err, diag.KindUnsupported) || !strings.Contains(err.Error(), "row tracking") {
		t.Errorf("got %v", err)
	}
}

func TestSnapshotEvents(t *testing.T) {
	t.Parallel()
	l := newLake()
	stamp := position("0x0000002A000001000041", "2026-03-01T08:33:00")
	lostTo, lostFrom := *micros("2026-03-01T06:33:00"), *micros("2026-03-01T05:00:00")
	for range 2 { // one row per run
		if err := l.OpenFull(ctx, SnapshotOpening{AppID: "a", Target: "bronze.a", Stamp: stamp}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.OpenFull(ctx, SnapshotOpening{AppID: "a.g1", Target: "bronze.a", Stamp: stamp, Generation: 1, LostFrom: &lostFrom, LostTo: &lostTo}); err != nil {
		t.Fatal(err)
	}
	done := SnapshotCompletion{AppID: "a", KeyApp: "a", Target: "bronze.a", Stamp: stamp, Rows: new(int64(200)), StartedAt: new(time.UnixMicro(1)), Duration: new(time.Second)}
	for range 2 { // one row, ever
		if err := l.Bootstrapped(ctx, done); err != nil {
			t.Fatal(err)
		}
		done.Rows = nil
	}
	if got, want := l.told(), "a.g1::snapshot_open a::bootstrap a::snapshot_open a::snapshot_open"; got != want {
		t.Errorf("facts %s", got)
	}
	for _, row := range l.Rows("ops.facts") {
		for _, c := range []string{"min_lsn", "max_lsn", "end_lsn"} {
			if row[c] != stamp.Text {
				t.Errorf("%s of %v is %v", c, row["event"], row[c])
			}
		}
		switch {
		case row["app_id"] == "a.g1":
			if row["detail"] != `{"mode": "full", "kind": "resnapshot", "generation": 1, "lost_from_ts": "2026-03-01T05:00:00.000", "lost_to_ts": "2026-03-01T06:33:00.000"}` ||
				row["retention_headroom_hours"] != 2.0 || row["retention_watermark_ts"] != row["lost_to_ts"] {
				t.Errorf("row %v", row)
			}
		case row["event"] == EventSnapshotOpen:
			if row["detail"] != `{"mode": "full", "kind": "bootstrap", "generation": 0, "lost_from_ts": null, "lost_to_ts": null}` || row["rows"] != int64(0) || row["started_at"] != nil {
				t.Errorf("row %v", row)
			}
		default:
			if row["rows"] != int64(200) || row["duration_ms"] != int64(1000) || row["detail"] != nil || row["batch_id"] != nil || row["deletes"] != int64(0) {
				t.Errorf("row %v", row)
			}
		}
	}
}

func TestFamily(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"orders-v1": true, "orders-v1.g1": true, "orders-v1.g20": true, "orders-v1.g": false, "orders-v10": false, "orders-v1.gx": false,
		"orders-v1.g1x": false, "orders-v1xg1": false, "orders": false, "": false,
	} {
		if got := Family("orders-v1", id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
	if SinkID("a", 0) != "a" || SinkID("a", 2) != "a.g2" || !Family("a", SinkID("a", 13)) {
		t.Error("sink ids")
	}
}

func TestWroteAfter(t *testing.T) {
	t.Parallel()
	l := newLake()
	if got, err := l.WroteAfter(ctx, "a", -1); err != nil || got {
		t.Errorf("without a table: %v, %v", got, err)
	}
	b := batchNumber("a", 3, 0)
	b.Events = []plugin.Event{{Name: "schema_change", Position: position("0x1", "")}}
	if err := l.RecordBatches(ctx, batchNumber("a", 2, 5), batchNumber("b", 9, 5)); err != nil {
		t.Fatal(err)
	}
	if err := l.RecordBatches(ctx, b); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]bool{-1: true, 1: true, 2: false, 3: false} {
		if got, err := l.WroteAfter(ctx, "a", n); err != nil || got != want {
			t.Errorf("after %d: %v, %v", n, got, err)
		}
	}
}
