package stream_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

func TestALostCheckpointIsAnErrorAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	before := w.lines(bronze)
	w.forget(t, "/streams/")
	err := w.mustFail(t, diag.KindConfiguration, "stream.checkpoint_lost")
	if !strings.Contains(err.Error(), "another app_id") || !slices.Equal(w.lines(bronze), before) || len(w.factsOf("")) != 1 {
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

// Bronze and facts that were put back together agree with each other; the
// checkpoint, which stayed, tells of batches that neither has.
func TestALakeThatWasPutBackBeneathItsCheckpointIsAnError(t *testing.T) {
	t.Parallel()
	w := started(t)
	older, now := w.lake.Clone(), w.lake
	w.insert(5, 3)
	w.mustRun(t)
	from, to := now.Open(), older.Open()
	objects, err := from.ListObjects(t.Context(), "", "")
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	for _, key := range objects {
		obj, _, err := from.GetObject(t.Context(), key)
		if err == nil {
			err = to.PutObject(t.Context(), obj, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.lake = older
	w.insert(6, 4)
	w.mustFail(t, diag.KindStale, "stream.rows_lost")
	if got := len(w.lake.Rows(bronze)); got != 2 {
		t.Errorf("%d rows", got)
	}
	w.lake = now
	if got := w.mustRun(t); got.Rows != 1 {
		t.Errorf("%+v", got)
	}
}

// Facts that alone were put back lack what they told of batches; bronze lacks
// nothing.
func TestFactsThatWerePutBackLoseNoRows(t *testing.T) {
	t.Parallel()
	w := started(t)
	before := w.lake.Clone()
	w.insert(5, 3)
	w.mustRun(t)
	w.lake.PutBack(before, facts)
	w.insert(6, 4)
	if got := w.mustRun(t); got.Rows != 1 || len(w.lake.Rows(bronze)) != 4 {
		t.Errorf("%+v, %d rows", got, len(w.lake.Rows(bronze)))
	}
}

// A bronze that is set to forget what was recorded under app ids has lost no rows by
// that.
func TestABronzeThatForgetsItsBatchesGoesOn(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.insert(5, 3)
	w.mustRun(t)
	w.lake.ForgetTxns(bronze)
	for minute := 6; minute < 8; minute++ {
		w.insert(minute, minute)
		if got := w.mustRun(t); got.Rows != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// What a checkpoint beside the lake knows of bronze tells a lake that was put back
// from tables of the ledger that were.
func TestALakePutBackBeneathAStateBesideIt(t *testing.T) {
	t.Parallel()
	const lost = "stream.rows_lost"
	insert := func(w *world) { w.insert(5, 3) }
	idle := func(w *world) { w.idle(5) }
	for name, tt := range map[string]struct {
		// later is what a second batch is made of, after one with rows.
		later func(*world)
		// back is the state of the lake when it goes on; first is the lake before the
		// first batch, second that before the second.
		back func(w *world, first, second *memory.Lake)
		// older tells that the state is of a release that did not keep what bronze had.
		older bool
		code  string
	}{
		"to before the first batch":                          {insert, func(w *world, first, _ *memory.Lake) { w.lake = first }, false, lost},
		"to before the first batch, and the newest is empty": {idle, func(w *world, first, _ *memory.Lake) { w.lake = first }, false, lost},
		"to before the second batch":                         {insert, func(w *world, _, second *memory.Lake) { w.lake = second }, false, lost},
		"to before the second batch, which is empty":         {idle, func(w *world, _, second *memory.Lake) { w.lake = second }, false, ""},
		"to before the second batch, by an older state":      {insert, func(w *world, _, second *memory.Lake) { w.lake = second }, true, lost},
		"only bronze": {insert, func(w *world, _, second *memory.Lake) { w.lake.PutBack(second, bronze) }, false, lost},
		"only facts":  {insert, func(w *world, _, second *memory.Lake) { w.lake.PutBack(second, facts) }, false, ""},
		"only facts, and the newest batch is empty":      {idle, func(w *world, _, second *memory.Lake) { w.lake.PutBack(second, facts) }, false, ""},
		"only facts, to before the first batch":          {idle, func(w *world, first, _ *memory.Lake) { w.lake.PutBack(first, facts) }, false, ""},
		"facts made anew, and the newest batch is empty": {idle, func(w *world, _, _ *memory.Lake) { w.lake.DropTable(facts); w.books(t) }, false, ""},
		"facts made anew, by an older state":             {insert, func(w *world, _, _ *memory.Lake) { w.lake.DropTable(facts); w.books(t) }, true, ""},
		"facts made anew, and bronze put back": {insert, func(w *world, _, second *memory.Lake) {
			w.lake.DropTable(facts)
			w.books(t)
			w.lake.PutBack(second, bronze)
		}, false, lost},
		"facts and bronze made anew":                          {insert, func(w *world, _, _ *memory.Lake) { w.lake = memory.NewLake(); w.create(t) }, false, lost},
		"facts and bronze made anew, and the newest is empty": {idle, func(w *world, _, _ *memory.Lake) { w.lake = memory.NewLake(); w.create(t) }, false, lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.create(t)
			dir := t.TempDir()
			beside := func(c *stream.Config) {
				store, err := state.Open(t.Context(), state.InDirectory(dir), state.Options{Name: "shop", Clock: w.clock})
				if err != nil {
					t.Fatal(err)
				}
				c.State = store
			}
			first := w.lake.Clone()
			w.insert(1, 1, 2)
			w.mustRun(t, beside)
			second := w.lake.Clone()
			tt.later(w)
			w.mustRun(t, beside)
			if tt.older {
				forgetWritten(t, dir)
			}
			tt.back(w, first, second)
			w.insert(6, 4)
			held := len(w.lake.Rows(bronze))
			if tt.code == "" {
				if got := w.mustRun(t, beside); got.Rows != 1 || len(w.lake.Rows(bronze)) != held+1 {
					t.Errorf("%+v, %d rows", got, len(w.lake.Rows(bronze)))
				}
				return
			}
			w.mustFail(t, diag.KindStale, tt.code, beside)
			if got := len(w.lake.Rows(bronze)); got != held {
				t.Errorf("%d rows, and %d before", got, held)
			}
		})
	}
}

// forgetWritten takes from the commits of a state what older releases did not keep.
func forgetWritten(t *testing.T, dir string) {
	t.Helper()
	forgot := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) != "commits" {
			return err
		}
		forgot++
		return os.WriteFile(path, []byte(`{"at":"2026-03-01T12:00:00Z"}`), 0o600)
	})
	if err != nil || forgot == 0 {
		t.Fatal(forgot, err)
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

func TestADatabaseThatJoinsOrLeavesAGroupIsTheSameSource(t *testing.T) {
	t.Parallel()
	w := started(t)
	for i, change := range []func(){
		func() { w.db.JoinGroup("group:1") },
		w.db.LeaveGroup,
		func() { w.db.JoinGroup("group:2") }, // made anew
	} {
		change()
		w.insert(10+i, 100+i)
		if got := w.mustRun(t); got.Rows != 1 {
			t.Errorf("%d: %+v", i, got)
		}
	}
	w.db.SetIdentity("warehouse")
	w.db.JoinGroup("group:3")
	w.mustFail(t, diag.KindConfiguration, "stream.source")
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

func TestConfigurationsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.mustFail(t, diag.KindConfiguration, "stream.start", bootstrap, func(c *stream.Config) { c.StartingPosition = "latest" })
	w.mustFail(t, diag.KindConfiguration, "stream.bootstrap", func(c *stream.Config) { c.Bootstrap = "chunked" })
	w.mustFail(t, diag.KindConfiguration, "stream.granularity", granular("week"))
	if names := w.lake.TableNames(); !slices.Equal(names, []string{bronze, facts, verds}) || len(w.lake.Objects()) != 0 {
		t.Errorf("something was written: %v", names)
	}
}

func TestALostLockEndsTheRunAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	tick := make(chan time.Time)
	var store *state.Store
	ended := make(chan struct{})
	_, err := w.run(nil, func(c *stream.Config) {
		var err error
		store, err = state.Open(context.Background(), state.InSink(w.lake.Open(), "sink.lake"), state.Options{
			Name: "shop", Clock: w.clock, After: func(time.Duration) <-chan time.Time { return tick },
		})
		if err != nil {
			t.Error(err)
		}
		c.State = store
		source := c.Source
		c.Source = waiting{source, func(ctx context.Context) error {
			defer close(ended)
			if err := store.Unlock(context.Background(), "orders-v1"); err != nil {
				t.Error(err)
			}
			tick <- time.Time{}
			<-ctx.Done() // the renewal found out
			return errors.New("rpc error: the call was cancelled")
		}}
	})
	<-ended
	if list := diag.FromError(err); err == nil || list[0].Code != "state.lock_lost" || list[0].Kind != diag.KindConflict {
		t.Errorf("got %v", err)
	}
	w.mustRun(t)
}

// waiting is a source that plans no batch but waits for something.
type waiting struct {
	plugin.Source
	wait func(context.Context) error
}

func (s waiting) PlanBatch(ctx context.Context, _ plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	return plugin.BatchPlan{}, s.wait(ctx)
}

func TestStateMayLiveInADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	dir := t.TempDir()
	local := func(c *stream.Config) {
		store, err := state.Open(context.Background(), state.InDirectory(dir), state.Options{Name: "shop", Clock: w.clock})
		if err != nil {
			t.Fatal(err)
		}
		c.State = store
	}
	w.mustRun(t, local)
	w.insert(2, 2)
	if got := w.mustRun(t, local); got.Rows != 1 || got.Batches != 1 || len(w.lake.Objects()) != 0 {
		t.Errorf("%+v, objects in the sink %v", got, w.lake.Objects())
	}
	// Another place knows nothing of it, and the lake does.
	w.mustFail(t, diag.KindConfiguration, "stream.checkpoint_lost")
}
