package tsql

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// argumentScope is what the arguments of a function in FROM see: the tables before it only where it is applied to them.
func argumentScope(sc *scope, applied bool) *scope {
	if applied {
		return sc
	}
	return &scope{outer: sc.outer}
}

// globalFunction declares a function in FROM that has no schema.
func (b *binder) globalFunction(x *ast.GlobalFunctionTableReference, args []expr, sc *scope, leaf func(*tableRef, node) *source) *source {
	name := strings.ToUpper(ident(x.Name))
	if name != "STRING_SPLIT" {
		unsupported("the function %s in FROM", name)
	}
	alias := ident(x.Alias)
	if alias == "" {
		alias = ident(x.Name)
	}
	fn := b.stringSplit(args)
	t := sc.add(alias, "", renamed(fn.Columns, x.Columns, alias), false)
	return leaf(t, &functionNode{run: b.run, fn: fn, args: args, ref: t})
}

// stringSplit is STRING_SPLIT (text, separator [, enable_ordinal]), the last since SQL Server 2022 (Microsoft: STRING_SPLIT
// (Transact-SQL)). It replaces its arguments by what its call takes.
func (b *binder) stringSplit(args []expr) *TableFunction {
	most := 2
	if b.sess.Release() >= 2022 {
		most = 3
	}
	if len(args) < 2 || len(args) > most {
		failf(8144, "Procedure or function string_split has too few or too many arguments specified.")
	}
	typ := varying(args[0].typ)
	if typ.Class() != sqltype.ClassString {
		failf(8116, "Argument data type %s is invalid for argument 1 of string_split function.", args[0].typ.Kind)
	}
	if args[1].typ.Unicode() && typ.Kind == sqltype.VarChar {
		typ.Kind = sqltype.NVarChar
		if typ.Len > 4000 {
			typ.Len = 4000
		}
	}
	fn := &TableFunction{Columns: []Column{{Name: "value", Type: typ, Nullable: true}}}
	args[0], args[1] = b.cast(args[0], typ, 0), b.cast(args[1], sqltype.Str(sqltype.NVarChar, 4000), 0)
	numbered := false
	if len(args) == 3 {
		if !args[2].konst {
			unsupported("enable_ordinal of STRING_SPLIT that is no constant")
		}
		v := b.cast(args[2], sqltype.Of(sqltype.Int), 0).eval(&frame{})
		if b.err != nil {
			fail(b.takeErr())
		}
		if numbered = !v.IsNull() && v.Int() == 1; !numbered && !v.IsNull() && v.Int() != 0 {
			unsupported("%d as enable_ordinal of STRING_SPLIT", v.Int())
		}
		if numbered {
			fn.Columns = append(fn.Columns, Column{Name: "ordinal", Type: sqltype.Of(sqltype.BigInt)})
		}
	}
	doubt := typ.PartDoubt()
	fn.Call = func(_ context.Context, v []sqltype.Value) (Cursor, error) {
		rows := &Rows{Cols: fn.Columns}
		if v[1].IsNull() {
			return nil, sqltype.Unsupported("NULL as the separator of STRING_SPLIT")
		}
		sep := v[1].Str()
		if len([]rune(sep)) != 1 {
			return nil, sqltype.Errorf(214, "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.")
		}
		if v[0].IsNull() {
			return rows.Cursor(), nil
		}
		s := v[0].Str()
		if doubt != nil {
			if part := doubt(s, sep, false); part != "" {
				return nil, apart("STRING_SPLIT", part, typ)
			}
		}
		key, equal := typ.Fold(sep)[0], 0
		for _, k := range typ.Fold(s) {
			if k == key {
				equal++
			}
		}
		if equal != strings.Count(s, sep) {
			return nil, sqltype.Unsupported("STRING_SPLIT of a text with its separator in upper and lower case, or with another that is equal to it")
		}
		for i, part := range strings.Split(s, sep) {
			row := sqltype.Row{sqltype.FromString(part)}
			if numbered {
				row = append(row, sqltype.FromInt(int64(i+1)))
			}
			rows.Data = append(rows.Data, row)
		}
		return rows.Cursor(), nil
	}
	return fn
}
