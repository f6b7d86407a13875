package tsql

import (
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// The parser (teesql v1.1.0) lets pass what is no T-SQL: texts, names and comments that nobody closes, the name of a
// procedure anywhere, ORDER BY where rows have no order, and it leaves OFFSET and FOR behind a UNION out of its tree.

// unclosed refuses a batch whose last text, name or comment is not closed (Microsoft: Database engine events and errors
// 0 to 999).
func unclosed(sql string) error {
	if strings.IndexByte(sql, '\'') < 0 && strings.IndexByte(sql, '[') < 0 && strings.IndexByte(sql, '"') < 0 && !strings.Contains(sql, "/*") {
		return nil
	}
	toks := tokens(sql)
	if len(toks) == 0 {
		return nil
	}
	last := toks[len(toks)-1].text // what is not closed goes on to the end
	shut := last[0]
	switch {
	case strings.HasPrefix(last, "/*"):
		if len(last) < len("/**/") || !strings.HasSuffix(last, "*/") {
			return sqltype.Errorf(113, "Missing end comment mark '*/'.")
		}
		return nil
	case shut == '[':
		shut = ']'
	case shut != '\'' && shut != '"':
		return nil
	}
	// Inside, each is doubled.
	if strings.Count(last[1:], string(shut))%2 == 0 {
		return sqltype.Errorf(105, "Unclosed quotation mark after the character string '%s'.", last[1:])
	}
	return nil
}

// unsaid refuses a call of a procedure without EXECUTE that is not the first statement of its batch (Microsoft: SQL
// Server Utilities Statements - GO). The body of a procedure begins anew.
func unsaid(list []ast.Statement, source string, first bool) error {
	for _, st := range list {
		if err := unsaidIn(st, source, first); err != nil {
			return err
		}
		first = false
	}
	return nil
}

func unsaidIn(st ast.Statement, source string, first bool) error {
	body := func(l *ast.StatementList) error {
		if l == nil {
			return nil
		}
		return unsaid(l.Statements, source, true)
	}
	block := func(lists ...*ast.StatementList) error {
		for _, l := range lists {
			if l == nil {
				continue
			}
			if err := unsaid(l.Statements, source, false); err != nil {
				return err
			}
		}
		return nil
	}
	switch s := st.(type) {
	case *ast.ExecuteStatement:
		if name := calledBare(s, source); name != "" && !first {
			return nearNode(source, s, false)
		}
	case *ast.MergeStatement:
		return ended(s, source)
	case *ast.LabelStatement:
		if !strings.Contains(sourceText(source, s), ":") { // a name that nothing else takes reads as one
			return nearNode(source, s, false)
		}
		return sqltype.Unsupported("the statement Label")
	case *ast.BeginEndBlockStatement:
		return block(s.StatementList)
	case *ast.TryCatchStatement:
		return block(s.TryStatements, s.CatchStatements)
	case *ast.WhileStatement:
		return unsaidIn(s.Statement, source, false)
	case *ast.IfStatement:
		if err := unsaidIn(s.ThenStatement, source, false); err != nil || s.ElseStatement == nil {
			return err
		}
		return unsaidIn(s.ElseStatement, source, false)
	case *ast.CreateProcedureStatement:
		return body(s.StatementList)
	case *ast.CreateOrAlterProcedureStatement:
		return body(s.StatementList)
	case *ast.AlterProcedureStatement:
		return body(s.StatementList)
	}
	return nil
}

// calledBare gives the first word of a call that does not begin with EXECUTE, "" for one that does.
func calledBare(s *ast.ExecuteStatement, source string) string {
	units := utf16.Encode([]rune(source)) // the parser counts in these
	for _, t := range tokens(string(utf16.Decode(units[min(s.StartOffset, len(units)):]))) {
		if t.blank {
			continue
		}
		if strings.EqualFold(t.text, "exec") || strings.EqualFold(t.text, "execute") {
			return ""
		}
		return strings.Trim(t.text, "[]\"")
	}
	return ""
}

// subquery binds a query whose rows have no order of their own: a derived table, a common table expression, the
// operand of a predicate or of UNION (Microsoft: SELECT - ORDER BY Clause, Limitations).
func (b *binder) subquery(q ast.QueryExpression, outer *scope) plan {
	if ordered(q) {
		failf(1033, "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also specified.")
	}
	return b.query(q, outer)
}

func ordered(q ast.QueryExpression) bool {
	switch x := q.(type) {
	case *ast.QueryParenthesisExpression:
		return ordered(x.QueryExpression)
	case *ast.BinaryQueryExpression:
		return x.OrderByClause != nil
	case *ast.QuerySpecification:
		return x.OrderByClause != nil && x.TopRowFilter == nil && x.OffsetClause == nil && x.ForClause == nil
	}
	return false
}

// wholeUnion refuses a UNION behind whose last part there is something that the tree does not hold.
func wholeUnion(x *ast.BinaryQueryExpression) {
	if !x.HasSpan() {
		return
	}
	end := 0
	switch last := x.SecondQueryExpression.(type) {
	case *ast.QuerySpecification:
		end = last.EndOffset()
	case *ast.QueryParenthesisExpression:
		end = last.EndOffset()
	}
	if o := x.OrderByClause; o != nil {
		end = o.EndOffset()
	}
	if x.EndOffset() > end {
		unsupported("OFFSET and FOR behind UNION")
	}
}
