package planner_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
)

func TestASourceThatWentBackIsAnErrorOfThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(1)
	before := w.plugin.Database.Newest()
	w.accept()
	w.insert(2)
	w.read()
	w.plugin.Database.Rewind(before)
	for _, c := range []struct {
		name string
		more func()
	}{
		{"when its newest commit is before the position", func() {}},
		{"when another commit is at the position", func() { w.insert(3) }},
		{"when others follow that", func() { w.insert(4) }},
	} {
		name := c.name
		c.more()
		p := w.plan()
		list := p.Step(theStream).Diagnostics.Errors()
		if len(list) != 1 || list[0].Kind != diag.KindRewound || list[0].Code != "memory.rewound" {
			t.Fatalf("%s: %+v", name, list)
		}
		if got := p.Step(theCheck).Blocked; got != theStream {
			t.Errorf("%s: the check waits for %s", name, got)
		}
		// A check that is chosen alone says it for its stream.
		alone := w.plan(func(q *planner.Request) { q.Targets = []addr.Address{theCheck} })
		if list := alone.Step(theCheck).Diagnostics.Errors(); len(list) != 1 || list[0].Kind != diag.KindRewound {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

func TestAnotherDatabaseIsNoneThatWentBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(1)
	before := w.plugin.Database.Newest()
	w.accept()
	w.insert(2)
	w.read()
	w.plugin.Database.Rewind(before)
	w.plugin.Database.SetIdentity("another")
	if d := errorOf(t, w.plan(), theStream); d.Code != "stream.source" {
		t.Errorf("%+v", d)
	}
}
