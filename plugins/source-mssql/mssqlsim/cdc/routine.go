package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// routineHome is where the procedure of a name is kept: the session for #temporary ones, else the database.
func (s *Session) routineHome(n tsql.Name) (db *Database, home map[string]*tsql.Routine, key string, err error) {
	if db, err = s.at(n); err != nil {
		return nil, nil, "", err
	}
	schema := n.Schema
	if schema == "" {
		schema = "dbo"
	}
	key = lower(schema) + "." + lower(n.Object)
	if strings.HasPrefix(n.Object, "#") {
		if s.routines == nil {
			s.routines = map[string]*tsql.Routine{}
		}
		return db, s.routines, key, nil
	}
	return db, db.routines, key, nil
}

// Routine finds a procedure that a user made. Only owners of the database may execute those of it, since permissions on
// procedures are not built.
func (s *Session) Routine(n tsql.Name) (*tsql.Routine, error) {
	db, home, key, err := s.routineHome(n)
	if err != nil {
		return nil, err
	}
	db.mu.RLock()
	r := home[key]
	db.mu.RUnlock()
	if r != nil && !s.dbo(db) {
		return nil, sqltype.Errorf(229, "The EXECUTE permission was denied on the object '%s', database '%s', schema 'dbo'.", n.Object, db.Name)
	}
	return r, nil
}

// CreateRoutine keeps a procedure, also one that takes the place of another.
func (s *Session) CreateRoutine(r *tsql.Routine, create, alter bool) error {
	db, home, key, err := s.changeRoutines(r.Name)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	there := home[key] != nil
	switch {
	case there && !alter || db.table(r.Name.Schema, r.Name.Object) != nil:
		return sqltype.Errorf(2714, "There is already an object named '%s' in the database.", r.Name.Object)
	case !there && !create:
		return sqltype.Errorf(208, "Invalid object name '%s'.", r.Name)
	}
	if schema, _, _ := strings.Cut(key, "."); !named(db.schemas, schema) {
		return sqltype.Errorf(2760, "The specified schema name \"%s\" either does not exist or you do not have permission to use it.", r.Name.Schema)
	}
	home[key] = r
	return nil
}

// DropRoutine removes a procedure.
func (s *Session) DropRoutine(n tsql.Name, ifExists bool) error {
	db, home, key, err := s.changeRoutines(n)
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if home[key] == nil && !ifExists {
		return sqltype.Errorf(3701, "Cannot drop the procedure '%s', because it does not exist or you do not have permission.", n)
	}
	delete(home, key)
	return nil
}

func (s *Session) changeRoutines(n tsql.Name) (*Database, map[string]*tsql.Routine, string, error) {
	if s.tx != nil {
		return nil, nil, "", sqltype.Unsupported("changing procedures inside a transaction")
	}
	db, home, key, err := s.routineHome(n)
	if err == nil && !s.dbo(db) {
		err = sqltype.Errorf(262, "CREATE PROCEDURE permission denied in database '%s'.", db.Name)
	}
	return db, home, key, err
}
