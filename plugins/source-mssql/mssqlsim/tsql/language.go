package tsql

import (
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// setLocale is SET LANGUAGE, SET DATEFORMAT and SET DATEFIRST (Microsoft: the pages of these names). Messages stay English.
func (x *executor) setLocale(command string, p ast.ScalarExpression) error {
	l := &x.sess.Settings().Locale
	if command == "DateFirst" {
		return x.plain(func(b *binder) {
			if n := b.valueOf(p, sqltype.Of(sqltype.BigInt)).Int(); !l.SetFirst(n) {
				failf(2742, "SET DATEFIRST %d is out of range.", n)
			}
		})
	}
	var v string
	if i, ok := p.(*ast.IdentifierLiteral); ok {
		v = i.Value
	} else if err := x.plain(func(b *binder) { v = b.valueOf(p, sqltype.SysName).Str() }); err != nil {
		return err
	}
	if command == "DateFormat" {
		if !l.SetOrder(strings.ToLower(v)) {
			return sqltype.Errorf(2741, "SET DATEFORMAT date order '%s' is invalid.", v)
		}
		return nil
	}
	lang := sqltype.LanguageNamed(v)
	if lang == nil {
		return sqltype.Errorf(2740, "SET LANGUAGE failed because '%s' is not an official language name or a language alias on this SQL Server.", v)
	}
	before := l.Language().Name
	l.SetLanguage(lang)
	x.out.Language(lang.Name, before)
	return nil
}

// dateName is DATENAME: names of months and days are those of the session's language, all else is a number
// (Microsoft: DATENAME (Transact-SQL)).
func (b *binder) dateName(part string, e expr) expr {
	n := b.datePart(part, e)
	lang, locale := b.locale().Language(), b.locale()
	name := func(v int64) string {
		switch part {
		case "month":
			return lang.Month(int(v))
		case "weekday":
			return lang.Day((int(v)+locale.First()-2)%7 + 1)
		case "tzoffset":
			sign := '+'
			if v < 0 {
				v, sign = -v, '-'
			}
			return fmt.Sprintf("%c%02d:%02d", sign, v/60, v%60)
		}
		text, _ := sqltype.Format(sqltype.FromInt(v), sqltype.Of(sqltype.Int), 0) // an int always has a text
		return text
	}
	return folded(expr{typ: sqltype.Str(sqltype.NVarChar, 30), null: n.null, konst: n.konst, eval: func(f *frame) sqltype.Value {
		v := n.eval(f)
		if v.IsNull() || b.err != nil {
			return sqltype.Value{}
		}
		return sqltype.FromString(name(v.Int()))
	}})
}
