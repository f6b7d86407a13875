package cdc

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// alter changes the shape of a table and its rows, all or nothing. required tells whether captured columns had to be
// changed too.
func (t *Table) alter(a tsql.Alter) (required bool, err error) {
	if len(t.writers(nil)) > 0 {
		return false, errLockTimeout
	}
	w := t.copy()
	if required, err = w.change(a, t); err != nil {
		return false, err
	}
	t.take(w)
	return required, nil
}

// copy gives a table of its own shape over the same rows.
func (t *Table) copy() *Table {
	w := *t
	w.columns = make([]*column, len(t.columns))
	for i, c := range t.columns {
		own := *c
		w.columns[i] = &own
	}
	w.checks = make([]*check, len(t.checks))
	for i, c := range t.checks {
		own := *c
		w.checks[i] = &own
	}
	w.foreign = make([]*foreignKey, len(t.foreign))
	for i, k := range t.foreign {
		own := *k
		w.foreign[i] = &own
	}
	return &w
}

// take makes the shape and the rows of a copy the table's.
func (t *Table) take(w *Table) {
	t.KeyName, t.key, t.columns, t.lastID, t.indexes, t.checks, t.foreign = w.KeyName, w.key, w.columns, w.lastID, w.indexes, w.checks, w.foreign
	t.rows, t.rowNum, t.identity = w.rows, w.rowNum, w.identity
	t.reshaped()
}

// change changes a copy of a table; of is the table itself.
func (t *Table) change(a tsql.Alter, of *Table) (required bool, err error) {
	for _, d := range a.Add {
		if err := t.add(d); err != nil {
			return false, err
		}
	}
	for _, name := range a.DropConstraints {
		if err := t.dropConstraint(name, a.IfExists, of); err != nil {
			return false, err
		}
	}
	for _, name := range a.Drop {
		if err := t.dropColumn(name, a.IfExists); err != nil {
			return false, err
		}
	}
	if a.Change != nil {
		if required, err = t.alterColumn(a); err != nil {
			return false, err
		}
	}
	if err := t.bind(); err != nil {
		return false, err
	}
	if len(a.Add) > 0 || a.Change != nil {
		if err := t.fits(); err != nil {
			return false, err
		}
	}
	if err := t.compute(a.Add); err != nil {
		return false, err
	}
	for _, d := range tsql.Ordered(a.Indexes) {
		if err := t.addIndex(d); err != nil {
			return false, err
		}
	}
	for _, c := range a.Checks {
		if err := t.addCheck(c); err != nil {
			return false, err
		}
	}
	for _, k := range a.ForeignKeys {
		if err := t.addForeignKey(k, of); err != nil {
			return false, err
		}
	}
	if a.Enforce != nil {
		if err := t.enforce(a.Enforce); err != nil {
			return false, err
		}
	}
	for _, d := range a.Defaults {
		if err := t.addDefault(d); err != nil {
			return false, err
		}
	}
	return required, nil
}

// add is ADD of a column. Rows that are there get NULL, or the DEFAULT when the column does not allow NULL or WITH
// VALUES is written (Microsoft: ALTER TABLE (Transact-SQL), WITH VALUES).
func (t *Table) add(d tsql.ColumnDef) error {
	fills := d.Identity || d.Type.Kind == sqltype.RowVersion || d.Computed
	if !d.Nullable && d.Default.IsNull() && d.Named == nil && !fills && t.rows.n > 0 {
		return sqltype.Errorf(4901, "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table must be empty to allow addition of this column. Column '%s' cannot be added to non-empty table '%s' because it does not satisfy these conditions.", d.Name, t.Name)
	}
	each := d.Each
	if each == nil {
		each = func() (sqltype.Value, error) { return d.Default, nil }
	}
	if err := t.addColumn(d); err != nil {
		return err
	}
	c := t.columns[len(t.columns)-1]
	if d.Nullable && !d.WithValues || d.Computed {
		return nil
	}
	return t.rebuild(func(row sqltype.Row) (err error) {
		switch {
		case c.Identity:
			row[c.id], err = t.identity.take(sqltype.Value{}, c.Type)
		case c.Type.Kind == sqltype.RowVersion:
			row[c.id] = sqltype.FromBytes(t.db.nextRowVersion())
		default:
			row[c.id], err = each()
		}
		if err == nil && !c.Nullable && row[c.id].IsNull() {
			err = sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. UPDATE fails.", c.Name, t.fullName())
		}
		return err
	})
}

// compute fills computed columns that were added.
func (t *Table) compute(added []tsql.ColumnDef) error {
	var fresh []*column
	for _, d := range added {
		if d.Computed {
			fresh = append(fresh, t.column(d.Name))
		}
	}
	if fresh == nil {
		return nil
	}
	return t.rebuild(func(row sqltype.Row) error {
		for _, c := range fresh {
			v, err := c.compute(t.visible(row))
			if err != nil {
				return err
			}
			if v.IsNull() && !c.Nullable {
				return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. UPDATE fails.", c.Name, t.fullName())
			}
			row[c.id] = v
		}
		return nil
	})
}

// dependent is the error of a column that something else needs. As on a server two errors are sent: what depends on
// the column, and that the statement failed.
func dependent(what, object, statement, column string) error {
	e := sqltype.Errorf(4922, "ALTER TABLE %s COLUMN %s failed because one or more objects access this column.", statement, column)
	e.First = sqltype.Errorf(5074, "The %s '%s' is dependent on column '%s'.", what, object, column)
	return e
}

// needs gives what depends on a column, of which kind it is, and whether a change of its length is harmless.
func (t *Table) needs(c *column) (what, object string) {
	for _, x := range t.indexes {
		if !x.reads(c.id) {
			continue
		}
		if x.kind == tsql.PlainIndex {
			return "index", x.name
		}
		return "object", x.name
	}
	if k := t.foreignWith(c); k != nil {
		return "object", k.name
	}
	return t.needsExpression(c)
}

// needsExpression is needs for expressions.
func (t *Table) needsExpression(c *column) (what, object string) {
	reads := func(e *tsql.Expression) bool { return named(e.Columns(), c.Name) }
	for _, k := range t.checks {
		if reads(k.Condition) {
			return "object", k.Name
		}
	}
	for _, o := range t.columns {
		if o.Computation != nil && reads(o.Computation) {
			return "column", o.Name
		}
	}
	return "", ""
}

func (t *Table) dropColumn(name string, ifExists bool) error {
	c := t.column(name)
	if c == nil {
		if ifExists {
			return nil
		}
		return sqltype.Errorf(4924, "ALTER TABLE DROP COLUMN failed because column '%s' does not exist in table '%s'.", name, t.Name)
	}
	what, object := t.needs(c)
	if object == "" && c.Named != nil {
		what, object = "object", c.Named.Name
	}
	if object != "" {
		return dependent(what, object, "DROP", c.Name)
	}
	if len(t.columns) == 1 {
		return sqltype.Errorf(4923, "ALTER TABLE DROP COLUMN failed because '%s' is the only data column in table '%s'. A table must have at least one data column.", c.Name, t.Name)
	}
	for i, x := range t.columns {
		if x == c {
			t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
			break
		}
	}
	return t.rebuild(func(row sqltype.Row) error { row[c.id] = sqltype.Value{}; return nil })
}

// alterColumn is ALTER COLUMN (Microsoft: ALTER TABLE (Transact-SQL), ALTER COLUMN: what can't be altered; without COLLATE
// the column has the database's collation).
func (t *Table) alterColumn(a tsql.Alter) (required bool, err error) {
	c := t.column(a.Change.Name)
	if c == nil {
		return false, sqltype.Errorf(4924, "ALTER TABLE ALTER COLUMN failed because column '%s' does not exist in table '%s'.", a.Change.Name, t.Name)
	}
	if a.Sparse != nil {
		return false, t.sparse(c, *a.Sparse)
	}
	switch {
	case c.Computed:
		return false, sqltype.Errorf(4928, "Cannot alter column '%s' because it is 'COMPUTED'.", c.Name)
	case c.Type.Kind == sqltype.RowVersion:
		return false, sqltype.Errorf(4928, "Cannot alter column '%s' because it is 'timestamp'.", c.Name)
	}
	from, to := c.Type, a.Change.Type
	if what, object := t.altering(c, to, !a.KeepNull && a.Change.Nullable != c.Nullable); object != "" {
		return false, dependent(what, object, "ALTER", c.Name)
	}
	nullable := a.Change.Nullable
	if a.KeepNull {
		nullable = c.Nullable
	}
	c.Type, c.Nullable = to, nullable
	return from != to, t.rebuild(func(row sqltype.Row) error {
		v, err := tsql.Assign(at(row, c.id), from, tsql.Column{Name: c.Name, Type: to}, t.fullName(), t.db.srv.release())
		if err != nil {
			return err
		}
		if v.IsNull() && !nullable {
			return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. UPDATE fails.", c.Name, t.fullName())
		}
		row[c.id] = v
		return nil
	})
}

// altering gives what forbids a change of a column: an index, unless text or binary of variable length gets longer and
// the index is not the primary key's; a CHECK or computed column, a DEFAULT when more than the length changes.
func (t *Table) altering(c *column, to sqltype.Type, nullability bool) (what, object string) {
	if c.Type == to && !nullability {
		return "", ""
	}
	longer := c.Type.Kind == to.Kind && c.Type.Collation == to.Collation && (to.Len == sqltype.Max || c.Type.Len != sqltype.Max && to.Len >= c.Type.Len) &&
		(to.Kind == sqltype.VarChar || to.Kind == sqltype.NVarChar || to.Kind == sqltype.VarBinary)
	for _, x := range t.indexes {
		if !x.reads(c.id) || longer && !nullability && x.kind != tsql.PrimaryKey && to.Len != sqltype.Max {
			continue
		}
		if x.kind == tsql.PlainIndex {
			return "index", x.name
		}
		return "object", x.name
	}
	if k := t.foreignWith(c); k != nil {
		return "object", k.name
	}
	if !longer {
		if what, object = t.needsExpression(c); object != "" {
			return what, object
		}
	}
	if c.Named != nil && c.Type.Kind != to.Kind {
		return "object", c.Named.Name
	}
	return "", ""
}

// sparse is ALTER COLUMN ... ADD or DROP SPARSE.
func (t *Table) sparse(c *column, on bool) error {
	if on && (!c.Nullable || c.Identity || c.Computed || c.Type.Kind == sqltype.RowVersion || t.primary() != nil && t.primary().reads(c.id)) {
		return sqltype.Errorf(1731, "Cannot create the sparse column '%s' in the table '%s' because an option or data type specified is not valid. A sparse column must be nullable and cannot have the ROWGUIDCOL, IDENTITY, or FILESTREAM properties. A sparse column cannot be of the following data types: text, ntext, image, geometry, geography, or user-defined type.", c.Name, t.Name)
	}
	c.Sparse = on
	return nil
}

// dropConstraint is DROP CONSTRAINT. The index that a capture instance was made with stays.
func (t *Table) dropConstraint(name string, ifExists bool, of *Table) error {
	switch k := t.constraint(name).(type) {
	case *index:
		if t.captures(k.name) {
			return failed(sqltype.Errorf(22979, "The unique index '%s' on table '%s' is used by Change Data Capture. The constraint using this index cannot be dropped or disabled.", k.name, t.FullName()))
		}
		if err := of.referencedBy(k.name); err != nil {
			return failed(err)
		}
		return t.dropIndex(k)
	case *foreignKey:
		t.foreign = slices.DeleteFunc(t.foreign, func(o *foreignKey) bool { return o == k })
		return nil
	case *check:
		var kept []*check
		for _, c := range t.checks {
			if c != k {
				kept = append(kept, c)
			}
		}
		t.checks = kept
		return nil
	case *column:
		k.Named, k.Default = nil, sqltype.Value{}
		return nil
	}
	if ifExists {
		return nil
	}
	return failed(sqltype.Errorf(3728, "'%s' is not a constraint.", name))
}

func failed(reason *sqltype.Error) error {
	e := sqltype.Errorf(3727, "Could not drop constraint. See previous errors.")
	e.First = reason
	return e
}

// addDefault is ADD CONSTRAINT ... DEFAULT ... FOR.
func (t *Table) addDefault(d tsql.DefaultDef) error {
	c := t.column(d.Column)
	if c == nil {
		return constraintFailed(sqltype.Errorf(1752, "Column '%s' in table '%s' is invalid for creating a default constraint.", d.Column, t.Name))
	}
	if c.Named != nil || c.Identity || c.Computed || c.Type.Kind == sqltype.RowVersion || !c.Default.IsNull() {
		return constraintFailed(sqltype.Errorf(1781, "Column already has a DEFAULT bound to it."))
	}
	v, err := tsql.Assign(d.Value, d.Type, c.Column, t.fullName(), t.db.srv.release())
	if err != nil {
		return err
	}
	c.def = t.db.objectID()
	if d.Name == "" {
		d.Name = generatedName("DF", t.Name, c.Name, c.def)
	} else if t.db.constraintNamed(d.Name) || t.constraint(d.Name) != nil {
		return t.db.taken(d.Name)
	}
	c.Named, c.Default = &d, v
	return nil
}

// captures tells whether a capture instance of the table was made with an index.
func (t *Table) captures(index string) bool {
	for _, in := range t.inst {
		if sqltype.EqualName(in.index, index) {
			return true
		}
	}
	return false
}
