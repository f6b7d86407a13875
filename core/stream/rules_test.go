package stream_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
)

// started is a world whose stream has carried some commits.
func started(t *testing.T, options ...option) *world {
	t.Helper()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2)
	w.mustRun(t, options...)
	return w
}

// dataCommits are the commits of bronze that brought rows.
func (w *world) dataCommits() []plugin.Commit {
	return slices.DeleteFunc(w.lake.History(bronze), func(c plugin.Commit) bool { return !c.DataChange })
}

func (w *world) count(call string) int {
	n := 0
	for _, p := range w.calls {
		if p.Call == call && !p.After {
			n++
		}
	}
	return n
}

// forget removes state objects whose key holds the text.
func (w *world) forget(t *testing.T, text string) {
	t.Helper()
	tables := w.lake.Open()
	for key := range w.lake.Objects() {
		if strings.Contains(key, text) {
			if err := tables.DeleteObject(context.Background(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (w *world) mustFail(t *testing.T, kind diag.Kind, code string, options ...option) error {
	t.Helper()
	_, err := w.run(nil, options...)
	w.later()
	list := diag.FromError(err)
	if err == nil || list[0].Kind != kind || list[0].Code != code {
		t.Fatalf("got error %v (%v), want %s of kind %s", err, list, code, kind)
	}
	return err
}

func TestABatchThatIsReplayedIsInBronzeAndFactsOnce(t *testing.T) {
	t.Parallel()
	w := started(t)
	before := w.outcome()
	w.forget(t, "/commits/") // as after a crash right before the mark
	got := w.mustRun(t)
	if got.Batches != 1 || w.count("Source.PlanBatch") != 0 {
		t.Errorf("%+v, %d plannings: a batch whose facts are there needs its mark only", got, w.count("Source.PlanBatch"))
	}
	if err := w.outcome().compare(before); err != nil {
		t.Error(err)
	}
}

func TestAReplayNeedsNoChangesThatItsFactsHaveAlready(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.forget(t, "/commits/")
	w.db.Purge(orders, w.db.Newest())
	w.mustRun(t)
}

func TestABatchWithoutRowsLeavesBronzeAlone(t *testing.T) {
	t.Parallel()
	w := started(t)
	versions := len(w.lake.History(bronze))
	w.idle(200)
	got := w.mustRun(t)
	row := w.factsOf("")[1]
	if got.Batches != 1 || len(w.lake.History(bronze)) != versions {
		t.Errorf("%+v and %d versions of bronze, want 1 batch and %d versions", got, len(w.lake.History(bronze)), versions)
	}
	for name, want := range map[string]any{"rows": int64(0), "deletes": int64(0), "inserts": int64(0), "updates": int64(0), "min_lsn": nil, "max_commit_ts": nil, "end_lsn": w.db.Newest().Text} {
		if row[name] != want {
			t.Errorf("%s is %v, want %v", name, row[name], want)
		}
	}
	if v := w.lake.Rows(verds)[0]["finalized_until"].(time.Time); !v.Equal(at(180)) {
		t.Errorf("the verdict of a quiet table is %v", v)
	}
}

func TestTheFirstBatchOfACheckpointIsWrittenEvenWhenNothingIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	got := w.mustRun(t)
	rows := w.factsOf("")
	if got.Batches != 1 || len(rows) != 1 || rows[0]["batch_id"] != int64(0) || rows[0]["rows"] != int64(0) || rows[0]["end_lsn"] != nil || rows[0]["read_seconds"] != nil {
		t.Errorf("%+v, facts %v", got, rows)
	}
	if again := w.mustRun(t); again.Batches != 0 {
		t.Errorf("the second run wrote %d batches", again.Batches)
	}
}

func TestFiveCommitsTwoABatchAreThreeCommitsOfBronze(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	for i := range 5 {
		w.insert(i, 10*i, 10*i+1)
	}
	w.mustRun(t, maxCommits(2))
	var sum float64
	commits := w.dataCommits()
	for i, c := range commits {
		var m map[string]any
		if err := json.Unmarshal([]byte(c.UserMetadata), &m); err != nil {
			t.Fatal(err)
		}
		sum += m["rows"].(float64)
		if m["batch_id"] != float64(i) || m["app_id"] != "orders-v1" {
			t.Errorf("metadata %s", c.UserMetadata)
		}
	}
	if len(commits) != 3 || sum != 10 {
		t.Errorf("%d commits of %v rows", len(commits), sum)
	}
	want := `{"rows":4,"min_lsn":"0x0000002A000000010001","max_lsn":"0x0000002A000000020001","min_commit_ts":"2026-03-01T08:00:00.000","max_commit_ts":"2026-03-01T08:01:00.000","deletes":0,"inserts":4,"updates":0,"batch_id":0,"app_id":"orders-v1"}`
	if commits[0].UserMetadata != want {
		t.Errorf("metadata\n%s\nwant\n%s", commits[0].UserMetadata, want)
	}
}

func TestAnUpdateIsTwoRowsAndOneUpdate(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.update(5, 1, "n1", "x")
	w.mustRun(t)
	if row := w.factsOf("")[1]; row["rows"] != int64(2) || row["updates"] != int64(1) || row["inserts"] != int64(0) {
		t.Errorf("facts %v", row)
	}
}

func TestAColumnThatComesLaterIsAddedAtTheEnd(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.db.AddColumn(orders, arrow.Field{Name: "extra", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	w.db.Commit(at(9), memory.Insert(orders, memory.Row{"id": 9, "extra": 90}))
	w.mustRun(t)
	states, err := w.lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: bronze}}})
	if err != nil {
		t.Fatal(err)
	}
	fields := states[0].Schema.Fields()
	if last := fields[len(fields)-1].Name; last != "extra" {
		t.Errorf("the last column is %s", last)
	}
	for _, row := range w.lake.Rows(bronze) {
		if want := any(nil); row["id"] == int64(9) {
			want = int64(90)
			if row["extra"] != want {
				t.Errorf("row %v", row)
			}
		} else if row["extra"] != want {
			t.Errorf("older row %v", row)
		}
	}
}

func TestDataLossFailsOrIsSkippedAndRecorded(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	purged := w.insert(6, 4)
	w.insert(7, 5)
	w.db.Purge(orders, purged)
	w.mustFail(t, diag.KindDataLoss, "memory.data_loss")
	w.mustRun(t, skipping)
	events := w.factsOf("data_skipped")
	if len(events) != 1 || events[0]["batch_id"] != int64(1) || events[0]["rows"] != int64(0) || events[0]["min_lsn"] != events[0]["end_lsn"] ||
		!strings.Contains(events[0]["detail"].(string), `"certain": true`) {
		t.Errorf("events %v", events)
	}
	if batch := w.factsOf("")[1]; !strings.HasPrefix(batch["detail"].(string), `{"warnings": ["changes of dbo.orders`) || batch["rows"] != int64(1) {
		t.Errorf("batch %v", batch)
	}
	w.insert(8, 6)
	w.mustRun(t, skipping)
	if detail := w.factsOf("")[2]["detail"]; detail != nil {
		t.Errorf("the next batch has detail %v", detail)
	}
}

func TestARewoundSourceIsAnError(t *testing.T) {
	t.Parallel()
	w := started(t)
	last := w.insert(5, 3)
	w.mustRun(t)
	w.db.Rewind(plugin.Position{Text: "0x0000002A000000010001"})
	w.insert(6, 4)
	if got := w.db.Newest(); got.Text != last.Text {
		t.Fatal("the script is wrong")
	}
	w.mustFail(t, diag.KindRewound, "memory.rewound")
}

func TestEventsComeOnceWithTheirBatch(t *testing.T) {
	t.Parallel()
	w := started(t)
	p := w.insert(5, 3)
	w.db.AddEvent(orders, plugin.Event{Name: "schema_change", Position: p, Detail: "ALTER TABLE dbo.orders ADD x int"})
	faults := &memory.Faults{}
	faults.KillBefore("Tables.Commit", 2) // bronze has the rows, the facts are not written
	if _, err := w.run(faults); err == nil {
		t.Fatal("no crash")
	}
	w.later()
	w.mustRun(t)
	events := w.factsOf("schema_change")
	if len(events) != 1 || events[0]["batch_id"] != int64(1) || events[0]["detail"] != "ALTER TABLE dbo.orders ADD x int" || events[0]["max_commit_ts"] != at(5) {
		t.Errorf("events %v", events)
	}
	if row := w.factsOf("")[1]; row["written_at"] != events[0]["written_at"] {
		t.Error("the rows of one commit have different times")
	}
}

func TestTheTargetOfARunIsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	first := w.insert(1, 1)
	more := false
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if p.Call == "Source.PlanBatch" && !p.After && !more {
			more = true
			w.insert(2, 2) // commits go on while the run works
		}
		return nil
	}}
	got, err := w.run(faults)
	if err != nil || got.End != first || got.Batches != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPeriodsWithinOneHourAreOneCommitOfControl(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	for i := range 4 {
		w.insert(10*i, i)
	}
	w.mustRun(t, maxCommits(1))
	if n := len(w.lake.History(verds)); n != 2 { // its creation and the verdict
		t.Errorf("control has %d versions", n)
	}
	if row := w.lake.Rows(verds)[0]; row["end_lsn"] != "0x0000002A000000010001" {
		t.Errorf("the end that moved the verdict is %v, not the newest", row["end_lsn"])
	}
}

func TestOldOffsetsAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	for i := range 120 {
		w.insert(i, i)
	}
	got := w.mustRun(t, maxCommits(1))
	log := w.log()
	if got.Batches != 120 || len(log) != 2*state.KeepEntries+1 {
		t.Errorf("%d batches, %d entries", got.Batches, len(log))
	}
	w.insert(121, 200)
	if again := w.mustRun(t); again.Rows != 1 {
		t.Errorf("%+v", again)
	}
}
