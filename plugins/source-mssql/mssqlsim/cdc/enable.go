package cdc

import (
	"errors"

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
			in.ddl = append(in.ddl, ddlEntry{lsn: lsn, command: text, time: minute, required: required && in.ordinal(a.Change.Name) > 0})
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
