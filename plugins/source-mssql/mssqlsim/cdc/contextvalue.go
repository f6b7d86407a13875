package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// contextValue is a value of the session that its statements share.
type contextValue struct {
	value    sqltype.Value // of sql_variant
	readOnly bool
}

// setContext is Microsoft: sp_set_session_context (Transact-SQL).
func setContext(s *Session, _ *Database, a args) (*tsql.Rows, error) {
	key := lower(a.str("@key"))
	if a["@key"].IsNull() || key == "" {
		return nil, sqltype.Unsupported("sp_set_session_context without a key")
	}
	if s.values[key].readOnly {
		return nil, sqltype.Errorf(15664, "Cannot set key '%s' in the session context. The key has been set as read_only for this session.", a.str("@key"))
	}
	if s.values == nil {
		s.values = map[string]contextValue{}
	}
	size := len(key) + len(a["@value"].Str())
	for k, v := range s.values {
		if k != key {
			size += len(k) + len(v.value.Str())
		}
	}
	if size > 1<<20 {
		return nil, sqltype.Errorf(15665, "The value was not set for key '%s' because the total size of keys and values in the session context would exceed the 1 MB limit.", a.str("@key"))
	}
	s.values[key] = contextValue{a["@value"], a.bit("@read_only")}
	return nil, nil
}
