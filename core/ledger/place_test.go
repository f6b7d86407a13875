package ledger

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// A row is about one table: the same place, or the same identity somewhere else.
// What is not known refuses nothing.
func TestARowIsAboutOneTable(t *testing.T) {
	t.Parallel()
	prod := Place{Path: "prod/a", ID: "1"}
	for name, tt := range map[string]struct {
		row, at Place
		taken   bool
	}{
		"itself":                    {prod, prod, false},
		"moved":                     {prod, Place{"moved/a", "1"}, false},
		"created again":             {prod, Place{"prod/a", "2"}, false},
		"to be created again":       {prod, Place{Path: "prod/a"}, false},
		"elsewhere":                 {prod, Place{"dev/a", "2"}, true},
		"elsewhere, to be created":  {prod, Place{Path: "dev/a"}, true},
		"two that are not there":    {Place{Path: "prod/a"}, Place{Path: "dev/a"}, true},
		"row of an older release":   {Place{}, prod, false},
		"a table nobody looked at":  {prod, Place{}, false},
		"an identity without place": {Place{ID: "1"}, Place{"dev/a", "2"}, false},
	} {
		err := ControlRow{Table: "a", Place: tt.row}.Names("a", tt.at, "ops.control")
		if diag.HasCode(err, CodeNameTaken) != tt.taken || err != nil && !diag.Is(err, diag.KindStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Neither verdict nor position of another table's row is moved, and both say of
// which table they are.
func TestARowOfAnotherTableIsNotTouched(t *testing.T) {
	t.Parallel()
	l := newLake()
	prod, dev := Place{"prod/x", "1"}, Place{"dev/x", "2"}
	end := position("0x1", "2026-03-01T10:30:00")
	if _, err := l.AdvanceAll(ctx, Verdict{Table: "x", End: end, Granularity: Hour, Place: prod}); err != nil {
		t.Fatal(err)
	}
	if err := l.setPosition(ctx, "x", prod, plugin.TargetPosition{}, plugin.TargetPosition{Applied: "0x1"}); err != nil {
		t.Fatal(err)
	}
	before, err := l.ControlRow(ctx, "x")
	if err != nil || before.Place != prod {
		t.Fatalf("%+v, %v", before, err)
	}
	_, advanced := l.AdvanceAll(ctx, Verdict{Table: "x", End: position("0x9", "2026-03-01T19:30:00"), Granularity: Hour, Place: dev})
	moved := l.setPosition(ctx, "x", dev, before.Position, plugin.TargetPosition{Applied: "0x9"})
	if !diag.HasCode(advanced, CodeNameTaken) || !diag.HasCode(moved, CodeNameTaken) {
		t.Errorf("verdict: %v, position: %v", advanced, moved)
	}
	after, err := l.ControlRow(ctx, "x")
	if err != nil || *after.FinalizedUntil != *before.FinalizedUntil || after.Position.Applied != "0x1" || after.Place != prod {
		t.Errorf("%+v, %v", after, err)
	}
	// The table itself goes on elsewhere, and its row with it.
	there := Place{"moved/x", "1"}
	if _, err := l.AdvanceAll(ctx, Verdict{Table: "x", End: position("0x2", "2026-03-01T12:30:00"), Granularity: Hour, Place: there}); err != nil {
		t.Fatal(err)
	}
	if row, err := l.ControlRow(ctx, "x"); err != nil || row.Place != there {
		t.Errorf("%+v, %v", row, err)
	}
}

// A row that says nothing of its table, as one of an older release, is given its
// place by the first run that looks at it, whether or not its verdict moves; so is
// one whose table was moved.
func TestARowGetsItsPlaceBeforeItsVerdictMoves(t *testing.T) {
	t.Parallel()
	l := newLake()
	end := position("0x1", "2026-03-01T10:30:00")
	advance := func(g Granularity, at Place) error {
		_, err := l.AdvanceAll(ctx, Verdict{Table: "x", End: end, Granularity: g, Place: at})
		return err
	}
	if err := advance(Day, Place{}); err != nil {
		t.Fatal(err)
	}
	before, err := l.ControlRow(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		at    Place
		taken bool
	}{{Place{"prod/x", "1"}, false}, {Place{"dev/x", "2"}, true}, {Place{"moved/x", "1"}, false}, {Place{"moved/x", "3"}, false}, {Place{"prod/x", "9"}, true}, {Place{Path: "moved/x"}, false}}
	for _, step := range steps {
		commits := len(l.History("ops.control"))
		if err := advance(Day, step.at); diag.HasCode(err, CodeNameTaken) != step.taken || err != nil && !step.taken {
			t.Errorf("%+v: %v", step.at, err)
		}
		if row, err := l.ControlRow(ctx, "x"); err != nil || !step.taken && step.at.ID != "" && row.Place != step.at || *row.FinalizedUntil != *before.FinalizedUntil || row.End != before.End || *row.UpdatedAt != *before.UpdatedAt {
			t.Errorf("%+v: %+v, %v", step.at, row, err)
		}
		if err := advance(Day, step.at); err != nil && !step.taken {
			t.Error(err)
		}
		if n := len(l.History("ops.control")) - commits; n > 1 {
			t.Errorf("%+v: %d commits", step.at, n)
		}
	}
}

// A step does not begin from what is known of another table: not from where
// another bronze ends, nor from another silver's position.
func TestAViewRefusesRowsOfOtherTables(t *testing.T) {
	t.Parallel()
	l := newLake()
	end := position("0x9", "2026-03-01T19:30:00")
	for name, at := range map[string]Place{"bronze.x": {"prod/x", "1"}, "silver.x": {"prod/silver/x", "7"}} {
		if _, err := l.AdvanceAll(ctx, Verdict{Table: name, End: end, Granularity: Hour, Place: at}); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		bronze, silver plugin.TableRef
		taken          bool
	}{
		"bronze elsewhere":     {plugin.TableRef{Name: "bronze.x", Path: "dev/x"}, plugin.TableRef{Name: "silver.dev"}, true},
		"silver elsewhere":     {plugin.TableRef{Name: "bronze.dev"}, plugin.TableRef{Name: "silver.x", Path: "dev/silver/x"}, true},
		"both where they were": {plugin.TableRef{Name: "bronze.x", Path: "prod/x"}, plugin.TableRef{Name: "silver.x", Path: "prod/silver/x/"}, false},
	} {
		v := l.View(ViewOptions{Bronze: tt.bronze, AppID: "dev", Targets: []plugin.TableRef{tt.silver}, Granularity: Hour})
		if _, err := v.ReadLedger(ctx, tt.silver.Name); diag.HasCode(err, CodeNameTaken) != tt.taken || err != nil && !tt.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
