package cdc

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

func lower(s string) string { return strings.ToLower(s) }

// Session is one connection: its login, its database, its settings and its transaction. It is used by one goroutine
// at a time.
type Session struct {
	srv       *Server
	db        *Database
	login     *Login
	SPID      int16
	as        []acting // who EXECUTE AS has made of it
	isolation tsql.Isolation
	wait      lockWait
	priority  int8 // DEADLOCK_PRIORITY
	settings  tsql.Settings
	nesting   int // @@TRANCOUNT
	tx        *Tx
	auto      *Tx // of a statement outside a transaction
	writing   bool
	before    int              // the changes of the transaction before the running statement
	stmt      map[*Table]*tree // versions the running statement sees
	ids       scopes
	ctx       context.Context          // of the running statement, for changes of shape and who waits for them
	running   bool                     // a statement is, and is not only compiled
	routines  map[string]*tsql.Routine // #temporary procedures
	chain     chain                    // of ownership, within a procedure
	outer     []*Database              // of the scopes around the running one, the innermost last
	// temporaries are the temporary tables that the session made, the newest last
	temporaries []temporary
	// NetworkWait is the time, in ms, the session has waited for its client
	NetworkWait func() int64
	request     request
	client      Connection
	original    string // the database that it logged in to
	// values are those of sp_set_session_context, by key in small letters
	values map[string]contextValue
}

// Authenticate checks a login's password. The error is 18456, as SQL Server answers.
func (s *Server) Authenticate(user, password string) error {
	_, err := s.authenticate(user, password)
	return err
}

// NewSession opens a database for a login that was let in. The error is 18456 after 4060, as SQL Server answers
// (Microsoft: MSSQLSERVER error 4060; clients show both messages).
func (s *Server) NewSession(user, database string) (*Session, error) {
	login := s.Login(user)
	if login == nil {
		return nil, loginFailed(user)
	}
	e := &sqltype.Error{Number: 4060, State: 1, Class: 11, Message: "Cannot open database \"" + database + "\" requested by the login. The login failed."}
	if database == "" {
		login.mu.RLock()
		database = login.database
		login.mu.RUnlock()
		e = &sqltype.Error{Number: 4064, State: 1, Class: 11, Message: "Cannot open user default database. Login failed."}
	}
	sess := &Session{srv: s, login: login, isolation: tsql.ReadCommitted, wait: -1, settings: s.settings()}
	if _, allowed, closed := sess.enter(database); !allowed || closed != nil {
		refused := loginFailed(user) // as a server answers: with both
		refused.First = e
		return nil, refused
	}
	sess.original = sess.db.Name
	s.count(login, 1)
	return sess, nil
}

// settings are those of a new connection.
func (s *Server) settings() tsql.Settings {
	settings := tsql.Settings{Options: tsql.DefaultOptions}
	settings.LimitMemory(s.memory)
	return settings
}

// DatabaseName gives the current database.
func (s *Session) DatabaseName() string { return s.db.Name }

// Statement begins a statement.
func (s *Session) Statement(ctx context.Context, write bool) (func(error) error, error) {
	s.db.catchUp()
	if s.tx != nil {
		s.before = len(s.tx.ops)
	}
	s.ctx, s.running = ctx, true
	if err := s.gate(s.db); err != nil {
		return nil, s.finish(err)
	}
	s.stmt, s.writing = nil, write
	if write && s.tx == nil {
		s.auto = s.db.begin()
		s.auto.session, s.auto.priority = s.SPID, s.priority
	}
	return s.finish, nil
}

// aborts are the errors that end their transaction: of a deadlock's victim, and of transactions that SNAPSHOT isolation
// fails.
var aborts = map[int32]bool{1205: true, 3951: true, 3960: true, 3961: true}

func (s *Session) finish(err error) error {
	auto := s.auto
	s.stmt, s.auto, s.writing, s.running = nil, nil, false, false
	if auto != nil {
		if err != nil {
			auto.rollback()
			return err
		}
		_, err = auto.commit()
		return err
	}
	if s.tx != nil && err != nil {
		if e, ok := err.(*sqltype.Error); ok && aborts[e.Number] {
			s.tx.rollback() // the whole transaction is gone
			s.tx = nil
			s.nest(0)
		} else {
			s.tx.undoFrom(s.before) // a statement that fails has done nothing
		}
	}
	return err
}

func (s *Session) current() *Tx {
	if s.tx != nil {
		return s.tx
	}
	return s.auto
}

// refresh lets the running statement see what was committed since it began.
func (s *Session) refresh() { s.stmt = nil }

func (db *Database) versions() map[*Table]*tree {
	m := make(map[*Table]*tree, len(db.tables))
	for _, t := range db.tables {
		m[t] = t.rows
	}
	return m
}

// lockedIn gives the other transactions that hold a row of the range: changed, inserted or removed.
func (t *Table) lockedIn(rng *keyRange, tx *Tx) []*Tx {
	return t.lockers(tx, func(row sqltype.Row) bool { return !rng.below(row) && !rng.above(row) })
}

// lockers gives the other transactions that have changed a row of a kind: made it so or changed it from that.
func (t *Table) lockers(tx *Tx, kind func(sqltype.Row) bool) (lockers []*Tx) {
	seen := map[*Tx]bool{tx: true}
	for _, o := range t.locks {
		if seen[o] {
			continue
		}
		seen[o] = true
		if slices.ContainsFunc(o.ops, func(c op) bool {
			return c.table == t && (c.old != nil && kind(c.old) || c.new != nil && kind(c.new))
		}) {
			lockers = append(lockers, o)
		}
	}
	return lockers
}

func (s *Session) write(ctx context.Context, r *source, changes []tsql.Change) error {
	t := r.t
	if err := s.replicable(t, changes); err != nil {
		return err
	}
	t.db.mu.Lock()
	err := s.starts(t, s.isolation, true)
	t.db.mu.Unlock()
	if err != nil {
		return err
	}
	s.current().verb = ""
	if c := s.request.command.Load(); c != nil && *c == "MERGE" {
		s.current().verb = *c
	}
	if err := s.current().write(ctx, t, r.version, changes, s.wait); err != nil {
		return err
	}
	s.ids.inserted(t, changes)
	return nil
}

// Use changes the current database.
func (s *Session) Use(name string) error {
	if s.srv.Version == Azure && !sqltype.EqualName(name, s.db.Name) { // Microsoft: USE (Transact-SQL)
		return sqltype.Errorf(40508, "USE statement is not supported to switch between databases. Use a new connection to connect to a different database.")
	}
	exists, allowed, closed := s.enter(name)
	if !exists {
		return sqltype.Errorf(911, "Database '%s' does not exist. Make sure that the name is entered correctly.", name)
	}
	if !allowed {
		return sqltype.Errorf(916, "The server principal \"%s\" is not able to access the database \"%s\" under the current security context.", s.who(), name)
	}
	return closed
}

// SetIsolation sets the isolation level.
func (s *Session) SetIsolation(l tsql.Isolation) error {
	s.isolation = l
	return nil
}

// Isolation gives the isolation level.
func (s *Session) Isolation() tsql.Isolation { return s.isolation }

// SetLockTimeout sets LOCK_TIMEOUT in milliseconds; -1 waits for ever.
func (s *Session) SetLockTimeout(ms int64) {
	s.wait = lockWait(time.Duration(ms) * time.Millisecond)
	if ms < 0 {
		s.wait = -1
	}
}

// Reset brings the settings back, as a pooled connection's reset does; the isolation level stays.
func (s *Session) Reset() {
	s.settings = s.srv.settings()
	s.wait, s.priority, s.ids, s.as, s.routines, s.chain = -1, 0, scopes{}, nil, nil, chain{}
	s.values = nil // Microsoft: sp_set_session_context (Transact-SQL): kept as long as the logical connection
	s.dropTemporaries(0)
}

// Settings are the SET options of the session.
func (s *Session) Settings() *tsql.Settings { return &s.settings }

// TranCount is @@TRANCOUNT.
func (s *Session) TranCount() int { return s.nesting }

// Stamp is another number after each change of rows.
func (s *Session) Stamp() uint64 { return s.srv.moves.Load() }

// Begin begins a transaction, or nests one.
func (s *Session) Begin() error {
	if s.nesting == 0 {
		s.tx = s.db.begin()
		s.tx.session, s.tx.priority, s.tx.open = s.SPID, s.priority, true
		s.db.open.Add(1)
	}
	s.nest(s.nesting + 1)
	return nil
}

// NameTransaction names the transaction. Names are told apart by case (Microsoft: BEGIN TRANSACTION (Transact-SQL)).
func (s *Session) NameTransaction(name string) { s.tx.name = name }

// Commit ends the innermost transaction; the outermost publishes.
func (s *Session) Commit() error {
	if s.nesting == 0 {
		return sqltype.Errorf(3902, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	s.nest(s.nesting - 1)
	if s.nesting > 0 {
		return nil
	}
	tx := s.tx
	s.tx = nil
	_, err := tx.commit()
	return err
}

// Rollback undoes the transaction, or what followed a savepoint.
func (s *Session) Rollback(name string) error {
	if s.nesting == 0 {
		return sqltype.Errorf(3903, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	if name != "" {
		if s.tx.undo(name) {
			return nil
		}
		if name != s.tx.name {
			return sqltype.Errorf(6401, "Cannot roll back %s. No transaction or savepoint of that name was found.", name)
		}
	}
	s.tx.rollback()
	s.tx = nil
	s.nest(0)
	return nil
}

// Save marks a savepoint.
func (s *Session) Save(name string) error {
	if s.nesting == 0 {
		return sqltype.Errorf(628, "Cannot issue SAVE TRANSACTION when there is no active transaction.")
	}
	s.tx.save(name)
	return nil
}

// Close rolls back what is open and leaves the database. The session is of no more use.
func (s *Session) Close() {
	s.Abort()
	s.dropTemporaries(0)
	s.leave()
	s.srv.count(s.login, -1)
}

// Abort rolls back what is open.
func (s *Session) Abort() {
	if s.tx != nil {
		s.tx.rollback()
		s.tx = nil
		s.nest(0)
	}
}

// at finds the database of a name with parts, and waits until nobody is changing its shape.
func (s *Session) at(n tsql.Name) (*Database, error) {
	db, err := s.named(n)
	if err == nil && db != s.db {
		err = s.gate(db)
	}
	if err != nil {
		return nil, err
	}
	return db, nil
}

// named finds the database of a name with parts.
func (s *Session) named(n tsql.Name) (*Database, error) {
	if n.Database == "" || sqltype.EqualName(n.Database, s.db.Name) || isTemporary(n.Object) && sqltype.EqualName(n.Database, tempdb) {
		return s.db, nil
	}
	if s.srv.Version == Azure && !sqltype.EqualName(n.Database, tempdb) {
		return nil, sqltype.Errorf(40515, "Reference to database and/or server name in '%s' is not supported in this version of SQL Server.", n)
	}
	db := s.srv.Find(n.Database)
	if db == nil {
		return nil, sqltype.Errorf(911, "Database '%s' does not exist. Make sure that the name is entered correctly.", n.Database)
	}
	if !s.reaches(db) {
		return nil, sqltype.Errorf(916, "The server principal \"%s\" is not able to access the database \"%s\" under the current security context.", s.who(), db.Name)
	}
	if err := db.unreadable(); err != nil {
		return nil, err
	}
	return db, nil
}

// Relation finds what a name in FROM means.
func (s *Session) Relation(n tsql.Name) (tsql.Relation, error) {
	db, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if db.Name == msdb && sqltype.EqualName(n.Object, "cdc_jobs") {
		return s.cdcJobs()
	}
	if db.Name == msdb && (n.Schema == "" || sqltype.EqualName(n.Schema, "dbo")) {
		if v, err := s.msdbTable(n.Object); v != nil || err != nil {
			return v, err
		}
	}
	if isTemporary(n.Object) && !s.has(db, n) { // looks into other databases, so that no lock is held
		return nil, s.elsewhere(db, n.Object)
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	switch lower(n.Schema) {
	case "sys", "information_schema":
		if v, err := s.systemView(db, lower(n.Schema), lower(n.Object)); v != nil || err != nil {
			return v, err
		}
		return nil, s.unbuilt(db, n)
	case "cdc":
		return s.cdcRelation(db, n.Object)
	}
	t := s.tableNamed(db, n)
	if t == nil {
		if v := s.compatView(db, n); v != nil {
			return v, nil
		}
		return nil, s.unbuilt(db, n)
	}
	r := s.source(t)
	o := t.object()
	sec := o.securable()
	if a := s.access(db, "SELECT", sec); !a.all() && !s.chain.reaches(db, sec.schema) {
		r.only = a.column
	}
	return r, nil
}

// has tells whether a database has a table of a name.
func (s *Session) has(db *Database, n tsql.Name) bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return s.tableNamed(db, n) != nil
}

func (s *Session) cdcRelation(db *Database, name string) (tsql.Relation, error) {
	if !db.enabled.Load() {
		return nil, nil
	}
	if sqltype.EqualName(name, "lsn_time_mapping") {
		return &mappingTable{db: db}, nil
	}
	if s.srv.Version == Azure && sqltype.EqualName(name, "cdc_jobs") { // Microsoft: Change data capture (CDC) with Azure SQL Database, CDC customization
		return nil, sqltype.Unsupported("cdc.cdc_jobs in Azure SQL Database, where a scheduler runs capture and cleanup")
	}
	for _, t := range db.tables {
		for _, in := range t.inst {
			if !sqltype.EqualName(name, in.Name+"_CT") {
				continue
			}
			r := &changeTable{in: in, cols: based(in.changeColumns(), tsql.Name{Database: db.Name, Schema: "cdc", Object: in.Name + "_CT"})}
			o := in.object()
			if a := s.access(db, "SELECT", o.securable()); !a.all() {
				return &columnGuard{r, a.column}, nil
			}
			return r, nil
		}
	}
	if v := cdcViews[lower(name)]; v != nil {
		if !s.can(db, "SELECT", ofSchema("cdc")) {
			return nil, denied("SELECT", name, db.Name, "cdc")
		}
		return v(s, db), nil
	}
	return nil, nil
}

// LockTimeout gives LOCK_TIMEOUT in milliseconds; -1 waits for ever.
func (s *Session) LockTimeout() int64 {
	if s.wait < 0 {
		return -1
	}
	return int64(time.Duration(s.wait) / time.Millisecond)
}
