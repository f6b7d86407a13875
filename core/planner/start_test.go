package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
)

// The plan finds out whether a new stream can begin where it is told to: once it
// is applied there are tables.
func TestAStartingPositionIsAskedFor(t *testing.T) {
	t.Parallel()
	known := func(plugin.StartRequest) (plugin.Position, error) {
		return plugin.At("0x2A", time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)), nil
	}
	refused := func(kind diag.Kind) func(plugin.StartRequest) (plugin.Position, error) {
		return func(req plugin.StartRequest) (plugin.Position, error) {
			return plugin.Position{}, diag.Errorf(kind, "some.position", "Write another.", "%q is no starting position", req.From).At("starting_position").Err()
		}
	}
	for _, c := range []struct {
		from   string
		start  func(plugin.StartRequest) (plugin.Position, error)
		detail string
		failed bool
		calls  int
	}{
		{"", refused(diag.KindConfiguration), "changes from earliest", false, 0},
		{"latest", refused(diag.KindConfiguration), "changes from latest", false, 0},
		{"0x2A", known, "changes after 2026-03-01 07:30:00.000 (0x2A)", false, 1},
		{"0x2A", refused(diag.KindNotReady), "changes from 0x2A", false, 1},
		{"gestern", refused(diag.KindConfiguration), "changes from gestern", true, 1},
	} {
		w := newWorld(t)
		w.insert(1)
		w.start = c.start
		w.cfg.Streams[0].Bootstrap, w.cfg.Streams[0].StartingPosition = model.BootstrapNone, c.from
		p := w.plan()
		if got := strings.Join(p.Step(theStream).Detail, ";"); got != c.detail || w.calls["start"] != c.calls {
			t.Errorf("%q: %q after %d calls", c.from, got, w.calls["start"])
		}
		if !c.failed {
			if err := p.Errors().Err(); err != nil {
				t.Errorf("%q: %v", c.from, err)
			}
			continue
		}
		if d := errorOf(t, p, theStream); d.Code != "some.position" || p.Step(theSilver).Blocked != theStream {
			t.Errorf("%q: %+v", c.from, d)
		}
	}
	// A stream that goes on is not asked where it began.
	w := newWorld(t)
	w.insert(1)
	w.cfg.Streams[0].Bootstrap = model.BootstrapNone
	w.accept()
	w.read()
	w.cfg.Streams[0].StartingPosition, w.start = "gestern", refused(diag.KindConfiguration)
	if p := w.plan(); w.calls["start"] != 1 || p.Step(theStream).Diagnostics.HasErrors() { // the run's own
		t.Errorf("%d calls, %v", w.calls["start"], p.Step(theStream).Diagnostics)
	}
}

// A source is told which table a stream was started with, so that it can name one
// that was renamed since.
func TestASourceIsToldWhichTableAStreamWasStartedWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(1)
	if w.plan(); len(w.asked.Identities) != 0 {
		t.Errorf("a stream that has read nothing: %v", w.asked.Identities)
	}
	w.accept()
	w.read()
	want := w.plan().Step(theStream).Source.Table
	if got := w.asked.Identities; want == "" || len(got) != 1 || got[w.asked.Tables[0].Address] != want {
		t.Errorf("%v, not %q", got, want)
	}
}
