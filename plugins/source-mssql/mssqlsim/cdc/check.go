package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// check is a CHECK constraint.
type check struct {
	tsql.CheckDef
	object   int32
	disabled bool
	holds    func(sqltype.Row) (sqltype.Value, error)
}

// addCheck gives the table a CHECK. Rows that are there must fulfil it, unless it is added WITH NOCHECK.
func (t *Table) addCheck(d tsql.CheckDef) error {
	c := &check{CheckDef: d, object: t.db.objectID()}
	if c.Name == "" {
		c.Name = generatedName("CK", t.Name, d.Column, c.object)
	}
	if t.db.constraintNamed(c.Name) || t.constraint(c.Name) != nil {
		return t.db.taken(c.Name)
	}
	for _, n := range d.Condition.Columns() {
		if t.column(n) == nil {
			return sqltype.Errorf(207, "Invalid column name '%s'.", n)
		}
		if d.Column != "" && !sqltype.EqualName(n, d.Column) {
			return constraintFailed(sqltype.Errorf(8141, "Column CHECK constraint for column '%s' references another column, table '%s'.", d.Column, t.Name))
		}
	}
	var err error
	if _, _, c.holds, err = d.Condition.Bind(t.describe()); err != nil {
		return err
	}
	if !d.Unchecked {
		if err := t.allFulfil(c); err != nil {
			return err
		}
	}
	t.checks = append(t.checks[:len(t.checks):len(t.checks)], c)
	return nil
}

// allFulfil looks at the rows that are there.
func (t *Table) allFulfil(c *check) error {
	for cur := t.rows.ascend(nil); ; {
		row := cur.next()
		if row == nil {
			return nil
		}
		v, err := c.holds(t.visible(row))
		if err != nil {
			return err
		}
		if !v.IsNull() && !v.Bool() {
			return t.conflict("ALTER TABLE", c)
		}
	}
}

// checked tells whether a row fulfils the constraints; one whose condition is unknown does.
func (t *Table) checked(row sqltype.Row, insert bool, verb string) error {
	for _, c := range t.checks {
		if c.disabled {
			continue
		}
		v, err := c.holds(row)
		if err != nil {
			return err
		}
		if v.IsNull() || v.Bool() {
			continue
		}
		if verb == "" {
			verb = map[bool]string{true: "INSERT", false: "UPDATE"}[insert]
		}
		return t.conflict(verb, c)
	}
	return nil
}

func (t *Table) conflict(statement string, c *check) error {
	column := ""
	if names := c.Condition.Columns(); len(names) == 1 {
		column = ", column '" + t.column(names[0]).Name + "'"
	}
	return sqltype.Errorf(547, "The %s statement conflicted with the CHECK constraint \"%s\". The conflict occurred in database \"%s\", table \"%s\"%s.", statement, c.Name, t.database(), t.FullName(), column)
}

// bind makes functions of the expressions of computed columns and checks; it is called when columns were added, changed
// or dropped, for the functions know columns by their places.
func (t *Table) bind() error {
	for _, c := range t.columns {
		if c.Computation == nil {
			continue
		}
		for _, n := range c.Computation.Columns() {
			o := t.column(n)
			if o == nil {
				return sqltype.Errorf(207, "Invalid column name '%s'.", n)
			}
			if o.Computed {
				return sqltype.Errorf(1759, "Computed column '%s' in table '%s' is not allowed to be used in another computed-column definition.", o.Name, t.Name)
			}
		}
		typ, null, fn, err := c.Computation.Bind(t.describe())
		if err != nil {
			return err
		}
		if c.Type = typ; c.Nullable {
			c.Nullable = null
		}
		c.compute = fn
	}
	for _, k := range t.checks {
		_, _, fn, err := k.Condition.Bind(t.describe())
		if err != nil {
			return err
		}
		k.holds = fn
	}
	return nil
}

// constraint finds what a name means among the constraints of a table: an *index, a *check, a *foreignKey, or the *column of a DEFAULT.
func (t *Table) constraint(name string) any {
	for _, x := range t.indexes {
		if x.kind != tsql.PlainIndex && sqltype.EqualName(x.name, name) {
			return x
		}
	}
	for _, c := range t.checks {
		if sqltype.EqualName(c.Name, name) {
			return c
		}
	}
	for _, k := range t.foreign {
		if sqltype.EqualName(k.name, name) {
			return k
		}
	}
	for _, c := range t.columns {
		if c.Named != nil && sqltype.EqualName(c.Named.Name, name) {
			return c
		}
	}
	return nil
}

// constraintNamed tells whether a table of the database has a constraint of that name.
func (db *Database) constraintNamed(name string) bool {
	for _, t := range db.tables {
		if t.constraint(name) != nil {
			return true
		}
	}
	return false
}

func (db *Database) taken(name string) error {
	return constraintFailed(sqltype.Errorf(2714, "There is already an object named '%s' in the database.", name))
}
