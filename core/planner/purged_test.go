package planner_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Changes that are needed next and were purged are an error of the plan.
func TestPurgedChanges(t *testing.T) {
	t.Parallel()
	w := filled(t)
	at := w.plugin.Database.Newest()
	w.plugin.Database.Purge("orders", at)
	w.insert(3)
	if p := w.plan(); len(p.Errors()) > 0 || p.Undecided() {
		t.Fatalf("what was read is purged: %v", p.Errors())
	}
	w.insert(4)
	w.plugin.Database.Purge("orders", plugin.Position{Text: w.plugin.Database.Newest().Text})
	w.insert(5)
	d := errorOf(t, w.plan(), theStream)
	if d.Code != "stream.data_loss" || d.Kind != diag.KindDataLoss || w.calls["lost"] == 0 {
		t.Errorf("%+v", d)
	}
}

// A batch that was interrupted is read again from its start, also where its rows
// are in bronze already, unless facts tell of it. A run that has it in hand may be
// past its reading.
func TestChangesOfABatchInHandThatWerePurged(t *testing.T) {
	t.Parallel()
	purged := func(w *world) state.Log {
		log := w.log()
		w.insert(3)
		w.insert(4)
		end := w.plugin.Database.Newest()
		_, err := w.lake().State.Stream("bronze.orders").Checkpoint(0).PutOffset(t.Context(), log.Newest+1, state.Offset{Start: log.Offset.End, End: end})
		w.must(err)
		w.insert(5)
		w.plugin.Database.Purge("orders", end)
		return log
	}
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		w := filled(t)
		purged(w)
		p := w.plan()
		if d := errorOf(t, p, theStream); d.Code != "stream.data_loss" || d.Kind != diag.KindDataLoss {
			t.Errorf("%+v", d)
		}
		if len(p.Step(theStream).Diagnostics) != 1 {
			t.Errorf("%+v", p.Step(theStream).Diagnostics)
		}
	})
	t.Run("in the hands of a run", func(t *testing.T) {
		t.Parallel()
		w := filled(t)
		purged(w)
		_, err := w.lake().State.Lock(t.Context(), "bronze.orders", state.Holder{Run: "another", Host: "elsewhere", PID: 1})
		w.must(err)
		p := w.plan()
		if s := p.Step(theStream); s.Diagnostics.HasErrors() || !s.Decision || len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != "stream.position_purged" || !p.Undecided() {
			t.Errorf("%+v", s)
		}
	})
	t.Run("facts tell of it", func(t *testing.T) {
		t.Parallel()
		w := filled(t)
		log := purged(w)
		w.must(w.lake().Ledger.RecordBatches(t.Context(), ledger.Batch{AppID: "bronze.orders", Number: log.Newest + 1, Target: "bronze.orders", StartedAt: w.clock}))
		if s := w.plan().Step(theStream); len(s.Diagnostics) > 0 {
			t.Errorf("nothing of it is read again: %+v", s.Diagnostics)
		}
		w.insert(6)
		w.plugin.Database.Purge("orders", w.plugin.Database.Newest())
		w.insert(7)
		if d := errorOf(t, w.plan(), theStream); d.Code != "stream.data_loss" {
			t.Errorf("what follows it is purged, too: %+v", d)
		}
	})
}
