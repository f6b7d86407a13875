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
