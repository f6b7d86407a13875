package cdc

import (
	"fmt"
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// identity is where the identity column of a table is. Values that a transaction took are not given back when it is
// rolled back (Microsoft: CREATE TABLE (Transact-SQL) IDENTITY (Property)).
type identity struct {
	seed, step int64
	last       int64
	used       bool // last was given out, or set
}

func newIdentity(d *tsql.ColumnDef) identity {
	if d.Step == 0 { // definitions in Go
		return identity{seed: 1, step: 1}
	}
	return identity{seed: d.Seed, step: d.Step}
}

// take gives the value of a new row: the next one, or the one it has, which moves the identity when it is beyond it.
func (n *identity) take(v sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
	if v.IsNull() {
		next := n.seed
		if n.used {
			next = n.last + n.step
			if (n.step > 0) != (next > n.last) {
				return v, identityOverflow(t)
			}
		}
		w, err := sqltype.Convert(sqltype.FromInt(next), sqltype.Of(sqltype.BigInt), t, 0)
		if err != nil {
			return v, identityOverflow(t)
		}
		n.last, n.used = next, true
		return w, nil
	}
	w, err := sqltype.Convert(v, t, sqltype.Of(sqltype.BigInt), 0)
	if err != nil {
		return v, err
	}
	if k := w.Int(); !n.used || n.step > 0 && k > n.last || n.step < 0 && k < n.last {
		n.last, n.used = k, true
	}
	return v, nil
}

func identityOverflow(t sqltype.Type) error {
	return sqltype.Errorf(8115, "Arithmetic overflow error converting IDENTITY to data type %s.", t.Kind)
}

func (t *Table) identityColumn() *column {
	for _, c := range t.columns {
		if c.Identity {
			return c
		}
	}
	return nil
}

// scopes is what the functions about identities answer: the last value of the session, and that of each scope, of which
// the last is the current one (Microsoft: SCOPE_IDENTITY (Transact-SQL), @@IDENTITY (Transact-SQL)).
type scopes struct {
	last   sqltype.Value
	scopes []sqltype.Value
	insert *Table // IDENTITY_INSERT is ON for it
}

// inserted keeps the identity of the last row a statement inserted.
func (s *scopes) inserted(t *Table, changes []tsql.Change) {
	place := -1
	for i, c := range t.columns {
		if c.Identity {
			place = i
		}
	}
	if place < 0 {
		return
	}
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.Old == nil {
			s.take(c.New[place])
			return
		}
	}
}

// take keeps an identity of a row as that of the session and of the current scope.
func (s *scopes) take(v sqltype.Value) {
	s.last = v
	if len(s.scopes) == 0 {
		s.scopes = []sqltype.Value{{}}
	}
	s.scopes[len(s.scopes)-1] = v
}

// Identified tells of the identity of the last row that a statement inserted into a table variable.
func (s *Session) Identified(v sqltype.Value) { s.ids.take(v) }

var identityType = sqltype.Type{Kind: sqltype.Numeric, Prec: 38}

// identityFunction answers @@IDENTITY, SCOPE_IDENTITY, IDENT_CURRENT, IDENT_SEED and IDENT_INCR.
func (s *Session) identityFunction(name string, arg sqltype.Value) (sqltype.Value, sqltype.Type, bool) {
	asDecimal := func(v sqltype.Value) sqltype.Value {
		if v.IsNull() {
			return v
		}
		return sqltype.FromScaled(v.Int(), 0)
	}
	switch name {
	case "@@IDENTITY":
		return asDecimal(s.ids.last), identityType, true
	case "SCOPE_IDENTITY":
		if n := len(s.ids.scopes); n > 0 {
			return asDecimal(s.ids.scopes[n-1]), identityType, true
		}
		return null, identityType, true
	case "IDENT_CURRENT", "IDENT_SEED", "IDENT_INCR":
		db, find := s.tableCalled(arg.Str())
		if db == nil {
			return null, identityType, true
		}
		db.mu.RLock()
		defer db.mu.RUnlock()
		t := find()
		if t == nil || t.identityColumn() == nil {
			return null, identityType, true
		}
		n := t.identity.last
		switch {
		case name == "IDENT_INCR":
			n = t.identity.step
		case name == "IDENT_SEED" || !t.identity.used:
			n = t.identity.seed
		}
		return sqltype.FromScaled(n, 0), identityType, true
	}
	return null, sqltype.Type{}, false
}

// tableCalled gives the database in which a table is kept that a name in a text means, and finds it there once its lock is held; nil is
// no database. The name of a temporary table needs that of tempdb in front, as OBJECT_ID's does.
func (s *Session) tableCalled(full string) (*Database, func() *Table) {
	db := s.databaseNamed(full)
	if db == nil {
		return nil, nil
	}
	parts := nameParts(full)
	if name := parts[len(parts)-1]; isTemporary(name) && db.Name == tempdb {
		for _, k := range slices.Backward(s.temporaries) {
			if sqltype.EqualName(k.name, name) && k.there() {
				return k.db, k.table
			}
		}
	}
	return db, func() *Table { return db.tableOf(full) }
}

// tableOf finds a table by a name as procedures take it.
func (db *Database) tableOf(name string) *Table {
	parts := nameParts(name)
	schema := ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	return db.table(schema, parts[len(parts)-1])
}

// IdentityInsert is SET IDENTITY_INSERT (Microsoft: SET IDENTITY_INSERT (Transact-SQL)).
func (s *Session) IdentityInsert(n tsql.Name, on bool) error {
	db, err := s.at(n)
	if err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	t := s.tableNamed(db, n)
	if t == nil || !s.mayAlter(t) {
		return sqltype.Errorf(1088, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n)
	}
	if t.identityColumn() == nil {
		return sqltype.Errorf(8106, "Table '%s' does not have the identity property. Cannot perform SET operation.", n)
	}
	switch {
	case on && s.ids.insert != nil && s.ids.insert != t:
		return sqltype.Errorf(8107, "IDENTITY_INSERT is already ON for table '%s'. Cannot perform SET operation for table '%s'.", s.ids.insert.fullName(), n)
	case on:
		s.ids.insert = t
	case s.ids.insert == t:
		s.ids.insert = nil
	}
	return nil
}

// CheckIdentity is DBCC CHECKIDENT (Microsoft: DBCC CHECKIDENT (Transact-SQL)): without a value reseed moves the
// identity to the largest value of the column when it is behind it. With a value, the next row of a table that never
// had rows gets that value itself, of any other the one after it.
func (s *Session) CheckIdentity(table string, reseed bool, value *int64) (string, error) {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	t := db.tableOf(table)
	if t == nil || !s.mayAlter(t) {
		return "", sqltype.Errorf(2501, "Cannot find a table or object with the name \"%s\". Check the system catalog.", table)
	}
	c := t.identityColumn()
	if c == nil {
		return "", sqltype.Errorf(7997, "'%s' does not contain an identity column.", t.Name)
	}
	show := func(n int64, ok bool) string {
		if !ok {
			return "NULL"
		}
		return fmt.Sprint(n)
	}
	was := show(t.identity.last, t.identity.used)
	top, any := t.extreme(c)
	switch {
	case reseed && value != nil && !t.identity.used:
		t.identity.seed = *value
	case reseed && value != nil:
		t.identity.last = *value
	case reseed && any && (!t.identity.used || t.identity.step > 0 && top > t.identity.last || t.identity.step < 0 && top < t.identity.last):
		t.identity.last, t.identity.used = top, true
	}
	if value != nil {
		return fmt.Sprintf("Checking identity information: current identity value '%s'.", was), nil
	}
	return fmt.Sprintf("Checking identity information: current identity value '%s', current column value '%s'.", was, show(top, any)), nil
}

// extreme gives the value of the identity column that is furthest in its direction.
func (t *Table) extreme(c *column) (top int64, any bool) {
	for cur := t.rows.ascend(nil); ; {
		row := cur.next()
		if row == nil {
			return top, any
		}
		w, err := sqltype.Convert(at(row, c.id), c.Type, sqltype.Of(sqltype.BigInt), 0)
		if err != nil || w.IsNull() {
			continue
		}
		if n := w.Int(); !any || t.identity.step > 0 && n > top || t.identity.step < 0 && n < top {
			top, any = n, true
		}
	}
}
