package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// collationProperty is COLLATIONPROPERTY: NULL for what is no collation or no property (Microsoft: COLLATIONPROPERTY
// (Transact-SQL), which says of each its base type; SortId is not on that page, the tests of Microsoft's Go driver ask for it).
func (b *binder) collationProperty(_ string, args []expr) expr {
	name, property := b.given(args[0], sqltype.SysName), b.given(args[1], sqltype.Str(sqltype.VarChar, 128))
	variant := sqltype.Of(sqltype.Variant)
	return folded(expr{typ: variant, null: true, konst: name.konst && property.konst, eval: func(f *frame) sqltype.Value {
		n, p := name.eval(f), property.eval(f)
		if n.IsNull() || p.IsNull() {
			return sqltype.Value{}
		}
		c, ok := collation.Find(n.Str())
		if !ok {
			if collation.Hidden(n.Str()) {
				b.fail(sqltype.Unsupported("the collation %s", n.Str()))
			}
			return sqltype.Value{}
		}
		value, t := 0, sqltype.Of(sqltype.Int)
		switch lower(p.Str()) {
		case "codepage":
			value = int(c.Page)
		case "lcid":
			value = int(c.LCID)
		case "comparisonstyle":
			value = c.Style()
		case "version":
			value, t = int(c.Version), sqltype.Of(sqltype.TinyInt)
		case "sortid":
			value, t = int(c.SortID), sqltype.Of(sqltype.TinyInt)
		default:
			return sqltype.Value{}
		}
		v, err := sqltype.Convert(sqltype.FromInt(int64(value)), t, variant, 0)
		if err != nil {
			b.fail(err)
		}
		return v
	}})
}
