package cdc

import (
	"context"
	"iter"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Referential integrity of one statement: its own changes come first, then those of all actions that follow from them, then
// keys with NO ACTION and the new rows are looked at (Microsoft: Primary and foreign key constraints, Cascading referential
// integrity).

// changed are the changes of a table in one statement.
type changed struct {
	table *Table
	ops   []op
}

// follow carries out what foreign keys ask for after the changes of a statement. The database's lock is held.
func (tx *Tx) follow(ctx context.Context, first changed, wait lockWait) error {
	verb := tx.verb
	if verb == "" {
		verb = first.verb()
	}
	all := []changed{first}
	for i := 0; i < len(all); i++ {
		var err error
		all[i].table.referencing(func(from *Table, k *foreignKey) bool {
			var next changed
			if next, err = tx.act(ctx, all[i], from, k, wait); err == nil && len(next.ops) > 0 {
				all = append(all, next)
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	for _, c := range all {
		if err := tx.refersToSomething(ctx, c, verb, wait); err != nil {
			return err
		}
		if err := tx.notNeeded(ctx, c, verb, wait); err != nil {
			return err
		}
	}
	return nil
}

// verb is the statement as messages name it.
func (c changed) verb() string {
	deletes := !slices.ContainsFunc(c.ops, func(o op) bool { return o.new != nil })
	inserts := !slices.ContainsFunc(c.ops, func(o op) bool { return o.old != nil })
	switch {
	case inserts:
		return "INSERT"
	case deletes:
		return "DELETE"
	}
	return "UPDATE"
}

// lost gives the keys that the changes took from the referenced table, each with its change.
func (k *foreignKey) lost(from *Table, ops []op, deletes, updates bool) map[string]op {
	out := map[string]op{}
	for _, o := range ops {
		if o.old == nil || o.new == nil && !deletes || o.new != nil && !updates {
			continue
		}
		if o.new != nil && !slices.ContainsFunc(k.refs, func(id int) bool { return !at(o.old, id).Same(at(o.new, id)) }) {
			continue
		}
		if key, ok := k.keyOf(from, o.old, k.refs); ok {
			out[key] = o
		}
	}
	return out
}

// act carries out the actions of one foreign key.
func (tx *Tx) act(ctx context.Context, c changed, from *Table, k *foreignKey, wait lockWait) (next changed, err error) {
	if k.disabled {
		return next, nil
	}
	lost := k.lost(from, c.ops, k.OnDelete != tsql.NoAction, k.OnUpdate != tsql.NoAction)
	if len(lost) == 0 {
		return next, nil
	}
	if err := tx.undecided(ctx, from, k, lost, wait); err != nil {
		return next, err
	}
	var changes []tsql.Change
	for row, by := range k.referencingRows(from, tx.now(from), lost) {
		ch := tsql.Change{ID: row[0], Old: from.visible(row)}
		action := k.OnUpdate
		if by.new == nil {
			action = k.OnDelete
		}
		if action != tsql.Cascade || by.new != nil {
			ch.New = slices.Clone(ch.Old)
			if err := k.set(from, ch.New, action, by.new); err != nil {
				return next, err
			}
		}
		changes = append(changes, ch)
	}
	if len(changes) == 0 {
		return next, nil
	}
	ops, err := tx.change(ctx, from, changes, wait)
	return changed{from, ops}, err
}

// set gives a row the values that an action asks for.
func (k *foreignKey) set(t *Table, row sqltype.Row, action tsql.ReferentialAction, by sqltype.Row) error {
	for i, id := range k.cols {
		place := slices.IndexFunc(t.columns, func(c *column) bool { return c.id == id })
		row[place] = sqltype.Value{}
		switch action {
		case tsql.Cascade:
			row[place] = at(by, k.refs[i])
		case tsql.SetDefault:
			c := t.columns[place]
			if c.Named != nil && c.Named.Varies {
				return sqltype.Unsupported("SET DEFAULT to the value of a function, of the foreign key %s", k.name)
			}
			row[place] = c.Default
		}
	}
	return nil
}

// refersToSomething looks whether the new rows have what they reference.
func (tx *Tx) refersToSomething(ctx context.Context, c changed, verb string, wait lockWait) error {
	for _, k := range c.table.foreign {
		if k.disabled {
			continue
		}
		for _, o := range c.ops {
			if o.new == nil || o.old != nil && !slices.ContainsFunc(k.cols, func(id int) bool { return !at(o.old, id).Same(at(o.new, id)) }) {
				continue
			}
			if _, ok := k.keyOf(c.table, o.new, k.cols); !ok {
				continue
			}
			there, err := tx.there(ctx, c.table, k, o.new, wait)
			if err != nil {
				return err
			}
			if !there {
				return k.conflict(verb, c.table)
			}
		}
	}
	return nil
}

// there tells whether the row that another one references is there, when nobody else is changing it.
func (tx *Tx) there(ctx context.Context, t *Table, k *foreignKey, row sqltype.Row, wait lockWait) (bool, error) {
	x := k.to.indexByID(k.index)
	probe := make(sqltype.Row, k.to.lastID+1)
	for i, id := range k.refs {
		probe[id] = at(row, k.cols[i])
	}
	name := k.to.lockKeyOf(x, probe)
	if err := tx.db.await(ctx, tx, wait, lockShared, func() []*Tx { return k.to.holder(name, tx) }); err != nil {
		return false, err
	}
	return k.found(tx.now(k.to), probe), nil
}

// found tells whether the referenced table has the key of a row.
func (k *foreignKey) found(rows *tree, probe sqltype.Row) bool {
	x := k.to.indexByID(k.index)
	if x.kind == tsql.PrimaryKey {
		return rows.get(probe) != nil
	}
	i := slices.Index(k.to.sideIndexes(), x)
	return rows.sides[i].get(probe) != nil
}

// notNeeded looks whether rows still reference a key that is gone.
func (tx *Tx) notNeeded(ctx context.Context, c changed, verb string, wait lockWait) (err error) {
	c.table.referencing(func(from *Table, k *foreignKey) bool {
		if k.disabled {
			return true
		}
		lost := k.lost(from, c.ops, true, true)
		if len(lost) == 0 {
			return true
		}
		rows := tx.now(k.to)
		for key, o := range lost {
			if k.found(rows, o.old) { // another row has it now
				delete(lost, key)
			}
		}
		if len(lost) == 0 {
			return true
		}
		if err = tx.undecided(ctx, from, k, lost, wait); err != nil {
			return false
		}
		for range k.referencingRows(from, tx.now(from), lost) {
			err = k.needed(verb, from)
			return false
		}
		return true
	})
	return err
}

// referencingRows gives the rows of the referencing table with one of these keys, in the table's order, each with the change that took
// its key: found by an index that begins with the columns of the key where there is one, else in one pass.
func (k *foreignKey) referencingRows(from *Table, rows *tree, keys map[string]op) iter.Seq2[sqltype.Row, op] {
	order, ids := k.ordered(from, rows)
	if order == nil {
		return func(yield func(sqltype.Row, op) bool) {
			for cur := rows.ascend(nil); ; {
				row := cur.next()
				if row == nil {
					return
				}
				if key, ok := k.keyOf(from, row, k.cols); ok {
					if by, wanted := keys[key]; wanted && !yield(row, by) {
						return
					}
				}
			}
		}
	}
	return func(yield func(sqltype.Row, op) bool) {
		type found struct {
			row sqltype.Row
			by  op
		}
		var all []found
		for _, by := range keys {
			probe := make(sqltype.Row, from.lastID+1)
			for i, id := range k.cols {
				probe[id] = at(by.old, k.refs[i])
			}
			cmp := from.compareColumns(ids)
			for cur := order.ascend(func(row sqltype.Row) bool { return cmp(row, probe) < 0 }); ; {
				row := cur.next()
				if row == nil || cmp(row, probe) != 0 {
					break
				}
				all = append(all, found{row, by})
			}
		}
		slices.SortFunc(all, func(a, b found) int { return rows.cmp(a.row, b.row) })
		for _, f := range all {
			if !yield(f.row, f.by) {
				return
			}
		}
	}
}

// ordered gives the rows of the referencing table in an order that begins with the columns of the key, and these as they come
// there; nil when no order does.
func (k *foreignKey) ordered(from *Table, rows *tree) (*tree, []int) {
	begins := func(cols []int) bool {
		return len(cols) >= len(k.cols) && !slices.ContainsFunc(cols[:len(k.cols)], func(id int) bool { return !slices.Contains(k.cols, id) })
	}
	if begins(from.key) {
		return rows, from.key[:len(k.cols)]
	}
	for i, x := range from.sideIndexes() {
		if begins(x.cols) {
			return rows.sides[i], x.cols[:len(k.cols)]
		}
	}
	return nil, nil
}

// undecided waits for other transactions that have changed rows with these keys.
func (tx *Tx) undecided(ctx context.Context, from *Table, k *foreignKey, keys map[string]op, wait lockWait) error {
	return tx.db.await(ctx, tx, wait, lockShared, func() []*Tx {
		return from.lockers(tx, func(row sqltype.Row) bool {
			key, ok := k.keyOf(from, row, k.cols)
			_, wanted := keys[key]
			return ok && wanted
		})
	})
}

// now gives the rows of a table as they are committed, with the transaction's own changes. Foreign keys are held against them
// under SNAPSHOT isolation, too.
func (tx *Tx) now(t *Table) *tree {
	if tx.snapshot == nil {
		return tx.rows(t)
	}
	l := tx.latest[t]
	if l == nil || l.base != t.rows { // others have committed
		if l = (&latest{base: t.rows, rows: t.rows.clone()}); tx.latest == nil {
			tx.latest = map[*Table]*latest{}
		}
		tx.latest[t] = l
	}
	for ; l.ops < len(tx.ops); l.ops++ {
		if o := tx.ops[l.ops]; o.table == t {
			apply(l.rows, o)
		}
	}
	return l.rows
}

// latest is what now has made: of so many of the transaction's changes.
type latest struct {
	base, rows *tree
	ops        int
}
