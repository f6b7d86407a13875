package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
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

func TestALostCheckpointIsAnErrorAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	before := w.lines(bronze)
	w.forget(t, "/streams/")
	err := w.mustFail(t, diag.KindConfiguration, "stream.checkpoint_lost")
	if !strings.Contains(err.Error(), "new app_id") || !slices.Equal(w.lines(bronze), before) || len(w.factsOf("")) != 1 {
		t.Errorf("%v, bronze %v", err, w.lines(bronze))
	}
	w.mustRun(t, appID("orders-v2")) // the way out
}

func TestARewoundCheckpointIsAnError(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	w.mustRun(t)
	w.insert(6, 4)
	w.mustRun(t)
	w.forget(t, "00000000000000000002") // as if an older copy of the state was put back
	w.mustFail(t, diag.KindConfiguration, "stream.checkpoint_rewound")
}

func TestANewestOffsetThatIsRecordedIsAReplay(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	w.mustRun(t)
	w.forget(t, "commits/00000000000000000001")
	w.mustRun(t)
	if got := len(w.lake.Rows(bronze)); got != 3 {
		t.Errorf("%d rows", got)
	}
}

func TestAGenerationCountsItsBatchesAnew(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	w.mustRun(t)
	w.insert(7, 4)
	store, err := state.Open(context.Background(), state.InSink(w.lake.Open(), "sink.lake"), state.Options{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	// What recovery stores when it has taken a snapshot.
	if err := store.Stream("orders-v1").PutGeneration(context.Background(), state.Generation{Number: 1, Snapshot: plugin.At("0x0000002A000000020001", at(5)), At: at(6)}); err != nil {
		t.Fatal(err)
	}
	got := w.mustRun(t, bootstrap)
	rows := w.factsOf("")
	last := rows[len(rows)-1]
	if got.SnapshotRows != -1 || last["app_id"] != "orders-v1.g1" || last["batch_id"] != int64(0) || last["rows"] != int64(1) {
		t.Errorf("%+v, facts %v", got, last)
	}
	if got := len(w.lake.Rows(bronze)); got != 4 {
		t.Errorf("%d rows in bronze", got)
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

func TestBronzeMustExist(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.insert(1, 1)
	w.mustFail(t, diag.KindStale, "stream.no_target")
	if names := w.lake.TableNames(); len(names) != 0 {
		t.Errorf("tables %v came into being", names)
	}
}

func TestABronzeThatLostRowsIsAnError(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.lake.DropTable(bronze)
	w.create(t)
	w.insert(5, 3)
	w.mustFail(t, diag.KindStale, "stream.rows_lost")
	if len(w.lake.Rows(bronze)) != 0 {
		t.Error("rows were written")
	}
}

func TestABronzeWithoutRowsYetHasLostNone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.idle(1)
	w.mustRun(t)
	w.insert(2, 1)
	if got := w.mustRun(t); got.Rows != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAnotherSourceIsAnErrorAndNeverARestart(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.db.SetIdentity("warehouse")
	if err := w.mustFail(t, diag.KindConfiguration, "stream.source"); !strings.Contains(err.Error(), `"shop"`) || !strings.Contains(err.Error(), `"warehouse"`) {
		t.Errorf("the message does not name both: %v", err)
	}
}

func TestATableCreatedAgainIsAnError(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.db.CreateTable(orders, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil), "id")
	w.mustFail(t, diag.KindConfiguration, "stream.table")
}

func TestASecondRunnerIsToldWhoHoldsTheStream(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	store, err := state.Open(context.Background(), state.InSink(w.lake.Open(), "sink.lake"), state.Options{Name: "shop", Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Lock(context.Background(), "orders-v1", state.Holder{Run: "run-7", Host: "loader3", PID: 4711}); err != nil {
		t.Fatal(err)
	}
	_, err = w.run(nil)
	if !diag.Is(err, diag.KindUnavailable) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"run-7", "4711", "loader3", "2026-03-01T12:00:00Z", "pipectl unlock orders-v1"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the message lacks %s: %v", part, err)
		}
	}
	w.later()
	w.mustRun(t) // the lock has expired
}

func TestTwoRunnersWriteABatchOnce(t *testing.T) {
	t.Parallel()
	// The second runner, which holds no lock any more, comes to the commit after
	// the first one made it.
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2)
	done := false
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if p.Call == "Tables.Commit" && !p.After && !done {
			done = true
			w.forget(t, "/locks/")
			if _, err := w.run(nil); err != nil {
				t.Errorf("the first runner: %v", err)
			}
		}
		return nil
	}}
	if _, err := w.run(faults); err != nil {
		t.Fatal(err)
	}
	if rows, told := len(w.lake.Rows(bronze)), len(w.factsOf("")); rows != 2 || told != 1 || !done {
		t.Errorf("%d rows, %d facts", rows, told)
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

func TestARangeIsReadAgainOnErrorsThatMayGoAway(t *testing.T) {
	t.Parallel()
	busy := diag.Errorf(diag.KindTransient, "memory.busy", "", "The server is busy").Err()
	refused := diag.Errorf(diag.KindPermission, "memory.denied", "", "No").Err()
	for _, tt := range []struct {
		rule   string
		call   string
		fails  int
		err    error
		sleeps int
		ok     bool
	}{
		{"three failures of a read are survived", "Source.Read", 3, busy, 3, true},
		{"the fourth is the run's", "Source.Read", 4, busy, 3, false},
		{"a broken stream too", "Source.Read.Recv", 3, busy, 3, true},
		{"and a part that could not be written", "Tables.WritePart", 2, busy, 2, true},
		{"a refusal is not tried again", "Source.Read", 1, refused, 0, false},
		{"a commit is asked for again", "Tables.Commit", 3, busy, 3, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.create(t)
			w.insert(1, 1, 2, 3)
			faults := &memory.Faults{}
			for n := 1; n <= tt.fails; n++ {
				faults.Fail(tt.call, n, tt.err)
			}
			got, err := w.run(faults)
			if (err == nil) != tt.ok || len(w.sleeps) != tt.sleeps {
				t.Fatalf("error %v, pauses %v", err, w.sleeps)
			}
			if tt.ok && (got.Rows != 3 || len(w.lake.Rows(bronze)) != 3) {
				t.Errorf("%+v, bronze %v", got, w.lines(bronze))
			}
			if !tt.ok && diag.KindOf(err) != diag.KindOf(tt.err) {
				t.Errorf("the error lost its kind: %v", err)
			}
			for i, pause := range w.sleeps { // the fake draws the shortest
				if want := time.Second << i; pause != want {
					t.Errorf("pause %d is %v, want %v", i, pause, want)
				}
			}
		})
	}
}

func TestALostAnswerOfACommitIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	faults := &memory.Faults{}
	faults.Lose("Tables.Commit", 1, diag.Errorf(diag.KindTransient, "memory.lost", "", "No answer").Err())
	if _, err := w.run(faults); err != nil {
		t.Fatal(err)
	}
	if len(w.dataCommits()) != 1 || len(w.lake.Rows(bronze)) != 1 {
		t.Errorf("bronze %v", w.lines(bronze))
	}
}

func TestTheSourcesErrorIsTheOneToTell(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2)
	faults := &memory.Faults{}
	faults.Fail("Source.Read.Recv", 2, diag.Errorf(diag.KindDataLoss, "memory.purged", "", "Purged while it was read").Err())
	_, err := w.run(faults)
	if !diag.Is(err, diag.KindDataLoss) || !strings.Contains(err.Error(), "batch 0 of orders-v1: range 1 of 1: reading: ") {
		t.Errorf("got %v", err)
	}
	if len(w.lake.Rows(bronze)) != 0 {
		t.Error("rows of a failed range are in bronze")
	}
	if _, err := w.run(&memory.Faults{Hook: func(memory.Point) error { return nil }}); diag.Is(err, diag.KindDataLoss) {
		t.Error("the error stayed")
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

func TestAnIdlePollIsOneQueryAndAStopEndsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	stop := make(chan struct{})
	polls := 0
	var source []int
	faults := &memory.Faults{}
	got, err := w.run(faults, watching, func(c *stream.Config) {
		c.Stop = stop
		c.Poll = 7 * time.Second
		c.Sleep = func(_ context.Context, d time.Duration) error {
			if d != 7*time.Second {
				t.Errorf("pause %v", d)
			}
			polls++
			source = append(source, len(slices.DeleteFunc(faults.Points(), func(p memory.Point) bool { return p.After || strings.HasSuffix(p.Call, ".Recv") })))
			switch polls {
			case 2:
				w.insert(90, 2)
			case 5:
				close(stop)
			}
			return nil
		}
	})
	if err != nil || !got.Stopped || got.Batches != 2 || got.Rows != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if polls != 5 || source[1]-source[0] != 1 || source[4]-source[3] != 1 {
		t.Errorf("calls after each poll: %v", source)
	}
	if v := *got.Verdict; v != at(60).UnixMicro() {
		t.Errorf("verdict %d", v)
	}
}

func TestAWatchOutlivesAVerdictThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	broken := diag.Errorf(diag.KindPermission, "memory.denied", "", "The control table is read-only").Err()
	fail := true
	stop := make(chan struct{})
	polls := 0
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if fail && p.Call == "Tables.BeginWrite" && p.Detail == verds && !p.After {
			return broken
		}
		return nil
	}}
	got, err := w.run(faults, watching, func(c *stream.Config) {
		c.Stop = stop
		c.Sleep = func(context.Context, time.Duration) error {
			switch polls++; polls {
			case 3:
				w.later() // two minutes: too early for another word
			case 4:
				fail = false
			case 5:
				close(stop)
			}
			return nil
		}
	})
	if err != nil || got.Verdict == nil || w.warned("stream.verdict") != 1 {
		t.Errorf("%+v, %v, %d warnings", got, err, w.warned("stream.verdict"))
	}
	// A run to the newest position fails with it instead.
	fail = true
	w.later()
	w.insert(90, 2)
	if _, err := w.run(faults); !diag.Is(err, diag.KindPermission) {
		t.Errorf("got %v", err)
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

func TestProgressTellsRowsPositionAndLag(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2, 3)
	w.insert(31, 4)
	var last stream.Progress
	stages, longest := map[string]bool{}, time.Duration(0)
	w.mustRun(t, bootstrap, progress(func(p stream.Progress) {
		stages[p.Stage], last = true, p
	}))
	if !stages["snapshot"] || !stages["changes"] || last.Rows != 4 || last.Position != w.db.Newest() || last.Lag == nil || *last.Lag != 0 || last.Rate <= 0 {
		t.Errorf("stages %v, last %+v", stages, last)
	}
	w.insert(60, 5)
	w.insert(90, 6)
	w.mustRun(t, maxCommits(1), progress(func(p stream.Progress) {
		if p.Lag != nil {
			longest = max(longest, *p.Lag)
		}
	}))
	if longest != 59*time.Minute {
		t.Errorf("the longest lag was %v", longest)
	}
}

func TestReservedColumnNames(t *testing.T) {
	t.Parallel()
	source := func(names ...string) *arrow.Schema {
		fields := []arrow.Field{}
		for _, n := range []string{"_capture_instance", "_start_lsn", "_seqval", "_operation", "_commit_ts"} {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String})
		}
		for _, n := range names {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int32})
		}
		return arrow.NewSchema(fields, nil)
	}
	for _, name := range []string{"_chunk", "_START_LSN", "_Batch_id", "_snapshot", "_start_lsn"} {
		_, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, source("id", name))
		if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spec, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, source("id", "_note", "Qty (kg)"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, f := range spec.Schema.Fields() {
		names = append(names, f.Name)
		comment, _ := f.Metadata.GetValue("comment")
		if captured := i >= 5 && i < 8; captured != (comment == "") || !f.Nullable {
			t.Errorf("column %s has comment %q", f.Name, comment)
		}
	}
	want := "_capture_instance _start_lsn _seqval _operation _commit_ts id _note Qty (kg) _batch_id _snapshot _chunk"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("columns %s", got)
	}
	if spec.Properties[ledger.PropertySchemaVersion] != "2" || len(spec.Properties) != 1 || spec.Description == "" {
		t.Errorf("spec %+v", spec)
	}
	if _, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32}}, nil)); err == nil {
		t.Error("rows without metadata columns were accepted")
	}
}

func TestConfigurationsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.mustFail(t, diag.KindConfiguration, "stream.start", bootstrap, func(c *stream.Config) { c.StartingPosition = "latest" })
	w.mustFail(t, diag.KindConfiguration, "stream.bootstrap", func(c *stream.Config) { c.Bootstrap = "chunked" })
	w.mustFail(t, diag.KindConfiguration, "stream.granularity", granular("week"))
	if names := w.lake.TableNames(); !slices.Equal(names, []string{bronze}) || len(w.lake.Objects()) != 0 {
		t.Errorf("something was written: %v", names)
	}
}
