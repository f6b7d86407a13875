package command

import (
	"context"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// recorded is what a lake's tables say, beside its state.
type recorded struct {
	control  map[string]ledger.ControlRow
	instants map[ledger.TablePosition]plugin.Position
	lost     map[addr.Address]string
	held     map[addr.Address]int64
	missing  map[addr.Address]error
	// unreadable is why facts or control cannot be read, nil when they can. What the
	// other one says is known all the same, of tables that it surely speaks of.
	unreadable error
}

// orStopped is why no run goes on in a table: why, or what it says of all of them.
func (r recorded) orStopped(why string) string {
	if list := diag.FromError(r.unreadable); why == "" && len(list) > 0 {
		return list[0].Summary
	}
	return why
}

// recorded reads what a lake's tables say. A table of the ledger that cannot be
// read hides no more than what it holds.
func (w *workspace) recorded(ctx context.Context, lake *planner.Lake) (recorded, error) {
	out, err := w.readRecorded(ctx, lake)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	unreadable := lake.Ledger.Exists(ctx)
	if ctx.Err() != nil || unreadable == nil || diag.HasCode(unreadable, ledger.CodeTableGone) {
		return out, err // it is something else
	}
	return w.apart(ctx, lake, out.control, unreadable)
}

// apart is what is recorded while one table of the ledger cannot be read: control's
// rows, where control is the other one, and what the tables show by themselves. A row
// about another table than the one that has its name now is not told: with facts
// at hand a plan finds out what became of it.
func (w *workspace) apart(ctx context.Context, lake *planner.Lake, control map[string]ledger.ControlRow, unreadable error) (recorded, error) {
	out := recorded{control: map[string]ledger.ControlRow{}, lost: map[addr.Address]string{}, held: map[addr.Address]int64{}, unreadable: unreadable}
	look := func(a addr.Address, ref plugin.TableRef, lost func(plugin.TableState) error) {
		row, known := control[ref.Name]
		have, err := tableOf(ctx, lake, ref, plugin.MergesApp)
		if err == nil {
			out.held[a] = have.Rows
			have.Table = ref
			at := ledger.PlaceOf(have)
			err = row.Names(ref.Name, at, lake.Ledger.Control().Name)
			known = known && err == nil && (row.Place.ID == "" || at.ID == "" || row.Place.ID == at.ID)
		}
		if known {
			out.control[ref.Name] = row
		}
		if err == nil {
			err = lost(have)
		}
		if list := diag.FromError(err); len(list) > 0 {
			out.lost[a] = list[0].Summary
		}
	}
	for _, s := range w.config.Streams {
		if s.To == lake.Sink.Addr {
			look(s.Addr, plugin.TableRef{Name: s.Target, Path: s.Path}, func(have plugin.TableState) error {
				log, err := planner.NewestLog(ctx, lake.State.Stream(s.AppID))
				if err != nil || have.Exists || log.Newest < 0 {
					return err
				}
				return stream.TableGone(s.Target, planner.CommittedEnd(log))
			})
		}
	}
	for _, v := range w.config.Silvers {
		if v.To == lake.Sink.Addr {
			look(v.Addr, plugin.TableRef{Name: v.Target, Path: v.Path}, func(have plugin.TableState) error {
				return out.control[v.Target].Position.Lost(have)
			})
		}
	}
	return out, ctx.Err()
}

func (w *workspace) readRecorded(ctx context.Context, lake *planner.Lake) (out recorded, err error) {
	if out.control, err = lake.Ledger.ControlRows(ctx, w.targets(lake)...); err != nil {
		return out, err
	}
	if out.instants, err = lake.Ledger.Instants(ctx, w.applied(lake, out.control)...); err != nil {
		return out, err
	}
	if out.lost, out.held, err = w.lostTables(ctx, lake, out.control); err != nil {
		return out, err
	}
	out.missing, err = planner.Missing(ctx, w.config, lake)
	return out, err
}
