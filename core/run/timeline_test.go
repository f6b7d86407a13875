package run_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// rewoundWorld has a source that was set back to a position which stream.lines
// had not read past, and stream.orders had.
func rewoundWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "orders", "lines")
	w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("lines", row(1, "a")))
	w.mustExecute(true)
	before := w.plugin.Database.Newest()
	w.commit(memory.Insert("orders", row(2, "b")))
	if _, err := w.execute(false, func(q *run.Request) {
		q.Plan, _, _ = w.plan(addr.New(addr.Stream, "orders"))
	}); err != nil {
		t.Fatal(err)
	}
	w.plugin.Database.Rewind(before)
	w.commit(memory.Insert("lines", row(2, "other history")))
	return w
}

func TestASourceThatWentBackStopsAllItsStreams(t *testing.T) {
	t.Parallel()
	w := rewoundWorld(t)
	r, err := w.execute(false, func(q *run.Request) { q.Jobs = 1 })
	if err != nil {
		t.Fatal(err)
	}
	if got := statuses(r); got != "stream.orders failed; stream.lines failed; silver.orders skipped; silver.lines skipped; check.orders skipped; check.lines skipped" {
		t.Fatal(got)
	}
	if d := r.Steps[1].Diagnostics.Errors()[0]; d.Kind != diag.KindRewound || d.Code != "run.rewound" {
		t.Errorf("%+v", d)
	}
	if d := r.Steps[0].Diagnostics.Errors()[0]; d.Code != "memory.rewound" {
		t.Errorf("%+v", d)
	}
	for _, b := range w.plugin.Lake.Rows("bronze.lines") {
		if b["note"] == "other history" {
			t.Errorf("read %v", b)
		}
	}
}

// The plan says what a run would: one that went on with the others would read
// another history. A stream that has no position yet may begin.
func TestThePlanHoldsAllStreamsOfASourceThatWentBack(t *testing.T) {
	t.Parallel()
	w := rewoundWorld(t)
	p, _, _ := w.plan()
	for name, code := range map[string]string{"orders": "memory.rewound", "lines": "run.rewound"} {
		list := p.Step(addr.New(addr.Stream, name)).Diagnostics.Errors()
		if len(list) != 1 || list[0].Kind != diag.KindRewound || list[0].Code != code {
			t.Errorf("%s: %+v", name, list)
		}
	}
	for i := range w.cfg.Streams {
		if s := &w.cfg.Streams[i]; s.Addr.Name == "lines" {
			s.AppID, s.Target = "another", "bronze.lines_2"
		}
	}
	p, _, _ = w.plan()
	if list := p.Step(addr.New(addr.Stream, "lines")).Diagnostics.Errors(); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

func TestASourceThatWentBackEndsAWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders", "lines")
	w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("lines", row(1, "a")))
	w.mustExecute(true)
	before := w.plugin.Database.Newest()
	w.commit(memory.Insert("orders", row(2, "b")), memory.Insert("lines", row(2, "b")))
	idle, rewound := map[addr.Address]bool{}, false
	r, err := w.execute(false, func(q *run.Request) {
		q.Watch = true
		q.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		q.Event = func(e run.Event) {
			if e.Kind != run.StepProgress || e.Stage != "idle" || rewound {
				return
			}
			if idle[e.Address] = true; len(idle) == 2 {
				rewound = true
				w.plugin.Database.Rewind(before)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, s := range r.Steps[:2] {
		d := s.Diagnostics.Errors()
		if s.Status != run.Failed || len(d) != 1 || d[0].Kind != diag.KindRewound {
			t.Fatalf("%s: %+v", statuses(r), d)
		}
		codes = append(codes, d[0].Code)
	}
	if !slices.Contains(codes, "memory.rewound") {
		t.Errorf("%q", codes)
	}
}
