package tsql

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// undoubted is an expression whose text is about to be compared by a type: text whose order, or equality, is not known there fails the
// statement.
func (b *binder) undoubted(e expr, t sqltype.Type, order bool) expr {
	if e.typ.Class() != sqltype.ClassString {
		return e
	}
	doubt := t.Doubt(order)
	if doubt == nil {
		return e
	}
	inner, what := e.eval, "whether text is equal that has"
	if order {
		what = "the order of text that has"
	}
	e.eval = func(f *frame) sqltype.Value {
		v := inner(f)
		if !v.IsNull() {
			if part := doubt(v.Str()); part != "" {
				b.fail(sqltype.Unsupported("%s %q, in the collation %s", what, part, collationName(expr{typ: t})))
			}
		}
		return v
	}
	return e
}

// checked makes a plan look at the keys of an order that its rows have without being sorted.
func (b *binder) checked(input node, keys []sortKey) node {
	var preds []pred
	for _, k := range keys {
		if k.e.typ.Class() == sqltype.ClassString && k.e.typ.Doubt(true) != nil {
			preds = append(preds, func(f *frame) tri {
				k.e.eval(f)
				return yes
			})
		}
	}
	if preds == nil {
		return input
	}
	return &filterNode{run: b.run, input: input, preds: preds}
}
