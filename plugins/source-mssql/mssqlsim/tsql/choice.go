package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// choice binds CASE and what is short for it: IIF, COALESCE and NULLIF.
func (b *binder) choice(x ast.ScalarExpression, sc *scope) expr {
	switch e := x.(type) {
	case *ast.SearchedCaseExpression:
		var ps []pred
		var vs []expr
		for _, w := range e.WhenClauses {
			ps = append(ps, b.pred(w.WhenExpression, sc))
			vs = append(vs, b.expr(w.ThenExpression, sc))
		}
		return b.caseOf(ps, vs, e.ElseExpression, sc)
	case *ast.SimpleCaseExpression:
		in := b.expr(e.InputExpression, sc)
		var ps []pred
		var vs []expr
		for _, w := range e.WhenClauses {
			if (bareNull(e.InputExpression) || bareNull(w.WhenExpression)) && b.sess.Settings().Options&ansiNulls == 0 {
				unsupported("NULL and variables that a simple CASE compares with SET ANSI_NULLS OFF")
			}
			ps = append(ps, b.compare("Equals", in, b.expr(w.WhenExpression, sc)))
			vs = append(vs, b.expr(w.ThenExpression, sc))
		}
		return b.caseOf(ps, vs, e.ElseExpression, sc)
	case *ast.IIfCall:
		return b.caseOf([]pred{b.pred(e.Predicate, sc)}, []expr{b.expr(e.ThenExpression, sc)}, e.ElseExpression, sc)
	case *ast.CoalesceExpression:
		if len(e.Expressions) < 2 {
			failf(102, "Incorrect syntax near ')'.")
		}
		return b.coalesce(b.exprs(e.Expressions, sc))
	case *ast.NullIfExpression:
		v, w := b.expr(e.FirstExpression, sc), b.expr(e.SecondExpression, sc)
		if v.typ.Kind == sqltype.Null {
			failf(4151, "The type of the first argument to NULLIF cannot be the NULL constant because the type of the first argument has to be known.")
		}
		if (bareNull(e.FirstExpression) || bareNull(e.SecondExpression)) && b.sess.Settings().Options&ansiNulls == 0 {
			unsupported("NULL and variables of NULLIF with SET ANSI_NULLS OFF")
		}
		eq := b.compare("Equals", v, w)
		return expr{typ: v.typ, null: true, coll: v.coll, clash: v.clash, eval: func(f *frame) sqltype.Value {
			if eq(f) == yes {
				return sqltype.Value{}
			}
			return v.eval(f)
		}}
	}
	unsupported("the expression %s", nodeName(x))
	return expr{}
}

// common gives the type that several expressions take together in an operation, with the label of their collation; Null when all are
// the constant NULL.
func common(operation string, vs []expr) (t sqltype.Type, l label) {
	t = sqltype.Of(sqltype.Null)
	var text *expr
	for i, v := range vs {
		t = sqltype.Common(t, v.typ)
		if v.typ.Class() != sqltype.ClassString {
			continue
		}
		if text == nil {
			text = &vs[i]
			continue
		}
		both := text.labelled(agree(operation, *text, v))
		text = &both
	}
	if t.Class() == sqltype.ClassString && text != nil {
		l = text.label().settled(t, vs...)
		t.Collation = l.collation
	}
	return t, l
}

func (b *binder) caseOf(ps []pred, vs []expr, els ast.ScalarExpression, sc *scope) expr {
	otherwise := constant(sqltype.Of(sqltype.Null), sqltype.Value{})
	if els != nil {
		otherwise = b.expr(els, sc)
	}
	t, l := common("CASE", append(vs[:len(vs):len(vs)], otherwise))
	if t.Kind == sqltype.Null {
		failf(8133, "At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.")
	}
	null := otherwise.null
	for i := range vs {
		null = null || vs[i].null
		vs[i] = b.given(vs[i], t)
	}
	otherwise = b.given(otherwise, t)
	return expr{typ: t, null: null, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		for i, p := range ps {
			if p(f) == yes {
				return vs[i].eval(f)
			}
		}
		return otherwise.eval(f)
	}}
}

func (b *binder) coalesce(vs []expr) expr {
	t, l := common("CASE", vs)
	if t.Kind == sqltype.Null {
		failf(4127, "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.")
	}
	null, konst := true, true
	for i, v := range vs {
		null, konst = null && v.null, konst && v.konst
		vs[i] = b.given(v, t)
	}
	return expr{typ: t, null: null, konst: konst, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		for _, v := range vs {
			if x := v.eval(f); !x.IsNull() {
				return x
			}
		}
		return sqltype.Value{}
	}}
}

// isNull is ISNULL, which has the type of its first argument (Microsoft: ISNULL (Transact-SQL)).
func (b *binder) isNull(args []expr) expr {
	t, l := args[0].typ, args[0].label()
	if t.Kind == sqltype.Null {
		if t, l = args[1].typ, args[1].label(); t.Kind == sqltype.Null {
			t = sqltype.Of(sqltype.Int)
		}
	}
	x, y := b.given(args[0], t), b.given(args[1], t)
	return expr{typ: t, null: x.null && y.null, konst: x.konst && y.konst, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		if v := x.eval(f); !v.IsNull() {
			return v
		}
		return y.eval(f)
	}}
}

// choose is CHOOSE (Microsoft: CHOOSE (Transact-SQL)).
func (b *binder) choose(args []expr) expr {
	index, vs := b.given(args[0], sqltype.Of(sqltype.Int)), args[1:]
	t, l := common("CHOOSE", vs)
	if t.Kind == sqltype.Null {
		failf(8133, "At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.")
	}
	for i := range vs {
		vs[i] = b.given(vs[i], t)
	}
	return expr{typ: t, null: true, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		if n := index.eval(f); !n.IsNull() && n.Int() >= 1 && n.Int() <= int64(len(vs)) {
			return vs[n.Int()-1].eval(f)
		}
		return sqltype.Value{}
	}}
}

// extreme is GREATEST and LEAST, which skip NULL (Microsoft: Logical functions - GREATEST (Transact-SQL)).
func (b *binder) extreme(name string, args []expr) expr {
	t, l := common(lower(name), args)
	if l.rank == conflicting {
		failf(468, "Cannot resolve the collation conflict between \"%s\" and \"%s\" in the %s operation.", l.clash.later, l.clash.earlier, lower(name))
	}
	if t.Kind == sqltype.Null {
		t = sqltype.Of(sqltype.Int)
	}
	null := true
	for i := range args {
		null = null && args[i].null
		args[i] = b.given(args[i], t)
	}
	cmp := sqltype.Comparer(t)
	return expr{typ: t, null: null, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		var best sqltype.Value
		for _, a := range args {
			v := a.eval(f)
			if v.IsNull() {
				continue
			}
			if c := cmp(&v, &best); best.IsNull() || name == "GREATEST" && c > 0 || name == "LEAST" && c < 0 {
				best = v
			}
		}
		return best
	}}
}
