package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Capture says how a capture instance is made; the zero value is sys.sp_cdc_enable_table with its defaults.
type Capture struct {
	Name    string   // default schema_table
	Columns []string // default all
	Role    string   // gating role
	Net     bool     // supports net changes
	// Start is the low endpoint, when it is given; it then must be above all LSNs but may equal the next commit's.
	Start LSN
	// Quiet leaves the idle entry out with which capture, unless frozen, comes to a new instance at once. Then
	// sys.fn_cdc_get_min_lsn is zero until the next commit or entry.
	Quiet bool
}

// Enable is sys.sp_cdc_enable_db.
func (db *Database) Enable() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.Name == "master" {
		return sqltype.Errorf(22988, "This instance of SQL Server does not allow Change Data Capture on system databases.")
	}
	db.enabled.Store(true)
	return nil
}

// Disable is sys.sp_cdc_disable_db.
func (db *Database) Disable() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.enabled.Store(false)
	db.mapping, db.queue = nil, nil
	for _, t := range db.tables {
		t.inst = nil
	}
}

func (db *Database) notEnabled() error {
	return sqltype.Errorf(22901, "The database '%s' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.", db.Name)
}

// EnableTable is sys.sp_cdc_enable_table: it makes a capture instance of a table, which may have two at a time.
func (db *Database) EnableTable(table string, c Capture) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if !db.enabled.Load() {
		return db.notEnabled()
	}
	t, err := db.tableNamed(table)
	if err != nil {
		return sqltype.Errorf(22931, "Source table '%s' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.", table)
	}
	if c.Name == "" {
		c.Name = t.Schema + "_" + t.Name
	}
	if len(t.inst) >= 2 {
		return sqltype.Errorf(22962, "Two capture instances already exist for source table '%s'. A table can have at most two capture instances. If the current tracking options are not appropriate, disable change tracking for the obsolete instance by using sys.sp_cdc_disable_table and retry the operation.", t.FullName())
	}
	if _, ok := db.instance(c.Name); ok {
		return sqltype.Errorf(22926, "Could not create a capture instance because the capture instance name '%s' already exists in the current database. Specify an explicit unique name for the parameter @capture_instance.", c.Name)
	}
	if c.Net && t.key == nil {
		return sqltype.Errorf(22939, "The parameter @supports_net_changes is set to 1, but the source table does not have a primary key defined and no alternate unique index has been specified.")
	}
	in := &Instance{table: t, ID: db.objectID(), Name: c.Name, Role: c.Role, net: c.Net, at: sqltype.DateTimeTicks(db.srv.local(db.srv.clock.Now()))}
	for _, col := range t.columns {
		if len(c.Columns) > 0 && !named(c.Columns, col.Name) {
			continue
		}
		in.captured = append(in.captured, &captured{name: col.Name, id: col.id, typ: col.Type, computed: col.Computed})
	}
	for _, name := range c.Columns {
		if t.column(name) == nil {
			return sqltype.Errorf(22930, "Could not locate column '%s' in source table '%s'. Specify a valid column name.", name, t.FullName())
		}
	}
	in.created = c.Start
	if c.Start.IsZero() {
		in.created = db.nextLSN(0)
	}
	in.start = in.created
	in.special()
	t.inst = append(t.inst, in)
	if !c.Quiet {
		db.idle(db.nextLSN(0), db.srv.clock.Now())
	}
	return nil
}

func named(list []string, name string) bool {
	for _, n := range list {
		if sqltype.EqualName(n, name) {
			return true
		}
	}
	return false
}

// instance finds a capture instance without regard to case.
func (db *Database) instance(name string) (*Instance, bool) {
	for _, t := range db.tables {
		for _, in := range t.inst {
			if sqltype.EqualName(in.Name, name) {
				return in, true
			}
		}
	}
	return nil, false
}

func noInstance() error { return sqltype.Errorf(22981, "Object does not exist or access is denied.") }

// DisableTable is sys.sp_cdc_disable_table: the instance, its change rows and its DDL history go at once.
func (db *Database) DisableTable(instance string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	in, ok := db.instance(instance)
	if !ok {
		return noInstance()
	}
	t := in.table
	for i, x := range t.inst {
		if x == in {
			t.inst = append(t.inst[:i:i], t.inst[i+1:]...)
			break
		}
	}
	return nil
}

// CleanupAt is Cleanup at exactly the given mark. first runs, if given, after the watermark moved and before rows go.
func (db *Database) CleanupAt(instance string, low LSN, first func()) error {
	db.mu.Lock()
	in, ok := db.instance(instance)
	if !ok {
		db.mu.Unlock()
		return noInstance()
	}
	if in.start.Less(low) {
		in.start = low
	}
	db.mu.Unlock()
	if first != nil {
		first()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	in.rows = append([]change(nil), in.rows[in.before(in.start):]...)
	lowest := in.start
	for _, t := range db.tables {
		for _, x := range t.inst {
			if x.start.Less(lowest) {
				lowest = x.start
			}
		}
	}
	k := db.entriesBefore(lowest)
	if k == len(db.mapping) && k > 0 {
		k-- // the newest entry stays: it is where capture is
	}
	db.mapping = append([]*Entry(nil), db.mapping[k:]...)
	return nil
}

func (db *Database) entriesBefore(l LSN) int {
	n := 0
	for n < len(db.mapping) && db.mapping[n].LSN.Less(l) {
		n++
	}
	return n
}

// Cleanup is sys.sp_cdc_cleanup_change_table: it moves the low watermark first and then deletes change rows below it,
// and mapping entries below every instance's. The mark is lowered to the first entry that shares its commit time.
func (db *Database) Cleanup(instance string, low LSN) error {
	db.mu.RLock()
	i := db.entriesBefore(low)
	if i < len(db.mapping) && db.mapping[i].LSN == low {
		for i > 0 && db.mapping[i-1].End == db.mapping[i].End {
			i--
		}
		low = db.mapping[i].LSN
	}
	db.mu.RUnlock()
	return db.CleanupAt(instance, low, nil)
}

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
	db.queue = append(db.queue, &record{lsn: lsn, at: now, apply: func() {
		for _, in := range instances {
			in.ddl = append(in.ddl, ddlEntry{lsn: lsn, command: text, time: minute, required: required})
			if a.Change != nil {
				in.retype(a.Change.Name, a.Change.Type)
			}
			in.special()
		}
	}})
	db.advance()
	return nil
}

// retype converts a captured column, as capture does after ALTER COLUMN.
func (in *Instance) retype(name string, to sqltype.Type) {
	for _, c := range in.captured {
		col := in.table.column(name)
		if col == nil || col.id != c.id {
			continue
		}
		rows := append([]change(nil), in.rows...)
		for i := range rows {
			v, err := sqltype.Convert(at(rows[i].image, c.id), c.typ, to, 0)
			if err != nil {
				v = sqltype.Value{}
			}
			image := append(sqltype.Row(nil), rows[i].image...)
			if c.id < len(image) {
				image[c.id] = v
			}
			rows[i].image = image
		}
		in.rows, c.typ = rows, to
	}
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
