package cdc

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// textFunction finds the functions that give what sessions have asked: sys.dm_exec_sql_text of a handle and
// sys.dm_exec_input_buffer of a session; nil when the name is no such one's.
func (s *Session) textFunction(n tsql.Name) *tsql.TableFunction {
	if !sqltype.EqualName(n.Schema, "sys") {
		return nil
	}
	switch lower(n.Object) {
	case "dm_exec_sql_text":
		return s.sqlText()
	case "dm_exec_input_buffer":
		return s.inputBuffer()
	}
	return nil
}

// sqlText is Microsoft: sys.dm_exec_sql_text (Transact-SQL), of texts that a session asked last.
func (s *Session) sqlText() *tsql.TableFunction {
	return &tsql.TableFunction{Params: []sqltype.Type{handleType},
		Columns: []tsql.Column{ncol("dbid", small), ncol("objectid", integer), ncol("number", small), col("encrypted", bit), ncol("text", longText)},
		Call: func(_ context.Context, args []sqltype.Value) (tsql.Cursor, error) {
			if err := s.serverState(); err != nil {
				return nil, err
			}
			r := &tsql.Rows{}
			for _, c := range s.sessions() {
				if h := c.handle(); !h.IsNull() && !args[0].IsNull() && h.Str() == args[0].Str() {
					r.Data = append(r.Data, sqltype.Row{null, null, null, flag(false), text(c.text)})
					break
				}
			}
			return r.Cursor(), nil
		}}
}

// inputBuffer is Microsoft: sys.dm_exec_input_buffer (Transact-SQL).
func (s *Session) inputBuffer() *tsql.TableFunction {
	return &tsql.TableFunction{Params: []sqltype.Type{small, integer},
		Columns: []tsql.Column{ncol("event_type", sqltype.Str(sqltype.NVarChar, 256)), ncol("parameters", small), ncol("event_info", longText)},
		Call: func(_ context.Context, args []sqltype.Value) (tsql.Cursor, error) {
			r := &tsql.Rows{}
			for _, c := range s.sessions() { // without VIEW SERVER STATE one's own
				if !args[0].IsNull() && int64(c.SPID) == args[0].Int() && c.text != "" {
					event := "Language Event"
					if c.call {
						event = "RPC Event"
					}
					r.Data = append(r.Data, sqltype.Row{text(event), num(0), text(c.text)})
				}
			}
			return r.Cursor(), nil
		}}
}
