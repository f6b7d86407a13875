package ledger

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func at(applied string) plugin.TargetPosition { return plugin.TargetPosition{Applied: applied} }

func (l *lake) applied(t *testing.T) string {
	t.Helper()
	row, err := l.ControlRow(ctx, "silver.x")
	if err != nil {
		t.Fatal(err)
	}
	return row.Position.Applied
}

// read is the view of a step that has read the ledger.
func (l *lake) read(t *testing.T) *View {
	t.Helper()
	v := l.viewOf("bronze.a")
	if _, err := v.ReadLedger(ctx, "silver.x"); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAPositionMovesOnlyFromTheOneThatTheStepRead(t *testing.T) {
	t.Parallel()
	l := newLake()
	slow, fast := l.read(t), l.read(t)
	if _, err := fast.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0x9")}); err != nil {
		t.Fatal(err)
	}
	pauses := len(l.pauses)
	for _, to := range []string{"0x5", "0xA"} {
		if _, err := slow.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at(to)}); !diag.Is(err, diag.KindConflict) || l.applied(t) != "0x9" {
			t.Errorf("to %s: %v, applied %s", to, err, l.applied(t))
		}
	}
	if len(l.pauses) != pauses {
		t.Error("what only the step can repeat was tried again here")
	}
	// A second look does not make an old beginning new.
	if _, err := slow.ReadLedger(ctx, "silver.x"); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0xA")}); !diag.Is(err, diag.KindConflict) {
		t.Errorf("after a second look: %v", err)
	}
	if _, err := fast.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0xB")}); err != nil {
		t.Errorf("a step that goes on from its own position: %v", err)
	}
	if _, err := l.read(t).Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0xC")}); err != nil || l.applied(t) != "0xC" {
		t.Errorf("the step again: %v, applied %s", err, l.applied(t))
	}
}

// A conflict says what moved: a check that proves rows moves no changes.
func TestAConflictSaysWhatAnotherRunStored(t *testing.T) {
	t.Parallel()
	from := plugin.TargetPosition{Applied: "0x5", Version: new(int64(3)), Foreign: new(int64(2))}
	for name, c := range map[string]struct {
		stored plugin.TargetPosition
		says   string
	}{
		"changes": {plugin.TargetPosition{Applied: "0x7", Version: new(int64(3)), Foreign: new(int64(2))}, "Another run has applied changes to silver.x meanwhile: it stands at 0x7, this one began from 0x5"},
		"version": {plugin.TargetPosition{Applied: "0x5", Version: new(int64(4)), Foreign: new(int64(2))}, "Another run has stored anew what is known of silver.x at 0x5 meanwhile"},
		"proof":   {plugin.TargetPosition{Applied: "0x5", Version: new(int64(3))}, "Another run has stored anew what is known of silver.x at 0x5 meanwhile"},
	} {
		l := newLake()
		if err := l.SetPosition(ctx, "silver.x", at(""), c.stored); err != nil {
			t.Fatal(err)
		}
		err := l.SetPosition(ctx, "silver.x", from, plugin.TargetPosition{Applied: "0x9", Version: new(int64(5))})
		if list := diag.FromError(err); !diag.Is(err, diag.KindConflict) || len(list) != 1 || !strings.HasPrefix(list[0].Summary, c.says) || list[0].Code != "ledger.position_moved" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPositionThatMovesWhileItIsWrittenIsAConflict(t *testing.T) {
	t.Parallel()
	l := newLake()
	slow, once := l.read(t), false
	l.faults.Hook = func(p memory.Point) error {
		if (p.Call != "Tables.Commit" && p.Call != "Tables.BeginWrite") || p.After || once {
			return nil
		}
		once = true // another process, after this one has looked
		other := New(l.Lake.Open(), Options{Facts: "ops.facts", Control: "ops.control"})
		return other.SetPosition(ctx, "silver.x", at(""), at("0x9"))
	}
	if _, err := slow.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0x5")}); !diag.Is(err, diag.KindConflict) || l.applied(t) != "0x9" {
		t.Errorf("%v, applied %s", err, l.applied(t))
	}
}

func TestAPositionOfAnotherTableIsNoConflict(t *testing.T) {
	t.Parallel()
	l := newLake()
	slow, once := l.read(t), false
	l.faults.Hook = func(p memory.Point) error {
		if p.Call != "Tables.Commit" || p.After || once {
			return nil
		}
		once = true
		other := New(l.Lake.Open(), Options{Facts: "ops.facts", Control: "ops.control"})
		return other.SetPosition(ctx, "silver.y", at(""), at("0x9"))
	}
	if _, err := slow.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0x5")}); err != nil || l.applied(t) != "0x5" {
		t.Errorf("%v, applied %s", err, l.applied(t))
	}
}

func TestAPositionGoesBackOnlyWithANewerSnapshot(t *testing.T) {
	t.Parallel()
	l := newLake()
	v := l.read(t)
	for _, step := range []struct {
		to   plugin.TargetPosition
		code string
	}{
		{plugin.TargetPosition{Applied: "0x9", RebuiltFrom: "0x2"}, ""},
		{plugin.TargetPosition{Applied: "0x5", RebuiltFrom: "0x2"}, "ledger.position_back"},
		{plugin.TargetPosition{Applied: "0x7", RebuiltFrom: "0x7"}, ""},
	} {
		_, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: step.to})
		if list := diag.FromError(err); step.code == "" && err != nil || step.code != "" && (len(list) != 1 || list[0].Code != step.code) {
			t.Errorf("to %+v: %v", step.to, err)
		}
	}
	if l.applied(t) != "0x7" {
		t.Errorf("applied %s", l.applied(t))
	}
}

// The verdict follows what was proven when the step began, however often it
// reads the ledger.
func TestTheFirstBronzeEndOfAStepCounts(t *testing.T) {
	t.Parallel()
	l := newLake()
	move := func(lsn, commit string) {
		if _, err := l.Advance(ctx, "bronze.a", position(lsn, commit), Hour); err != nil {
			t.Fatal(err)
		}
	}
	move("0x1", "2026-03-01T10:30:00")
	v := l.read(t)
	move("0x2", "2026-03-01T12:30:00")
	if view, err := v.ReadLedger(ctx, "silver.x"); err != nil || view.BronzeEnd.Text != "0x1" {
		t.Errorf("a second look: %+v, %v", view, err)
	}
	got, err := v.Advance(ctx, plugin.AdvanceRequest{Target: "silver.x", Position: at("0x1")})
	if err != nil || verdictText(got) != "2026-03-01T10:00" {
		t.Errorf("verdict %s, %v", verdictText(got), err)
	}
}

func TestForeignChangesAreForgottenUpToTheVersionThatWasProven(t *testing.T) {
	t.Parallel()
	l := newLake()
	if err := l.SetPosition(ctx, "silver.x", at(""), plugin.TargetPosition{Applied: "0x5", Version: new(int64(9)), Foreign: new(int64(7))}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		version int64
		left    bool
		stored  int64
	}{{6, true, 9}, {7, false, 9}, {12, false, 12}} {
		if err := l.Proven(ctx, "silver.x", step.version); err != nil {
			t.Fatal(err)
		}
		row, err := l.ControlRow(ctx, "silver.x")
		if err != nil || (row.Position.Foreign != nil) != step.left || row.Position.Applied != "0x5" || *row.Position.Version != step.stored {
			t.Errorf("proven at %d: %+v, %v", step.version, row.Position, err)
		}
	}
}

// A lake from before there were columns of pipectl's own gets them, and what
// it lacks reads as not known.
func TestAnOlderControlTableGetsTheVersions(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	l.put(t, "ops.control", without(schemaOf(controlColumns), "silver_version", "foreign_version", "silver_merge"), withVersion("4"), `{"table_name": "silver.x", "applied_lsn": "0x5"}`)
	plan, err := l.Plan(ctx)
	if err != nil || len(plan) != 2 || plan[1].Plan.Action != plugin.TableAlter || !strings.Contains(strings.Join(plan[1].Plan.Changes, "\n"), "silver_version") {
		t.Errorf("planned %+v, %v", plan[len(plan)-1].Plan, err)
	}
	row, err := l.ControlRow(ctx, "silver.x")
	if err != nil || row.Position.Version != nil || row.Position.Foreign != nil || row.Position.Merge != nil {
		t.Fatalf("%+v, %v", row, err)
	}
	next := plugin.TargetPosition{Applied: "0x6", Version: new(int64(3)), Merge: new(int64(2))}
	if err := l.SetPosition(ctx, "silver.x", row.Position, next); !diag.HasCode(err, CodeTableOld) {
		t.Fatalf("a run migrates: %v", err)
	}
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if err := l.SetPosition(ctx, "silver.x", row.Position, next); err != nil {
		t.Fatal(err)
	}
	if row, err = l.ControlRow(ctx, "silver.x"); err != nil || row.Position.Version == nil || *row.Position.Version != 3 || row.Position.Merge == nil || *row.Position.Merge != 2 {
		t.Errorf("%+v, %v", row, err)
	}
}

// Only Ensure, which apply calls, makes tables: one that is gone takes its
// history along, and that must be said.
func TestOnlyEnsureMakesTables(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*lake) error{
		"facts": func(l *lake) error { return l.RecordBatches(ctx, batchNumber("a", 0, 1)) },
		"verdict": func(l *lake) error {
			_, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour)
			return err
		},
		"position": func(l *lake) error { return l.SetPosition(ctx, "silver.x", at(""), at("0x5")) },
		"check":    func(l *lake) error { return l.Check(ctx) },
	} {
		l := newBareLake()
		err := write(l)
		if !diag.Is(err, diag.KindStale) || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "pipectl apply") || len(l.TableNames()) != 0 {
			t.Errorf("%s: %v, tables %v", name, err, l.TableNames())
		}
		if err := l.Ensure(ctx); err != nil {
			t.Fatal(err)
		}
		if err := write(l); err != nil {
			t.Errorf("%s after Ensure: %v", name, err)
		}
	}
}
