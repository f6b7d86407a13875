package cdc

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Database is one database: its tables, its log, and what capture made of it.
type Database struct {
	srv  *Server
	Name string
	ID   int16
	// family tells databases apart that are not backups of one another. It changes under the locks of the server and
	// of the database.
	family [16]byte

	mu         sync.RWMutex
	created    int64
	schemas    []string
	tables     []*Table
	routines   map[string]*tsql.Routine // by schema and name in lower case
	nextObject int32
	rowVersion uint64
	freed      chan struct{} // closed whenever locks are given back
	waiters    map[*Tx]bool  // who waits for that

	// Sessions of all databases read these, in sys.databases, without the lock:
	// READ_COMMITTED_SNAPSHOT, whether change data capture is enabled,
	// service_broker_guid and group_database_id.
	rcsi, enabled             atomic.Bool
	snapshots                 atomic.Int32 // ALLOW_SNAPSHOT_ISOLATION, a number of snapshotStates
	secondary                 atomic.Bool  // a readable secondary
	waiting                   atomic.Bool  // the queue is not empty
	offline, single, backedUp atomic.Bool  // SET OFFLINE, SET SINGLE_USER, has been backed up or restored
	restoring                 atomic.Bool  // a RESTORE is at it: nobody may enter
	guid, group               atomic.Pointer[[16]byte]
	recovery                  atomic.Pointer[string] // recovery_model_desc
	placed                    atomic.Pointer[[]file] // its files as a RESTORE has placed them; nil are those of CREATE DATABASE

	sec *security // under its own lock

	active map[*Tx]bool // transactions that have accessed a table and have not ended

	shaping atomic.Pointer[Tx] // the transaction that has changed the shape and has not ended
	shapes  int64              // changes of the shape of tables so far

	claimed  *Session     // who waits with ALTER DATABASE for the others to leave; guarded by the server's mu
	sessions int          // whose current database this is; guarded by the server's mu
	open     atomic.Int64 // transactions that sessions have begun here, wherever they are by now

	last    LSN   // newest LSN given out
	ddls    int64 // changes of the shape of captured tables so far
	tran    uint64
	queue   []*record // committed and not yet captured; keepQueue sets it
	mapping []*Entry
	frozen  bool
	lag     time.Duration

	capture, cleanup *job  // nil when there is none
	jobsMade         bool  // the first captured table has made them
	stopped          bool  // the capture job does not run, so that commits wait in the log
	scanner          int16 // session that runs sys.sp_cdc_scan, or 0
	scans            scanHistory
	lastEntry        time.Time // when capture last wrote to the mapping, or began
	retry            time.Time // not before which capture tries again after a failure
}

func newDatabase(s *Server, name string, id int16) *Database {
	db := &Database{srv: s, Name: name, ID: id, created: sqltype.DateTimeTicks(s.local(s.clock.Now())), schemas: []string{"dbo"}, routines: map[string]*tsql.Routine{},
		nextObject: 901578250, freed: make(chan struct{}), waiters: map[*Tx]bool{}, active: map[*Tx]bool{}, last: LSN{0, 0, 0, 0x2A, 0, 0, 0x01, 0, 0, 0}}
	db.sec = newSecurity(db.created)
	db.snapshots.Store(snapshotsOn)
	db.rcsi.Store(s.Version == Azure && name != "master" && name != msdb) // Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), READ COMMITTED
	db.setGUID()
	db.family = newGUID()
	recovery := "FULL" // as of the database model (Microsoft: Recovery models)
	db.recovery.Store(&recovery)
	return db
}

// keepQueue sets what waits for capture.
func (db *Database) keepQueue(q []*record) {
	db.queue = q
	db.waiting.Store(len(q) > 0)
}

func (db *Database) setGUID() {
	id := newGUID()
	db.guid.Store(&id)
}

func (db *Database) nextRowVersion() string {
	db.rowVersion++
	return string(binary.BigEndian.AppendUint64(nil, db.rowVersion+2000))
}

func (db *Database) objectID() int32 {
	db.nextObject += 16
	return db.nextObject
}

func (db *Database) table(schema, name string) *Table {
	if schema == "" {
		schema = "dbo"
	}
	for _, t := range db.tables {
		if sqltype.EqualName(t.Name, name) && sqltype.EqualName(t.Schema, schema) {
			return t
		}
	}
	return nil
}

// tableNamed finds a table by "schema.name". Either name may hold dots, so that each
// of them can be the one between; dbo may be left out where the name holds none.
func (db *Database) tableNamed(full string) (*Table, error) {
	for i, c := range full {
		if c != '.' {
			continue
		}
		if t := db.table(full[:i], full[i+1:]); t != nil {
			return t, nil
		}
	}
	if !strings.Contains(full, ".") {
		if t := db.table("dbo", full); t != nil {
			return t, nil
		}
	}
	return nil, sqltype.Errorf(208, "Invalid object name '%s'.", full)
}

// CreateTable makes a table. A definition without schema is in dbo.
func (db *Database) CreateTable(def tsql.TableDef) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if def.Name.Schema == "" {
		def.Name.Schema = "dbo"
	}
	known := false
	for _, s := range db.schemas {
		known = known || sqltype.EqualName(s, def.Name.Schema)
	}
	if !known {
		return noSchema(def.Name.Schema)
	}
	if db.table(def.Name.Schema, def.Name.Object) != nil || db.routines[routineKey(def.Name.Schema, def.Name.Object)] != nil {
		return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", def.Name.Object)
	}
	t, err := db.newTable(def)
	if err != nil {
		return err
	}
	t.created = db.localNow()
	t.reshaped()
	db.tables = append(db.tables, t)
	return nil
}

// CreateSchema makes a schema.
func (db *Database) CreateSchema(name string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, s := range db.schemas {
		if sqltype.EqualName(s, name) || ownSchemaID(name) != 0 || db.enabled.Load() && sqltype.EqualName(name, "cdc") {
			return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", name)
		}
	}
	db.schemas = append(db.schemas, name)
	return nil
}

// DropTable removes a table and its capture instances.
func (db *Database) DropTable(full string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(full)
	if err != nil {
		return sqltype.Errorf(3701, "Cannot drop the table '%s', because it does not exist or you do not have permission.", full)
	}
	if _, k := t.referenced(true); k != nil {
		return sqltype.Errorf(3726, "Could not drop object '%s' because it is referenced by a FOREIGN KEY constraint.", full)
	}
	for i, x := range db.tables {
		if x == t {
			db.tables = append(db.tables[:i:i], db.tables[i+1:]...)
		}
	}
	t.inst = nil
	db.recover()
	return nil
}

// ReadCommittedSnapshot is ALTER DATABASE SET READ_COMMITTED_SNAPSHOT; it is off for a new database.
func (db *Database) ReadCommittedSnapshot(on bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.rcsi.Store(on)
}

// Write runs fn in a transaction and commits it. The LSN is that of the commit: zero when nothing captured changed.
func (db *Database) Write(ctx context.Context, fn func(*Writer) error) (LSN, error) {
	return db.write(ctx, db.begin(), fn)
}

// WriteAt is Write with the commit's LSN and time given, as a replay needs it. It must be above all LSNs so far.
func (db *Database) WriteAt(ctx context.Context, lsn LSN, at time.Time, fn func(*Writer) error) (LSN, error) {
	tx := db.begin()
	tx.lsn, tx.time = lsn, at
	return db.write(ctx, tx, fn)
}

func (db *Database) write(ctx context.Context, tx *Tx, fn func(*Writer) error) (LSN, error) {
	w := &Writer{ctx: ctx, tx: tx, n: -1}
	if err := fn(w); err != nil {
		tx.rollback()
		return LSN{}, err
	}
	lsn, err := tx.commit()
	if err != nil {
		tx.rollback()
	}
	return lsn, err
}

// BeforeRead queues fn to run once, just before the next statement that delivers rows of the table (not counts,
// extremes or TOP of it) reads it, and after that statement began. One of several statements at a time runs it.
func (db *Database) BeforeRead(table string, fn func() error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return err
	}
	t.hooks = append(t.hooks, fn)
	return nil
}

// PendingReads tells how many queued functions of BeforeRead have not run.
func (db *Database) PendingReads(table string) int {
	db.mu.RLock()
	defer db.mu.RUnlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return 0
	}
	return len(t.hooks)
}

// takeHook gives the oldest queued function, once.
func (t *Table) takeHook() func() error {
	t.db.mu.Lock()
	defer t.db.mu.Unlock()
	if len(t.hooks) == 0 {
		return nil
	}
	h := t.hooks[0]
	t.hooks = t.hooks[1:]
	return h
}

// Rows delivers the committed rows of a table in key order until fn returns false. They are one version of the table.
func (db *Database) Rows(table string, fn func(sqltype.Row) bool) ([]tsql.Column, error) {
	db.mu.RLock()
	t, err := db.tableNamed(table)
	if err != nil {
		db.mu.RUnlock()
		return nil, err
	}
	rows, cols, columns := t.rows, t.describe(), append([]*column(nil), t.columns...)
	db.mu.RUnlock()
	out := make(sqltype.Row, len(columns))
	for c := rows.ascend(nil); ; {
		row := c.next()
		if row == nil {
			return cols, nil
		}
		for i, x := range columns {
			out[i] = at(row, x.id)
		}
		if !fn(out) {
			return cols, nil
		}
	}
}

// Count gives the number of committed rows of a table.
func (db *Database) Count(table string) (int, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return 0, err
	}
	return t.rows.n, nil
}

// Columns gives the columns of a table.
func (db *Database) Columns(table string) ([]tsql.Column, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return nil, err
	}
	return t.describe(), nil
}

// KeyTypes gives the types of a table's key columns.
func (db *Database) KeyTypes(table string) ([]sqltype.Type, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return nil, err
	}
	var types []sqltype.Type
	for _, id := range t.key {
		types = append(types, t.byID(id).Type)
	}
	return types, nil
}

// Key gives the places of a table's key columns among its columns.
func (db *Database) Key(table string) ([]int, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	t, err := db.tableNamed(table)
	if err != nil {
		return nil, err
	}
	var key []int
	for _, id := range t.key {
		for i, c := range t.columns {
			if c.id == id {
				key = append(key, i)
			}
		}
	}
	return key, nil
}
