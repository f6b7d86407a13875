package planner_test

import (
	"context"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// dying is a world whose source dies at the first calls.
type dying struct {
	*world
	left int
}

type dyingSource struct {
	plugin.Source
	w *dying
}

func (w *dying) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	s, err := w.world.Source(ctx, a)
	return dyingSource{s, w}, err
}

func (s dyingSource) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	if s.w.left > 0 {
		s.w.left--
		return plugin.InspectResponse{}, diag.Errorf(diag.KindTransient, plugin.CodeCrashed, "", "the plugin died").Err()
	}
	return s.Source.Inspect(ctx, req)
}

// A plugin that dies while a plan is made has a new process for the next call; one
// that dies each time is told.
func TestAPlanIsMadeAgainWhenAPluginDies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deaths int
		told   bool
	}{{0, false}, {1, false}, {2, false}, {3, true}} {
		w := &dying{world: newWorld(t), left: c.deaths}
		w.insert(1)
		req := w.request()
		req.Plugins = w
		p, err := planner.Make(t.Context(), req)
		w.must(err)
		if told := diag.HasCode(p.Errors().Err(), plugin.CodeCrashed); told != c.told {
			t.Errorf("%d deaths: %v", c.deaths, p.Errors())
		}
	}
}

// dyingSink is a world whose sink dies at the first sessions.
type dyingSink struct {
	*world
	left int
}

func (w *dyingSink) Tables(ctx context.Context, a addr.Address) (plugin.Tables, error) {
	if w.left > 0 {
		w.left--
		return nil, diag.Errorf(diag.KindTransient, plugin.CodeCrashed, "", "the plugin died").Err()
	}
	return w.world.Tables(ctx, a)
}

// A lake is opened before the plan begins, and as often as the plan is.
func TestALakeIsOpenedAgainWhenAPluginDies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deaths int
		told   bool
	}{{0, false}, {1, false}, {2, false}, {3, true}} {
		w := &dyingSink{world: newWorld(t), left: c.deaths}
		_, err := planner.OpenLake(t.Context(), w.cfg, &w.cfg.Sinks[0], w, planner.LakeOptions{})
		if told := diag.HasCode(err, plugin.CodeCrashed); told != c.told || !c.told && err != nil {
			t.Errorf("%d deaths: %v", c.deaths, err)
		}
	}
}
