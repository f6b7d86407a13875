package ledger

import (
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// A silver that is killed while its position and verdict are stored has the
// position first: whoever looks meanwhile finds no verdict over changes that the
// position does not tell of. The step that is repeated stores the rest.
func TestEveryCrashOfAnAdvance(t *testing.T) {
	t.Parallel()
	const target, end = "silver.x", "0x9"
	advance := func(l *lake, faults *memory.Faults) error {
		l.faults = faults
		l.reopen()
		v := l.viewOf("bronze.a")
		if _, err := v.ReadLedger(ctx, target); err != nil {
			return err
		}
		_, err := v.Advance(ctx, plugin.AdvanceRequest{Target: target, Position: at(end)})
		return err
	}
	begin := func() *lake {
		l := newLake()
		if _, err := l.Advance(ctx, "bronze.a", position(end, "2026-03-01T10:30:00"), Hour); err != nil {
			t.Fatal(err)
		}
		return l
	}
	stored := func(l *lake) ControlRow {
		l.faults = &memory.Faults{}
		l.reopen()
		row, err := l.ControlRow(ctx, target)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	calm := &memory.Faults{}
	if err := advance(begin(), calm); err != nil {
		t.Fatal(err)
	}
	points := calm.Points()
	between := 0 // crashes with the one stored and the other not
	for k, point := range points {
		l, faults := begin(), &memory.Faults{}
		faults.KillAt(k + 1)
		if err := advance(l, faults); err == nil || !faults.Dead() {
			t.Fatalf("killed %s: the kill did not end the step: %v", point, err)
		}
		row := stored(l)
		switch {
		case row.FinalizedUntil != nil && row.Position.Applied != end:
			t.Errorf("killed %s: the verdict %s follows from %s and the position is %q", point, verdictText(row.FinalizedUntil), row.End.Text, row.Position.Applied)
		case row.FinalizedUntil == nil && row.Position.Applied == end:
			between++
		}
		if err := advance(l, &memory.Faults{}); err != nil {
			t.Fatalf("killed %s, and again: %v", point, err)
		}
		if row = stored(l); row.Position.Applied != end || verdictText(row.FinalizedUntil) != "2026-03-01T10:00" {
			t.Errorf("killed %s, and again: %+v", point, row)
		}
	}
	if between == 0 {
		t.Errorf("none of %d crashes came between the position and the verdict", len(points))
	}
}
