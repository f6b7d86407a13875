package run_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// empty removes all rows of a table, as another program may.
func (w *world) empty(name string) {
	w.t.Helper()
	tables, ref := w.plugin.Lake.Open(), plugin.TableRef{Name: name}
	states, err := tables.GetTables(w.t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
	if err != nil {
		w.t.Fatal(err)
	}
	begun, err := tables.BeginWrite(w.t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteOverwrite, Schema: states[0].Schema, BaseVersion: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := tables.Commit(w.t.Context(), plugin.CommitRequest{WriteID: begun.WriteID}); err != nil {
		w.t.Fatal(err)
	}
}

// A table whose snapshot was removed from bronze is read once more, but only
// after apply has accepted that.
func TestAnAcceptanceIsOfOneSnapshot(t *testing.T) {
	t.Parallel()
	for name, tablesOnly := range map[string]bool{"apply takes it": false, "apply accepts and run takes it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			opened := func() int {
				n := 0
				for _, r := range w.plugin.Lake.Rows("ops.ingestion_facts") {
					if r["event"] == "snapshot_open" {
						n++
					}
				}
				return n
			}
			for taken := 1; taken < 3; taken++ {
				w.commit(memory.Insert("orders", row(int64(10*taken), "b")))
				w.mustExecute(false)
				if p, _, _ := w.plan(); p.Changed() {
					t.Fatalf("a plan of a stream that goes on changes something: %+v", p.Steps)
				}
				w.empty("bronze.orders")
				p, _, _ := w.plan()
				if s := p.Steps[0]; s.Kind != plan.FullSnapshot || s.Accepted || !p.Changed() {
					t.Fatalf("%+v", s)
				}
				if r := w.mustExecute(false); r.Steps[0].Status != run.Refused || opened() != taken {
					t.Fatalf("run: %s, %d snapshots", statuses(r), opened())
				}
				if _, err := w.execute(true, func(q *run.Request) { q.TablesOnly = tablesOnly }); err != nil {
					t.Fatal(err)
				}
				if tablesOnly {
					if opened() != taken {
						t.Fatal("tables only read the table")
					}
					w.mustExecute(false)
				}
				if opened() != taken+1 || len(w.silver("orders")) != taken+1 {
					t.Fatalf("%d snapshots, silver %v", opened(), w.silver("orders"))
				}
			}
		})
	}
}
