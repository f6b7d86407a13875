package planner

import (
	"context"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// Missing finds what a plan or a run refuses, by what the lake itself shows and
// without its sources: tables that were written under another state, or another
// app id, batches without a checkpoint, or ahead of it, facts or control that do not
// exist, and a table that was filled under a declaration that is not accepted any
// more. A table that only cannot be written has lost nothing. The answer is by
// stream and silver.
func Missing(ctx context.Context, cfg *model.Config, lake *Lake) (map[addr.Address]error, error) {
	sink := lake.Sink.Addr
	p := &planning{
		Request: Request{Config: cfg}, lakes: map[addr.Address]*Lake{sink: lake},
		tables: map[addr.Address]map[string]plugin.TableState{}, logs: map[addr.Address]state.Log{},
		generations: map[addr.Address]int{}, unreadable: map[tableIn]error{},
		control: map[addr.Address]map[string]ledger.ControlRow{}, accepted: map[addr.Address]map[string]state.Accepted{},
	}
	var err error
	if p.tables[sink], err = p.tablesOf(ctx, lake); err != nil {
		return nil, err
	}
	if p.control[sink], err = lake.Ledger.ControlRows(ctx, targets(cfg, sink)...); err != nil {
		return nil, err
	}
	if p.accepted[sink], err = lake.State.Declared(ctx); err != nil {
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
		if err == nil {
			err = p.checkBooks(ctx, lake, s)
		}
		if err == nil && p.logs[s.Addr].Newest >= 0 {
			err = p.refused(sink, s.Addr)
		}
		out[s.Addr] = first(err, gone)
	}
	for i := range cfg.Silvers {
		if v := &cfg.Silvers[i]; v.To == sink {
			_, err := p.ownership(ctx, lake, p.tables[sink][v.Target], v.Addr)
			if err == nil {
				err = p.named(lake, plugin.TableRef{Name: v.Target, Path: v.Path})
			}
			if err == nil && p.control[sink][v.Target].Position.Applied != "" {
				err = p.refused(sink, v.Addr)
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

// checkBooks compares what the tables record of a stream with its checkpoint. The
// tables were looked at before it, so a run at work is not ahead of it. Later
// generations have app ids that were not asked for.
func (p *planning) checkBooks(ctx context.Context, lake *Lake, s *model.Stream) error {
	log := p.logs[s.Addr]
	if log.Newest < 0 {
		if err := p.checkLog(lake, s); err != nil {
			return err
		}
		return p.checkWriters(ctx, lake, s)
	}
	bronze, facts := p.tables[s.To][s.Target], p.tables[s.To][lake.Ledger.Facts().Name]
	return stream.Reach{
		SinkID: s.AppID, State: lake.State.Place(), Newest: log.Newest, Bronze: s.Target,
		BronzeTxn: stream.Txn(bronze, s.AppID), FactsTxn: stream.Txn(facts, ledger.FactsApp(s.AppID)),
	}.Ahead(lake.Ledger.Facts().Name)
}

// refused is why a run leaves out a block that has worked before, nil when it does
// not.
func (p *planning) refused(sink, a addr.Address) error {
	digest, err := p.Config.Digest(a)
	if err != nil {
		return err
	}
	what := ""
	switch accepted, known := p.accepted[sink][a.String()]; {
	case len(p.accepted[sink]) == 0: // there is no state, which is told as such
	case !known:
		what = "it is new"
	case accepted.Digest != digest:
		what = "its declaration changed"
	}
	if what == "" {
		return nil
	}
	return diag.Errorf(diag.KindStale, CodeNotAccepted, "Look at it with `pipectl plan`, then accept it with `pipectl apply`.", "%s is left out by runs: %s", a, what).Err()
}

// CodeNotAccepted is of steps that apply has not accepted as they are now.
const CodeNotAccepted = "run.not_accepted"

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
