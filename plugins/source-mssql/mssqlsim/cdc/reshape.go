package cdc

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Changes of shape are part of a transaction: each leaves behind how to undo it, and until the transaction ends all
// other sessions of the database wait with their next statement, those of other databases with one that names it. A
// server makes only those wait that need what was changed, so here some wait longer; none sees what is not committed.

// reshape runs a change of the shape of a database, and of the table that find finds, when no other transaction has rows
// of it locked.
func (s *Session) reshape(n tsql.Name, find func(db *Database) *Table, change func() error) error {
	return s.reshapeAny(n, find, noOthers, false, change)
}

// reshapeAny is reshape. others finds the tables whose rows those of the table are held against. captured tells that a rollback
// brings a captured table back too, which it does where the change leaves capture instances as they are until capture comes to it.
func (s *Session) reshapeAny(n tsql.Name, find func(db *Database) *Table, others func(db *Database) []*Table, captured bool, change func() error) error {
	db, err := s.at(n)
	if err != nil {
		return err
	}
	if db.Name == model {
		return sqltype.Unsupported("a change of the database model, which new databases would begin with")
	}
	for {
		if err := s.unlocked(db, find, others); err != nil {
			return err
		}
		err := s.reshapeNow(db, find, others, captured, change)
		if err != errLockTimeout || s.wait == 0 { // somebody was faster
			return err
		}
	}
}

// unlocked waits until no other transaction has changed rows of a table and of others, as long as LOCK_TIMEOUT allows.
func (s *Session) unlocked(db *Database, find func(db *Database) *Table, others func(db *Database) []*Table) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.await(s.ctx, s.current(), s.wait, lockSchema, func() (writers []*Tx) {
		for _, t := range append(others(db), find(db)) {
			writers = append(writers, t.writers(s.tx)...)
		}
		return writers
	})
}

// writers gives the other transactions that have changed rows of the table or still have some locked. The database's lock is held.
func (t *Table) writers(tx *Tx) (writers []*Tx) {
	if t == nil {
		return nil
	}
	for o := range t.db.active {
		if o != tx && o.changed(t) {
			writers = append(writers, o)
		}
	}
	return writers
}

func (s *Session) reshapeNow(db *Database, find func(db *Database) *Table, others func(db *Database) []*Table, captured bool, change func() error) (err error) {
	tx := s.tx
	if tx == nil {
		return change()
	}
	if db != tx.db {
		return sqltype.Unsupported("changing the shape of another database inside a transaction")
	}
	db.mu.Lock()
	t := find(db)
	switch {
	case t != nil && s.isolation == tsql.Snapshot:
		err = sqltype.Errorf(3964, "Transaction failed because this DDL statement is not allowed inside a snapshot isolation transaction. Since metadata is not versioned, a metadata change can lead to inconsistency if mixed within snapshot isolation.")
	case t != nil && tx.changed(t):
		err = sqltype.Unsupported("changing the shape of a table after its rows in one transaction")
	case slices.ContainsFunc(others(db), tx.changed):
		err = sqltype.Unsupported("a foreign key to a table after its rows in one transaction")
	case t != nil && len(t.inst) > 0 && !captured:
		err = sqltype.Unsupported("this change of a captured table inside a transaction")
	}
	if err != nil {
		db.mu.Unlock()
		return err
	}
	shape, security, ddl := db.shape(t), db.sec.save(), len(tx.ddl)
	db.shaping.Store(tx)
	db.mu.Unlock()
	if err := change(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	tx.undone = append(tx.undone, func() {
		shape()
		security()
		tx.ddl = tx.ddl[:ddl]
	})
	db.srv.moves.Add(1)
	return nil
}

// none finds no table, noOthers none beside one.
func none(*Database) *Table       { return nil }
func noOthers(*Database) []*Table { return nil }

// called finds the table of a name.
func (s *Session) called(n tsql.Name) func(db *Database) *Table {
	return func(db *Database) *Table { return s.tableNamed(db, n) }
}

// changed tells whether the transaction has changed rows of a table, or still has some locked that it changed back.
func (tx *Tx) changed(t *Table) bool {
	for _, o := range tx.ops {
		if o.table == t {
			return true
		}
	}
	for _, l := range tx.locks {
		if l.table == t {
			return true
		}
	}
	return false
}

// shape keeps the shape of the database and of one table; the function it gives brings them back. The lock is held,
// then as now.
func (db *Database) shape(t *Table) (restore func()) {
	schemas, tables := append([]string(nil), db.schemas...), append([]*Table(nil), db.tables...)
	if t == nil {
		return func() { db.schemas, db.tables = schemas, tables }
	}
	before := t.copy()
	return func() {
		db.schemas, db.tables = schemas, tables
		t.take(before)
		t.Name, t.Schema = before.Name, before.Schema
	}
}

// save keeps what the database knows of principals and permissions.
func (s *security) save() (restore func()) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	principals := append([]*principal(nil), s.principals...)
	was := make([]principal, len(principals))
	for i, p := range principals {
		was[i] = *p
		was[i].members = copied(p.members)
	}
	perms := make([]*permission, len(s.perms))
	for i, g := range s.perms {
		own := *g
		perms[i] = &own
	}
	owners := copied(s.owners)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, p := range principals {
			*p = was[i]
		}
		s.principals, s.perms, s.owners = principals, perms, owners
	}
}

func copied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return nil
	}
	out := make(map[K]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// keptLogin is a login as it was.
type keptLogin struct {
	login          *Login
	name, password string
	database       string
	disabled       bool
	policy         bool
	server         map[string]bool
	perms          map[string]byte
}

// saveLogins keeps the logins of the server.
func (s *Server) saveLogins() (restore func()) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	logins := copied(s.logins)
	var kept []keptLogin
	for _, l := range logins {
		l.mu.RLock()
		kept = append(kept, keptLogin{l, l.name, l.password, l.database, l.disabled, l.policy, copied(l.server), copied(l.perms)})
		l.mu.RUnlock()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.logins = logins
		for _, k := range kept {
			k.login.mu.Lock()
			k.login.name, k.login.password, k.login.database, k.login.disabled, k.login.policy, k.login.server, k.login.perms = k.name, k.password, k.database, k.disabled, k.policy, k.server, k.perms
			k.login.mu.Unlock()
		}
	}
}

// Secure runs a statement about principals and permissions, which are part of a transaction too.
func (s *Session) Secure(change func() error) error {
	tx := s.tx
	if tx == nil {
		return change()
	}
	if s.db != tx.db {
		return sqltype.Unsupported("changing principals of another database inside a transaction")
	}
	security, logins := s.db.sec.save(), s.srv.saveLogins()
	tx.db.mu.Lock()
	tx.db.shaping.Store(tx)
	tx.db.mu.Unlock()
	if err := change(); err != nil {
		return err
	}
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	tx.undone = append(tx.undone, func() { security(); logins() })
	return nil
}

// Steady tells that no transaction of another session is changing the shape of the session's database.
func (s *Session) Steady() bool { return len(s.db.shapers(s.tx)) == 0 }

// shapers gives the transaction that has changed the shape of the database, unless it is tx.
func (db *Database) shapers(tx *Tx) []*Tx {
	if o := db.shaping.Load(); o != nil && o != tx {
		return []*Tx{o}
	}
	return nil
}

// gate waits for the transaction that has changed the shape of a database: the session's before a statement, another one when the
// statement names it. What is only compiled, and runs later, does not wait.
func (s *Session) gate(db *Database) error {
	if len(db.shapers(s.tx)) == 0 {
		return nil
	}
	if !s.running {
		return errLockTimeout
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	_, err := db.settle(s.ctx, s.tx, s.wait)
	return err
}

// settle waits for the transaction that has changed the shape of the database, and tells whether there was one. Sch-M is in the way of
// Sch-S, which everyone needs (Microsoft: Transaction locking and row versioning guide, Schema locks). The database's lock is held, and
// given back while waiting.
func (db *Database) settle(ctx context.Context, tx *Tx, wait lockWait) (waited bool, err error) {
	err = db.await(ctx, tx, wait, lockStable, func() []*Tx {
		shapers := db.shapers(tx)
		waited = waited || len(shapers) > 0
		return shapers
	})
	return waited, err
}

// revert undoes changes of shape back to the n-th. The lock is held.
func (tx *Tx) revert(n int) {
	for i := len(tx.undone) - 1; i >= n; i-- {
		tx.undone[i]()
	}
	tx.undone = tx.undone[:n]
}
