package stream_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/stream"
)

func instances(names ...string) option {
	return func(c *stream.Config) { c.Info.Instances = names }
}

func known(c *stream.Config) { c.SnapshotKnown = true }

// empty removes all rows of bronze.
func (w *world) empty(t *testing.T) {
	t.Helper()
	tables, ref := w.lake.Open(), plugin.TableRef{Name: bronze}
	state, err := tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteOverwrite, Schema: state[0].Schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.Commit(t.Context(), plugin.CommitRequest{WriteID: begun.WriteID}); err != nil {
		t.Fatal(err)
	}
}

// The source forgets the name under which the snapshot was read.
func TestASnapshotIsFoundWhenItsCaptureInstanceIsGone(t *testing.T) {
	t.Parallel()
	t.Run("recorded", func(t *testing.T) {
		t.Parallel()
		w := snapshotWorld(t)
		w.mustRun(t, bootstrap)
		w.insert(9, 9)
		if got := w.mustRun(t, bootstrap, instances("orders_v2")); got.SnapshotRows != -1 || got.Rows != 1 || len(w.factsOf("snapshot_open")) != 1 {
			t.Errorf("%+v, %d snapshots were opened", got, len(w.factsOf("snapshot_open")))
		}
	})
	t.Run("a crash before it was recorded", func(t *testing.T) {
		t.Parallel()
		w := snapshotWorld(t)
		w.crashAfterSnapshot(t)
		w.insert(9, 9)
		if got := w.mustRun(t, bootstrap, instances("orders_v2")); got.SnapshotRows != -1 || got.Rows != 1 || len(w.factsOf("bootstrap")) != 1 {
			t.Errorf("%+v, %d events", got, len(w.factsOf("bootstrap")))
		}
	})
}

// crashAfterSnapshot ends a run when bronze has the snapshot and nothing else
// tells of its end.
func (w *world) crashAfterSnapshot(t *testing.T) {
	t.Helper()
	committed := false
	_, err := w.run(&memory.Faults{Hook: func(p memory.Point) error {
		if committed {
			return diag.Errorf(diag.KindInternal, "test", "", "dead").Err()
		}
		committed = p.Call == "Tables.Commit" && p.After && len(w.lake.Rows(bronze)) > 0
		return nil
	}}, bootstrap)
	if err == nil || len(w.lake.Rows(bronze)) != 5 || len(w.factsOf("bootstrap")) != 0 {
		t.Fatalf("%d rows, %v", len(w.lake.Rows(bronze)), err)
	}
	w.later()
}

// The position of a snapshot means nothing in another database, also when no
// batch has followed it yet.
func TestASnapshotBelongsToItsDatabase(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	w.crashAfterSnapshot(t)
	w.db.SetIdentity("warehouse")
	w.insert(9, 9)
	w.mustFail(t, diag.KindConfiguration, "stream.source", bootstrap)
	w.db.SetIdentity("shop")
	if got := w.mustRun(t, bootstrap); got.SnapshotRows != -1 || got.Rows != 1 {
		t.Errorf("%+v", got)
	}
}

func TestOnlyWhatWasPlannedReadsATable(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]bool{"a stream that goes on": true, "a stream that begins": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := snapshotWorld(t)
			if began {
				w.mustRun(t, bootstrap)
				w.empty(t)
			}
			w.mustFail(t, diag.KindStale, "stream.snapshot_gone", bootstrap, known)
			if w.count("Source.OpenSnapshot") != 0 || len(w.lake.Rows(bronze)) != 0 {
				t.Error("the table was read")
			}
			if got := w.mustRun(t, bootstrap); got.SnapshotRows != 5 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A run of a stream that has gone on looks for the newest snapshot that facts
// name and no further, also after the table was read a second time.
func TestAKnownSnapshotIsFoundByOneScan(t *testing.T) {
	t.Parallel()
	w := snapshotWorld(t)
	scans := func() int {
		t.Helper()
		n := 0
		f := &memory.Faults{Hook: func(p memory.Point) error {
			if p.Call == "Tables.Scan" && !p.After && p.Detail == bronze {
				n++
			}
			return nil
		}}
		if _, err := w.run(f, bootstrap); err != nil {
			t.Fatal(err)
		}
		w.later()
		return n
	}
	w.mustRun(t, bootstrap)
	w.insert(9, 9)
	w.mustRun(t, bootstrap)
	if got := scans(); got != 1 {
		t.Errorf("a run scans bronze %d times", got)
	}
	w.empty(t)
	w.insert(10, 10)
	if got := w.mustRun(t, bootstrap); got.SnapshotRows < 0 {
		t.Fatalf("no second snapshot was taken: %+v", got)
	}
	w.insert(11, 11)
	w.mustRun(t, bootstrap)
	if got := scans(); got != 1 {
		t.Errorf("a run after a second snapshot scans bronze %d times", got)
	}
}
