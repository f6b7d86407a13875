package run_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// switching is a source whose table gets a second name while the run is on its
// way, and a silver that meets rows under it.
type switching struct {
	*sessions
	switched *bool
	calls    *[][]string
}

func (s switching) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	source, err := s.sessions.Source(ctx, a)
	return switchedSource{source, s.switched}, err
}

func (s switching) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return switchedSilver{switched: s.switched, calls: s.calls}, nil
}

type switchedSource struct {
	plugin.Source
	switched *bool
}

func (s switchedSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	out, err := s.Source.Inspect(ctx, req)
	for i := range out.Tables {
		if *s.switched {
			out.Tables[i].Instances = []string{"orders_v2"}
		}
	}
	return out, err
}

type switchedSilver struct {
	memory.Silver
	switched *bool
	calls    *[][]string
}

func (s switchedSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	*s.switched = true
	*s.calls = append(*s.calls, req.Instances)
	if !slices.Contains(req.Instances, "orders_v2") {
		return plugin.SilverResult{}, diag.Errorf(diag.KindConfiguration, plugin.CodeUnknownInstance, "", "a row of orders_v2").Err()
	}
	return s.Silver.RunSilver(ctx, req, host, progress)
}

func TestANameThatCameDuringTheRunIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	switched, calls := false, [][]string{}
	r, err := w.execute(true, func(q *run.Request) { q.Plugins = switching{q.Plugins.(*sessions), &switched, &calls} })
	if err != nil || r.Steps[1].Status != run.Done || len(w.silver("orders")) != 1 {
		t.Fatalf("%s, %v, %+v", statuses(r), err, r.Steps[1].Diagnostics)
	}
	// The name that the source has forgotten meanwhile stays known.
	if len(calls) != 2 || len(calls[1]) != 2 || !slices.Contains(calls[1], calls[0][0]) {
		t.Errorf("names %q", calls)
	}
}

// A name that nobody knows is asked for once, and then the error stands.
func TestRowsUnderAForeignNameFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	never, calls := false, [][]string{}
	r, err := w.execute(true, func(q *run.Request) {
		q.Plugins = switching{q.Plugins.(*sessions), new(bool), &calls}
		q.Plugins = foreigner{q.Plugins.(switching), &never}
	})
	if err != nil || r.Steps[1].Status != run.Failed || len(calls) != 1 || r.Steps[1].Diagnostics.Errors()[0].Code != plugin.CodeUnknownInstance {
		t.Fatalf("%s, %v, %+v, %d calls", statuses(r), err, r.Steps[1].Diagnostics, len(calls))
	}
}

// foreigner has a source that never learns of the name.
type foreigner struct {
	switching
	never *bool
}

func (f foreigner) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	source, err := f.sessions.Source(ctx, a)
	return switchedSource{source, f.never}, err
}
