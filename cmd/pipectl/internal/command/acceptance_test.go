package command

import (
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// What was moved to another sink is accepted when its new lake says so: the old
// one still holds what it accepted before, or another command has since.
func TestAcceptanceIsThatOfTheStepsOwnLake(t *testing.T) {
	t.Parallel()
	stream, silver, check := addr.New(addr.Stream, "orders"), addr.New(addr.Silver, "orders"), addr.New(addr.Check, "orders")
	former, own := addr.New(addr.Sink, "former"), addr.New(addr.Sink, "own")
	w := &workspace{config: &model.Config{
		Streams: []model.Stream{{Addr: stream, To: own}},
		Silvers: []model.Silver{{Addr: silver, From: stream, To: own}},
		Checks:  []model.Check{{Addr: check, Silver: silver}},
	}}
	p := &plan.Plan{Steps: []plan.Step{{Address: stream}, {Address: silver}, {Address: check}}}
	started := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	before, after := started.Add(-time.Hour), started.Add(time.Minute)
	for _, c := range []struct {
		name        string
		former, own time.Time // zero = never
		want        bool
	}{
		{"accepted in both, in its own now", before, after, true},
		{"accepted in its own alone", time.Time{}, after, true},
		{"accepted in the former alone, since", after, time.Time{}, false},
		{"accepted in its own, as it was before", after, before, false},
	} {
		lakes := map[addr.Address]*planner.Lake{}
		for sink, at := range map[addr.Address]time.Time{former: c.former, own: c.own} {
			store, err := state.Open(t.Context(), state.InDirectory(t.TempDir()), state.Options{Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			declared := map[string]state.Accepted{}
			for _, s := range p.Steps {
				if !at.IsZero() {
					declared[s.Address.String()] = state.Accepted{At: at}
				}
			}
			if err := store.Initialize(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := store.PutDeclared(t.Context(), declared); err != nil {
				t.Fatal(err)
			}
			lakes[sink] = &planner.Lake{State: store}
		}
		all := []string{"stream.orders", "silver.orders", "check.orders"}
		got := w.acceptance(t.Context(), lakes, p, nil, started)
		if c.want && !slices.Equal(got.Accepted, all) || !c.want && !slices.Equal(got.Not, all) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// What was accepted before and cannot be carried out is not promised to a run: its
// plan has an error, it waits for a step that has, or its table was not taken over.
func TestAcceptanceIsNoPromiseOfWhatARunRefuses(t *testing.T) {
	t.Parallel()
	stream, silver, check, other := addr.New(addr.Stream, "orders"), addr.New(addr.Silver, "orders"), addr.New(addr.Check, "orders"), addr.New(addr.Stream, "lines")
	wrong := diag.List{diag.Errorf(diag.KindStale, "table.other_owner", "Take it.", "Another's")}
	taken := plan.Table{Owner: other, Ref: plugin.TableRef{Name: "bronze.lines"}, Action: plugin.TableAlter, TakeOver: true}
	p := &plan.Plan{
		Steps: []plan.Step{
			{Address: other, Accepted: true}, {Address: stream, Accepted: true},
			{Address: silver, Accepted: true, Diagnostics: wrong}, {Address: check, Accepted: true, Blocked: silver},
		},
		Tables: []plan.Table{taken},
	}
	w := &workspace{config: &model.Config{}}
	got := w.acceptance(t.Context(), nil, p, nil, time.Now())
	if !slices.Equal(got.Accepted, []string{"stream.orders"}) || !slices.Equal(got.Refused, []string{"stream.lines", "silver.orders", "check.orders"}) || got.Not != nil {
		t.Errorf("%+v", got)
	}
	if got := w.acceptance(t.Context(), nil, p, []plan.Table{taken}, time.Now()); !slices.Contains(got.Accepted, "stream.lines") {
		t.Errorf("taken over: %+v", got)
	}
}
