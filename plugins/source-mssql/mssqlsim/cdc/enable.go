package cdc

import (
	"errors"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Alter changes the shape of a table. Each instance's DDL history gets a row at a new LSN, or at the one given.
func (db *Database) Alter(table string, a tsql.Alter, text string, lsn LSN) error {
	return db.alter(nil, table, a, text, lsn)
}

// alter is Alter in a transaction: its commit's LSN is that of the change.
func (db *Database) alter(tx *Tx, table string, a tsql.Alter, text string, lsn LSN) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return sqltype.Errorf(4902, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", table)
	}
	was := t.columns
	required, err := t.alter(a)
	if err != nil {
		return err
	}
	if len(t.inst) == 0 {
		return nil
	}
	var changed int // id of the column whose type is another
	if required {
		changed = t.column(a.Change.Name).id
	}
	gone := map[int]bool{}
	for _, c := range was {
		gone[c.id] = t.byID(c.id) == nil
	}
	now := db.srv.clock.Now()
	minute := db.srv.local(now)
	minute -= minute % sqltype.TicksPerMinute
	db.ddls++
	d := &ddlRecord{n: db.ddls, table: t, text: text, minute: minute, changed: changed, gone: gone}
	if required {
		d.to = a.Change.Type
	}
	if tx != nil {
		tx.ddl = append(tx.ddl, d)
		return nil
	}
	if lsn.IsZero() {
		lsn = db.nextLSN(0)
	} else if err := db.takeLSN(lsn); err != nil {
		return err
	}
	db.keepQueue(append(db.queue, &record{lsn: lsn, at: now, ddl: d}))
	db.advance()
	return nil
}

// ddlRecord is a change of the shape of a captured table in the log.
type ddlRecord struct {
	n       int64 // counts those of the database
	table   *Table
	text    string
	minute  int64
	changed int // id of the column whose type is another
	to      sqltype.Type
	gone    map[int]bool // ids of the columns that were dropped
}

// apply does what capture does when it comes to the record at an LSN, to the instances that were there then.
func (d *ddlRecord) apply(lsn LSN) error {
	for _, in := range d.table.inst {
		if in.done(d.n) || lsn.Less(in.created) {
			continue // in a scan that failed at the next instance, or made since
		}
		x := in.column(d.changed)
		if x != nil {
			if err := in.retype(x, d.to); err != nil {
				return err
			}
		}
		for _, c := range in.captured {
			c.gone = c.gone || d.gone[c.id]
		}
		in.ddl = append(in.ddl, ddlEntry{n: d.n, lsn: lsn, command: d.text, time: d.minute, required: x != nil})
		in.special()
	}
	return nil
}

// retype converts a captured column, as capture does after ALTER COLUMN. A row that the new type does not hold makes
// it fail, and capture with it (Microsoft: Known issues and errors with CDC, DDL changes to source tables).
func (in *Instance) retype(c *captured, to sqltype.Type) error {
	table := "cdc." + in.Name + "_CT"
	rows := append([]change(nil), in.rows...)
	for i := range rows {
		v, err := tsql.Assign(at(rows[i].image, c.id), c.typ, tsql.Column{Name: c.name, Type: to, Nullable: true}, in.table.db.Name+"."+table, in.table.db.srv.release())
		if err != nil {
			source := in.table.FullName()
			return errors.Join(err,
				sqltype.Errorf(22976, "Could not alter column '%s' of change table '%s' in response to a data type change in the corresponding column of the source table '%s'. The Change Data Capture meta data for source table '%s' no longer accurately reflects the source table. Refer to previous errors in the current session to identify the cause and correct any associated problems.", c.name, table, source, source),
				sqltype.Errorf(22860, "Log scan process failed in processing a ddl log record. Refer to previous errors in the current session to identify the cause and correct any associated problems."))
		}
		image := append(sqltype.Row(nil), rows[i].image...)
		if c.id < len(image) {
			image[c.id] = v
		}
		rows[i].image = image
	}
	in.rows, c.typ = rows, to
	return nil
}
