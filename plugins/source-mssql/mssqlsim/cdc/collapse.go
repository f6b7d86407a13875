package cdc

import (
	"cmp"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// collapse puts the changes that one statement makes to several rows, of which some move to another key, into the form
// in which they are logged: each is split into a delete and an insert, these are sorted by the key, and a delete and an
// insert of one key become an update of it (Microsoft: Collapse Showplan Operator). So rows may pass their keys on, and
// no key is inserted before its old row is gone. A statement that moves one row alone is carried out as it is.
func (t *Table) collapse(ops []op) []op {
	return t.deferred(t.collapseKey(ops))
}

// deferred puts the changes of a statement, of which some move to another place in a unique index besides the one the
// table is kept by, into the form in which they are logged: a delete and an insert each, all deletes before all inserts,
// so that no value of a unique index is inserted before its old row is gone (Microsoft: UPDATE statements may be
// replicated as DELETE/INSERT pairs; FIX: The change table is ordered incorrectly for updated rows after you enable
// change data capture). Without it subscribers, who have the same indexes, could not apply what they are sent.
func (t *Table) deferred(ops []op) []op {
	moved := func(o op) bool {
		return o.old != nil && o.new != nil && slices.ContainsFunc(t.rows.sides, func(s *tree) bool { return s.cmp(o.old, o.new) != 0 })
	}
	if len(ops) < 2 || !slices.ContainsFunc(ops, moved) {
		return ops
	}
	out := make([]op, 0, 2*len(ops))
	for _, o := range ops {
		if o.new == nil || moved(o) {
			out = append(out, op{table: t, old: o.old})
		}
	}
	for _, o := range ops {
		if o.old != nil && o.new != nil && !moved(o) {
			out = append(out, o)
		}
	}
	for _, o := range ops {
		if o.old == nil || moved(o) {
			out = append(out, op{table: t, new: o.new})
		}
	}
	return out
}

// collapseKey is collapse for the order in which the table is kept.
func (t *Table) collapseKey(ops []op) []op {
	moved := func(o op) bool { return o.old != nil && o.new != nil && t.rows.cmp(o.old, o.new) != 0 }
	if len(ops) < 2 || !slices.ContainsFunc(ops, moved) {
		return ops
	}
	type half struct {
		row    sqltype.Row
		insert bool
	}
	halves := make([]half, 0, 2*len(ops))
	for _, o := range ops {
		if o.old != nil {
			halves = append(halves, half{o.old, false})
		}
		if o.new != nil {
			halves = append(halves, half{o.new, true})
		}
	}
	slices.SortStableFunc(halves, func(a, b half) int {
		if c := t.rows.cmp(a.row, b.row); c != 0 {
			return c
		}
		return cmp.Compare(order(a.insert), order(b.insert))
	})
	out := make([]op, 0, len(halves))
	for i := 0; i < len(halves); i++ {
		h := halves[i]
		switch last := i+1 == len(halves); {
		case h.insert:
			out = append(out, op{table: t, new: h.row})
		case !last && halves[i+1].insert && t.rows.cmp(h.row, halves[i+1].row) == 0:
			if i++; !sameRow(h.row, halves[i].row) {
				out = append(out, op{table: t, old: h.row, new: halves[i].row})
			}
		default:
			out = append(out, op{table: t, old: h.row})
		}
	}
	return out
}

// order has the delete of a key before its insert.
func order(insert bool) int {
	if insert {
		return 1
	}
	return 0
}
