package tsql

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"math"
	"strconv"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// concat is CONCAT and CONCAT_WS, for which NULL is an empty text; CONCAT_WS leaves it out (Microsoft: CONCAT
// (Transact-SQL), CONCAT_WS (Transact-SQL)).
func (b *binder) concat(name string, args []expr) expr {
	kind, limit := sqltype.VarChar, 8000
	for _, a := range args {
		if a.typ.Unicode() {
			kind, limit = sqltype.NVarChar, 4000
		}
	}
	length, separator, konst := 0, 0, true
	var l label
	t := sqltype.Str(kind, sqltype.Max)
	for i := range args {
		n := 1
		switch a := args[i]; a.typ.Class() {
		case sqltype.ClassNull:
		case sqltype.ClassString:
			n = a.typ.Len
			l = agree(strings.ToLower(name), expr{typ: t}.labelled(l), a)
		default:
			n = implicitWidth(a.typ)
		}
		if i == 0 {
			separator = n
		}
		if n == sqltype.Max || length == sqltype.Max || args[i].typ.LOB() {
			length = sqltype.Max
		} else if length += n; name == "CONCAT_WS" && i > 1 {
			length += separator
		}
		konst = konst && args[i].konst
		args[i] = b.cast(args[i], sqltype.Str(kind, sqltype.Max), 0)
	}
	if length != sqltype.Max {
		length = max(1, min(length, limit))
	}
	t.Len, t.Collation = length, l.collation
	return folded(expr{typ: t, konst: konst, coll: l.rank, clash: l.clash, eval: func(f *frame) sqltype.Value {
		var s strings.Builder
		sep, first := "", true
		for i, a := range args {
			v := a.eval(f)
			if name == "CONCAT_WS" {
				if i == 0 {
					sep = v.Str()
					continue
				}
				if v.IsNull() {
					continue
				}
				if !first {
					s.WriteString(sep)
				}
				first = false
			}
			if s.Len()+len(sep)+len(v.Str()) > sqltype.LongestValue {
				b.fail(sqltype.TooLong())
				return sqltype.Value{}
			}
			s.WriteString(v.Str())
		}
		out := sqltype.FromString(s.String())
		if t.Len != sqltype.Max {
			out, _ = sqltype.Convert(out, sqltype.Str(kind, sqltype.Max), t, 0)
		}
		return out
	}})
}

// implicitWidth is the length of the text a value of a type becomes without being asked.
func implicitWidth(t sqltype.Type) int {
	switch t.Kind {
	case sqltype.Bit:
		return 1
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 6
	case sqltype.Int:
		return 12
	case sqltype.BigInt:
		return 24
	case sqltype.Decimal, sqltype.Numeric:
		return 41
	case sqltype.UniqueIdentifier:
		return 36
	case sqltype.Money, sqltype.SmallMoney:
		return 30
	}
	return 40
}

// space is SPACE: so many blanks.
func (b *binder) space(_ string, args []expr) expr {
	n := b.given(args[0], sqltype.Of(sqltype.BigInt))
	return folded(expr{typ: sqltype.Str(sqltype.VarChar, 8000), null: true, konst: n.konst, eval: func(f *frame) sqltype.Value {
		v := n.eval(f)
		if v.IsNull() || v.Int() < 0 {
			return sqltype.Value{}
		}
		return sqltype.FromString(strings.Repeat(" ", int(min(v.Int(), 8000))))
	}})
}

// character is CHAR and NCHAR of a number.
func (b *binder) character(name string, args []expr) expr {
	n := b.given(args[0], sqltype.Of(sqltype.Int))
	t := sqltype.Str(sqltype.Char, 1)
	if name == "NCHAR" {
		t.Kind = sqltype.NChar
	}
	return folded(expr{typ: t, null: true, konst: n.konst, eval: func(f *frame) sqltype.Value {
		v := n.eval(f)
		switch k := v.Int(); {
		case v.IsNull() || k < 0 || name == "CHAR" && k > 255 || k > 0xFFFF:
			return sqltype.Value{}
		case name == "CHAR":
			return sqltype.FromString(t.Decode(string([]byte{byte(k)})))
		default:
			return sqltype.FromString(string(rune(k)))
		}
	}})
}

// str is STR: a float with so many decimals in a field, or asterisks where it does not fit (Microsoft: STR
// (Transact-SQL)).
func (b *binder) str(_ string, args []expr) expr {
	x := b.given(args[0], sqltype.Of(sqltype.Float))
	length, decimals := constant(sqltype.Of(sqltype.Int), sqltype.FromInt(10)), constant(sqltype.Of(sqltype.Int), sqltype.FromInt(0))
	if len(args) > 1 {
		length = b.given(args[1], sqltype.Of(sqltype.Int))
	}
	if len(args) > 2 {
		decimals = b.given(args[2], sqltype.Of(sqltype.Int))
	}
	t := sqltype.Str(sqltype.VarChar, 8000)
	if length.konst {
		if v := length.eval(&frame{}); b.err == nil && v.Int() > 0 {
			t.Len = int(min(v.Int(), 8000))
		}
	}
	return folded(expr{typ: t, null: true, konst: x.konst && length.konst && decimals.konst, eval: func(f *frame) sqltype.Value {
		v, n, d := x.eval(f), length.eval(f), decimals.eval(f)
		if v.IsNull() || n.IsNull() || d.IsNull() || n.Int() < 1 || n.Int() > 8000 || d.Int() < 0 {
			return sqltype.Value{}
		}
		places, width := int(min(d.Int(), 16)), int(n.Int())
		whole := strconv.FormatFloat(math.Round(v.Float()), 'f', 0, 64)
		if len(whole) > width {
			return sqltype.FromString(strings.Repeat("*", width))
		}
		places = max(0, min(places, width-len(strconv.FormatFloat(math.Trunc(v.Float()), 'f', 0, 64))-1))
		unit := math.Pow(10, float64(places))
		value := v.Float()
		if scaled := value * unit; math.Abs(scaled) < 1e15 { // half away from zero, of the decimal digits
			value = math.Round(scaled+math.Copysign(1e-9, scaled)) / unit
		}
		s := strconv.FormatFloat(value, 'f', places, 64)
		if len(s) > width {
			return sqltype.FromString(strings.Repeat("*", width))
		}
		return sqltype.FromString(strings.Repeat(" ", width-len(s)) + s)
	}})
}

// hashBytes is HASHBYTES of the bytes that a server keeps (Microsoft: HASHBYTES (Transact-SQL)).
func (b *binder) hashBytes(_ string, args []expr) expr {
	algorithm, e := b.given(args[0], sqltype.Str(sqltype.VarChar, 30)), args[1]
	if c := e.typ.Class(); c != sqltype.ClassString && c != sqltype.ClassBinary {
		failf(8116, "Argument data type %s is invalid for argument 2 of hashbytes function.", e.typ.Kind)
	}
	e = b.cast(e, sqltype.Bin(sqltype.VarBinary, sqltype.Max), 0)
	return folded(expr{typ: sqltype.Bin(sqltype.VarBinary, 8000), null: true, konst: algorithm.konst && e.konst, eval: func(f *frame) sqltype.Value {
		a, v := algorithm.eval(f), e.eval(f)
		if a.IsNull() || v.IsNull() {
			return sqltype.Value{}
		}
		in := []byte(v.Str())
		switch strings.ToUpper(a.Str()) {
		case "MD5":
			sum := md5.Sum(in)
			return sqltype.FromBytes(string(sum[:]))
		case "SHA", "SHA1":
			sum := sha1.Sum(in)
			return sqltype.FromBytes(string(sum[:]))
		case "SHA2_256":
			sum := sha256.Sum256(in)
			return sqltype.FromBytes(string(sum[:]))
		case "SHA2_512":
			sum := sha512.Sum512(in)
			return sqltype.FromBytes(string(sum[:]))
		case "MD2", "MD4":
			b.fail(sqltype.Unsupported("HASHBYTES with %s", a.Str()))
		}
		return sqltype.Value{}
	}})
}

// escapeJSON puts what JSON does not take as it is into escapes (Microsoft: STRING_ESCAPE (Transact-SQL)).
func escapeJSON(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch r {
		case '"', '\\', '/':
			out.WriteByte('\\')
			out.WriteRune(r)
		case '\b':
			out.WriteString(`\b`)
		case '\f':
			out.WriteString(`\f`)
		case '\n':
			out.WriteString(`\n`)
		case '\r':
			out.WriteString(`\r`)
		case '\t':
			out.WriteString(`\t`)
		default:
			if r < 0x20 {
				const digits = "0123456789abcdef"
				out.WriteString(`\u00` + string(digits[r>>4]) + string(digits[r&15]))
				continue
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}
