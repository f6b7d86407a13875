package silver_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/silver/silver"
)

var target = plugin.TableRef{Name: silverName}

// foreign is a commit of another program that changes rows of silver.
func (w *world) foreign(t *testing.T) int64 {
	t.Helper()
	ctx, tables := context.Background(), w.lake.Open()
	defer tables.Close()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	begun, err := tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: target, Mode: plugin.WriteAppend, Schema: schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int32Builder).Append(99)
	b.Field(1).(*array.StringBuilder).Append("foreign")
	batch := b.NewRecordBatch()
	defer batch.Release()
	part, err := tables.WritePart(ctx, plugin.WritePartRequest{WriteID: begun.WriteID}, rows.FromBatches(schema, batch))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tables.Commit(ctx, plugin.CommitRequest{WriteID: begun.WriteID, Tokens: []string{part.Token}, UserMetadata: `{"writer": "another"}`})
	if err != nil {
		t.Fatal(err)
	}
	return got.Version
}

// maintain is a commit that changes no rows, as OPTIMIZE and VACUUM make them.
func (w *world) maintain(t *testing.T, value string) {
	t.Helper()
	tables := w.lake.Open()
	defer tables.Close()
	states, err := tables.GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{target}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tables.ApplyTable(context.Background(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{
		Table: target, Schema: states[0].Schema, Properties: map[string]string{"maintained": value}, Converge: []string{"maintained"}, Layout: plugin.LayoutMerge,
	}})
	if err != nil || got.Version != states[0].Version+1 {
		t.Fatalf("%+v, %v", got, err)
	}
}

func (w *world) plan(t *testing.T) (diag.List, error) {
	t.Helper()
	tables := w.lake.Open()
	defer tables.Close()
	plan, err := w.planOver(t, tables)
	return plan.Diagnostics, err
}

func (w *world) planOver(t *testing.T, tables plugin.Tables) (plugin.SilverPlan, error) {
	t.Helper()
	session, err := silver.New("test").OpenSilver(context.Background(), plugin.OpenRequest{Component: "current"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	return session.PlanSilver(context.Background(), request(), plugin.Host{Tables: tables, Ledger: w.ledger.Step()})
}

// warns expects plan and run to warn of foreign commits, or not to.
func (w *world) warns(t *testing.T, when string, want bool) {
	t.Helper()
	planned, err := w.plan(t)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	result, err := w.apply(&fake.Faults{})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for who, list := range map[string]diag.List{"plan": planned, "run": result.Diagnostics} {
		if got := len(list) == 1 && list[0].Code == "silver.foreign_commit" && list[0].Severity == diag.Warning; got != want || !want && len(list) != 0 {
			t.Errorf("%s: %s says %+v, want a warning %v", when, who, list, want)
		}
	}
}

func TestRowsThatAnotherProgramChangedAreToldUntilTheyAreProven(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	w.warns(t, "as built", false)
	w.maintain(t, "1")
	w.warns(t, "after maintenance", false)
	w.change(t, 1, "b")
	w.warns(t, "after changes of the source", false)
	at := w.foreign(t)
	w.warns(t, "after a foreign commit", true)
	w.warns(t, "once more", true)
	w.change(t, 1, "c")
	w.maintain(t, "2")
	w.warns(t, "after more changes", true)
	if f := w.ledger.Views[silverName].Position.Foreign; f == nil || *f != at {
		t.Errorf("foreign version %v, want %d", f, at)
	}
	view := w.ledger.Views[silverName]
	view.Position.Foreign = nil // a check found every row equal
	w.ledger.Views[silverName] = view
	w.warns(t, "after a check", false)
	w.foreign(t)
	w.warns(t, "after one more", true)
	w.snapshot(t)
	if result, err := w.apply(&fake.Faults{}); err != nil || !result.Rebuilt || len(result.Diagnostics) != 0 {
		t.Fatalf("a rebuild: %+v, %v", result, err)
	}
	w.warns(t, "after a rebuild", false)
	if got := w.silver(); len(got) != 2 {
		t.Errorf("silver %v", got)
	}
}

// cleaned is a lake whose histories lack some commits.
type cleaned struct {
	plugin.Tables
	lacks func(version int64) bool
}

func (c cleaned) History(ctx context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	commits, err := c.Tables.History(ctx, req)
	return slices.DeleteFunc(commits, func(one plugin.Commit) bool { return c.lacks(one.Version) }), err
}

// Nobody knows what commits were that a cleanup of the log took, so they are
// told like those of another program, wherever they stood.
func TestCommitsThatACleanupTookAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	stored := *w.ledger.Views[silverName].Position.Version
	for _, value := range []string{"1", "2", "3"} {
		w.maintain(t, value)
	}
	for name, c := range map[string]struct {
		lacks func(version int64) bool
		says  string // version
	}{
		"none":       {func(int64) bool { return false }, ""},
		"the oldest": {func(v int64) bool { return v == stored+1 }, fmt.Sprint("version ", stored+1)},
		"one inside": {func(v int64) bool { return v == stored+2 }, fmt.Sprint("version ", stored+2)},
		"the newest": {func(v int64) bool { return v >= stored+2 }, fmt.Sprint("version ", stored+3)},
		"all":        {func(int64) bool { return true }, fmt.Sprint("version ", stored+3)},
	} {
		tables := w.lake.Open()
		plan, err := w.planOver(t, cleaned{tables, c.lacks})
		tables.Close()
		if err != nil || (len(plan.Diagnostics) == 1) != (c.says != "") || len(plan.Diagnostics) == 1 && !strings.HasSuffix(plan.Diagnostics[0].Summary, c.says) {
			t.Errorf("%s: %v, %v", name, plan.Diagnostics, err)
		}
	}
}

// A merge whose position was never stored is our own all the same.
func TestAMergeBeforeACrashIsNotForeign(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	w.change(t, 1, "b")
	var faults fake.Faults
	faults.KillBefore("Ledger.Advance", 1)
	if _, err := w.apply(&faults); err == nil {
		t.Fatal("not killed")
	}
	w.warns(t, "after a crash", false)
}

// A rebuild from a snapshot leaves no row as it is, also when the snapshot is no
// newer than what was applied: nothing is left of what another program made.
func TestARebuildReplacesWhatOthersChanged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	w.foreign(t)
	w.write(t, w.snapshotRows()...)
	result, err := w.apply(&fake.Faults{})
	if err != nil || !result.Rebuilt || result.Position.Foreign != nil || result.Position.RebuiltFrom != result.Position.Applied {
		t.Errorf("%+v, %v", result, err)
	}
	if got := w.silver(); !maps.Equal(got, w.state) {
		t.Errorf("silver %v, source %v", got, w.state)
	}
}

func TestASilverThatWasPutBackStopsPlanAndRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	before := w.lake.Clone()
	w.change(t, 1, "b")
	if _, err := w.apply(&fake.Faults{}); err != nil {
		t.Fatal(err)
	}
	w.lake = before
	w.change(t, 1, "c")
	_, planned := w.plan(t)
	_, ran := w.apply(&fake.Faults{})
	for who, err := range map[string]error{"plan": planned, "run": ran} {
		list := diag.FromError(err)
		if len(list) != 1 || list[0].Code != "silver.rows_lost" || list[0].Kind != diag.KindStale || !strings.Contains(list[0].Summary, "version 1,") || !strings.Contains(list[0].Summary, "version 2") {
			t.Errorf("%s: %v", who, err)
		}
	}
	if got := w.silver(); got[1] != "a" {
		t.Errorf("silver %v", got)
	}
}

// Commits of others can bring a table that was put back to the version that is
// stored, and past it: its merges do not come back with them.
func TestASilverThatWasPutBackAndCommittedToStopsPlanAndRun(t *testing.T) {
	t.Parallel()
	for _, commits := range []int{1, 4} {
		w := newWorld()
		w.built(t)
		before := w.lake.Clone()
		w.change(t, 1, "b")
		if _, err := w.apply(&fake.Faults{}); err != nil {
			t.Fatal(err)
		}
		w.lake = before
		for i := range commits {
			w.maintain(t, fmt.Sprint(i))
		}
		w.change(t, 1, "c")
		_, planned := w.plan(t)
		_, ran := w.apply(&fake.Faults{})
		for who, err := range map[string]error{"plan": planned, "run": ran} {
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != "silver.rows_lost" || list[0].Kind != diag.KindStale || !strings.Contains(list[0].Summary, "number 0,") || !strings.Contains(list[0].Summary, "number 1") {
				t.Errorf("%d commits, %s: %v", commits, who, err)
			}
		}
		if got := w.silver(); got[1] != "a" {
			t.Errorf("silver %v", got)
		}
	}
}

// A table may be set to forget what was recorded under app ids. That it counts no
// merges then says nothing; that its version is behind still does. The count goes
// on from what was stored.
func TestASilverThatForgetsItsMergesWasNotPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	before := w.lake.Clone()
	w.change(t, 1, "b")
	w.warns(t, "before", false)
	w.lake.ForgetTxns(silverName)
	for _, value := range []string{"c", "d"} {
		w.change(t, 1, value)
		w.warns(t, "after", false)
		if got := w.silver(); !maps.Equal(got, w.state) {
			t.Errorf("silver %v, source %v", got, w.state)
		}
	}
	if n := w.ledger.Views[silverName].Position.Merge; n == nil || *n != 3 {
		t.Errorf("the newest merge is %v", n)
	}
	w.lake.PutBack(before, silverName)
	if _, err := w.apply(&fake.Faults{}); !diag.HasCode(err, "silver.rows_lost") {
		t.Errorf("put back: %v", err)
	}
}

// A run that died between merge and position left a table that is ahead of it.
func TestASilverThatIsAheadOfItsPositionGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	w.change(t, 1, "b")
	faults := &fake.Faults{}
	faults.Fail("Ledger.Advance", 1, errors.New("killed"))
	if _, err := w.apply(faults); err == nil {
		t.Fatal("it was not killed")
	}
	w.warns(t, "after a crash", false)
	if got := w.silver(); !maps.Equal(got, w.state) {
		t.Errorf("silver %v, source %v", got, w.state)
	}
}

// Positions of older releases have no number of a merge, and tables of releases
// before merges were counted have none either: nothing is claimed of them.
func TestAPositionWithoutAMergeTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	view := w.ledger.Views[silverName]
	if view.Position.Merge == nil || *view.Position.Merge != 0 {
		t.Fatalf("position %+v", view.Position)
	}
	view.Position.Merge = nil
	w.ledger.Views[silverName] = view
	w.warns(t, "without a number", false)
	if view = w.ledger.Views[silverName]; view.Position.Merge == nil || *view.Position.Merge != 0 {
		t.Errorf("position %+v", view.Position)
	}
}

// Positions of older releases have no version: nothing is known, and nothing
// is claimed. From the next run on it is.
func TestAPositionWithoutAVersionTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.built(t)
	w.foreign(t)
	view := w.ledger.Views[silverName]
	view.Position.Version = nil
	w.ledger.Views[silverName] = view
	w.warns(t, "without a version", false)
	w.foreign(t)
	w.warns(t, "with one", true)
}
