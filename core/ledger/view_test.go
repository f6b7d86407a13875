package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

const itemsAt, linesAt = "0x0000002A000001000021", "0x0000002A0000010000A1"

// chunkedLake holds two chunked snapshots as another writer left them.
func chunkedLake(t *testing.T, keep func(line string) bool) *lake {
	l := newBareLake()
	facts := linesOf(t, "facts.ndjson")
	if keep != nil {
		facts = slices.DeleteFunc(facts, func(s string) bool { return !keep(s) })
	}
	l.put(t, "ops.facts", without(schemaOf(factsColumns)), withVersion("14"), facts...)
	l.put(t, "bronze.items_snapshot_plans", plansSchema, withVersion("1"), linesOf(t, "plans-items.ndjson")...)
	l.put(t, "bronze.lines_snapshot_plans", plansSchema, withVersion("1"), linesOf(t, "plans-lines.ndjson")...)
	return l
}

func (l *lake) viewOf(bronze string) *View {
	return l.View(ViewOptions{Bronze: plugin.TableRef{Name: bronze}, Targets: []plugin.TableRef{{Name: "silver.x"}}, Granularity: Hour})
}

func open(line string) bool { return !strings.Contains(line, `"event":"bootstrap"`) }

func TestReadLedgerOfAnOpenChunkedSnapshot(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, open)
	for _, tt := range []struct {
		bronze, at string
		keys       []string
	}{{"bronze.items", itemsAt, []string{"item_id"}}, {"bronze.lines", linesAt, []string{"order_id", "line_no"}}} {
		got, err := l.viewOf(tt.bronze).ReadLedger(ctx, "silver.x")
		want := plugin.LedgerView{Open: &plugin.OpenSnapshot{Snapshot: tt.at, Keys: tt.keys}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", tt.bronze, got, err)
		}
	}
}

func TestReadLedgerOfACompleteOne(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, nil)
	got, err := l.viewOf("bronze.items").ReadLedger(ctx, "silver.x")
	if err != nil || got.Snapshot != itemsAt || got.Open.Snapshot != itemsAt || got.FactsTargets != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestChunksTakeTheirBoundsFromThePlans(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, nil)
	got, err := l.viewOf("bronze.items").Chunks(ctx, itemsAt)
	if err != nil {
		t.Fatal(err)
	}
	want := []plugin.ChunkRow{
		{Index: 0, Wave: 0, Stamp: "0x0000002A000001000031", High: "0x0000002A000001000041", Rows: 5, Lo: "", Hi: "73"},
		{Index: 1, Wave: 0, Stamp: "0x0000002A000001000031", High: "0x0000002A000001000041", Rows: 7, Lo: "73", Hi: "146"},
		{Index: 2, Wave: 1, Stamp: "0x0000002A000001000061", High: "0x0000002A000001000071", Rows: 7, Lo: "146", Hi: "219"},
		{Index: 3, Wave: 1, Stamp: "0x0000002A000001000061", High: "0x0000002A000001000071", Rows: 9, Lo: "219", Hi: "1002"},
		{Index: 4, Wave: 2, Stamp: "0x0000002A000001000091", High: "0x0000002A0000010000A1", Rows: 8, Lo: "1002", Hi: "1012"},
		{Index: 5, Wave: 2, Stamp: "0x0000002A000001000091", High: "0x0000002A0000010000A1", Rows: 7, Lo: "1012", Hi: "900001", Last: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	lines, err := l.viewOf("bronze.lines").Chunks(ctx, linesAt)
	if err != nil || len(lines) != 4 || lines[1].Lo != "[1, 3]" || lines[3].Hi != "[9, 1]" {
		t.Errorf("%+v, %v", lines, err)
	}
	if none, err := l.viewOf("bronze.items").Chunks(ctx, linesAt); err != nil || len(none) != 0 {
		t.Errorf("another snapshot: %+v, %v", none, err)
	}
}

func TestDoublesStandThereTwice(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	chunk := func(wave, index int) string {
		detail, _ := json.Marshal(fmt.Sprintf(`{"snapshot": "0x4", "wave": %d, "chunk": %d, "lo": null, "hi": 5}`, wave, index))
		return fmt.Sprintf(`{"event": "snapshot_chunk", "target": "bronze.a", "rows": 1, "min_lsn": "0x5", "max_lsn": "0x6", "detail": %s}`, detail)
	}
	l.put(t, "ops.facts", without(schemaOf(factsColumns)), withVersion("14"), chunk(1, 0), chunk(0, 0), chunk(1, 0))
	got, err := l.viewOf("bronze.a").Chunks(ctx, "0x4")
	if err != nil || len(got) != 3 || got[0].Wave != 0 || got[1].Wave != 1 || got[2] != got[1] || got[0].Hi != "5" {
		t.Errorf("%+v, %v", got, err) // and bounds of old facts rows, without a plans table
	}
}

func TestKeyValuesInNeitherPlaceAreAnError(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, open)
	l.DropTable("bronze.items_snapshot_plans")
	_, err := l.viewOf("bronze.items").ReadLedger(ctx, "silver.x")
	if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), "bronze.items_snapshot_plans") || !strings.Contains(err.Error(), "dropped") {
		t.Errorf("open: %v", err)
	}
	if _, err := l.viewOf("bronze.items").Chunks(ctx, itemsAt); !diag.Is(err, diag.KindConfiguration) {
		t.Errorf("chunks: %v", err)
	}
}

func TestOldOpeningsHoldTheirKeysAndModesMayBeMissing(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	row := func(lsn, detail string) string {
		text, _ := json.Marshal(detail)
		return fmt.Sprintf(`{"app_id": "a", "event": "snapshot_open", "target": "bronze.a", "min_lsn": %q, "max_lsn": %q, "detail": %s}`, lsn, lsn, text)
	}
	l.put(t, "ops.facts", without(schemaOf(factsColumns)), withVersion("14"),
		row("0x1", `{"generation": 0, "keys": ["old"], "plan": {"kind": "keyset", "max": null}}`),
		row("0x3", `{"mode": "later", "generation": 0, "keys": ["id"], "plan": {"kind": "keyset", "max": null}}`),
		row("0x9", `{"mode": "full", "generation": 0}`))
	got, err := l.viewOf("bronze.a").ReadLedger(ctx, "silver.x")
	if err != nil || got.Open == nil || got.Open.Snapshot != "0x3" || !slices.Equal(got.Open.Keys, []string{"id"}) {
		t.Errorf("%+v, %v", got, err)
	}
	l = newBareLake() // a table from before there was a detail
	l.put(t, "ops.facts", without(schemaOf(factsColumns), "detail", "end_lsn", "end_commit_ts"), withVersion("4"),
		`{"app_id": "a", "event": "bootstrap", "target": "bronze.a", "max_lsn": "0x5"}`, `{"app_id": "a", "event": "snapshot_open", "target": "bronze.a", "max_lsn": "0x7"}`)
	if got, err := l.viewOf("bronze.a").ReadLedger(ctx, "silver.x"); err != nil || got.Snapshot != "0x5" || got.Open != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFactsOfOtherTargetsOnly(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, nil)
	got, err := l.viewOf("bronze.itmes").ReadLedger(ctx, "silver.x")
	if err != nil || !slices.Equal(got.FactsTargets, []string{"bronze.items", "bronze.lines"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := l.RecordBatches(ctx, batchNumber("plain", 0, 1)); err != nil {
		t.Fatal(err)
	}
	if got, err := l.viewOf("bronze.plain").ReadLedger(ctx, "silver.x"); err != nil || got.FactsTargets != nil || got.Snapshot != "" || got.Open != nil {
		t.Errorf("a stream without snapshots: %+v, %v", got, err)
	}
	if got, err := newLake().viewOf("bronze.a").ReadLedger(ctx, "silver.x"); err != nil || got.FactsTargets == nil || len(got.FactsTargets) != 0 {
		t.Errorf("no facts at all: %+v, %v", got, err)
	}
}

func TestReadersGoTheOtherWay(t *testing.T) {
	t.Parallel()
	l := chunkedLake(t, open)
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Advance(ctx, "bronze.items", position(itemsAt, "2026-03-01T10:30:00"), Hour); err != nil {
		t.Fatal(err)
	}
	var order []string
	l.faults.Hook = func(p memory.Point) error {
		if p.Call == "Tables.Scan" && !p.After {
			order = append(order, p.Detail)
		}
		return nil
	}
	if _, err := l.viewOf("bronze.items").ReadLedger(ctx, "silver.x"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"ops.control", "ops.facts", "bronze.items_snapshot_plans"}; !slices.Equal(order, want) {
		t.Errorf("read %v, want %v", order, want)
	}
}

func TestTheVerdictFollowsTheBronzeEndThatWasRead(t *testing.T) {
	t.Parallel()
	l := newLake()
	if _, err := l.Advance(ctx, "bronze.a", position("0x1", "2026-03-01T10:30:00"), Hour); err != nil {
		t.Fatal(err)
	}
	v := l.viewOf("bronze.a")
	if _, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x"}); err == nil {
		t.Error("a position moved that was never read")
	}
	seen, err := v.ReadLedger(ctx, "silver.x")
	if err != nil || seen.BronzeEnd.Text != "0x1" || seen.Verdict != nil {
		t.Fatalf("%+v, %v", seen, err)
	}
	// Bronze goes on while silver works.
	if _, err := l.Advance(ctx, "bronze.a", position("0x2", "2026-03-01T12:30:00"), Hour); err != nil {
		t.Fatal(err)
	}
	held, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: plugin.TargetPosition{Applied: "0x1", Open: "0x1"}, HoldVerdict: true})
	if err != nil || held != nil {
		t.Errorf("held: %v, %v", held, err)
	}
	got, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: plugin.TargetPosition{Applied: "0x1"}})
	if err != nil || verdictText(got) != "2026-03-01T10:00" {
		t.Errorf("%s, %v", verdictText(got), err)
	}
	row, err := l.ControlRow(ctx, "silver.x")
	if err != nil || row.Position.Applied != "0x1" || row.Position.Open != "" || row.End.Text != "0x1" {
		t.Errorf("%+v, %v", row, err)
	}
	for _, call := range []func() error{
		func() error { _, err := v.ReadLedger(ctx, "silver.other"); return err },
		func() error { _, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "bronze.a"}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "no right") {
			t.Errorf("a table outside the step: %v", err)
		}
	}
}

func TestPlansTableName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"bronze.items": "bronze.items_snapshot_plans", "s3://lake/items//": "s3://lake/items_snapshot_plans", "delta.`/lake/items`": "delta.`/lake/items_snapshot_plans`",
	} {
		if got := PlansTable(plugin.TableRef{Name: name, Path: name}); got.Name != want || got.Path != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := PlansTable(plugin.TableRef{Name: "a"}); got.Path != "" {
		t.Errorf("a path came from nowhere: %v", got)
	}
}

func TestOpenChunked(t *testing.T) {
	t.Parallel()
	all := []SnapshotRow{
		{AppID: "a", Event: EventSnapshotOpen, Mode: ModeChunked, Stamp: plugin.Position{Text: "0x3"}},
		{AppID: "a", Event: EventSnapshotOpen, Mode: ModeFull, Stamp: plugin.Position{Text: "0x8"}},
		{AppID: "other", Event: EventSnapshotOpen, Mode: ModeChunked, Stamp: plugin.Position{Text: "0x9"}},
		{AppID: "other", Event: EventBootstrap, Stamp: plugin.Position{Text: "0x9"}},
	}
	if got, complete := OpenChunked(all, "a"); got.Stamp.Text != "0x3" || complete {
		t.Errorf("%+v %v", got, complete)
	}
	done := append(slices.Clone(all), SnapshotRow{AppID: "a.g1", Event: EventResnapshot, Stamp: plugin.Position{Text: "0x3"}})
	if _, complete := OpenChunked(done, "a"); !complete {
		t.Error("a completion of the family at the same position does not count")
	}
	if got, _ := OpenChunked(all, "b"); got != nil {
		t.Errorf("%+v", got)
	}
}

// A snapshot of a stream with another app id is of another table of this name.
func TestAViewSeesSnapshotsOfItsStreamAlone(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	row := func(app, lsn string) string {
		return fmt.Sprintf(`{"app_id": %q, "event": "bootstrap", "target": "bronze.a", "rows": 3, "min_lsn": %q, "max_lsn": %q}`, app, lsn, lsn)
	}
	l.put(t, "ops.facts", without(schemaOf(factsColumns)), withVersion("14"), row("prod", "0x1"), row("prod.g1", "0x2"), row("dev", "0x9"), row("prod.grid", "0x8"))
	for app, want := range map[string]string{"prod": "0x2", "dev": "0x9", "none": "", "": "0x9"} {
		v := l.View(ViewOptions{Bronze: plugin.TableRef{Name: "bronze.a"}, AppID: app, Targets: []plugin.TableRef{{Name: "silver.x"}}, Granularity: Hour})
		if got, err := v.ReadLedger(ctx, "silver.x"); err != nil || got.Snapshot != want {
			t.Errorf("%q: %q, %v", app, got.Snapshot, err)
		}
	}
}
