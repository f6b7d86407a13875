package mssql

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// One connection is enough for any number of streams, reads and counts: no
// call holds one while it waits for another.
func TestOneConnectionServesManyStreams(t *testing.T) {
	t.Parallel()
	own, db := ownServer(t, mssqlsim.Options{})
	insert(t, db, 1, 2, 3)
	p := newPlugin(nil, slog.DiscardHandler)
	src, err := p.OpenSource(ctx, plugin.OpenRequest{Component: Type, Address: "source.shop", MaxConnections: 1,
		Config: object(connectionSchema().EmptyValue(), written{"url": str(own.DSN("shop"))})})
	must(t, err)
	defer func() { must(t, src.Close()) }()
	s := src.(*session)
	if got := s.Limits().MaxReads; got != 1 {
		t.Errorf("reads at once: %d", got)
	}
	reads := make(chan struct{}, s.Limits().MaxReads) // as the host bounds them
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tab := table()
			tab.Address = fmt.Sprint("table.orders", i)
			from, err := s.Start(ctx, plugin.StartRequest{Table: tab})
			if err != nil {
				t.Error(err)
				return
			}
			end, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: from})
			if err != nil {
				t.Error(err)
				return
			}
			b, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: end.End})
			if err != nil {
				t.Error(err)
				return
			}
			reads <- struct{}{}
			lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
			<-reads
			if err != nil || len(lines) != 3 {
				t.Errorf("%d rows, %v", len(lines), err)
			}
			if counts, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateCount})); err != nil || counts[0] != "3" {
				t.Errorf("count %v, %v", counts, err)
			}
		})
	}
	wg.Wait()
	if inUse, idle := len(s.pool.slots), len(s.pool.idle); inUse != 0 || idle > 1 {
		t.Errorf("%d connections in use, %d idle", inUse, idle)
	}
}

func TestWhatThePluginOffers(t *testing.T) {
	t.Parallel()
	p := newPlugin(nil, slog.DiscardHandler)
	d, err := p.Describe(ctx)
	must(t, err)
	if d.Name != Name || len(d.Components) != 1 || d.Components[0].Type != Type || !d.Components[0].Capabilities.Snapshot {
		t.Errorf("%+v", d)
	}
	id := plugin.ComponentID{Role: plugin.RoleSource, Type: Type}
	for kind, empty := range map[plugin.BodyKind]bool{plugin.BodyConnection: false, plugin.BodyObject: false, plugin.BodyRead: true} {
		value := map[plugin.BodyKind]cty.Value{plugin.BodyConnection: connectionSchema().EmptyValue(), plugin.BodyObject: objectSchema().EmptyValue(), plugin.BodyRead: readSchema().EmptyValue()}[kind]
		list, err := p.ValidateConfig(ctx, id, kind, value)
		must(t, err)
		if list.HasErrors() == empty {
			t.Errorf("an empty %s: %v", kind, list)
		}
	}
	if _, err := p.ValidateConfig(ctx, plugin.ComponentID{Role: plugin.RoleSink, Type: "delta"}, plugin.BodyObject, objectSchema().EmptyValue()); err == nil {
		t.Error("it offers a sink")
	}
	for name, open := range map[string]func() error{
		"another source": func() error { _, err := p.OpenSource(ctx, plugin.OpenRequest{Component: "oracle"}); return err },
		"a sink":         func() error { _, err := p.OpenTables(ctx, plugin.OpenRequest{}); return err },
		"a silver":       func() error { _, err := p.OpenSilver(ctx, plugin.OpenRequest{}); return err },
		"a check":        func() error { _, err := p.OpenCheck(ctx, plugin.OpenRequest{}); return err },
		"no server": func() error {
			_, err := p.OpenSource(ctx, plugin.OpenRequest{Component: Type, Config: connectionSchema().EmptyValue()})
			return err
		},
	} {
		if open() == nil {
			t.Errorf("%s opens", name)
		}
	}
}
