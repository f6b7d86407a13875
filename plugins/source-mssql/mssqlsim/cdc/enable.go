package cdc

import (
	"errors"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Alter changes the shape of a table. Each instance's DDL history gets a row at a new LSN, or at the one given.
func (db *Database) Alter(table string, a tsql.Alter, text string, lsn LSN) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return sqltype.Errorf(4902, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", table)
	}
	required, err := t.alter(a)
	if err != nil {
		return err
	}
	if len(t.inst) == 0 {
		return nil
	}
	if lsn.IsZero() {
		lsn = db.nextLSN(0)
	} else if err := db.takeLSN(lsn); err != nil {
		return err
	}
	now := db.srv.clock.Now()
	minute := db.srv.local(now)
	minute -= minute % sqltype.TicksPerMinute
	instances := append([]*Instance(nil), t.inst...)
	db.queue = append(db.queue, &record{lsn: lsn, at: now, apply: func() error {
		for _, in := range instances {
			if in.done(lsn) || !in.alive() {
				continue // in a scan that failed at the next instance, or dropped since
			}
			if a.Change != nil {
				if err := in.retype(a.Change.Name, a.Change.Type); err != nil {
					return err
				}
			}
			in.ddl = append(in.ddl, ddlEntry{lsn: lsn, command: text, time: minute, required: required})
			in.special()
		}
		return nil
	}})
	db.advance()
	return nil
}

// retype converts a captured column, as capture does after ALTER COLUMN. A row that the new type does not hold makes
// it fail, and capture with it (Microsoft: Known issues and errors with CDC, DDL changes to source tables).
func (in *Instance) retype(name string, to sqltype.Type) error {
	for _, c := range in.captured {
		col := in.table.column(name)
		if col == nil || col.id != c.id {
			continue
		}
		rows := append([]change(nil), in.rows...)
		for i := range rows {
			v, err := tsql.Assign(at(rows[i].image, c.id), c.typ, tsql.Column{Name: c.name, Type: to, Nullable: true}, "cdc."+in.Name+"_CT")
			if err != nil {
				return errors.Join(err, sqltype.Errorf(22976, "Could not alter column '%s' of change table '%s' in response to a data type change in the corresponding column of the source table '%s'. The Change Data Capture meta data for source table '%s' no longer accurately reflects the source table. Refer to previous errors in the current session to identify the cause and correct any associated problems.",
					c.name, "cdc."+in.Name+"_CT", in.table.FullName(), in.table.FullName()), sqltype.Errorf(22860, "Log scan process failed in processing a ddl log record. Refer to previous errors in the current session to identify the cause and correct any associated problems."))
			}
			image := append(sqltype.Row(nil), rows[i].image...)
			if c.id < len(image) {
				image[c.id] = v
			}
			rows[i].image = image
		}
		in.rows, c.typ = rows, to
	}
	return nil
}

// alter changes columns and rows. required tells whether captured columns had to be changed too.
func (t *Table) alter(a tsql.Alter) (required bool, err error) {
	if len(t.locks) > 0 {
		return false, errLockTimeout
	}
	each := func(fn func(row sqltype.Row) error) error {
		rows := newTree(t.compareKeys())
		for c := t.rows.ascend(nil); ; {
			row := c.next()
			if row == nil {
				break
			}
			out := make(sqltype.Row, t.lastID+1)
			copy(out, row)
			if err := fn(out); err != nil {
				return err
			}
			rows.set(out)
		}
		t.rows = rows
		return nil
	}
	for _, d := range a.Add {
		if t.column(d.Name) != nil {
			return false, sqltype.Errorf(2705, "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.", d.Name, t.FullName())
		}
		if !d.Nullable && d.Default.IsNull() && t.rows.n > 0 {
			return false, sqltype.Errorf(4901, "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table must be empty to allow addition of this column. Column '%s' cannot be added to non-empty table '%s' because it does not satisfy these conditions.", d.Name, t.Name)
		}
		c := t.addColumn(d)
		if !d.Nullable {
			if err := each(func(row sqltype.Row) error { row[c.id] = d.Default; return nil }); err != nil {
				return false, err
			}
		}
	}
	for _, name := range a.Drop {
		c := t.column(name)
		if c == nil {
			return false, sqltype.Errorf(4924, "ALTER TABLE DROP COLUMN failed because column '%s' does not exist in table '%s'.", name, t.Name)
		}
		for _, k := range t.key {
			if k == c.id {
				return false, sqltype.Errorf(5074, "The object '%s' is dependent on column '%s'.", t.KeyName, name)
			}
		}
		for i, x := range t.columns {
			if x == c {
				t.columns = append(t.columns[:i:i], t.columns[i+1:]...)
				break
			}
		}
		if err := each(func(row sqltype.Row) error { row[c.id] = sqltype.Value{}; return nil }); err != nil {
			return false, err
		}
	}
	if a.Change == nil {
		return false, nil
	}
	c := t.column(a.Change.Name)
	if c == nil {
		return false, sqltype.Errorf(4924, "ALTER TABLE ALTER COLUMN failed because column '%s' does not exist in table '%s'.", a.Change.Name, t.Name)
	}
	for _, k := range t.key {
		if k == c.id && len(t.inst) > 0 {
			return false, sqltype.Errorf(4922, "ALTER TABLE ALTER COLUMN %s failed because one or more objects access this column.", a.Change.Name)
		}
	}
	from := c.Type
	required = from != a.Change.Type
	if err := each(func(row sqltype.Row) error {
		v, err := tsql.Assign(row[c.id], from, tsql.Column{Name: c.Name, Type: a.Change.Type}, t.FullName())
		if err != nil {
			return err
		}
		if v.IsNull() && !a.Change.Nullable && !a.KeepNull {
			return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s.%s'; column does not allow nulls. UPDATE fails.", c.Name, t.db.Name, t.FullName())
		}
		row[c.id] = v
		return nil
	}); err != nil {
		return false, err
	}
	c.Type = a.Change.Type
	if !a.KeepNull {
		c.Nullable = a.Change.Nullable
	}
	return required, nil
}

// RenameTable is sp_rename of a table: its capture instances keep their names and follow it.
func (db *Database) RenameTable(table, name string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return err
	}
	if db.table(t.Schema, name) != nil || strings.TrimSpace(name) == "" {
		return sqltype.Errorf(15335, "Error: The new name '%s' is already in use as a object name and would cause a duplicate that is not permitted.", name)
	}
	t.Name = name
	return nil
}
