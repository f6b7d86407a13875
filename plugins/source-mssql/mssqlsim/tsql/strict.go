package tsql

import (
	"strings"

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
		if _, closed := commentEnd(last, 0); !closed {
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
func unsaid(list []ast.Statement, source written, first bool) error {
	for i, st := range list {
		if err := unsaidIn(st, source, first); err != nil {
			return err
		}
		if err := separated(st, source, i); err != nil {
			return err
		}
		first = false
	}
	return nil
}

func unsaidIn(st ast.Statement, source written, first bool) error {
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
		switch name := calledBare(s, source); {
		case name == "":
		case !first:
			return nearNode(source.text, s, false)
		case strings.EqualFold(name, "throw"):
			return nothingCaught()
		case reserved[lower(name)]: // as far as the parser read it
			return nearNode(source.text, s, true)
		}
	case *ast.UseStatement:
		if s.DatabaseName == nil || s.DatabaseName.Value == "" {
			return nearNode(source.text, s, true)
		}
	case *ast.AlterTableAddTableElementStatement:
		if s.Definition != nil {
			return reservedColumn(s.Definition, source)
		}
	case *ast.CreateTableStatement:
		if s.Definition != nil {
			return reservedColumn(s.Definition, source)
		}
	case *ast.PredicateSetStatement:
		words := places(strings.TrimRight(source.of(s), "; \r\n\t"))
		if n := len(words); n > 0 && !strings.EqualFold(words[n-1].text, "on") && !strings.EqualFold(words[n-1].text, "off") {
			return nearNode(source.text, s, true)
		}
	case *ast.MergeStatement:
		return ended(s, source)
	case *ast.DropIndexStatement:
		for _, c := range s.DropIndexClauses {
			if c.Object == nil && c.LegacyIndex == nil {
				e := sqltype.Errorf(159, "Must specify the table name and index name for the DROP INDEX statement.")
				e.Line = int32(s.StartLine)
				return e
			}
		}
	case *ast.LabelStatement:
		if !strings.Contains(source.of(s), ":") { // a name that nothing else takes reads as one
			return nearNode(source.text, s, false)
		}
		return sqltype.Unsupported("the statement %s", nodeName(s))
	case *ast.BeginEndBlockStatement:
		if s.StatementList == nil || len(s.StatementList.Statements) == 0 {
			words := places(source.of(s))
			return near(source.text, words, len(words)-1)
		}
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
	case *ast.CreateProcedureStatement: // so it takes what it does not know
		if words := places(source.of(s)); len(words) > 1 {
			if kind, unknown := unknownKind(words); unknown {
				e := sqltype.Errorf(343, "Unknown object type '%s' used in a CREATE, DROP, or ALTER statement.", kind)
				e.Line = int32(s.StartLine)
				return e
			}
		}
		return body(s.StatementList)
	case *ast.CreateOrAlterProcedureStatement:
		return body(s.StatementList)
	case *ast.AlterProcedureStatement:
		return body(s.StatementList)
	}
	return nil
}

// separated asks for a semicolon before THROW and WITH of common table expressions where another statement stands before them
// (Microsoft: THROW (Transact-SQL); WITH common_table_expression (Transact-SQL)).
func separated(st ast.Statement, source written, at int) error {
	var with *ast.WithCtesAndXmlNamespaces
	switch s := st.(type) {
	case *ast.ThrowStatement:
	case *ast.SelectStatement:
		with = s.WithCtesAndXmlNamespaces
	case *ast.InsertStatement:
		with = s.WithCtesAndXmlNamespaces
	case *ast.UpdateStatement:
		with = s.WithCtesAndXmlNamespaces
	case *ast.DeleteStatement:
		with = s.WithCtesAndXmlNamespaces
	case *ast.MergeStatement:
		with = s.WithCtesAndXmlNamespaces
	default:
		return nil
	}
	throw, thrown := st.(*ast.ThrowStatement)
	if at == 0 || !thrown && with == nil {
		return nil
	}
	f := st.(interface{ Frag() *ast.Fragment })
	words := places(source.part(0, f.Frag().StartOffset))
	if len(words) == 0 || words[len(words)-1].text == ";" {
		return nil
	}
	if thrown {
		return nearNode(source.text, throw, false)
	}
	e := sqltype.Errorf(319, "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon.")
	e.Line = int32(f.Frag().StartLine)
	return e
}

// reservedColumn refuses a reserved word as the name of a column.
func reservedColumn(d *ast.TableDefinition, source written) error {
	for _, c := range d.ColumnDefinitions {
		if i := c.ColumnIdentifier; i != nil && reserved[lower(i.Value)] && strings.EqualFold(source.of(i), i.Value) {
			return nearNode(source.text, i, false)
		}
	}
	return nil
}

// calledBare gives the first word of a call that does not begin with EXECUTE, "" for one that does.
func calledBare(s *ast.ExecuteStatement, source written) string {
	for t := range eachToken(source.behind(s.StartOffset)) {
		if t.blank {
			continue
		}
		if strings.EqualFold(t.text, "exec") || strings.EqualFold(t.text, "execute") {
			return ""
		}
		return t.text
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
