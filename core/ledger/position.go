package ledger

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// SetPosition moves a silver table from one position to another. When another
// position is stored than from, somebody else has applied changes meanwhile: it
// ends with kind conflict and changes nothing. It never touches the verdict, and
// writes nothing when the position is stored already.
func (l *Ledger) SetPosition(ctx context.Context, table string, from, to plugin.TargetPosition) error {
	return l.setPosition(ctx, table, Place{}, from, to)
}

// setPosition is SetPosition for a table of which the place is known.
func (l *Ledger) setPosition(ctx context.Context, table string, at Place, from, to plugin.TargetPosition) error {
	if to.Applied < from.Applied && to.RebuiltFrom <= from.RebuiltFrom {
		return diag.Errorf(diag.KindInternal, "ledger.position_back", "A position goes back only with a newer snapshot. This is a fault of the plugin that applies the changes.",
			"The position of %s would go back from %s to %s", table, from.Applied, to.Applied).Err()
	}
	return l.movePosition(ctx, table, at, func(stored plugin.TargetPosition) (plugin.TargetPosition, error) {
		if !samePosition(stored, from) && !samePosition(stored, to) {
			return stored, moved(table, stored, from)
		}
		return to, nil
	})
}

// Proven records that every row of a silver table was found equal at a version
// of it: changes of other writers up to there, found already or not, are
// reported no longer.
func (l *Ledger) Proven(ctx context.Context, table string, version int64) error {
	return l.movePosition(ctx, table, Place{}, func(stored plugin.TargetPosition) (plugin.TargetPosition, error) {
		if stored.Foreign != nil && *stored.Foreign <= version {
			stored.Foreign = nil
		}
		if stored.Version != nil && *stored.Version < version {
			stored.Version = &version
		}
		return stored, nil
	})
}

// movePosition stores the position that move makes of the stored one; nothing
// else can come between.
func (l *Ledger) movePosition(ctx context.Context, table string, at Place, move func(stored plugin.TargetPosition) (plugin.TargetPosition, error)) error {
	if err := l.ensure(ctx, l.controlSpec()); err != nil {
		return err
	}
	var refused error // not to be tried again here
	err := l.retryAlone(ctx, l.controlTurn, func() error {
		state, err := l.look(ctx, l.control)
		if err != nil {
			return err
		}
		all, err := l.controlRows(ctx, state, table)
		if err != nil {
			return err
		}
		if refused = all[table].Names(table, at, l.control.Name); refused != nil {
			return nil
		}
		stored := all[table].Position
		next, err := move(stored)
		if err != nil || samePosition(stored, next) {
			refused = err
			return nil
		}
		return l.merge(ctx, "", positionColumns, state.Version, []ControlRow{{Table: table, Position: next, Place: at}})
	})
	if err != nil {
		return err
	}
	return refused
}

func samePosition(a, b plugin.TargetPosition) bool {
	return a.Applied == b.Applied && a.RebuiltFrom == b.RebuiltFrom && a.Open == b.Open && same(a.Wave, b.Wave) &&
		same(a.Version, b.Version) && same(a.Foreign, b.Foreign) && same(a.Merge, b.Merge)
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// moved says what another run has stored meanwhile.
func moved(table string, stored, from plugin.TargetPosition) error {
	what := fmt.Sprintf("Another run has applied changes to %s meanwhile: it stands at %s, this one began from %s", table, positionText(stored), positionText(from))
	if stored.Applied == from.Applied {
		what = fmt.Sprintf("Another run has stored anew what is known of %s at %s meanwhile: its version, its snapshot, or what other programs changed in it", table, positionText(stored))
	}
	return diag.Errorf(diag.KindConflict, "ledger.position_moved", "Nothing is lost: the step begins again from what is there now.", "%s", what).Err()
}

func positionText(p plugin.TargetPosition) string {
	if p.Applied == "" {
		return "no position"
	}
	return p.Applied
}
