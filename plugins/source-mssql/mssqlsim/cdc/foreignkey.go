package cdc

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// foreignKey is a FOREIGN KEY constraint of a table (Microsoft: Primary and foreign key constraints).
type foreignKey struct {
	tsql.ForeignKeyDef
	object   int32
	name     string
	cols     []int  // column ids
	to       *Table // the table that is referenced
	refs     []int  // column ids there, in the order of cols
	index    int    // id of the index there that makes them unique
	disabled bool
	// untrusted: rows were not looked at when it was made or switched on
	untrusted bool
}

// addForeignKey gives the table a FOREIGN KEY over the rows that are there; of is the table itself, of which t may be a copy.
func (t *Table) addForeignKey(d tsql.ForeignKeyDef, of *Table) error {
	k := &foreignKey{ForeignKeyDef: d, object: t.db.objectID(), name: d.Name, untrusted: d.Unchecked}
	if k.name == "" {
		k.name = generatedName("FK", t.Name, append(slices.Clone(d.Columns), "")[0], k.object)
	}
	if t.db.constraintNamed(k.name) || t.constraint(k.name) != nil {
		return t.db.taken(k.name)
	}
	if err := k.bind(t, of); err != nil {
		return constraintFailed(err)
	}
	if !d.Unchecked {
		if err := t.allReferToSomething(k, of); err != nil {
			return err
		}
	}
	t.foreign = append(t.foreign[:len(t.foreign):len(t.foreign)], k)
	return nil
}

// bind finds what the names of the definition mean, and refuses what cannot be a foreign key (Microsoft: Database engine
// events and errors, 1753 to 1788).
func (k *foreignKey) bind(t, of *Table) *sqltype.Error {
	db, n := t.db, k.Table
	if n.Database != "" && !sqltype.EqualName(n.Database, db.Name) {
		return sqltype.Errorf(1763, "Cross-database foreign key references are not supported. Foreign key '%s'.", k.name)
	}
	if isTemporary(n.Object) {
		return sqltype.Errorf(1766, "Foreign key references to temporary tables are not supported. Foreign key '%s'.", k.name)
	}
	target := t // with the shape that this statement gives it
	k.to = of
	if !sqltype.EqualName(n.Object, t.Name) || n.Schema != "" && !sqltype.EqualName(n.Schema, t.Schema) {
		k.to = db.table(n.Schema, n.Object)
		target = k.to
	}
	if k.to == nil {
		return sqltype.Errorf(1767, "Foreign key '%s' references invalid table '%s'.", k.name, n)
	}
	for _, name := range k.Columns {
		c := t.column(name)
		if c == nil {
			return sqltype.Errorf(1769, "Foreign key '%s' references invalid column '%s' in referencing table '%s'.", k.name, name, t.Name)
		}
		if c.Computed && !c.Persisted {
			return sqltype.Errorf(1764, "Computed Column '%s' in table '%s' is invalid for use in 'FOREIGN KEY CONSTRAINT' because it is not persisted.", c.Name, t.Name)
		}
		k.cols = append(k.cols, c.id)
	}
	if err := k.bindKey(target); err != nil {
		return err
	}
	for i, id := range k.cols {
		if err := k.fits(t, t.byID(id), target, target.byID(k.refs[i])); err != nil {
			return err
		}
	}
	return k.cascades(t, of)
}

// bindKey finds the unique index that the columns of REFERENCES have.
func (k *foreignKey) bindKey(target *Table) *sqltype.Error {
	if len(k.References) == 0 {
		pk := target.primary()
		switch {
		case pk == nil:
			return sqltype.Errorf(1773, "Foreign key '%s' has implicit reference to object '%s' which does not have a primary key defined on it.", k.name, k.Table)
		case len(pk.cols) != len(k.cols):
			return sqltype.Errorf(1774, "The number of columns in the referencing column list for foreign key '%s' does not match those of the primary key in the referenced table '%s'.", k.name, k.Table)
		}
		k.refs, k.index = pk.cols, pk.id
		return nil
	}
	for _, name := range k.References {
		c := target.column(name)
		if c == nil {
			return sqltype.Errorf(1770, "Foreign key '%s' references invalid column '%s' in referenced table '%s'.", k.name, name, k.Table)
		}
		k.refs = append(k.refs, c.id)
	}
	if len(k.refs) != len(k.cols) {
		return sqltype.Errorf(8139, "Number of referencing columns in foreign key differs from number of referenced columns, table '%s'.", target.Name)
	}
	sorted := func(ids []int) []int { return slices.Sorted(slices.Values(ids)) }
	for _, x := range target.indexes {
		if x.unique && slices.Equal(sorted(x.cols), sorted(k.refs)) {
			k.index = x.id
			return nil
		}
	}
	return sqltype.Errorf(1776, "There are no primary or candidate keys in the referenced table '%s' that match the referencing column list in the foreign key '%s'.", k.Table, k.name)
}

// fits tells whether a column can reference another.
func (k *foreignKey) fits(t *Table, c *column, target *Table, ref *column) *sqltype.Error {
	a, b := c.Type, ref.Type
	for _, typ := range []*sqltype.Type{&a, &b} {
		if typ.Kind == sqltype.Numeric {
			typ.Kind = sqltype.Decimal
		}
	}
	switch {
	case a.Kind != b.Kind:
		return sqltype.Errorf(1778, "Column '%s.%s' is not the same data type as referencing column '%s.%s' in foreign key '%s'.", target.Name, ref.Name, t.Name, c.Name, k.name)
	case a.Len != b.Len || a.Prec != b.Prec || a.Scale != b.Scale:
		return sqltype.Errorf(1753, "Column '%s.%s' is not the same length or scale as referencing column '%s.%s' in foreign key '%s'. Columns participating in a foreign key relationship must be defined with the same length and scale.", target.Name, ref.Name, t.Name, c.Name, k.name)
	case a.Collation != b.Collation:
		return sqltype.Errorf(1757, "Column '%s.%s' is not of same collation as referencing column '%s.%s' in foreign key '%s'.", target.Name, ref.Name, t.Name, c.Name, k.name)
	}
	if k.OnDelete == tsql.NoAction && k.OnUpdate == tsql.NoAction {
		return nil
	}
	sets := func(a tsql.ReferentialAction) bool { return k.OnDelete == a || k.OnUpdate == a }
	switch {
	case a.Kind == sqltype.RowVersion:
		return sqltype.Errorf(1786, "Either column '%s.%s' or referencing column '%s.%s' in foreign key '%s' is a timestamp column. This data type cannot be used with cascading referential integrity constraints.", target.Name, ref.Name, t.Name, c.Name, k.name)
	case c.Identity && (k.OnUpdate != tsql.NoAction || sets(tsql.SetNull) || sets(tsql.SetDefault)):
		return sqltype.Errorf(1788, "Cascading foreign key '%s' cannot be created where the referencing column '%s.%s' is an identity column.", k.name, t.Name, c.Name)
	case c.Computed && (k.OnUpdate != tsql.NoAction || sets(tsql.SetNull) || sets(tsql.SetDefault)):
		return sqltype.Errorf(1765, "Foreign key '%s' creation failed. Only NO ACTION and CASCADE referential delete actions are allowed for referencing computed column '%s'.", k.name, c.Name)
	case sets(tsql.SetNull) && !c.Nullable:
		return sqltype.Errorf(1761, "Cannot create the foreign key \"%s\" with the SET NULL referential action, because one or more referencing columns are not nullable.", k.name)
	case sets(tsql.SetDefault) && !c.Nullable && c.Named == nil && c.Default.IsNull():
		return sqltype.Errorf(1762, "Cannot create the foreign key \"%s\" with the SET DEFAULT referential action, because one or more referencing not-nullable columns lack a default constraint.", k.name)
	}
	return nil
}

// cascades refuses a foreign key with which the actions of one DELETE or UPDATE come to a table twice (Microsoft: MSSQLSERVER
// error 1785).
func (k *foreignKey) cascades(t, of *Table) *sqltype.Error {
	type edge struct {
		from, to         *Table
		onDelete, change tsql.ReferentialAction
	}
	edges := []edge{{k.to, of, k.OnDelete, k.OnUpdate}}
	for _, o := range t.db.tables {
		list := o.foreign
		if o == of {
			list = t.foreign
		}
		for _, f := range list {
			edges = append(edges, edge{f.to, o, f.OnDelete, f.OnUpdate})
		}
	}
	if !slices.Contains(t.db.tables, of) { // it is being made
		for _, f := range t.foreign {
			edges = append(edges, edge{f.to, of, f.OnDelete, f.OnUpdate})
		}
	}
	var twice func(from *Table, deletes bool, met map[*Table]bool) bool
	twice = func(from *Table, deletes bool, met map[*Table]bool) bool {
		if met[from] {
			return true
		}
		met[from] = true
		for _, e := range edges {
			action := e.change
			if deletes {
				action = e.onDelete
			}
			if e.from == from && action != tsql.NoAction && twice(e.to, deletes && action == tsql.Cascade, met) {
				return true
			}
		}
		return false
	}
	for _, e := range edges {
		for _, deletes := range []bool{true, false} {
			if twice(e.from, deletes, map[*Table]bool{}) {
				return sqltype.Errorf(1785, "Introducing FOREIGN KEY constraint '%s' on table '%s' may cause cycles or multiple cascade paths. Specify ON DELETE NO ACTION or ON UPDATE NO ACTION, or modify other FOREIGN KEY constraints.", k.name, t.Name)
			}
		}
	}
	return nil
}

// heldAgainst lists the other tables that rows of a table are held against when it is altered.
func (s *Session) heldAgainst(db *Database, t *Table, a tsql.Alter) (out []*Table) {
	for _, d := range a.ForeignKeys {
		if to := s.tableNamed(db, d.Table); to != nil && to != t {
			out = append(out, to)
		}
	}
	if e := a.Enforce; t != nil && e != nil && e.On && e.Check {
		for _, k := range t.foreign {
			if k.to != t && (e.All || slices.ContainsFunc(e.Names, func(n string) bool { return sqltype.EqualName(n, k.name) })) {
				out = append(out, k.to)
			}
		}
	}
	return out
}

// allReferToSomething looks at the rows that are there, when nobody is changing what they reference.
func (t *Table) allReferToSomething(k *foreignKey, of *Table) error {
	if k.to != of && len(k.to.writers(nil)) > 0 {
		return errLockTimeout
	}
	rows := k.to.rows
	if k.to == of {
		rows = t.rows
	}
	there := map[string]bool{}
	for cur := rows.ascend(nil); ; {
		row := cur.next()
		if row == nil {
			break
		}
		if key, ok := k.keyOf(t, row, k.refs); ok {
			there[key] = true
		}
	}
	for cur := t.rows.ascend(nil); ; {
		row := cur.next()
		if row == nil {
			return nil
		}
		if key, ok := k.keyOf(t, row, k.cols); ok && !there[key] {
			return k.conflict("ALTER TABLE", of)
		}
	}
}

// keyOf gives the bytes by which values of the key compare; ok is false where one is NULL, which references nothing. Both
// sides have the types of the referencing columns.
func (k *foreignKey) keyOf(t *Table, row sqltype.Row, ids []int) (key string, ok bool) {
	var b []byte
	for i, id := range ids {
		v := at(row, id)
		if v.IsNull() {
			return "", false
		}
		b = v.AppendKey(b, t.byID(k.cols[i]).Type)
	}
	return string(b), true
}

// conflict is the error of a row that references nothing.
func (k *foreignKey) conflict(statement string, t *Table) error {
	what := "FOREIGN KEY"
	if k.to == t {
		what = "FOREIGN KEY SAME TABLE"
	}
	return sqltype.Errorf(547, "The %s statement conflicted with the %s constraint \"%s\". The conflict occurred in database \"%s\", table \"%s\"%s.", statement, what, k.name, t.db.Name, k.to.FullName(), columnPart(k.to, k.refs))
}

// needed is the error of a key that rows of t reference.
func (k *foreignKey) needed(statement string, t *Table) error {
	what := "REFERENCE"
	if k.to == t {
		what = "SAME TABLE REFERENCE"
	}
	return sqltype.Errorf(547, "The %s statement conflicted with the %s constraint \"%s\". The conflict occurred in database \"%s\", table \"%s\"%s.", statement, what, k.name, t.db.Name, t.FullName(), columnPart(t, k.cols))
}

// columnPart names the column of a message about a key of one.
func columnPart(t *Table, ids []int) string {
	if len(ids) != 1 {
		return ""
	}
	return ", column '" + t.byID(ids[0]).Name + "'"
}

// foreignWith gives a foreign key of the table with a column.
func (t *Table) foreignWith(c *column) *foreignKey {
	for _, k := range t.foreign {
		if slices.Contains(k.cols, c.id) {
			return k
		}
	}
	return nil
}

// referencing calls fn with the foreign keys that reference the table until it gives false.
func (t *Table) referencing(fn func(from *Table, k *foreignKey) bool) {
	for _, o := range t.db.tables {
		for _, k := range o.foreign {
			if k.to == t && !fn(o, k) {
				return
			}
		}
	}
}

// referenced gives a foreign key that references the table, of another table where others is set; nil when there is none.
func (t *Table) referenced(others bool) (from *Table, key *foreignKey) {
	t.referencing(func(o *Table, k *foreignKey) bool {
		if others && o == t {
			return true
		}
		from, key = o, k
		return false
	})
	return from, key
}

// referencedBy is the error of a constraint, or of an index, that a foreign key needs; nil when none does.
func (t *Table) referencedBy(index string) (err *sqltype.Error) {
	x := t.index(index)
	if x == nil {
		return nil
	}
	t.referencing(func(o *Table, k *foreignKey) bool {
		if k.index == x.id {
			err = sqltype.Errorf(3725, "The constraint '%s' is being referenced by table '%s', foreign key constraint '%s'.", x.name, o.Name, k.name)
		}
		return err == nil
	})
	return err
}

// enforce is ALTER TABLE ... CHECK or NOCHECK CONSTRAINT.
func (t *Table) enforce(e *tsql.Enforcement) error {
	not := func(reason *sqltype.Error) error {
		err := sqltype.Errorf(4916, "Could not enable or disable the constraint. See previous errors.")
		err.First = reason
		return err
	}
	names := e.Names
	if e.All {
		names = nil
		for _, k := range t.foreign {
			names = append(names, k.name)
		}
		for _, c := range t.checks {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		switch k := t.constraint(name).(type) {
		case *foreignKey:
			if e.On && e.Check {
				if err := t.allReferToSomething(k, t.self()); err != nil {
					return err
				}
			}
			k.disabled, k.untrusted = !e.On, !e.On || !e.Check && (k.untrusted || k.disabled)
		case *check:
			if e.On && e.Check {
				if err := t.allFulfil(k); err != nil {
					return err
				}
			}
			k.disabled, k.Unchecked = !e.On, !e.On || !e.Check && (k.Unchecked || k.disabled)
		case nil:
			return not(sqltype.Errorf(4917, "Constraint '%s' does not exist.", name))
		default:
			return not(sqltype.Errorf(11415, "Object '%s' cannot be disabled or enabled. This action applies only to foreign key and check constraints.", name))
		}
	}
	return nil
}

// self gives the table of which t is a copy.
func (t *Table) self() *Table {
	for _, o := range t.db.tables {
		if o.ID == t.ID {
			return o
		}
	}
	return t
}

// references completes the names of the tables that foreign keys reference, and asks for REFERENCES on them (Microsoft: GRANT
// object permissions (Transact-SQL)).
func (s *Session) references(db *Database, list []tsql.ForeignKeyDef, own tsql.Name) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	for i := range list {
		n := &list[i].Table
		t := s.tableNamed(db, *n)
		if t == nil {
			if n.Schema == "" && !sqltype.EqualName(n.Object, own.Object) {
				n.Schema = s.defaultSchema(db)
			}
			continue
		}
		if n.Schema == "" {
			n.Schema = t.Schema
		}
		if o := t.object(); !s.can(db, "REFERENCES", o.securable()) {
			return constraintFailed(sqltype.Errorf(1782, "User does not have correct permissions on referenced table '%s' to create foreign key '%s'.", n, list[i].Name))
		}
	}
	return nil
}
