package cdc

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// index is an index of a table. That of the primary key is the table's own order; the other unique ones have a tree
// beside every version of the rows (see tree.sides), and the rest exist in the catalog only.
type index struct {
	name      string
	kind      tsql.IndexKind
	unique    bool
	clustered bool
	id        int   // index_id: 1 is the clustered one
	object    int32 // object id of the constraint
	cols      []int // column ids
	desc      []bool
	include   []int
	fill      int64 // FILLFACTOR, 0 when none was written
	padded    bool
	// noRowLocks and noPageLocks are ALLOW_ROW_LOCKS and ALLOW_PAGE_LOCKS that are OFF. They change which locks a server takes, not
	// who waits for whom here.
	noRowLocks, noPageLocks bool
	compression             string
}

// take keeps the options that are written.
func (x *index) take(o tsql.IndexOptions) {
	if o.FillFactor != nil {
		x.fill = *o.FillFactor
	}
	if o.Padded != nil {
		x.padded = *o.Padded
	}
	if o.RowLocks != nil {
		x.noRowLocks = !*o.RowLocks
	}
	if o.PageLocks != nil {
		x.noPageLocks = !*o.PageLocks
	}
	if o.Compression != "" {
		x.compression = o.Compression
	}
}

func (x *index) reads(id int) bool {
	for _, list := range [][]int{x.cols, x.include} {
		for _, c := range list {
			if c == id {
				return true
			}
		}
	}
	return false
}

func (t *Table) index(name string) *index {
	for _, x := range t.indexes {
		if sqltype.EqualName(x.name, name) {
			return x
		}
	}
	return nil
}

func (t *Table) primary() *index {
	for _, x := range t.indexes {
		if x.kind == tsql.PrimaryKey {
			return x
		}
	}
	return nil
}

func (t *Table) clustered() *index {
	for _, x := range t.indexes {
		if x.clustered {
			return x
		}
	}
	return nil
}

// generatedName makes a name as a server makes it for a constraint without one.
func generatedName(prefix, table, column string, id int32) string {
	if column == "" {
		return fmt.Sprintf("%s__%.9s__%08X%08X", prefix, table, id, uint32(id)*2654435761)
	}
	return fmt.Sprintf("%s__%.9s__%.5s__%08X", prefix, table, column, id)
}

// generated tells whether the name of a constraint was made by generatedName: it ends with what only its id makes, also
// when table or column were renamed since.
func generated(name string, id int32) bool {
	return strings.HasSuffix(name, fmt.Sprintf("__%08X", id)) || strings.HasSuffix(name, fmt.Sprintf("__%08X%08X", id, uint32(id)*2654435761))
}

// addIndex gives the table an index over the rows that are there.
func (t *Table) addIndex(d tsql.IndexDef) error {
	x := &index{name: d.Name, kind: d.Kind, unique: d.Unique, clustered: d.Clustered}
	x.take(d.Options)
	if err := t.indexColumns(x, d); err != nil {
		return err
	}
	if d.Kind == tsql.PrimaryKey {
		if t.primary() != nil {
			return constraintFailed(sqltype.Errorf(1779, "Table '%s' already has a primary key defined on it.", t.Name))
		}
		if !d.Chosen {
			x.clustered = t.clustered() == nil
		}
	}
	if c := t.clustered(); x.clustered && c != nil {
		if d.Kind != tsql.PlainIndex {
			return constraintFailed(sqltype.Errorf(1902, "Cannot create more than one clustered index on table '%s'. Drop the existing clustered index '%s' before creating another.", t.FullName(), c.name))
		}
		return sqltype.Errorf(1902, "Cannot create more than one clustered index on table '%s'. Drop the existing clustered index '%s' before creating another.", t.FullName(), c.name)
	}
	if d.Kind != tsql.PlainIndex {
		x.object = t.db.objectID()
	}
	if x.name == "" {
		x.name = generatedName(map[bool]string{true: "PK", false: "UQ"}[d.Kind == tsql.PrimaryKey], t.Name, "", x.object)
	}
	if t.index(x.name) != nil {
		if d.Kind != tsql.PlainIndex {
			return t.db.taken(x.name)
		}
		return sqltype.Errorf(1913, "The operation failed because an index or statistics with name '%s' already exists on table '%s'.", x.name, t.FullName())
	}
	if d.Kind != tsql.PlainIndex && t.db.constraintNamed(x.name) {
		return t.db.taken(x.name)
	}
	x.id = 1
	if !x.clustered {
		x.id = 2
		for _, o := range t.indexes {
			x.id = max(x.id, o.id+1)
		}
	}
	was, key, name := t.indexes, t.key, t.KeyName
	t.indexes = append(t.indexes[:len(t.indexes):len(t.indexes)], x)
	if d.Kind == tsql.PrimaryKey {
		t.key, t.KeyName = x.cols, x.name
	}
	if err := t.rebuild(func(sqltype.Row) error { return nil }); err != nil {
		t.indexes, t.key, t.KeyName = was, key, name
		return err
	}
	return nil
}

// constraintFailed is what follows the reason for which a constraint was not made.
func constraintFailed(reason *sqltype.Error) error {
	e := sqltype.Errorf(1750, "Could not create constraint or index. See previous errors.")
	e.First = reason
	return e
}

func (t *Table) indexColumns(x *index, d tsql.IndexDef) error {
	seen := map[int]bool{}
	add := func(name string) (*column, error) {
		c := t.column(name)
		if c == nil {
			return nil, noColumn(name)
		}
		if seen[c.id] {
			return nil, sqltype.Errorf(1909, "Cannot use duplicate column names in index. Column name '%s' listed more than once.", c.Name)
		}
		seen[c.id] = true
		return c, nil
	}
	if len(d.Columns) == 0 {
		return sqltype.Errorf(102, "Incorrect syntax near '%s'.", t.Name)
	}
	for _, k := range d.Columns {
		c, err := add(k.Name)
		if err != nil {
			return err
		}
		if c.Type.LOB() || c.Type.Len == sqltype.Max || c.Type.Kind == sqltype.XML || c.Type.Kind == sqltype.Geography || c.Type.Kind == sqltype.Geometry {
			return sqltype.Errorf(1919, "Column '%s' in table '%s' is of a type that is invalid for use as a key column in an index.", c.Name, t.FullName())
		}
		if d.Kind == tsql.PrimaryKey && c.Nullable {
			return constraintFailed(sqltype.Errorf(8111, "Cannot define PRIMARY KEY constraint on nullable column in table '%s'.", t.Name))
		}
		x.cols, x.desc = append(x.cols, c.id), append(x.desc, k.Descending)
	}
	for _, k := range d.Include {
		c, err := add(k)
		if err != nil {
			return err
		}
		x.include = append(x.include, c.id)
	}
	if len(d.Include) > 0 && d.Clustered {
		return sqltype.Errorf(10601, "Cannot specify included columns for a clustered index.")
	}
	return nil
}

// compareColumns compares rows by columns; rows older than a column have NULL there.
func (t *Table) compareColumns(ids []int) func(a, b sqltype.Row) int {
	cmps := make([]func(a, b *sqltype.Value) int, len(ids))
	for i, id := range ids {
		cmps[i] = sqltype.Comparer(t.byID(id).Type)
	}
	return func(a, b sqltype.Row) int {
		for i, id := range ids {
			x, y := at(a, id), at(b, id)
			if c := cmps[i](&x, &y); c != 0 {
				return c
			}
		}
		return 0
	}
}

// sideIndexes are the unique indexes with a tree of their own.
func (t *Table) sideIndexes() (out []*index) {
	for _, x := range t.indexes {
		if x.unique && x.kind != tsql.PrimaryKey {
			out = append(out, x)
		}
	}
	return out
}

// newRows gives an empty version of the table.
func (t *Table) newRows() *tree {
	rows := newTree(t.compareKeys())
	for _, x := range t.sideIndexes() {
		rows.sides = append(rows.sides, newTree(t.compareColumns(x.cols)))
	}
	return rows
}

// rebuild makes the rows anew after a change of shape. A table that has lost its key numbers its rows; one that has
// got a key or a unique index must have no two rows that agree in it.
func (t *Table) rebuild(fn func(row sqltype.Row) error) error {
	rows := t.newRows()
	sides := t.sideIndexes()
	num := t.rowNum
	for c := t.rows.ascend(nil); ; {
		row := c.next()
		if row == nil {
			break
		}
		out := make(sqltype.Row, t.lastID+1)
		copy(out, row)
		switch {
		case t.key != nil:
			out[0] = sqltype.Value{}
		case out[0].IsNull():
			num++
			out[0] = sqltype.FromInt(num)
		}
		if err := fn(out); err != nil {
			return err
		}
		if rows.get(out) != nil {
			return t.notUnique(t.primary(), out)
		}
		for i, s := range rows.sides {
			if s.get(out) != nil {
				return t.notUnique(sides[i], out)
			}
		}
		rows.set(out)
	}
	t.rows, t.rowNum = rows, num
	return nil
}

func (t *Table) notUnique(x *index, row sqltype.Row) error {
	e := sqltype.Errorf(1505, "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name '%s' and the index name '%s'. The duplicate key value is (%s).", t.FullName(), x.name, t.keyText(x.cols, row))
	if x.kind != tsql.PlainIndex {
		return constraintFailed(e)
	}
	return e
}

func (t *Table) keyText(ids []int, row sqltype.Row) string {
	var vals []string
	for _, id := range ids {
		vals = append(vals, tsql.KeyText(at(row, id), t.byID(id).Type))
	}
	return strings.Join(vals, ", ")
}

// duplicate is the error of a key that is already there (Microsoft: Database engine events and errors).
func (t *Table) duplicate(x *index, row sqltype.Row) error {
	if x.kind == tsql.PlainIndex {
		e := sqltype.Errorf(2601, "Cannot insert duplicate key row in object '%s' with unique index '%s'. The duplicate key value is (%s).", t.FullName(), x.name, t.keyText(x.cols, row))
		e.Class = 14
		return e
	}
	what := "PRIMARY KEY"
	if x.kind == tsql.UniqueConstraint {
		what = "UNIQUE KEY"
	}
	e := sqltype.Errorf(2627, "Violation of %s constraint '%s'. Cannot insert duplicate key in object '%s'. The duplicate key value is (%s).", what, x.name, t.FullName(), t.keyText(x.cols, row))
	e.Class = 14
	return e
}

// dropIndex takes an index away. A table without a key numbers its rows.
func (t *Table) dropIndex(x *index) error {
	was, key, name := t.indexes, t.key, t.KeyName
	t.indexes = nil
	for _, o := range was {
		if o != x {
			t.indexes = append(t.indexes, o)
		}
	}
	if x.kind == tsql.PrimaryKey {
		t.key, t.KeyName = nil, ""
	}
	if err := t.rebuild(func(sqltype.Row) error { return nil }); err != nil {
		t.indexes, t.key, t.KeyName = was, key, name
		return err
	}
	return nil
}

// lockKeys gives the names of the locks that a row's place in the unique indexes needs.
func (t *Table) lockKeys(row sqltype.Row) (keys []string) {
	for _, x := range t.sideIndexes() {
		keys = append(keys, t.lockKeyOf(x, row))
	}
	return keys
}

// lockKeyOf gives the name of the lock that a row's place in one of the unique indexes needs.
func (t *Table) lockKeyOf(x *index, row sqltype.Row) string {
	if x.kind == tsql.PrimaryKey {
		return t.lockKey(row)
	}
	b := []byte{0, byte(x.id)}
	for _, id := range x.cols {
		b = at(row, id).AppendKey(b, t.byID(id).Type)
	}
	return string(b)
}

// indexByID finds an index by its index_id.
func (t *Table) indexByID(id int) *index {
	for _, x := range t.indexes {
		if x.id == id {
			return x
		}
	}
	return nil
}
