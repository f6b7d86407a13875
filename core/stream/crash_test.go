package stream_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// outcome is everything that must not depend on crashes.
type outcome struct {
	bronze, batches, control []string
	log                      map[string]string
}

func (w *world) outcome() outcome {
	return outcome{w.lines(bronze), w.batches(), w.lines(verds), w.log()}
}

func (o outcome) compare(want outcome) error {
	for _, part := range []struct {
		name      string
		got, want []string
	}{{"bronze", o.bronze, want.bronze}, {"facts", o.batches, want.batches}, {"control", o.control, want.control}} {
		if !slices.Equal(part.got, part.want) {
			return fmt.Errorf("%s differs:\ngot\n  %s\nwant\n  %s", part.name, strings.Join(part.got, "\n  "), strings.Join(part.want, "\n  "))
		}
	}
	if !maps.Equal(o.log, want.log) {
		return fmt.Errorf("the checkpoint differs:\ngot  %v\nwant %v", o.log, want.log)
	}
	return nil
}

// checkBootstrap holds what a snapshot must have left, crashes or not: one
// completion, of the rows that bronze has.
func (w *world) checkBootstrap() error {
	events := w.factsOf("bootstrap")
	if len(events) != 1 {
		return fmt.Errorf("%d bootstrap events", len(events))
	}
	stamp, rows := events[0]["min_lsn"], int64(0)
	for _, row := range w.lake.Rows(bronze) {
		if row["_operation"] == int64(plugin.OpSnapshot) {
			if row["_start_lsn"] != stamp || row["_snapshot"] != stamp || row["_chunk"] != nil || row["_batch_id"] != nil || row["_seqval"] != nil {
				return fmt.Errorf("snapshot at %v: row %v", stamp, row)
			}
			rows++
		}
	}
	if got := events[0]["rows"]; got != nil && got != rows {
		return fmt.Errorf("the event counts %v rows, bronze has %d", got, rows)
	}
	if len(w.factsOf("snapshot_open")) == 0 {
		return fmt.Errorf("the snapshot was never opened")
	}
	return nil
}

// scenario is a history, then runs with commits between them.
type scenario struct {
	name    string
	history []func(*world)
	options []option
}

// stage is a world right before a run.
func (s scenario) stage(run int, lake *memory.Lake) *world {
	w := newWorld()
	for _, more := range s.history[:run+1] {
		more(w)
		w.later()
	}
	w.lake = lake.Clone()
	return w
}

// crash carries a run out that is killed at a point, and then what repairs it.
func (s scenario) crash(w *world, point int) error {
	faults := &memory.Faults{}
	faults.KillAt(point)
	_, err := w.run(faults, s.options...)
	if err == nil || !faults.Dead() {
		return fmt.Errorf("the kill did not end the run: %v", err)
	}
	if err := w.orderHolds(); err != nil {
		return err
	}
	w.later()
	_, err = w.run(nil, s.options...)
	return err
}

func newLake(t testing.TB) *memory.Lake {
	w := newWorld()
	w.create(t)
	return w.lake
}

func scenarios() []scenario {
	commits := func(w *world) {
		w.insert(1, 1, 2, 3)
		w.update(3, 2, "n2", "x")
		w.idle(4)
	}
	more := func(w *world) {
		w.db.Commit(at(61), memory.Delete(orders, memory.Row{"id": 3, "note": "n3"}))
		w.db.Commit(at(70), memory.Insert("dbo.other", memory.Row{"id": 1}))
		w.insert(130, 4, 5, 6, 7)
		w.db.AddEvent(orders, plugin.Event{Name: "schema_change", Position: w.db.Newest(), Detail: "ALTER TABLE dbo.orders ADD x int"})
	}
	quiet := func(*world) {}
	return []scenario{
		{"changes", []func(*world){commits, more, quiet}, nil},
		{"two commits a batch", []func(*world){commits, more}, []option{maxCommits(2)}},
		{"whole snapshot", []func(*world){commits, more}, []option{bootstrap}},
		{"whole snapshot, one commit a batch", []func(*world){commits, more}, []option{bootstrap, maxCommits(1)}},
		{"whole snapshot of an empty table", []func(*world){quiet, commits}, []option{bootstrap}},
		{"nothing new at first", []func(*world){quiet, quiet, commits}, nil},
	}
}

// TestEveryCrash kills the process before and after every call of a run and
// before and after every frame, looks at what is there then, runs again, and
// compares with a life without crashes.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			lake := newLake(t)
			tried := 0
			for run := range sc.history {
				calm, count := sc.stage(run, lake), &memory.Faults{}
				if _, err := calm.run(count, sc.options...); err != nil {
					t.Fatal(err)
				}
				want := calm.outcome()
				points := count.Points()
				for k := range points {
					tried++
					w := sc.stage(run, lake)
					err := sc.crash(w, k+1)
					if err == nil {
						err = w.outcome().compare(want)
					}
					if err == nil && len(calm.factsOf("bootstrap")) > 0 {
						err = w.checkBootstrap()
					}
					if err != nil {
						t.Fatalf("killed in run %d %s (point %d of %d): %v", run, points[k], k+1, len(points), err)
					}
				}
				lake = calm.lake // the next run begins where this one ended
			}
			t.Logf("%d crashes", tried)
		})
	}
}

// TestRandomCrashes plays random histories with several crashes each and reads
// that go on in parallel.
func TestRandomCrashes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		options := []option{slots(rapid.IntRange(1, 3).Draw(r, "slots"))}
		if n := rapid.IntRange(0, 3).Draw(r, "commits a batch"); n > 0 {
			options = append(options, maxCommits(n))
		}
		if rapid.Bool().Draw(r, "bootstrap") {
			options = append(options, bootstrap)
		}
		w := newWorld()
		w.create(t)
		options = append(options, partitions(w, rapid.IntRange(1, 3).Draw(r, "partitions")))
		var (
			live   []int
			next   int
			minute int
			want   = map[string]bool{} // change rows by commit, operation and key
		)
		crashes := 0
		runs := rapid.IntRange(1, 4).Draw(r, "runs")
		for range runs {
			for range rapid.IntRange(0, 4).Draw(r, "commits") {
				minute += rapid.IntRange(1, 50).Draw(r, "minutes")
				var changes []memory.Change
				for range rapid.IntRange(0, 3).Draw(r, "changes") {
					if len(live) > 0 && rapid.Bool().Draw(r, "delete") {
						id := live[0]
						live = live[1:]
						changes = append(changes, memory.Delete(orders, memory.Row{"id": id}))
						continue
					}
					next++
					live = append(live, next)
					changes = append(changes, memory.Insert(orders, memory.Row{"id": next}))
				}
				at := w.db.Commit(at(minute), changes...)
				for _, c := range changes {
					id := c.After["id"]
					if c.Op == plugin.OpDelete {
						id = c.Before["id"]
					}
					want[fmt.Sprint(at.Text, c.Op, id)] = true
				}
			}
			for {
				faults := &memory.Faults{}
				if crashes < 6 && rapid.Bool().Draw(r, "crash") {
					crashes++
					faults.KillAt(rapid.IntRange(1, 250).Draw(r, "point"))
				}
				_, err := w.run(faults, options...)
				w.later()
				if err := w.orderHolds(); err != nil {
					r.Fatal(err)
				}
				if err == nil {
					break
				}
				if !faults.Dead() || !diag.Is(err, diag.KindTransient) {
					r.Fatalf("%v", err)
				}
			}
		}
		// Every commit's changes are in bronze once; those that the snapshot covers
		// need not be.
		got, stamp := map[string]bool{}, ""
		for _, row := range w.lake.Rows(bronze) {
			if row["_operation"] == int64(plugin.OpSnapshot) {
				stamp = row["_snapshot"].(string)
				continue
			}
			key := fmt.Sprint(row["_start_lsn"], row["_operation"], row["id"])
			if got[key] {
				r.Fatalf("%s is in bronze twice", key)
			}
			got[key] = true
			if !want[key] {
				r.Fatalf("%s is in bronze and was never committed", key)
			}
		}
		if events := w.factsOf("bootstrap"); len(events) > 0 {
			stamp = events[0]["min_lsn"].(string)
			if err := w.checkBootstrap(); err != nil {
				r.Fatal(err)
			}
		}
		for key := range want {
			if !got[key] && key[:22] > stamp {
				r.Fatalf("%s is missing", key)
			}
		}
		// The facts tell the same story, batch after batch.
		total, ids := int64(0), map[any]bool{}
		for _, row := range w.factsOf("") {
			total += row["rows"].(int64)
			if ids[row["batch_id"]] {
				r.Fatalf("batch %v has two rows", row["batch_id"])
			}
			ids[row["batch_id"]] = true
		}
		if total != int64(len(got)) {
			r.Fatalf("facts count %d rows, bronze has %d", total, len(got))
		}
		log := w.log()
		for id := range ids {
			if log[fmt.Sprintf("_pipectl/shop/streams/orders-v1/commits/%020d", id)] == "" {
				r.Fatalf("batch %v has no commit mark", id)
			}
		}
		if control := w.lake.Rows(verds); minute > 0 {
			newest := w.db.Newest()
			if len(control) != 1 || control[0]["end_lsn"].(string) > newest.Text {
				r.Fatalf("control %v, newest %v", control, newest)
			}
		}
	})
}
