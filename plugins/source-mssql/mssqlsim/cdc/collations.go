package cdc

import (
	"context"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// helpCollations is sys.fn_helpcollations, which is found without its schema, too (Microsoft: sys.fn_helpcollations
// (Transact-SQL)).
func (s *Session) helpCollations(n tsql.Name) *tsql.TableFunction {
	if !sqltype.EqualName(n.Object, "fn_helpcollations") || n.Schema != "" && !sqltype.EqualName(n.Schema, "sys") {
		return nil
	}
	return &tsql.TableFunction{
		Columns: []tsql.Column{col("name", sysname), col("description", sqltype.Str(sqltype.NVarChar, 1000))},
		Call: func(context.Context, []sqltype.Value) (tsql.Cursor, error) {
			r := &tsql.Rows{}
			for c := range collation.All() {
				r.Data = append(r.Data, sqltype.Row{text(c.Name), text(c.Description())})
			}
			return r.Cursor(), nil
		},
	}
}
