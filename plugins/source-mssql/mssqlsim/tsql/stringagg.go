package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// stringAgg binds STRING_AGG (expression, separator) [WITHIN GROUP (ORDER BY ...)], of SQL Server 2017 (Microsoft: STRING_AGG
// (Transact-SQL)). Types that its page does not name are refused, and so is a separator that is NULL or a column.
func (b *binder) stringAgg(e *ast.FunctionCall, base *scope) *aggregate {
	if b.sess.Release() < 2017 {
		failf(195, "'STRING_AGG' is not a recognized built-in function name.")
	}
	if len(e.Parameters) != 2 {
		failf(174, "The string_agg function requires 2 argument(s).")
	}
	if e.UniqueRowFilter == "Distinct" {
		unsupported("DISTINCT in STRING_AGG")
	}
	a := &aggregate{name: "STRING_AGG", arg: b.expr(e.Parameters[0], base)}
	a.arg.label().needed("string_agg")
	switch a.arg.typ.Kind {
	case sqltype.VarChar, sqltype.NVarChar:
		a.typ = longest(a.arg.typ)
	case sqltype.Int, sqltype.BigInt, sqltype.SmallInt, sqltype.TinyInt, sqltype.Numeric, sqltype.Float, sqltype.Real, sqltype.Bit, sqltype.Decimal,
		sqltype.SmallMoney, sqltype.Money, sqltype.DateTime, sqltype.DateTime2:
		a.typ = sqltype.Str(sqltype.NVarChar, 4000)
	default:
		unsupported("STRING_AGG of %s", a.arg.typ)
	}
	a.arg = b.cast(a.arg, a.typ, 0)
	sep := b.expr(e.Parameters[1], nil)
	if sep.typ.Class() != sqltype.ClassString || sep.typ.Unicode() && !a.typ.Unicode() {
		unsupported("%s as the separator of STRING_AGG of %s", sep.typ, a.typ)
	}
	v := sep.eval(&frame{})
	if b.err != nil {
		fail(b.takeErr())
	}
	if v.IsNull() {
		unsupported("NULL as the separator of STRING_AGG")
	}
	a.separator = v.Str()
	if w := e.WithinGroupClause; w != nil {
		if w.HasGraphPath {
			unsupported("GRAPH PATH in STRING_AGG")
		}
		a.order = b.windowOrder(w.OrderByClause, base)
	}
	return a
}

// keep remembers a value with its place in the order.
func (a *aggregate) keep(h *hold, acc *accumulator, f *frame) {
	s := sorted{rows: []sqltype.Row{{a.v}}}
	for _, k := range a.order {
		s.keys = append(s.keys, k.e.eval(f))
	}
	h.take(s.rows[0].Size() + sqltype.Row(s.keys).Size())
	acc.kept = append(acc.kept, s)
}

// strung puts the values together that were kept.
func (a *aggregate) strung(acc *accumulator) (sqltype.Value, error) {
	if len(acc.kept) == 0 {
		return sqltype.Value{}, nil
	}
	if len(a.order) > 0 {
		sortRows(acc.kept, a.order)
	}
	var text strings.Builder
	for i, s := range acc.kept {
		if i > 0 {
			text.WriteString(a.separator)
		}
		text.WriteString(s.rows[0][0].Str())
		if text.Len() > sqltype.LongestValue {
			return sqltype.Value{}, sqltype.Unsupported("STRING_AGG of more than %d bytes", sqltype.LongestValue)
		}
	}
	v := sqltype.FromString(text.String())
	if a.typ.Len != sqltype.Max && int(sqltype.Length(v, a.typ)) > int(a.typ.Len) {
		return sqltype.Value{}, sqltype.Errorf(9829, "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.")
	}
	return v, nil
}
