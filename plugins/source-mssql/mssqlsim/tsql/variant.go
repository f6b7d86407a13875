package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// variantProperty is SQL_VARIANT_PROPERTY, of which the base type is known (Microsoft: SQL_VARIANT_PROPERTY
// (Transact-SQL)). It is NULL for a value that no sql_variant can hold.
func (b *binder) variantProperty(args []expr) expr {
	if len(args) != 2 {
		failf(174, "The sql_variant_property function requires 2 argument(s).")
	}
	property := b.cast(args[1], sqltype.Str(sqltype.VarChar, 128), 0)
	from, variant := args[0].typ, sqltype.Of(sqltype.Variant)
	return expr{typ: variant, null: true, konst: args[0].konst && property.konst, eval: func(f *frame) sqltype.Value {
		v, p := args[0].eval(f), property.eval(f)
		if v.IsNull() || p.IsNull() {
			return sqltype.Value{}
		}
		if !strings.EqualFold(p.Str(), "BaseType") {
			b.fail(sqltype.Unsupported("SQL_VARIANT_PROPERTY of %s", p.Str()))
			return sqltype.Value{}
		}
		v, err := sqltype.Convert(v, from, variant, 0)
		if err != nil {
			return sqltype.Value{}
		}
		name, err := sqltype.Convert(sqltype.FromString(v.Base().Kind.String()), sqltype.SysName, variant, 0)
		if err != nil {
			b.fail(err)
		}
		return name
	}}
}
