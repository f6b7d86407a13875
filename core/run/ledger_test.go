package run_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// A run makes no table of the ledger: what it held is lost, and that must be
// said. Apply makes it anew and says so.
func TestARunDoesNotMakeTheLedgerAnew(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"ops.table_finalization", "ops.ingestion_facts"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders", "lines")
			w.commit(memory.Insert("orders", row(1, "a")))
			if p, _, _ := w.plan(); len(p.Diagnostics) != 0 {
				t.Fatalf("a new lake: %v", p.Diagnostics)
			}
			w.mustExecute(true)
			w.plugin.Lake.DropTable(table)
			w.commit(memory.Insert("orders", row(2, "b")))
			r := w.mustExecute(false)
			if got, want := statuses(r), "stream.orders failed; stream.lines failed; silver.orders skipped; silver.lines skipped; check.orders skipped; check.lines skipped"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if d := r.Steps[0].Diagnostics; len(d) != 1 || d[0].Kind != diag.KindStale || d[0].Code != "ledger.table_gone" || d[0].Detail == "" {
				t.Errorf("diagnostics %+v", d)
			}
			if slices.Contains(w.plugin.Lake.TableNames(), table) || w.silver("orders")[2] != "" {
				t.Error("the run went on")
			}
			p, _, _ := w.plan()
			if d := p.Diagnostics; len(d) != 1 || d[0].Severity != diag.Warning || d[0].Code != "ledger.table_gone" || p.Count(plugin.TableCreate) != 1 {
				t.Errorf("planned %d tables, diagnostics %+v", p.Count(plugin.TableCreate), d)
			}
			for _, s := range w.mustExecute(true).Steps {
				if s.Status != "done" {
					t.Errorf("%s %s: %v", s.Address, s.Status, s.Diagnostics)
				}
			}
			if got := w.silver("orders"); !maps.Equal(got, map[int64]string{1: "a", 2: "b"}) {
				t.Errorf("silver %v", got)
			}
		})
	}
}

// Facts and control of an older release are migrated by apply, of which the plan
// has a line. A run changes no table; it refuses before it reads anything.
func TestARunDoesNotMigrateTheLedger(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"ops.table_finalization", "ops.ingestion_facts"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			tables, ref := w.plugin.Lake.Open(), plugin.TableRef{Name: table}
			states, err := tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}})
			if err != nil {
				t.Fatal(err)
			}
			older := plugin.TableSpec{Table: ref, Schema: states[0].Schema, Layout: plugin.LayoutSmall,
				Properties: map[string]string{ledger.PropertySchemaVersion: "1"}, Converge: []string{ledger.PropertySchemaVersion}}
			if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: older}); err != nil {
				t.Fatal(err)
			}
			before := len(w.plugin.Lake.History(table))
			w.commit(memory.Insert("orders", row(2, "b")))
			r := w.mustExecute(false)
			if got, want := statuses(r), "stream.orders failed; silver.orders skipped; check.orders skipped"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if d := r.Steps[0].Diagnostics; len(d) != 1 || d[0].Kind != diag.KindStale || d[0].Code != ledger.CodeTableOld || d[0].Detail == "" {
				t.Errorf("diagnostics %+v", d)
			}
			if got := len(w.plugin.Lake.History(table)); got != before {
				t.Errorf("the run wrote %d versions of %s", got-before, table)
			}
			if p, _, _ := w.plan(); len(p.Diagnostics) != 0 || p.Count(plugin.TableAlter) != 1 {
				t.Errorf("planned %d changes, diagnostics %+v", p.Count(plugin.TableAlter), p.Diagnostics)
			}
			for _, s := range w.mustExecute(true).Steps {
				if s.Status != "done" {
					t.Errorf("%s %s: %v", s.Address, s.Status, s.Diagnostics)
				}
			}
			if got := w.silver("orders"); !maps.Equal(got, map[int64]string{1: "a", 2: "b"}) {
				t.Errorf("silver %v", got)
			}
		})
	}
}
