package tsql

import (
	"strings"
	"unicode"

	"github.com/sqlc-dev/teesql/ast"
)

// command names a statement as sys.dm_exec_requests does (Microsoft: sys.dm_exec_requests (Transact-SQL), command).
func command(st ast.Statement) string {
	switch st.(type) {
	case *ast.IfStatement, *ast.WhileStatement:
		return "CONDITIONAL"
	case *ast.WaitForStatement:
		return "WAITFOR"
	case *ast.TryCatchStatement:
		return "TRY"
	}
	name := strings.TrimSuffix(typeName(st), "Statement")
	for _, of := range []string{"AlterTable", "AlterDatabase", "CreateOrAlterProcedure"} {
		if strings.HasPrefix(name, of) {
			name = strings.Replace(of, "OrAlter", "", 1)
		}
	}
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}
