package tsql

import (
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// textFunction is a function of text and integers.
type textFunction struct {
	args int
	// result gives the type from that of the first argument.
	result func(t sqltype.Type) sqltype.Type
	call   func(v []sqltype.Value, t sqltype.Type) sqltype.Value
}

func intResult(sqltype.Type) sqltype.Type { return sqltype.Of(sqltype.Int) }

// varying gives the varying-length type of a text type.
func varying(t sqltype.Type) sqltype.Type {
	switch t.Kind {
	case sqltype.Char:
		t.Kind = sqltype.VarChar
	case sqltype.NChar:
		t.Kind = sqltype.NVarChar
	case sqltype.Binary:
		t.Kind = sqltype.VarBinary
	}
	return t
}

func longest(t sqltype.Type) sqltype.Type {
	t = varying(t)
	if t.Len != sqltype.Max {
		t.Len = 8000
		if t.Unicode() {
			t.Len = 4000
		}
	}
	return t
}

func mapped(fn func(string) string) func([]sqltype.Value, sqltype.Type) sqltype.Value {
	return func(v []sqltype.Value, _ sqltype.Type) sqltype.Value { return sqltype.FromString(fn(v[0].Str())) }
}

var textFunctions = map[string]textFunction{
	"UPPER": {1, varying, mapped(strings.ToUpper)},
	"LOWER": {1, varying, mapped(strings.ToLower)},
	"LTRIM": {1, varying, mapped(func(s string) string { return strings.TrimLeft(s, " ") })},
	"RTRIM": {1, varying, mapped(func(s string) string { return strings.TrimRight(s, " ") })},
	"TRIM":  {1, varying, mapped(func(s string) string { return strings.Trim(s, " ") })},
	"LEN": {1, intResult, func(v []sqltype.Value, t sqltype.Type) sqltype.Value {
		if t.Class() == sqltype.ClassString {
			return sqltype.FromInt(int64(sqltype.Length(sqltype.FromString(strings.TrimRight(v[0].Str(), " ")), t)))
		}
		return sqltype.FromInt(int64(len(v[0].Str())))
	}},
	"LEFT": {2, varying, func(v []sqltype.Value, _ sqltype.Type) sqltype.Value {
		return substring(v[0], 1, v[1].Int())
	}},
	"RIGHT": {2, varying, func(v []sqltype.Value, t sqltype.Type) sqltype.Value {
		n := int64(len(utf16.Encode([]rune(v[0].Str()))))
		return substring(v[0], max(n-v[1].Int(), 0)+1, v[1].Int())
	}},
	"SUBSTRING": {3, varying, func(v []sqltype.Value, t sqltype.Type) sqltype.Value {
		if t.Class() == sqltype.ClassBinary {
			s := v[0].Str()
			from := min(max(v[1].Int()-1, 0), int64(len(s)))
			to := min(max(v[1].Int()-1+v[2].Int(), from), int64(len(s)))
			return sqltype.FromBytes(s[from:to])
		}
		return substring(v[0], v[1].Int(), v[2].Int())
	}},
	"CHARINDEX": {2, intResult, func(v []sqltype.Value, _ sqltype.Type) sqltype.Value {
		i := strings.Index(strings.ToLower(v[1].Str()), strings.ToLower(v[0].Str()))
		if i < 0 {
			return sqltype.FromInt(0)
		}
		return sqltype.FromInt(int64(len([]rune(v[1].Str()[:i]))) + 1)
	}},
	"REPLACE": {3, longest, func(v []sqltype.Value, _ sqltype.Type) sqltype.Value {
		return sqltype.FromString(strings.ReplaceAll(v[0].Str(), v[1].Str(), v[2].Str()))
	}},
	"REPLICATE": {2, longest, func(v []sqltype.Value, t sqltype.Type) sqltype.Value {
		n := max(v[1].Int(), 0)
		if len(v[0].Str()) == 0 {
			return v[0]
		}
		if t.Len != sqltype.Max {
			n = min(n, 8000/int64(len(v[0].Str()))+1)
		}
		return sqltype.FromString(strings.Repeat(v[0].Str(), int(n)))
	}},
	"QUOTENAME": {1, func(sqltype.Type) sqltype.Type { return sqltype.Str(sqltype.NVarChar, 258) }, func(v []sqltype.Value, _ sqltype.Type) sqltype.Value {
		if len(v[0].Str()) > 4*128 {
			return sqltype.Value{}
		}
		return sqltype.FromString("[" + strings.ReplaceAll(v[0].Str(), "]", "]]") + "]")
	}},
}

// growth gives how many bytes functions make whose results can be far longer than what they are given.
var growth = map[string]func(v []sqltype.Value) float64{
	"REPLACE": func(v []sqltype.Value) float64 {
		text, old, now := v[0].Str(), v[1].Str(), v[2].Str()
		return float64(len(text)) + float64(strings.Count(text, old))*float64(max(len(now)-len(old), 0))
	},
	"REPLICATE": func(v []sqltype.Value) float64 { return float64(len(v[0].Str())) * float64(max(v[1].Int(), 0)) },
}

// substring counts in UTF-16 units from 1.
func substring(v sqltype.Value, from, n int64) sqltype.Value {
	u := utf16.Encode([]rune(v.Str()))
	end := min(max(from-1+n, 0), int64(len(u)))
	from = min(max(from-1, 0), end)
	return sqltype.FromString(string(utf16.Decode(u[from:end])))
}

func (b *binder) textFunction(name string, fn textFunction, args []expr) expr {
	size := growth[name]
	text := args[0].typ
	if text.Class() != sqltype.ClassString && text.Class() != sqltype.ClassBinary {
		args[0] = b.cast(args[0], sqltype.Str(sqltype.VarChar, 8000), 0)
		text = args[0].typ
	}
	out := expr{typ: fn.result(text), konst: true}
	for i := range args {
		if i > 0 && args[i].typ.Class() != sqltype.ClassString {
			args[i] = b.cast(args[i], sqltype.Of(sqltype.BigInt), 0)
		}
		out.null = out.null || args[i].null
		out.konst = out.konst && args[i].konst
	}
	cut := out.typ.Class() == sqltype.ClassString && out.typ.Len != sqltype.Max
	out.eval = func(f *frame) sqltype.Value {
		var buf [4]sqltype.Value
		vals := buf[:0]
		for _, a := range args {
			v := a.eval(f)
			if v.IsNull() {
				return v
			}
			vals = append(vals, v)
		}
		if b.err != nil {
			return sqltype.Value{}
		}
		if size != nil && (text.Len == sqltype.Max || name == "REPLACE") && size(vals) > sqltype.LongestValue {
			b.fail(sqltype.TooLong())
			return sqltype.Value{}
		}
		v := fn.call(vals, text)
		if cut && !v.IsNull() {
			v, _ = sqltype.Convert(v, out.typ, out.typ, 0)
		}
		return v
	}
	return folded(out)
}
