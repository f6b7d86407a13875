package silver

import "github.com/pipectl/pipectl/core/plugin"

// decision is what one run of silver will apply, from what the ledger and
// bronze's snapshot rows say.
type decision struct {
	// snapshot is the newest whole snapshot known: completed ones of the
	// ledger, rows in bronze, or the one silver was last rebuilt from.
	snapshot string
	// recorded tells that the ledger knows snapshot as a completed one. It
	// vouches for the rows, whatever the name under which they were read: the
	// source forgets the name of a capture instance that was dropped.
	recorded bool
	// rebuild replaces silver by the snapshot and the changes after it.
	rebuild bool
	// open tells that a chunked snapshot newer than snapshot is open: keys may
	// be missing, so the verdict is held.
	open bool
	// after is the exclusive lower bound of changes; "" takes all changes.
	after string
}

// decide chooses rows and mode. It compares with the snapshot last rebuilt
// from and never with the applied position: a bootstrap added later on a quiet
// database can be stamped exactly at the applied position. One that was read
// again on such a database has the stamp of the one before.
func decide(view plugin.LedgerView, found snapshotRows) decision {
	position := view.Position
	d := decision{snapshot: max(view.Snapshot, found.whole, position.RebuiltFrom)}
	d.recorded = d.snapshot != "" && d.snapshot == view.Snapshot
	d.open = view.Open != nil && view.Open.Snapshot > d.snapshot
	again := found.again && d.snapshot == position.RebuiltFrom
	d.rebuild = position.Applied == "" && position.Open == "" ||
		d.snapshot != "" && (d.snapshot > position.RebuiltFrom || again)
	switch {
	case d.rebuild && d.snapshot != "":
		d.after = d.snapshot
	case d.rebuild || position.Applied == "":
		d.after = ""
	default:
		d.after = position.Applied
	}
	return d
}

// fromSnapshot reports whether rows of the snapshot itself are applied.
func (d decision) fromSnapshot() bool { return d.rebuild && d.snapshot != "" }

// guard is the column by which the newer of two rows of a key wins. A rebuild
// replaces what is there, "": a snapshot may stand at the position of a row that
// it corrects, another program may have written rows with a position, and silver
// has nothing that is newer than bronze.
func (d decision) guard() string {
	if d.rebuild {
		return ""
	}
	return plugin.ColumnStartLSN
}

// filter selects the rows for the sink; a scan may return more.
func (d decision) filter(s bronzeShape) plugin.Filter {
	changes := []plugin.Term{{Column: plugin.ColumnOperation, Op: plugin.OpNE, Literals: []plugin.Literal{integer(int64(plugin.OpSnapshot))}}}
	if d.after != "" {
		changes = append(changes, plugin.Term{Column: plugin.ColumnStartLSN, Op: plugin.OpGT, Literals: []plugin.Literal{text(d.after)}})
	}
	f := plugin.Filter{Any: []plugin.Clause{{All: changes}}}
	if !d.fromSnapshot() {
		return f
	}
	isSnapshot := plugin.Term{Column: plugin.ColumnOperation, Op: plugin.OpEQ, Literals: []plugin.Literal{integer(int64(plugin.OpSnapshot))}}
	stamped := plugin.Term{Column: plugin.ColumnStartLSN, Op: plugin.OpEQ, Literals: []plugin.Literal{text(d.snapshot)}}
	if !s.snapshots {
		f.Any = append(f.Any, plugin.Clause{All: []plugin.Term{isSnapshot, stamped}})
		return f
	}
	f.Any = append(f.Any,
		plugin.Clause{All: []plugin.Term{isSnapshot, {Column: plugin.ColumnSnapshot, Op: plugin.OpEQ, Literals: []plugin.Literal{text(d.snapshot)}}}},
		plugin.Clause{All: []plugin.Term{isSnapshot, {Column: plugin.ColumnSnapshot, Op: plugin.OpIsNull}, stamped}})
	return f
}

// position is what silver's row of the control table becomes after top, the
// highest change applied ("" when none).
func (d decision) position(stored plugin.TargetPosition, view plugin.LedgerView, top string) plugin.TargetPosition {
	p := plugin.TargetPosition{Applied: max(stored.Applied, d.snapshot, top), RebuiltFrom: stored.RebuiltFrom}
	if d.rebuild {
		p.RebuiltFrom = d.snapshot
	}
	if d.open {
		p.Open = view.Open.Snapshot
		if stored.Open == p.Open {
			p.Wave = stored.Wave
		}
	}
	return p
}

func text(s string) plugin.Literal   { return plugin.Literal{Type: plugin.LiteralString, Text: s} }
func integer(n int64) plugin.Literal { return plugin.Literal{Type: plugin.LiteralInt, Int: n} }
