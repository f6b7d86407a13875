package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/pipectl/pipectl/core/plugin"
)

// WroteAfter reports whether facts hold a batch of the sink id above the number
// that wrote rows.
func (l *Ledger) WroteAfter(ctx context.Context, sinkID string, number int64) (bool, error) {
	found := false
	above := func(column string, n int64) plugin.Term {
		return plugin.Term{Column: column, Op: plugin.OpGT, Literals: []plugin.Literal{{Type: plugin.LiteralInt, Int: n}}}
	}
	filter := where(equal("app_id", sinkID), above("batch_id", number), above("rows", 0))
	err := l.scan(ctx, l.facts, []string{"app_id", "batch_id", "rows", "event"}, filter, func(b batch) error {
		for i := range b.rows() {
			id, n := b.int64("batch_id", i), b.int64("rows", i)
			if b.text("app_id", i) == sinkID && b.text("event", i) == "" && id != nil && *id > number && n != nil && *n > 0 {
				found = true
				return errEnough
			}
		}
		return nil
	})
	return found, err
}

// Writers lists the sink ids under which facts record that something was
// written to a bronze table: batches with rows, and whole snapshots that were
// read, or found. They are in order, each once.
func (l *Ledger) Writers(ctx context.Context, target string) ([]string, error) {
	found := map[string]bool{}
	err := l.scan(ctx, l.facts, []string{"app_id", "target", "event", "rows"}, where(equal("target", target)), func(b batch) error {
		for i := range b.rows() {
			id, n := b.text("app_id", i), b.int64("rows", i)
			if b.text("target", i) != target || id == "" || found[id] {
				continue
			}
			switch b.text("event", i) {
			case "":
				found[id] = n != nil && *n > 0
			case EventBootstrap, EventResnapshot:
				found[id] = n == nil || *n > 0
			}
		}
		return nil
	})
	maps.DeleteFunc(found, func(_ string, wrote bool) bool { return !wrote })
	return slices.Sorted(maps.Keys(found)), err
}

// TablePosition is a position of a bronze table.
type TablePosition struct{ Table, Position string }

// Instants finds the commit times of positions at which a batch or a snapshot
// of their table ended. One that facts do not hold is absent.
func (l *Ledger) Instants(ctx context.Context, at ...TablePosition) (map[TablePosition]plugin.Position, error) {
	found := map[TablePosition]plugin.Position{}
	if len(at) == 0 {
		return found, nil
	}
	wanted := map[string]bool{}
	for _, a := range at {
		wanted[a.Position] = true
	}
	filter := where(in("max_lsn", slices.Sorted(maps.Keys(wanted))...))
	err := l.scan(ctx, l.facts, []string{"target", "max_lsn", "max_commit_ts"}, filter, func(b batch) error {
		for i := range b.rows() {
			key, position := TablePosition{b.text("target", i), b.text("max_lsn", i)}, b.position("max_lsn", "max_commit_ts", i)
			if position.HasCommit && slices.Contains(at, key) {
				found[key] = position
			}
		}
		return nil
	})
	return found, err
}
