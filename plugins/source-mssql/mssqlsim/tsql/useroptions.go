package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// userOptions is Microsoft: DBCC USEROPTIONS (Transact-SQL).
func (x *executor) userOptions(s *ast.DbccStatement) error {
	if len(s.Literals) > 0 {
		return sqltype.Unsupported("arguments of DBCC USEROPTIONS")
	}
	quiet := false
	for _, o := range s.Options {
		if o.OptionKind != "NoInfoMessages" {
			return sqltype.Unsupported("WITH %s of DBCC", optionWord(o.OptionKind))
		}
		quiet = true
	}
	return x.scoped(false, func(b *binder) error {
		rows := x.sess.UserOptions()
		if err := sendRows(x.out, rows); err != nil {
			return err
		}
		b.batch.rowCount = int64(len(rows.Data))
		if !quiet {
			x.out.Info(&sqltype.Error{Number: 2528, State: 1, Message: "DBCC execution completed. If DBCC printed error messages, contact your system administrator."})
		}
		return nil
	})
}
