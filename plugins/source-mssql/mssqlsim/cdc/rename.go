package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// RenameTable is sp_rename of a table: its capture instances keep their names and follow it.
func (db *Database) RenameTable(table, name string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return err
	}
	return db.renameTable(t, name)
}

func (db *Database) renameTable(t *Table, name string) error {
	if db.table(t.Schema, name) != nil || db.routines[routineKey(t.Schema, name)] != nil || strings.TrimSpace(name) == "" {
		return inUse(name, "object")
	}
	t.Name = name
	return nil
}

func inUse(name, what string) error {
	return sqltype.Errorf(15335, "Error: The new name '%s' is already in use as a %s name and would cause a duplicate that is not permitted.", name, what)
}

var renameParams = []tsql.Param{need("@objname", sqltype.Str(sqltype.NVarChar, 1035)), need("@newname", sysname), may("@objtype", sqltype.Str(sqltype.VarChar, 13))}

// rename is sp_rename, which warns of what it does (Microsoft: Database engine events and errors, 15477).
func rename(s *Session, db *Database, a args) (*tsql.Rows, error) {
	if _, err := renameNow(s, db, a); err != nil {
		return nil, err
	}
	return &tsql.Rows{Messages: []*sqltype.Error{{Number: 15477, State: 1, Message: "Caution: Changing any part of an object name could break scripts and stored procedures."}}}, nil
}

// renameNow is sp_rename (Microsoft: sp_rename (Transact-SQL)) of tables, columns, indexes and constraints. A column that
// is captured cannot be renamed: CDC marks it as replicated (verified on SQL Server 2022 and 2017).
func renameNow(s *Session, db *Database, a args) (*tsql.Rows, error) {
	name, to, kind := a.str("@objname"), a.str("@newname"), strings.ToUpper(a.str("@objtype"))
	if !s.can(db, "ALTER", ofSchema("dbo")) && !s.can(db, "ALTER ANY SCHEMA", wholeDatabase) {
		return nil, ambiguous(name, kind) // here who renames needs ALTER on the schemas, not on the object only
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	switch kind {
	case "COLUMN", "INDEX":
		parts := nameParts(name)
		if len(parts) < 2 {
			return nil, ambiguous(name, kind)
		}
		schema, part := "", parts[len(parts)-1]
		if len(parts) > 2 {
			schema = parts[len(parts)-3]
		}
		t := db.table(schema, parts[len(parts)-2])
		if t == nil {
			return nil, ambiguous(name, kind)
		}
		if kind == "COLUMN" {
			return nil, t.renameColumn(name, part, to)
		}
		return nil, t.renameIndex(name, part, to)
	case "", "OBJECT":
		if t := db.tableOf(name); t != nil {
			return nil, db.renameTable(t, to)
		}
		parts := nameParts(name)
		if schema := ""; len(parts) < 3 {
			if len(parts) == 2 {
				schema = parts[0]
			}
			if db.routines[routineKey(schema, parts[len(parts)-1])] != nil {
				return nil, sqltype.Unsupported("sp_rename of a procedure")
			}
		}
		return nil, db.renameConstraint(name, parts[len(parts)-1], to)
	case "DATABASE", "USERDATATYPE", "STATISTICS":
		return nil, sqltype.Unsupported("sp_rename of a %s", kind)
	}
	return nil, sqltype.Errorf(15249, "Error: Explicit @objtype '%s' is unrecognized.", kind)
}

func ambiguous(name, kind string) error {
	if kind == "" {
		kind = "OBJECT"
	}
	return sqltype.Errorf(15248, "Either the parameter @objname is ambiguous or the claimed @objtype (%s) is wrong.", kind)
}

func (t *Table) renameColumn(full, name, to string) error {
	c := t.column(name)
	if c == nil {
		return ambiguous(full, "COLUMN")
	}
	if t.column(to) != nil && t.column(to) != c {
		return inUse(to, "COLUMN")
	}
	for _, in := range t.inst {
		for _, x := range in.captured {
			if x.id == c.id {
				return sqltype.Errorf(4928, "Cannot alter column '%s' because it is 'REPLICATED'.", c.Name)
			}
		}
	}
	if _, object := t.needsExpression(c); object != "" {
		return sqltype.Errorf(15336, "Object '%s' cannot be renamed because the object participates in enforced dependencies.", full)
	}
	own := *c
	own.Name = to
	columns := append([]*column(nil), t.columns...)
	for i := range columns {
		if columns[i] == c {
			columns[i] = &own
		}
	}
	t.columns = columns
	return t.bind()
}

func (t *Table) renameIndex(full, name, to string) error {
	x := t.index(name)
	if x == nil {
		return ambiguous(full, "INDEX")
	}
	if o := t.index(to); o != nil && o != x {
		return inUse(to, "INDEX")
	}
	t.setIndexName(x, to)
	return nil
}

// setIndexName names an index anew; capture instances that were made with it know it under the new name.
func (t *Table) setIndexName(x *index, to string) {
	for _, in := range t.inst {
		if sqltype.EqualName(in.index, x.name) {
			in.index = to
		}
	}
	own := *x
	own.name = to
	indexes := append([]*index(nil), t.indexes...)
	for i := range indexes {
		if indexes[i] == x {
			indexes[i] = &own
		}
	}
	t.indexes = indexes
	if own.kind == tsql.PrimaryKey {
		t.KeyName = to
	}
}

func (db *Database) renameConstraint(full, name, to string) error {
	for _, t := range db.tables {
		k := t.constraint(name)
		if k == nil {
			continue
		}
		if db.constraintNamed(to) {
			return inUse(to, "OBJECT")
		}
		switch k := k.(type) {
		case *index:
			t.setIndexName(k, to)
		case *check:
			k.Name = to
		case *foreignKey:
			k.name = to
		case *column:
			d := *k.Named
			d.Name = to
			k.Named = &d
		}
		return nil
	}
	return sqltype.Errorf(15225, "No item by the name of '%s' could be found in the current database '%s', given that @itemtype was input as '(null)'.", full, db.Name)
}

// renamed finds the table that sp_rename is about.
func (db *Database) renamed(a args) *Table {
	parts := nameParts(a.str("@objname"))
	switch strings.ToUpper(a.str("@objtype")) {
	case "COLUMN", "INDEX":
		if len(parts) < 2 {
			return nil
		}
		schema := ""
		if len(parts) > 2 {
			schema = parts[len(parts)-3]
		}
		return db.table(schema, parts[len(parts)-2])
	}
	if t := db.tableOf(a.str("@objname")); t != nil {
		return t
	}
	for _, t := range db.tables {
		if t.constraint(parts[len(parts)-1]) != nil {
			return t
		}
	}
	return nil
}
