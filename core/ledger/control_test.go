package ledger

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

var ctx = context.Background()

func position(text, commit string) plugin.Position {
	p, err := plugin.ParsePosition(text, commit)
	if err != nil {
		panic(err)
	}
	return p
}

func verdictText(v *int64) string {
	if v == nil {
		return ""
	}
	return time.UnixMicro(*v).UTC().Format("2006-01-02T15:04")
}

func TestCandidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		granularity Granularity
		commit      string
		want        string
	}{
		{Hour, "2026-03-01T14:37:12.345", "2026-03-01T14:00"},
		{Minute, "2026-03-01T14:37:12.345", "2026-03-01T14:37"},
		{Day, "2026-03-01T14:37:12.345", "2026-03-01T00:00"},
		{Hour, "2026-03-01T14:00:00.000", "2026-03-01T14:00"},
		{Hour, "1969-12-31T23:59:59.999", "1969-12-31T23:00"},
		{Day, "1969-12-31T23:59:59.999", "1969-12-31T00:00"},
		{Hour, "", ""},
	} {
		got, ok := tt.granularity.Candidate(position("0x1", tt.commit))
		if ok != (tt.want != "") || ok && verdictText(&got) != tt.want {
			t.Errorf("%s of %q: got %s %v, want %s", tt.granularity, tt.commit, verdictText(&got), ok, tt.want)
		}
	}
	for text, want := range map[string]Granularity{"": Hour, "HOUR": Hour, "Day": Day, "minute": Minute} {
		if got, err := ParseGranularity(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if _, err := ParseGranularity("week"); !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), "minute, hour and day") {
		t.Errorf("week: %v", err)
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	l := newLake()
	steps := []struct {
		rule, lsn, commit, verdict string
		versions                   int
	}{
		{"an end without time gives none", "0x1", "", "", 1},
		{"the first verdict", "0x2", "2026-03-01T14:37:12", "2026-03-01T14:00", 2},
		{"the same period again is no commit", "0x3", "2026-03-01T14:59:59", "2026-03-01T14:00", 2},
		{"an older end leaves it", "0x1", "2026-03-01T09:00:00", "2026-03-01T14:00", 2},
		{"an end without time leaves it", "0x9", "", "2026-03-01T14:00", 2},
		{"the next period", "0x4", "2026-03-01T15:00:00", "2026-03-01T15:00", 3},
	}
	for _, s := range steps {
		got, err := l.Advance(ctx, "bronze.orders", position(s.lsn, s.commit), Hour)
		if err != nil || verdictText(got) != s.verdict || len(l.History("ops.control")) != s.versions {
			t.Fatalf("%s: got %s, %v, %d versions", s.rule, verdictText(got), err, len(l.History("ops.control")))
		}
	}
	row, err := l.ControlRow(ctx, "bronze.orders")
	if err != nil || row.End != position("0x4", "2026-03-01T15:00:00") || row.UpdatedAt == nil {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := l.Advance(ctx, "Bronze.Orders", position("0x1", "2026-01-01T00:00:00"), Hour); err != nil {
		t.Fatal(err)
	}
	if n := len(l.Rows("ops.control")); n != 2 {
		t.Errorf("%d rows: names are exact", n)
	}
}

func TestAdvanceAllIsOneCommit(t *testing.T) {
	t.Parallel()
	l := newLake()
	got, err := l.AdvanceAll(ctx,
		Verdict{Table: "a", End: position("0x1", "2026-03-01T10:30:00"), Granularity: Hour},
		Verdict{Table: "b", End: position("0x2", ""), Granularity: Hour},
		Verdict{Table: "c", End: position("0x3", "2026-03-01T11:30:00"), Granularity: Day},
		Verdict{Table: "a", End: position("0x4", "2026-03-01T12:30:00"), Granularity: Hour},
	)
	if err != nil || verdictText(got["a"]) != "2026-03-01T12:00" || got["b"] != nil || verdictText(got["c"]) != "2026-03-01T00:00" || len(l.History("ops.control")) != 2 {
		t.Errorf("%v, %v, %d versions", got, err, len(l.History("ops.control")))
	}
}

func TestAVerdictOnlyMovesForward(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := newLake()
		best := map[string]int64{}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "table")
			g := rapid.SampledFrom([]Granularity{Minute, Hour, Day}).Draw(r, "granularity")
			end := plugin.Position{Text: "0x1", CommitMicros: rapid.Int64Range(0, 1e12).Draw(r, "commit"), HasCommit: rapid.Bool().Draw(r, "known")}
			if c, ok := g.Candidate(end); ok {
				if have, seen := best[name]; !seen || c > have {
					best[name] = c
				}
			}
			if rapid.Bool().Draw(r, "position between") {
				row, err := l.ControlRow(ctx, name)
				if err != nil {
					r.Fatal(err)
				}
				if err := l.SetPosition(ctx, name, row.Position, plugin.TargetPosition{Applied: max(row.Position.Applied, fmt.Sprint(end.CommitMicros))}); err != nil {
					r.Fatal(err)
				}
			}
			got, err := l.Advance(ctx, name, end, g)
			if err != nil {
				r.Fatal(err)
			}
			if want, seen := best[name]; seen != (got != nil) || seen && *got != want {
				r.Fatalf("verdict of %s is %v, want %v %v", name, got, want, seen)
			}
		}
	})
}

var conflict = diag.Errorf(diag.KindConflict, "test.conflict", "", "Another commit won").Err()

func TestConflictsAreTriedAgain(t *testing.T) {
	t.Parallel()
	l := newLake()
	for n := range 3 {
		l.faults.Fail("Tables.Commit", n+1, conflict)
	}
	got, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour)
	if err != nil || verdictText(got) != "2026-03-01T10:00" {
		t.Fatalf("%v, %v", got, err)
	}
	if want := "[500ms 1s 2s]"; fmt.Sprint(l.pauses) != want { // the longest that may be drawn
		t.Errorf("pauses %v, want %s", l.pauses, want)
	}
}

func TestConflictsForAMinuteAreTheLastConflict(t *testing.T) {
	t.Parallel()
	l := newLake()
	tries := 0
	l.faults.Hook = func(p memory.Point) error {
		if p.Call == "Tables.Commit" && !p.After {
			tries++
			return fmt.Errorf("try %d: %w", tries, conflict)
		}
		return nil
	}
	_, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour)
	if !diag.Is(err, diag.KindConflict) || !strings.Contains(err.Error(), fmt.Sprintf("try %d:", tries)) {
		t.Fatalf("after %d tries: %v", tries, err)
	}
	var sum time.Duration
	for _, p := range l.pauses {
		if sum += p; p > 10*time.Second {
			t.Errorf("a pause of %v", p)
		}
	}
	if sum != time.Minute {
		t.Errorf("the pauses are %v, %v together", l.pauses, sum)
	}
}

func TestOtherErrorsAreRaisedAtOnce(t *testing.T) {
	t.Parallel()
	l := newLake()
	l.faults.Fail("Tables.Commit", 1, diag.Errorf(diag.KindPermission, "test.denied", "", "No").Err())
	if _, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour); !diag.Is(err, diag.KindPermission) || len(l.pauses) != 0 {
		t.Errorf("%v, pauses %v", err, l.pauses)
	}
}

func TestAGuardKeepsWhatAnotherWriterWrote(t *testing.T) {
	t.Parallel()
	l := newLake()
	if _, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour); err != nil {
		t.Fatal(err)
	}
	once := false
	l.faults.Hook = func(p memory.Point) error {
		if p.Call == "Tables.BeginWrite" && !p.After && !once {
			once = true // another writer is faster, after we looked
			other := New(l.Lake.Open(), Options{Facts: "ops.facts", Control: "ops.control"})
			_, err := other.Advance(ctx, "a", position("0x9", "2026-03-01T20:30:00"), Hour)
			return err
		}
		return nil
	}
	got, err := l.Advance(ctx, "a", position("0x2", "2026-03-01T11:30:00"), Hour)
	if err != nil || verdictText(got) != "2026-03-01T20:00" {
		t.Errorf("%s, %v", verdictText(got), err)
	}
}

func TestSetPosition(t *testing.T) {
	t.Parallel()
	l := newLake()
	first := plugin.TargetPosition{Applied: "0x5", Open: "0x4", Wave: new(int32(0))}
	if err := l.SetPosition(ctx, "silver.orders", plugin.TargetPosition{}, first); err != nil {
		t.Fatal(err)
	}
	// A verdict comes to a row that has none yet.
	if got, err := l.Advance(ctx, "silver.orders", position("0x5", "2026-03-01T10:30:00"), Hour); err != nil || verdictText(got) != "2026-03-01T10:00" {
		t.Fatalf("%v, %v", got, err)
	}
	versions := len(l.History("ops.control"))
	if err := l.SetPosition(ctx, "silver.orders", first, plugin.TargetPosition{Applied: "0x5", Open: "0x4", Wave: new(int32(0))}); err != nil || len(l.History("ops.control")) != versions {
		t.Errorf("an unchanged position made a commit (%v)", err)
	}
	second := plugin.TargetPosition{Applied: "0x6", RebuiltFrom: "0x4", Version: new(int64(7)), Foreign: new(int64(5))}
	if err := l.SetPosition(ctx, "silver.orders", first, second); err != nil {
		t.Fatal(err)
	}
	row, err := l.ControlRow(ctx, "silver.orders")
	if err != nil || !samePosition(row.Position, second) || verdictText(row.FinalizedUntil) != "2026-03-01T10:00" || row.End.Text != "0x5" {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestFinalAndFresh(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	if ok, err := l.IsFinal(ctx, "a", time.Unix(0, 0)); err != nil || ok {
		t.Errorf("without a table: %v, %v", ok, err)
	}
	if f, err := l.Freshness(ctx, "a"); err != nil || f.Age != nil || f.SinceUpdate != nil || f.FinalizedUntil != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if len(l.TableNames()) != 0 {
		t.Error("a question made a table")
	}
	if err := l.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Advance(ctx, "a", position("0x1", "2026-03-01T10:30:00"), Hour); err != nil {
		t.Fatal(err)
	}
	rio := time.FixedZone("", -3*3600)
	for end, want := range map[time.Time]bool{
		time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC):   true,
		time.Date(2026, 3, 1, 10, 0, 0, 1e3, time.UTC): false,
		time.Date(2026, 3, 1, 7, 0, 0, 0, rio):         true,
		time.Date(2026, 3, 1, 8, 0, 0, 0, rio):         false,
	} {
		if ok, err := l.IsFinal(ctx, "a", end); err != nil || ok != want {
			t.Errorf("final at %v: %v, %v", end, ok, err)
		}
	}
	l.now = l.now.Add(time.Minute)
	if f, err := l.Freshness(ctx, "a"); err != nil || *f.Age != 2*time.Hour+time.Minute || *f.SinceUpdate != time.Minute {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestTwoRowsOfOneNameAreAnError(t *testing.T) {
	t.Parallel()
	l := newBareLake()
	l.put(t, "ops.control", without(schemaOf(controlColumns)), withVersion("4"), `{"table_name": "a"}`, `{"table_name": "a"}`)
	if _, err := l.ControlRow(ctx, "a"); err == nil || !strings.Contains(err.Error(), `two rows for "a"`) {
		t.Errorf("got %v", err)
	}
}
