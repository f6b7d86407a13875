package cdc

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// MaintainIndex looks whether a table that a statement puts in order is there, and the index of it unless that is "".
func (s *Session) MaintainIndex(n tsql.Name, name string, o tsql.IndexOptions) error {
	if o == (tsql.IndexOptions{}) {
		return s.maintained(n, name)
	}
	return s.reshapeAny(n, s.called(n), noOthers, true, func() error {
		if err := s.maintained(n, name); err != nil {
			return err
		}
		db, n, _, err := s.altering(n)
		if err != nil {
			return err
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		t, err := db.shaped(n, true)
		if err != nil {
			return err
		}
		indexes := slices.Clone(t.indexes) // what others hold of the table stays as it is
		for i, x := range indexes {
			if name == "" || sqltype.EqualName(x.name, name) {
				own := *x
				own.take(o)
				indexes[i] = &own
			}
		}
		t.indexes = indexes
		return nil
	})
}

func (s *Session) maintained(n tsql.Name, name string) error {
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
