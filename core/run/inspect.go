package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/graph"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// sourceTable is what a source says of itself and one table. The instances are
// those that the source lists and those that facts remember: a source forgets
// the names of capture instances that were dropped, and rows that came under
// them stay.
type sourceTable struct {
	database plugin.Database
	info     plugin.TableInfo
}

// inspect asks the sources about the tables of the steps once more: the plan
// may be old, and a run needs the shapes of now.
func (x *execution) inspect(ctx context.Context, g *graph.Graph[addr.Address]) error {
	order, err := g.Order()
	if err != nil {
		return err
	}
	var streams []*model.Stream
	for _, a := range order {
		s := x.streamOf(a)
		if s == nil || slices.Contains(streams, s) {
			continue
		}
		if _, absent := x.absence(s.Addr); !absent { // which is looked at when its source answers
			streams = append(streams, s)
		}
	}
	if !x.waits() {
		return x.look(ctx, streams, true)
	}
	for len(streams) > 0 { // source by source: one that is away keeps nothing else from working
		source := x.Config.Table(streams[0].Table).Source
		var own, others []*model.Stream
		for _, s := range streams {
			if x.Config.Table(s.Table).Source == source {
				own = append(own, s)
			} else {
				others = append(others, s)
			}
		}
		if err := x.look(ctx, own, true); err != nil && !x.misses(ctx, own, err) {
			return err
		}
		streams = others
	}
	return nil
}

// look asks about the tables of streams, each source and each ledger once. One that
// is attended says that it waits, under the source's name; others are part of a step.
func (x *execution) look(ctx context.Context, streams []*model.Stream, attended bool) error {
	requests := map[addr.Address]plugin.InspectRequest{}
	targets := map[addr.Address][]string{}
	for _, s := range streams {
		table := x.Config.Table(s.Table)
		req := requests[table.Source]
		req.Tables = append(req.Tables, planner.SourceTable(table, s))
		requests[table.Source] = req
		targets[s.To] = append(targets[s.To], s.Target)
	}
	remembered := map[addr.Address]map[string][]string{} // by sink, then bronze
	for sink, names := range targets {
		lake := x.Lakes[sink]
		if lake == nil {
			continue // the steps themselves say so
		}
		var err error
		if remembered[sink], err = lake.Ledger.Instances(ctx, names...); err != nil {
			return x.placed(sink, err)
		}
	}
	for source, req := range requests {
		session, err := x.Plugins.Source(ctx, source)
		if err != nil {
			return err
		}
		answer, err := x.inspectTables(ctx, source, session, req, attended)
		if err != nil {
			return x.placed(source, err)
		}
		for _, info := range answer.Tables {
			for _, s := range streams {
				if s.Addr.String() == info.Address {
					info.Instances = union(info.Instances, remembered[s.To][s.Target])
				}
			}
			x.know(source, sourceTable{database: answer.Database(), info: info})
		}
	}
	return nil
}

func (x *execution) inspectTables(ctx context.Context, source addr.Address, session plugin.Source, req plugin.InspectRequest, attended bool) (plugin.InspectResponse, error) {
	if attended {
		attention := x.attend(source, source, "", nil)
		defer attention.end()
		session = askedSource{Source: session, attention: attention}
	}
	return session.Inspect(ctx, req)
}

// know keeps what a source says of a table. Names that were listed before stay.
func (x *execution) know(source addr.Address, t sourceTable) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sources[source] == nil {
		x.sources[source] = map[string]sourceTable{}
	}
	t.info.Instances = union(t.info.Instances, x.sources[source][t.info.Address].info.Instances)
	x.sources[source][t.info.Address] = t
}

// union appends what is missing to a list of its own.
func union(names, more []string) []string {
	out := slices.Clone(names)
	for _, name := range more {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// learned asks the source again which names its table has, and reports whether
// there are more than before.
func (x *execution) learned(ctx context.Context, s *model.Stream) (bool, error) {
	before, err := x.info(s)
	if err != nil {
		return false, err
	}
	if err := x.look(ctx, []*model.Stream{s}, false); err != nil {
		return false, err
	}
	after, err := x.info(s)
	return len(after.info.Instances) > len(before.info.Instances), err
}

// streamOf is the stream that a step is, or follows.
func (x *execution) streamOf(a addr.Address) *model.Stream {
	switch a.Kind {
	case addr.Stream:
		return x.Config.Stream(a)
	case addr.Silver:
		return x.Config.Stream(x.Config.Silver(a).From)
	case addr.Check:
		return x.streamOf(x.Config.Check(a).Silver)
	}
	return nil
}

// info is what the source says of a stream's table.
func (x *execution) info(s *model.Stream) (sourceTable, error) {
	source := x.Config.Table(s.Table).Source
	x.mu.Lock()
	t, ok := x.sources[source][s.Addr.String()]
	x.mu.Unlock()
	if !ok {
		return t, fmt.Errorf("%s did not answer about the table of %s", source, s.Addr)
	}
	return t, x.Config.Table(s.Table).Origin.Locate(s.Table, t.info.Diagnostics).Err()
}
