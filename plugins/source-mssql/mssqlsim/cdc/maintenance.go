package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// MaintainIndex looks whether a table that a statement puts in order is there, and the index of it unless that is "".
func (s *Session) MaintainIndex(n tsql.Name, name string) error {
	db, n, ok, err := s.altering(n)
	if err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	t := db.table(n.Schema, n.Object)
	if t == nil || !ok {
		return sqltype.Errorf(1088, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", n)
	}
	if name != "" && t.index(name) == nil {
		return sqltype.Errorf(2727, "Cannot find index '%s'.", name)
	}
	return nil
}
