package planner

import (
	"context"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Missing finds what a plan refuses because the state or the ledger of a lake is
// gone, by what the lake itself shows and without its sources: tables that were
// written under another state, batches without a checkpoint, facts or control
// that do not exist. A table that only cannot be written has lost nothing. The
// answer is by stream and silver.
func Missing(ctx context.Context, cfg *model.Config, lake *Lake) (map[addr.Address]error, error) {
	sink := lake.Sink.Addr
	p := &planning{
		Request: Request{Config: cfg}, lakes: map[addr.Address]*Lake{sink: lake},
		tables: map[addr.Address]map[string]plugin.TableState{}, logs: map[addr.Address]state.Log{},
		generations: map[addr.Address]int{}, unreadable: map[tableIn]error{},
		control: map[addr.Address]map[string]ledger.ControlRow{},
	}
	var err error
	if p.tables[sink], err = p.tablesOf(ctx, lake); err != nil {
		return nil, err
	}
	if p.control[sink], err = lake.Ledger.ControlRows(ctx, targets(cfg, sink)...); err != nil {
		return nil, err
	}
	out := map[addr.Address]error{}
	gone, err := ledgerGone(ctx, lake)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Streams {
		s := &cfg.Streams[i]
		if s.To != sink {
			continue
		}
		if p.logs[s.Addr], err = NewestLog(ctx, lake.State.Stream(s.AppID)); err != nil {
			return nil, err
		}
		_, err := p.ownership(ctx, lake, p.tables[sink][s.Target], s.Addr)
		if err == nil {
			err = p.named(lake, plugin.TableRef{Name: s.Target, Path: s.Path})
		}
		if err == nil && p.logs[s.Addr].Newest < 0 {
			err = p.checkLog(lake, s)
		}
		out[s.Addr] = first(err, gone)
	}
	for i := range cfg.Silvers {
		if v := &cfg.Silvers[i]; v.To == sink {
			_, err := p.ownership(ctx, lake, p.tables[sink][v.Target], v.Addr)
			if err == nil {
				err = p.named(lake, plugin.TableRef{Name: v.Target, Path: v.Path})
			}
			out[v.Addr] = first(err, gone)
		}
	}
	for a, err := range out {
		if err == nil {
			delete(out, a)
		}
	}
	return out, ctx.Err()
}

// OfAnotherTable reports whether a verdict that is known under the name of a table
// speaks of another one: nothing that it says is true of this one.
func OfAnotherTable(err error) bool {
	return diag.HasCode(err, CodeNoOwner) || diag.HasCode(err, ledger.CodeNameTaken)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ledgerGone is why nothing runs on a lake whose facts or control are gone, nil
// on one that has them or never had.
func ledgerGone(ctx context.Context, lake *Lake) (gone, err error) {
	accepted, err := lake.State.Declared(ctx)
	if err != nil || len(accepted) == 0 {
		return nil, err
	}
	if err := lake.Ledger.Exists(ctx); diag.HasCode(err, ledger.CodeTableGone) {
		return err, nil
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}
