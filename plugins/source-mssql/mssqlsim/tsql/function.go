package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

func (b *binder) function(e *ast.FunctionCall, sc *scope) expr {
	name := strings.ToUpper(ident(e.FunctionName))
	if e.WithinGroupClause != nil && name != "STRING_AGG" || len(e.IgnoreRespectNulls) > 0 || len(e.JsonParameters) > 0 {
		unsupported("%s in this form", name)
	}
	if name == "TRIM" && len(e.Parameters) == 2 && e.CallTarget == nil {
		return b.trimOf(e, sc)
	}
	if e.CallTarget != nil {
		if m, ok := b.methodCall(e, sc); ok {
			return m
		}
		t, ok := e.CallTarget.(*ast.MultiPartIdentifierCallTarget)
		if !ok {
			unsupported("method calls such as .%s()", e.FunctionName.Value)
		}
		return b.schemaFunction(t.MultiPartIdentifier.Identifiers, e, sc)
	}
	if e.OverClause != nil {
		return b.window(name, e, sc)
	}
	if windowOnly[name] {
		failf(10753, "The function '%s' must have an OVER clause.", name)
	}
	if aggregateNames[name] {
		return b.aggregate(name, e, sc)
	}
	switch name {
	case "DATEPART", "DATENAME", "DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATETRUNC", "DATE_BUCKET":
		if (name == "DATETRUNC" || name == "DATE_BUCKET") && b.sess.Release() < 2022 {
			failf(195, "'%s' is not a recognized built-in function name.", name)
		}
		if want := dateArguments[name]; len(e.Parameters) != want && (name != "DATE_BUCKET" || len(e.Parameters) != 4) {
			failf(174, "The %s function requires %d argument(s).", strings.ToLower(name), want)
		}
		return b.dateFunction(name, datePartWord(e.Parameters[0]), b.exprs(e.Parameters[1:], sc))
	case "MSSQLSIM_COLLATE": // what the reader of statements makes of "x COLLATE y", see collate.go
		v := b.expr(e.Parameters[0], sc)
		name := e.Parameters[1].(*ast.StringLiteral).Value
		return b.collate(v, &ast.Identifier{Value: name})
	}
	if name == "CURSOR_STATUS" {
		return b.cursorStatus(b.exprs(e.Parameters, sc))
	}
	args := b.exprs(e.Parameters, sc)
	b.written = ident(e.FunctionName)
	v := b.builtin(name, args)
	return b.collate(v, e.Collation)
}

// trimOf is TRIM ([LEADING | TRAILING | BOTH] characters FROM text); the words came with SQL Server 2022 (Microsoft: TRIM
// (Transact-SQL)).
func (b *binder) trimOf(e *ast.FunctionCall, sc *scope) expr {
	name := "TRIM"
	if e.TrimOptions != nil {
		if b.sess.Release() < 2022 {
			failf(102, "Incorrect syntax near '%s'.", e.TrimOptions.Value)
		}
		name = map[string]string{"LEADING": "LTRIM", "TRAILING": "RTRIM", "BOTH": "TRIM"}[strings.ToUpper(e.TrimOptions.Value)]
	}
	if b.sess.Release() < 2017 {
		failf(195, "'TRIM' is not a recognized built-in function name.")
	}
	return b.textFunction(name, []expr{b.expr(e.Parameters[1], sc), b.expr(e.Parameters[0], sc)})
}

func datePartWord(x ast.ScalarExpression) string {
	switch c := x.(type) {
	case *ast.ColumnReferenceExpression:
		return strings.ToLower(columnText(c))
	case *ast.IdentifierLiteral:
		return strings.ToLower(c.Value)
	}
	failf(1023, "Invalid parameter 1 specified for datepart.")
	return ""
}

// schemaFunction calls a scalar function of a schema, such as sys.fn_cdc_get_max_lsn.
func (b *binder) schemaFunction(ids []*ast.Identifier, e *ast.FunctionCall, sc *scope) expr {
	n := Name{Schema: ids[len(ids)-1].Value, Object: e.FunctionName.Value}
	if len(ids) > 1 {
		n.Database = ids[len(ids)-2].Value
	}
	fn, err := b.sess.Function(n)
	if err != nil {
		fail(err)
	}
	if fn == nil {
		failf(4121, "Cannot find either column \"%s\" or the user-defined function or aggregate \"%s\", or the name is ambiguous.", n.Schema, n)
	}
	if len(e.Parameters) < len(fn.Params) {
		failf(313, "An insufficient number of arguments were supplied for the procedure or function %s.", n)
	}
	if len(e.Parameters) > len(fn.Params) {
		failf(8144, "Procedure or function %s has too many arguments specified.", n)
	}
	args := b.exprs(e.Parameters, sc)
	for i := range args {
		args[i] = b.cast(args[i], fn.Params[i], 0)
	}
	vals := make([]sqltype.Value, len(args))
	return expr{typ: fn.Returns, null: true, eval: func(f *frame) sqltype.Value {
		for i, a := range args {
			vals[i] = a.eval(f)
		}
		if b.err != nil {
			return sqltype.Value{}
		}
		v, err := fn.Call(vals)
		if err != nil {
			b.fail(err)
		}
		return v
	}}
}

// global binds a name with two at signs.
func (b *binder) global(name string) expr {
	switch u := strings.ToUpper(name); u {
	case "@@TRANCOUNT":
		return expr{typ: sqltype.Of(sqltype.Int), eval: func(*frame) sqltype.Value { return sqltype.FromInt(int64(b.sess.TranCount())) }}
	case "@@ROWCOUNT":
		return constant(sqltype.Of(sqltype.Int), sqltype.FromInt(b.batch.rowCount))
	case "@@FETCH_STATUS":
		return expr{typ: sqltype.Of(sqltype.Int), eval: func(*frame) sqltype.Value { return sqltype.FromInt(b.sess.Settings().cursors.status) }}
	case "@@CURSOR_ROWS":
		return b.cursorRowCount()
	case "@@ERROR":
		return constant(sqltype.Of(sqltype.Int), sqltype.FromInt(int64(b.batch.lastError)))
	default:
		b.written = name
		return b.system(u, nil)
	}
}

// system asks the session for a function that depends on the server or the connection. Its arguments must be
// constant.
func (b *binder) system(name string, args []expr) expr {
	if name == "NEWID" { // another value in each row
		return expr{typ: sqltype.Of(sqltype.UniqueIdentifier), eval: func(*frame) sqltype.Value {
			v, _, _, err := b.sess.System(name, nil)
			if err != nil {
				b.fail(err)
			}
			return v
		}}
	}
	vals := make([]sqltype.Value, len(args))
	for i, a := range args {
		if !a.konst {
			unsupported("%s of a column", name)
		}
		vals[i] = b.cast(a, sqltype.Str(sqltype.NVarChar, sqltype.Max), 0).eval(nil)
	}
	if b.err != nil {
		fail(b.takeErr())
	}
	v, t, ok, err := b.sess.System(name, vals)
	if err != nil {
		fail(err)
	}
	if !ok {
		if since, known := unbuilt(name); known && since <= b.sess.Release() {
			unsupported("the function %s", name)
		}
		if strings.HasPrefix(name, "@@") {
			name = b.written
			failf(137, "Must declare the scalar variable \"%s\".", name)
		}
		if strings.EqualFold(b.written, name) { // in its own letters
			name = b.written
		}
		failf(195, "'%s' is not a recognized built-in function name.", name)
	}
	if len(args) > 0 && withoutArguments[name] {
		failf(174, "The %s function requires 0 argument(s).", lower(name))
	}
	return constant(t, v)
}

// withoutArguments are functions of the session that take none (Microsoft: the pages of each).
var withoutArguments = map[string]bool{"GETDATE": true, "GETUTCDATE": true, "SYSDATETIME": true, "SYSUTCDATETIME": true, "SYSDATETIMEOFFSET": true, "NEWID": true,
	"SCOPE_IDENTITY": true, "XACT_STATE": true, "HOST_NAME": true, "APP_NAME": true}

// value evaluates an expression that must not depend on rows.
func (b *binder) value(x ast.ScalarExpression) sqltype.Value {
	v := b.expr(x, nil).eval(&frame{})
	if b.err != nil {
		fail(b.takeErr())
	}
	return v
}

// valueOf evaluates an expression and converts it.
func (b *binder) valueOf(x ast.ScalarExpression, t sqltype.Type) sqltype.Value {
	e := b.cast(b.expr(x, nil), t, 0)
	if b.compiling {
		return sqltype.Value{}
	}
	v := e.eval(&frame{})
	if b.err != nil {
		fail(b.takeErr())
	}
	return v
}
