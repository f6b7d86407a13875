package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// describeParams are the parameters of sp_describe_first_result_set.
var describeParams = []Param{{Name: "@tsql", Type: sqltype.Str(sqltype.NVarChar, sqltype.Max)}, {Name: "@params", Type: sqltype.Str(sqltype.NVarChar, sqltype.Max), Optional: true},
	{Name: "@browse_information_mode", Type: sqltype.Of(sqltype.TinyInt), Optional: true}}

// describe is sp_describe_first_result_set (Microsoft: sp_describe_first_result_set (Transact-SQL)): it binds the batch
// and does not run it.
func (x *executor) describe(n Name, args []*Argument) (rows *Rows, err error) {
	vals, err := bindArguments(&Procedure{Params: describeParams}, n, args, &x.sess.Settings().Locale)
	if err != nil {
		return nil, err
	}
	vars := map[string]*variable{}
	outer := x.batch
	inner := *outer
	inner.vars, inner.tables = vars, map[string]*tableVar{}
	inner.source = x.rewritten(vals["@tsql"].Str())
	x.batch = &inner
	defer func() { x.batch = outer }()
	if p := vals["@params"]; !p.IsNull() {
		if err := x.plain(func(b *binder) { b.declared(p.Str(), vars) }); err != nil {
			return nil, err
		}
	}
	sc, err := parse(x.ctx, inner.source)
	if err != nil {
		return nil, err
	}
	var cols []Column
	for _, b := range sc.Batches {
		if err := x.compile(b.Statements, inner.source); err != nil {
			return nil, err
		}
		for _, st := range b.Statements {
			done, err := x.describeStatement(st, &cols)
			if err != nil || done {
				return x.sess.Describe(cols), err
			}
		}
	}
	return x.sess.Describe(nil), nil
}

// describeStatement finds the columns of a statement that gives rows; others are passed over.
func (x *executor) describeStatement(st ast.Statement, cols *[]Column) (done bool, err error) {
	switch s := st.(type) {
	case *ast.SelectStatement:
		if q, ok := s.QueryExpression.(*ast.QuerySpecification); ok && len(q.SelectElements) > 0 {
			if _, ok := q.SelectElements[0].(*ast.SelectSetVariable); ok {
				return false, nil
			}
		}
		return true, x.plain(func(b *binder) {
			b.with(s.WithCtesAndXmlNamespaces)
			*cols = b.query(s.QueryExpression, nil).columns()
			namedAll(*cols)
		})
	case *ast.DeclareVariableStatement, *ast.DeclareTableVariableStatement, *ast.SetVariableStatement, *ast.PredicateSetStatement, *ast.SetTransactionIsolationLevelStatement, *ast.SetCommandStatement, *ast.PrintStatement, *ast.InsertStatement, *ast.UpdateStatement,
		*ast.DeleteStatement, *ast.BeginTransactionStatement, *ast.CommitTransactionStatement:
		if hasOutput(st) {
			return false, sqltype.Unsupported("sp_describe_first_result_set of OUTPUT")
		}
		return false, nil
	}
	return false, sqltype.Unsupported("sp_describe_first_result_set of %s", nodeName(st))
}

func hasOutput(st ast.Statement) bool {
	switch s := st.(type) {
	case *ast.InsertStatement:
		return s.InsertSpecification.OutputClause != nil
	case *ast.UpdateStatement:
		return s.UpdateSpecification.OutputClause != nil
	case *ast.DeleteStatement:
		return s.DeleteSpecification.OutputClause != nil
	}
	return false
}
