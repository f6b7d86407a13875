package tsql

import (
	"slices"

	"github.com/sqlc-dev/teesql/ast"
)

// counted sets @@ROWCOUNT behind a statement that reads and changes no rows: 1 behind one that gives a variable its value and
// DECLARE CURSOR, 0 behind the others, and as it was behind blocks, DECLARE without a value and EXECUTE. Behind the
// condition of IF and WHILE it is 0 (Microsoft: @@ROWCOUNT (Transact-SQL); of conditions and DECLARE, Variables and control flow of
// sql-server-simulator).
func (b *batch) counted(st ast.Statement) {
	switch s := st.(type) {
	case *ast.SelectStatement, *ast.InsertStatement, *ast.UpdateStatement, *ast.DeleteStatement, *ast.MergeStatement, *ast.FetchCursorStatement, *ast.OpenCursorStatement,
		*ast.ExecuteStatement, *ast.BeginEndBlockStatement, *ast.TryCatchStatement, *ast.IfStatement, *ast.WhileStatement, *ast.BreakStatement, *ast.ContinueStatement,
		*ast.DeclareTableVariableStatement, *ast.DbccStatement:
	case *ast.DeclareVariableStatement:
		if slices.ContainsFunc(s.Declarations, func(d *ast.DeclareVariableElement) bool { return d.Value != nil }) {
			b.rowCount = 1
		}
	case *ast.ReturnStatement:
		if s.Expression != nil {
			b.rowCount = 1
		}
	case *ast.SetVariableStatement, *ast.DeclareCursorStatement:
		b.rowCount = 1
	default:
		b.rowCount = 0
	}
}
