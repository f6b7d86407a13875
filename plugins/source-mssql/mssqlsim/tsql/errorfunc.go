package tsql

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// caughtError binds ERROR_NUMBER and its kin: NULL outside of a CATCH block (Microsoft: ERROR_NUMBER, ERROR_MESSAGE,
// ERROR_SEVERITY, ERROR_STATE, ERROR_LINE, ERROR_PROCEDURE). No error comes from inside a procedure of the server's own.
func (b *binder) caughtError(name string, _ []expr) expr {
	t := sqltype.Of(sqltype.Int)
	switch name {
	case "ERROR_MESSAGE":
		t = sqltype.Str(sqltype.NVarChar, 4000)
	case "ERROR_PROCEDURE":
		t = sqltype.Str(sqltype.NVarChar, 128)
	}
	batch := b.batch
	return expr{typ: t, null: true, eval: func(*frame) sqltype.Value {
		e := batch.caught
		if e == nil {
			return sqltype.Value{}
		}
		switch name {
		case "ERROR_NUMBER":
			return sqltype.FromInt(int64(e.Number))
		case "ERROR_SEVERITY":
			return sqltype.FromInt(int64(e.Class))
		case "ERROR_STATE":
			return sqltype.FromInt(int64(e.State))
		case "ERROR_MESSAGE":
			return sqltype.FromString(e.Message)
		case "ERROR_LINE":
			return sqltype.FromInt(int64(max(e.Line, 1)))
		}
		if e.Procedure == "" {
			return sqltype.Value{}
		}
		return sqltype.FromString(b.procedureOf(e))
	}}
}

// procedureOf names the procedure of an error: with its schema since SQL Server 2017, but not in Azure SQL Database.
func (b *binder) procedureOf(e *sqltype.Error) string {
	property := func(name string) string {
		v, _, _, err := b.sess.System("SERVERPROPERTY", []sqltype.Value{sqltype.FromString(name)})
		if err != nil {
			b.fail(err)
		}
		return v.Str()
	}
	if property("ProductMajorVersion") == "13" || property("EngineEdition") == "5" {
		return e.Procedure
	}
	return e.Schema + "." + e.Procedure
}

// numbered is RAISERROR of a message of sys.messages. Users' own messages are not kept (Microsoft: RAISERROR (Transact-SQL),
// msg_id; Database engine events and errors 2000 to 2999, 2732; 18000 to 18999, 18054).
func (b *binder) numbered(id int64, e *sqltype.Error) {
	switch {
	case id < 13000 || id == 50000:
		failf(2732, "Error number %d is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000.", id)
	case id < 50000:
		unsupported("RAISERROR of the server's message %d", id)
	}
	failf(18054, "Error %d, severity %d, state %d was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.", id, e.Class, e.State)
}

// substitutes asks for an argument of the type that a place in the text of RAISERROR wants.
func (b *binder) substitutes(verb byte, x ast.ScalarExpression, at int) {
	switch t := b.expr(x, nil).typ; {
	case t.Kind == sqltype.Null:
	case verb == 's' && t.Class() != sqltype.ClassString, verb != 's' && t.Kind != sqltype.Int && t.Kind != sqltype.SmallInt && t.Kind != sqltype.TinyInt:
		failf(2786, "The data type of substitution parameter %d does not match the expected type of the format specification.", at)
	}
}

// raised is the text of RAISERROR with its arguments in their places (Microsoft: RAISERROR). Flags, widths and
// precisions are refused; a missing argument is written as (null).
func (b *binder) raised(format string, params []ast.ScalarExpression) string {
	var out strings.Builder
	next := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		i++
		if i < len(format) && format[i] == '%' {
			out.WriteByte('%')
			continue
		}
		if i >= len(format) || !strings.ContainsRune("dioxXus", rune(format[i])) {
			unsupported("this conversion in the text of RAISERROR")
		}
		verb := format[i]
		if next >= len(params) {
			out.WriteString("(null)")
			continue
		}
		b.substitutes(verb, params[next], next+1)
		if verb == 's' {
			v := b.valueOf(params[next], sqltype.Str(sqltype.NVarChar, 2047))
			if v.IsNull() {
				out.WriteString("(null)")
			} else {
				out.WriteString(v.Str())
			}
		} else {
			v := b.valueOf(params[next], sqltype.Of(sqltype.BigInt))
			switch {
			case v.IsNull():
				out.WriteString("(null)")
			case verb == 'd' || verb == 'i':
				fmt.Fprint(&out, int32(v.Int()))
			case verb == 'u':
				fmt.Fprint(&out, uint32(v.Int()))
			default:
				fmt.Fprintf(&out, "%"+string(verb), uint32(v.Int()))
			}
		}
		next++
	}
	return out.String()
}
