package cdc

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Capture says how a capture instance is made; the zero value is sys.sp_cdc_enable_table with its defaults.
type Capture struct {
	Name    string   // default schema_table
	Columns []string // default all
	Role    string   // gating role
	Net     bool     // supports net changes
	// Index is the unique index that tells rows apart; default the primary key.
	Index string
	// Filegroup of the change table; the only one there is is PRIMARY, which is the default.
	Filegroup string
	// Start is the low endpoint, when it is given; it then must be above all LSNs but may equal the next commit's.
	Start LSN
	// Quiet leaves the idle entry out with which capture, unless frozen, comes to a new instance at once. Then
	// sys.fn_cdc_get_min_lsn is zero until the next commit or entry.
	Quiet bool
}

// maxInstanceName is the length of a capture instance's name in characters, maxNetKey the number of columns of the
// index for net changes (Microsoft: Database engine events and errors, 22927 and 22865).
const (
	maxInstanceName = 100
	maxNetKey       = 14
)

// Enable is sys.sp_cdc_enable_db. It does nothing in a database that is enabled.
func (db *Database) Enable() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if systemDatabase(db.Name) {
		return sqltype.Errorf(22989, "Could not enable Change Data Capture for database '%s'. Change data capture is not supported on system databases, or on a distribution database.", db.Name)
	}
	if db.enabled.Load() {
		return nil
	}
	if named(db.schemas, "cdc") || !db.sec.captureUser(db.localNow()) {
		return sqltype.Errorf(22906, "The database '%s' cannot be enabled for Change Data Capture because a database user named 'cdc' or a schema named 'cdc' already exists in the current database. These objects are required exclusively by Change Data Capture. Drop or rename the user or schema and retry the operation.", db.Name)
	}
	db.enabled.Store(true)
	return nil
}

// Disable is sys.sp_cdc_disable_db: all capture instances and both jobs go.
func (db *Database) Disable() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.disable()
}

func (db *Database) disable() {
	if db.enabled.Swap(false) {
		db.sec.dropCaptureUser()
	}
	db.mapping = nil
	db.keepQueue(nil)
	db.capture, db.cleanup, db.stopped, db.jobsMade = nil, nil, false, false
	for _, t := range db.tables {
		t.inst = nil
	}
}

func (db *Database) notEnabled() error {
	return sqltype.Errorf(22901, "The database '%s' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.", db.Name)
}

func noTable(schema, name string) error {
	return sqltype.Errorf(22931, "Source table '%s.%s' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.", schema, name)
}

// EnableTable is sys.sp_cdc_enable_table: it makes a capture instance of a table, which may have two at a time. The
// first of a database makes its jobs and starts capture. It waits for transactions that have written the table, whose
// commits are not in the instance (verified on SQL Server 2022).
func (db *Database) EnableTable(table string, c Capture) error {
	return db.enableTable(context.Background(), table, c, enabler{login: "sa", wait: -1})
}

// enabler is who makes a capture instance.
type enabler struct {
	login string
	wait  lockWait
}

func (db *Database) enableTable(ctx context.Context, table string, c Capture, by enabler) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if !db.enabled.Load() {
		return db.notEnabled()
	}
	t, err := db.tableNamed(table)
	if err != nil {
		schema, name, _ := strings.Cut(table, ".")
		return noTable(schema, name)
	}
	if err := db.await(ctx, nil, by.wait, lockSchema, func() []*Tx { return t.writers(nil) }); err != nil {
		return err
	}
	in, err := db.newInstance(t, c)
	if err != nil {
		return err
	}
	if !db.jobsMade {
		if err := db.firstJobs(by.login); err != nil {
			return err
		}
		db.jobsMade = true
	}
	in.ID = db.objectID()
	if in.created = c.Start; c.Start.IsZero() {
		in.created = db.nextLSN(0)
	}
	in.start = in.created
	in.special()
	t.inst = append(t.inst, in)
	if in.Role != "" {
		db.sec.ensureRole(in.Role, in.at)
	}
	if !c.Quiet {
		db.idle(db.nextLSN(0), db.srv.clock.Now())
	}
	db.srv.poke()
	return nil
}

// newInstance checks what a capture instance is to be.
func (db *Database) newInstance(t *Table, c Capture) (*Instance, error) {
	if c.Name == "" {
		c.Name = t.Schema + "_" + t.Name
	}
	c.Name = strings.TrimRight(c.Name, " ")
	if utf8.RuneCountInString(c.Name) > maxInstanceName {
		return nil, sqltype.Errorf(22927, "Capture instance name '%s' exceeds the length limit of 100 characters. Specify a name that satisfies the length constraint.", c.Name)
	}
	if _, ok := db.instance(c.Name); ok {
		return nil, sqltype.Errorf(22926, "Could not create a capture instance because the capture instance name '%s' already exists in the current database. Specify an explicit unique name for the parameter @capture_instance.", c.Name)
	}
	if len(t.inst) >= 2 {
		return nil, sqltype.Errorf(22962, "Two capture instances already exist for source table '%s.%s'. A table can have at most two capture instances. If the current tracking options are not appropriate, disable change tracking for the obsolete instance by using sys.sp_cdc_disable_table and retry the operation.", t.Schema, t.Name)
	}
	if c.Filegroup != "" && !sqltype.EqualName(c.Filegroup, "PRIMARY") {
		return nil, sqltype.Errorf(22973, "The specified filegroup '%s' is not a valid filegroup for database '%s'. Specify a valid existing filegroup or create the named filegroup, and retry the operation.", c.Filegroup, db.Name)
	}
	in := &Instance{table: t, Name: c.Name, Role: c.Role, net: c.Net, filegroup: c.Filegroup, at: db.localNow()}
	if err := in.identify(c); err != nil {
		return nil, err
	}
	return in, in.choose(c.Columns)
}

// identify finds what tells the rows of the table apart.
func (in *Instance) identify(c Capture) error {
	t := in.table
	in.index, in.key = t.KeyName, t.key
	if c.Index != "" {
		var err error
		if in.index, in.key, err = t.uniqueIndex(c.Index); err != nil {
			return err
		}
	}
	if !in.net {
		return nil
	}
	if in.key == nil {
		return sqltype.Errorf(22939, "The parameter @supports_net_changes is set to 1, but the source table does not have a primary key defined and no alternate unique index has been specified.")
	}
	if len(in.key) > maxNetKey {
		return sqltype.Errorf(22865, "The number of columns in the index '%s', used as the unique row identifier to support net changes for table '%s'.'%s', exceeds the limit of 14 columns. Set the parameter @supports_net_changes to 0 or use the @index_name parameter to identify a unique index with fewer than 15 columns as the unique row identifier and resubmit the request.", in.index, t.Schema, t.Name)
	}
	return nil
}

// uniqueIndex finds an index by which rows can be told apart.
func (t *Table) uniqueIndex(name string) (string, []int, error) {
	x := t.index(name)
	if x == nil {
		return "", nil, sqltype.Errorf(22928, "Index name '%s' is not an index for table '%s.%s'. Specify a valid index name for the table.", name, t.Schema, t.Name)
	}
	if !x.unique {
		return "", nil, sqltype.Errorf(22929, "Index '%s' must be either a primary key or a unique index for table '%s.%s'. Specify an index that meets at least one of these requirements.", x.name, t.Schema, t.Name)
	}
	for _, id := range x.cols {
		if t.byID(id).Nullable {
			return "", nil, sqltype.Errorf(22838, "All columns of a CDC unique index must be defined as NOT NULL. Index '%s' selected as the CDC unique index for source table '%s.%s' does not meet this requirement. Define all columns of the selected index as NOT NULL or select another unique index as the CDC index and resubmit the request.", x.name, t.Schema, t.Name)
		}
	}
	return x.name, x.cols, nil
}

// reserved are the names of the columns that a change table has besides the captured ones.
var reserved = []string{"__$start_lsn", "__$end_lsn", "__$seqval", "__$operation", "__$update_mask"}

// choose takes the columns that are captured: those of the list in the table's order, or all.
func (in *Instance) choose(list []string) error {
	t := in.table
	for i, name := range list {
		if t.column(name) == nil {
			return sqltype.Errorf(22930, "Could not locate '%s' as a column of source table '%s.%s'. Specify a valid column name.", name, t.Schema, t.Name)
		}
		if named(list[:i], name) {
			return t.badList()
		}
	}
	for _, col := range t.columns {
		if len(list) > 0 && !named(list, col.Name) {
			continue
		}
		if named(reserved, col.Name) {
			return sqltype.Errorf(22975, "Source table '%s' contains one of the following reserved column names: __$start_lsn, __$end_lsn, __$seqval, __$operation, and __$update_mask. To enable Change Data Capture for this table, specify a captured column list and ensure that these columns are excluded from the list.", t.FullName())
		}
		in.captured = append(in.captured, &captured{name: col.Name, id: col.id, typ: col.Type, computed: col.Computed})
	}
	if !in.net {
		return nil
	}
	for _, id := range in.key {
		if in.ordinal(t.byID(id).Name) == 0 {
			return sqltype.Errorf(22943, "Columns used to uniquely identify a row for net change tracking must be included in the list of captured columns. Add either the primary key columns of the source table, or the columns defined for the index specified in the parameter @index_name to the list of captured columns and retry the operation.")
		}
	}
	return nil
}

func (t *Table) badList() error {
	return sqltype.Errorf(22942, "Columns specified in the captured column list could not be mapped to columns in source table '%s.%s'. Verify that the columns specified in the parameter @captured_column_list are delimited properly and match columns in the source table.", t.Schema, t.Name)
}

// ordinal gives the place of a captured column, from 1; 0 is none.
func (in *Instance) ordinal(column string) int {
	for i, c := range in.captured {
		if sqltype.EqualName(c.name, column) {
			return i + 1
		}
	}
	return 0
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

// DisableTable is sys.sp_cdc_disable_table: the instance, its change rows and its DDL history go at once. With the
// last instance of a database the time mapping goes too.
func (db *Database) DisableTable(instance string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	in, ok := db.instance(instance)
	if !ok {
		return noInstance()
	}
	db.dropInstance(in)
	return nil
}

// dropInstance removes a capture instance. With the last one of the database its jobs go (Microsoft: Enable and disable
// change data capture, Disable for a table). The lock is held.
func (db *Database) dropInstance(in *Instance) {
	t := in.table
	for i, x := range t.inst {
		if x == in {
			t.inst = append(t.inst[:i:i], t.inst[i+1:]...)
			break
		}
	}
	db.recover()
	for _, t := range db.tables {
		if len(t.inst) > 0 {
			return
		}
	}
	db.mapping = nil // Microsoft: Database engine events and errors, 22909
	db.capture, db.cleanup, db.stopped, db.jobsMade = nil, nil, false, false
}
