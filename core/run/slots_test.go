package run_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// gatedSource lets no read begin before the gate opens.
type gatedSource struct {
	plugin.Source
	open *atomic.Int32 // reads that have come to the gate
	gate chan struct{}
}

func (s gatedSource) Read(ctx context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	s.open.Add(1)
	<-s.gate
	return s.Source.Read(ctx, req)
}

// narrowTables take so many parts at once.
type narrowTables struct {
	plugin.Tables
	parts int
}

func (t narrowTables) Limits() plugin.Limits { return plugin.Limits{MaxReads: 8, MaxParts: t.parts} }

// A source serves so many reads, whichever sinks they go to; a sink so many
// parts.
func TestReadsAreBoundedBySource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reads, parts int
		want         int32
	}{
		"by what the source serves": {3, 8, 3},
		"by what a sink takes":      {8, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tables := []string{"a", "b", "c", "d", "e", "f"}
				w := newWorld(t, tables...)
				other := addr.New(addr.Sink, "other")
				w.cfg.Sinks = append(w.cfg.Sinks, model.Sink{Addr: other, Type: "memory", Body: empty(), Facts: "ops2.ingestion_facts", Control: "ops2.table_finalization"})
				for i := range tables {
					if i%2 == 1 {
						w.cfg.Streams[i].To, w.cfg.Silvers[i].To = other, other
					}
				}
				w.cfg.Checks = nil
				w.mustExecute(true)
				for _, name := range tables {
					w.commit(memory.Insert(name, row(1, "x")))
				}
				w.plugin.Database.SetLimits(plugin.Limits{MaxReads: c.reads})
				source := gatedSource{w.plugin.Database.Open(), new(atomic.Int32), make(chan struct{})}
				done := make(chan run.Result)
				go func() {
					r, err := w.execute(false, func(q *run.Request) {
						q.Jobs = len(tables)
						q.Plugins = away{q.Plugins.(*sessions), source}
						for _, lake := range q.Lakes {
							lake.Tables = narrowTables{lake.Tables, c.parts}
						}
					})
					if err != nil {
						t.Error(err)
					}
					done <- r
				}()
				synctest.Wait()
				if n := source.open.Load(); n != c.want {
					t.Errorf("%d reads at once, want %d", n, c.want)
				}
				close(source.gate)
				r := <-done
				for _, s := range r.Steps {
					if s.Status != run.Done {
						t.Errorf("%s: %v", statuses(r), s.Diagnostics)
					}
				}
				if n := int(source.open.Load()); n != len(tables) {
					t.Errorf("%d reads in all, want %d", n, len(tables))
				}
			})
		})
	}
}
