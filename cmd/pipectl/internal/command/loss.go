package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// standing is a table of a stream or silver, beside what is recorded of it.
type standing struct {
	table   plugin.TableState
	control ledger.ControlRow
	// lost tells that the table lacks what was written to it: it is gone, or it
	// was put back. nil when it does not.
	lost error
	// behind tells that bronze and its stream were put back to before the verdict,
	// so that the next run reads again what it speaks of; "" when they were not.
	behind string
}

// behindVerdict says that a stream has not come as far as the batch that last
// moved its table's verdict, "" when it has. Control is read before the log:
// a batch is marked as carried out before it moves a verdict.
func behindVerdict(log state.Log, control ledger.ControlRow) string {
	at := planner.CommittedEnd(log)
	if log.Newest < 0 || control.End.Compare(at) <= 0 {
		return ""
	}
	moment := func(p plugin.Position) string {
		if t, known := p.Commit(); known {
			return t.Format("2006-01-02 15:04:05.000")
		}
		return p.Text
	}
	return fmt.Sprintf("table and state were put back to %s, before %s, which the verdict speaks of: a run reads the changes in between again", moment(at), moment(control.End))
}

// standing reads what is recorded first and the table last: the table then holds
// what the records speak of, also while a run goes on.
func (w *workspace) standing(ctx context.Context, lake *planner.Lake, a addr.Address) (standing, error) {
	if s := w.config.Stream(a); s != nil {
		return w.bronzeStanding(ctx, lake, s)
	}
	return w.silverStanding(ctx, lake, w.config.Silver(a))
}

func (w *workspace) silverStanding(ctx context.Context, lake *planner.Lake, v *model.Silver) (standing, error) {
	var out standing
	var err error
	if out.control, err = lake.Ledger.ControlRow(ctx, v.Target); err != nil {
		return out, err
	}
	if out.table, err = tableOf(ctx, lake, plugin.TableRef{Name: v.Target, Path: v.Path}, plugin.MergesApp); err != nil {
		return out, err
	}
	out.lost = out.control.Position.Lost(out.table)
	return out, nil
}

func (w *workspace) bronzeStanding(ctx context.Context, lake *planner.Lake, s *model.Stream) (standing, error) {
	var out standing
	var err error
	if out.control, err = lake.Ledger.ControlRow(ctx, s.Target); err != nil {
		return out, err
	}
	own := lake.State.Stream(s.AppID)
	generation, err := own.Generation(ctx)
	if err != nil {
		return out, err
	}
	sinkID := ledger.SinkID(s.AppID, generation.Number)
	ref, factsApp := plugin.TableRef{Name: s.Target, Path: s.Path}, ledger.FactsApp(sinkID)
	checkpoint := own.Checkpoint(generation.Number)
	log, err := checkpoint.Load(ctx)
	if err != nil {
		return out, err
	}
	facts, err := tableOf(ctx, lake, lake.Ledger.Facts(), factsApp)
	if err != nil {
		return out, err
	}
	if out.table, err = tableOf(ctx, lake, ref, sinkID); err != nil {
		return out, err
	}
	if !out.table.Exists && log.Newest >= 0 {
		out.lost = stream.TableGone(s.Target, planner.CommittedEnd(log))
		return out, nil
	}
	reach := stream.Reach{
		SinkID: sinkID, State: lake.State.Place(), Committed: log.Committed, Checkpoint: checkpoint,
		Bronze: s.Target, Forgets: out.table.TxnsExpire, BronzeTxn: stream.Txn(out.table, sinkID), FactsTxn: stream.Txn(facts, factsApp),
	}
	// A checkpoint that is behind the tables took no rows from them.
	reach.Newest = max(reach.BronzeTxn, reach.FactsTxn)
	out.behind = behindVerdict(log, out.control)
	lost := reach.Check(ctx, lake.Ledger)
	if !diag.HasCode(lost, stream.CodeRowsLost) {
		return out, lost
	}
	// Facts may have had a batch since bronze was looked at.
	if out.table, err = tableOf(ctx, lake, ref, sinkID); err != nil {
		return out, err
	}
	if stream.Txn(out.table, sinkID) <= reach.BronzeTxn {
		out.lost = lost
	}
	return out, nil
}

// lostTables tells of the streams and silvers of a lake whose tables lack what
// was written to them. All tables are looked at in one call, after the control
// rows were read; only one that seems to lack something is looked at as final
// does. held counts the rows of those that could be looked at.
func (w *workspace) lostTables(ctx context.Context, lake *planner.Lake, control map[string]ledger.ControlRow) (lost map[addr.Address]string, held map[addr.Address]int64, err error) {
	type looked struct {
		address addr.Address
		ref     plugin.TableRef
		lost    func(plugin.TableState) bool
	}
	var all []looked
	req := plugin.GetTablesRequest{Tables: []plugin.TableRef{lake.Ledger.Facts()}, AppIDs: []string{plugin.MergesApp}}
	facts := plugin.TableState{}
	for i := range w.config.Streams {
		s := &w.config.Streams[i]
		if s.To != lake.Sink.Addr {
			continue
		}
		own := lake.State.Stream(s.AppID)
		generation, err := own.Generation(ctx)
		if err != nil {
			return nil, nil, err
		}
		log, err := own.Checkpoint(generation.Number).Load(ctx)
		if err != nil {
			return nil, nil, err
		}
		sinkID := ledger.SinkID(s.AppID, generation.Number)
		req.AppIDs = append(req.AppIDs, sinkID, ledger.FactsApp(sinkID))
		all = append(all, looked{s.Addr, plugin.TableRef{Name: s.Target, Path: s.Path}, func(have plugin.TableState) bool {
			recorded := stream.Txn(facts, ledger.FactsApp(sinkID))
			written := stream.Txn(have, sinkID)
			return log.Newest >= 0 && !have.Exists || written < recorded || max(written, recorded) < log.Committed
		}})
	}
	for i := range w.config.Silvers {
		if v := &w.config.Silvers[i]; v.To == lake.Sink.Addr {
			all = append(all, looked{v.Addr, plugin.TableRef{Name: v.Target, Path: v.Path}, func(have plugin.TableState) bool {
				return control[v.Target].Position.Lost(have) != nil
			}})
		}
	}
	for _, l := range all {
		req.Tables = append(req.Tables, l.ref)
	}
	states, err := lake.Tables.GetTables(ctx, req)
	if err == nil {
		facts, states = states[0], states[1:]
	}
	lost, held = map[addr.Address]string{}, map[addr.Address]int64{}
	for i, l := range all {
		if err == nil {
			held[l.address] = states[i].Rows
		}
		if err == nil && !l.lost(states[i]) {
			continue
		}
		// One table that cannot be looked at hides none of the others.
		at, err := w.standing(ctx, lake, l.address)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil {
			err = at.lost
		}
		if list := diag.FromError(err); len(list) > 0 {
			lost[l.address] = list[0].Summary
		}
	}
	return lost, held, nil
}

// stopped is why no run of this configuration goes on in a table, as a plan would
// refuse it for what the lake shows; nil when one may.
func (w *workspace) stopped(ctx context.Context, lake *planner.Lake, a addr.Address) (why, err error) {
	// Of the other tables of the lake nothing is asked.
	alone := *w.config
	alone.Streams, alone.Silvers = nil, nil
	from := a
	if v := w.config.Silver(a); v != nil {
		alone.Silvers, from = []model.Silver{*v}, v.From
	}
	alone.Streams = []model.Stream{*w.config.Stream(from)}
	missing, err := planner.Missing(ctx, &alone, lake)
	if err != nil {
		return nil, fmt.Errorf("looking at the owner of %s: %w", a, err)
	}
	return missing[a], nil
}

func tableOf(ctx context.Context, lake *planner.Lake, ref plugin.TableRef, apps ...string) (plugin.TableState, error) {
	states, err := lake.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}, AppIDs: apps})
	if err != nil {
		return plugin.TableState{}, fmt.Errorf("looking at table %s: %w", ref.Name, err)
	}
	return states[0], nil
}

// reason is the loss in words, with what to do.
func reason(lost error) string {
	var parts []string
	for _, d := range diag.FromError(lost) {
		parts = append(parts, strings.TrimSuffix(d.Summary+". "+d.Detail, ". "))
	}
	return strings.Join(parts, " ")
}
