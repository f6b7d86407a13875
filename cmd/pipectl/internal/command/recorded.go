package command

import (
	"context"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// recorded is what a lake's tables say, beside its state.
type recorded struct {
	control  map[string]ledger.ControlRow
	instants map[ledger.TablePosition]plugin.Position
	lost     map[addr.Address]string
	held     map[addr.Address]int64
	missing  map[addr.Address]error
	// unreadable is why facts or control cannot be read, nil when they can; then
	// nothing else is known.
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
	return recorded{lost: map[addr.Address]string{}, unreadable: unreadable}, nil
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
