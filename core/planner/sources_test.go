package planner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// meeting is plugins whose sources answer only when another one is asked as well.
type meeting struct {
	*world
	arrived, met chan struct{}
}

func (m meeting) Source(context.Context, addr.Address) (plugin.Source, error) {
	return guest{m.plugin.Database.Open(), m}, nil
}

type guest struct {
	plugin.Source
	at meeting
}

func (g guest) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	select {
	case g.at.arrived <- struct{}{}: // the other one waits
		close(g.at.met)
	case <-g.at.arrived:
	case <-time.After(time.Hour): // of the bubble's clock
		return plugin.InspectResponse{}, errors.New("no other source was asked meanwhile")
	}
	<-g.at.met
	return g.Source.Inspect(ctx, req)
}

// A plan waits for the slowest source, not for one after the other.
func TestSourcesAreAskedSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		source, table, stream := w.cfg.Sources[0], w.cfg.Tables[0], w.cfg.Streams[0]
		source.Addr, table.Addr, stream.Addr = addr.New(addr.Source, "other"), addr.New(addr.Table, "other"), addr.New(addr.Stream, "other")
		table.Source, stream.Table, stream.Target, stream.AppID = source.Addr, table.Addr, "bronze.other", "bronze.other"
		w.cfg.Sources, w.cfg.Tables, w.cfg.Streams = append(w.cfg.Sources, source), append(w.cfg.Tables, table), append(w.cfg.Streams, stream)
		req := w.request()
		req.Plugins = meeting{w, make(chan struct{}), make(chan struct{})}
		p, err := planner.Make(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Errors().Err(); err != nil {
			t.Error(err)
		}
		if p.Step(stream.Addr) == nil || p.Step(theStream) == nil {
			t.Errorf("steps %+v", p.Steps)
		}
	})
}
