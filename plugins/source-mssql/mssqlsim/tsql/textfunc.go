package tsql

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// textFunction is a function of text and integers ("Microsoft: String Functions (Transact-SQL)"). It is NULL when an
// argument is.
type textFunction struct {
	// result gives the type from that of the first argument.
	result func(t sqltype.Type) sqltype.Type
	// call computes the function; t is the type of its first argument, with the collation all arguments take together.
	call func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error)
	// of is the place of the argument the result is text of.
	of int
	// bytes tells that the function takes binary values as they are.
	bytes bool
}

func intResult(sqltype.Type) sqltype.Type { return sqltype.Of(sqltype.Int) }

// position is the type of LEN and CHARINDEX: bigint of what may be long.
func position(t sqltype.Type) sqltype.Type {
	if t.LOB() {
		return sqltype.Of(sqltype.BigInt)
	}
	return sqltype.Of(sqltype.Int)
}

// varying gives the varying-length type of a text type.
func varying(t sqltype.Type) sqltype.Type {
	switch t.Kind {
	case sqltype.Char:
		t.Kind = sqltype.VarChar
	case sqltype.NChar:
		t.Kind = sqltype.NVarChar
	case sqltype.Binary:
		t.Kind = sqltype.VarBinary
	case sqltype.Text:
		t.Kind, t.Len = sqltype.VarChar, sqltype.Max
	case sqltype.NText:
		t.Kind, t.Len = sqltype.NVarChar, sqltype.Max
	case sqltype.Image:
		t.Kind, t.Len = sqltype.VarBinary, sqltype.Max
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

func kept(t sqltype.Type) sqltype.Type { return t }

func textOf(s string) (sqltype.Value, error) { return sqltype.FromString(s), nil }

func intOf(n int) (sqltype.Value, error) { return sqltype.FromInt(int64(n)), nil }

// mapped maps characters one by one: ß has no upper case here, as in SQL Server.
func mapped(fn func(sqltype.Type, string) (string, error)) func([]sqltype.Value, sqltype.Type) (sqltype.Value, error) {
	return func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		s, err := fn(t, v[0].Str())
		return sqltype.FromString(s), err
	}
}

// trimmer takes blanks off, or the characters of a second argument, which came with SQL Server 2022.
func trimmer(left, right bool) func([]sqltype.Value, sqltype.Type) (sqltype.Value, error) {
	return func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		s, set := v[0].Str(), " "
		if len(v) > 1 {
			set = v[1].Str()
		}
		in := func(r rune) bool {
			return strings.ContainsFunc(set, func(c rune) bool { return t.CompareRune(c, r) == 0 })
		}
		if left {
			s = strings.TrimLeftFunc(s, in)
		}
		if right {
			s = strings.TrimRightFunc(s, in)
		}
		return textOf(s)
	}
}

var textFunctions = map[string]textFunction{
	"UPPER": {result: kept, call: mapped(sqltype.Type.Upper)},
	"LOWER": {result: kept, call: mapped(sqltype.Type.Lower)},
	"LTRIM": {result: varying, call: trimmer(true, false)},
	"RTRIM": {result: varying, call: trimmer(false, true)},
	"TRIM":  {result: varying, call: trimmer(true, true)},
	"LEN": {result: position, bytes: true, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if t.Class() == sqltype.ClassString {
			return intOf(sqltype.Characters(strings.TrimRight(v[0].Str(), " "), t))
		}
		return intOf(len(v[0].Str()))
	}},
	"LEFT": {result: varying, bytes: true, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if v[1].Int() < 0 {
			return sqltype.Value{}, sqltype.Errorf(537, "Invalid length parameter passed to the LEFT or SUBSTRING function.")
		}
		return substring(v[0], t, 1, v[1].Int()), nil
	}},
	"RIGHT": {result: varying, bytes: true, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if v[1].Int() < 0 {
			return sqltype.Value{}, sqltype.Errorf(536, "Invalid length parameter passed to the right function.")
		}
		return substring(v[0], t, max(size(v[0], t)-v[1].Int(), 0)+1, v[1].Int()), nil
	}},
	"SUBSTRING": {result: varying, bytes: true, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if v[2].Int() < 0 {
			return sqltype.Value{}, sqltype.Errorf(537, "Invalid length parameter passed to the LEFT or SUBSTRING function.")
		}
		return substring(v[0], t, v[1].Int(), v[2].Int()), nil
	}},
	"STUFF": {result: longest, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		n, from, count := size(v[0], t), v[1].Int(), v[2].Int()
		if from < 1 || from > n || count < 0 {
			return sqltype.Value{}, nil
		}
		return textOf(substring(v[0], t, 1, from-1).Str() + v[3].Str() + substring(v[0], t, from+count, n).Str())
	}},
	"CHARINDEX": {result: position, of: 1, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		text, s, part := []rune(v[1].Str()), t.Fold(v[1].Str()), t.Fold(v[0].Str())
		start := int64(1)
		if len(v) > 2 {
			start = max(v[2].Int(), 1)
		}
		if len(part) == 0 {
			return intOf(0)
		}
		at := int64(1)
		for i := 0; i+len(part) <= len(s); i++ {
			if at >= start && slices.Equal(s[i:i+len(part)], part) {
				return sqltype.FromInt(at), nil
			}
			at += int64(units(text[i : i+1]))
		}
		return intOf(0)
	}},
	"PATINDEX": {result: position, of: 1, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		return sqltype.FromInt(patIndex(newPattern(v[0].Str(), 0, t), v[1].Str())), nil
	}},
	"REPLACE": {result: longest, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		return textOf(replaced([]rune(v[0].Str()), v[1].Str(), v[2].Str(), t))
	}},
	"TRANSLATE": {result: kept, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		from, to := []rune(v[1].Str()), []rune(v[2].Str())
		if len(from) != len(to) {
			return sqltype.Value{}, sqltype.Errorf(9828, "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.")
		}
		return textOf(strings.Map(func(r rune) rune {
			for i, c := range from {
				if t.CompareRune(c, r) == 0 {
					return to[i]
				}
			}
			return r
		}, v[0].Str()))
	}},
	"REPLICATE": {result: longest, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		n := v[1].Int()
		if n < 0 {
			return sqltype.Value{}, nil
		}
		if v[0].Str() == "" {
			return v[0], nil
		}
		if t.Len != sqltype.Max {
			n = min(n, 32000/int64(len(v[0].Str()))+1)
		}
		return textOf(strings.Repeat(v[0].Str(), int(n)))
	}},
	"REVERSE": {result: kept, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		rs := []rune(v[0].Str())
		slices.Reverse(rs)
		return textOf(string(rs))
	}},
	"ASCII": {result: intResult, call: func(v []sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if s := ansi(t).Encode(v[0].Str()); s != "" {
			return intOf(int(s[0]))
		}
		return sqltype.Value{}, nil
	}},
	"UNICODE": {result: intResult, call: func(v []sqltype.Value, _ sqltype.Type) (sqltype.Value, error) {
		if u := utf16.Encode([]rune(v[0].Str())); len(u) > 0 {
			return intOf(int(u[0]))
		}
		return sqltype.Value{}, nil
	}},
	"QUOTENAME": {result: func(sqltype.Type) sqltype.Type { return sqltype.Str(sqltype.NVarChar, 258) }, call: func(v []sqltype.Value, _ sqltype.Type) (sqltype.Value, error) {
		with := "["
		if len(v) > 1 {
			with = v[1].Str()
		}
		s := v[0].Str()
		if sqltype.Length(sqltype.FromString(s), sqltype.SysName) > 128 || with == "" {
			return sqltype.Value{}, nil
		}
		pair, ok := map[byte]string{'[': "[]", ']': "[]", '\'': "''", '"': `""`, '(': "()", ')': "()", '<': "<>", '>': "<>", '{': "{}", '}': "{}", '`': "``"}[with[0]]
		if !ok || len(with) > 1 {
			return sqltype.Value{}, nil
		}
		return textOf(pair[:1] + strings.ReplaceAll(s, pair[1:], pair[1:]+pair[1:]) + pair[1:])
	}},
	"PARSENAME": {result: func(sqltype.Type) sqltype.Type { return sqltype.SysName }, call: func(v []sqltype.Value, _ sqltype.Type) (sqltype.Value, error) {
		return nameFromEnd(v[0].Str(), v[1].Int()), nil
	}},
	"STRING_ESCAPE": {result: func(sqltype.Type) sqltype.Type { return sqltype.Str(sqltype.NVarChar, sqltype.Max) }, call: func(v []sqltype.Value, _ sqltype.Type) (sqltype.Value, error) {
		if !strings.EqualFold(v[1].Str(), "json") {
			return sqltype.Value{}, sqltype.Errorf(8116, "Argument value '%s' is invalid for argument 2 of string_escape function.", v[1].Str())
		}
		return textOf(escapeJSON(v[0].Str()))
	}},
}

// searched are the functions that look for a part in a text: the places of the two.
var searched = map[string]struct{ text, part int }{"CHARINDEX": {1, 0}, "PATINDEX": {1, 0}, "REPLACE": {0, 1}, "TRANSLATE": {0, 1}, "TRIM": {0, 1}, "LTRIM": {0, 1}, "RTRIM": {0, 1}}

// apart refuses a search whose result is not known, by the function or operator that it is of.
func apart(name, doubt string, t sqltype.Type) error {
	return sqltype.Unsupported("%s where the text or what is looked for has %q, in the collation %s", name, doubt, collationName(expr{typ: t}))
}

// growth gives how many bytes functions make whose results can be far longer than what they are given.
var growth = map[string]func(v []sqltype.Value) float64{
	"REPLACE": func(v []sqltype.Value) float64 {
		text, old, now := v[0].Str(), v[1].Str(), v[2].Str()
		return float64(len(text)) + float64(strings.Count(text, old))*float64(max(len(now)-len(old), 0))
	},
	"REPLICATE": func(v []sqltype.Value) float64 { return float64(len(v[0].Str())) * float64(max(v[1].Int(), 0)) },
}

// nameFromEnd is PARSENAME: part 1 is the object, 4 the server; NULL when the name has more than four parts.
func nameFromEnd(s string, part int64) sqltype.Value {
	var parts []string
	rest := tokens(s)
	name, open := "", true
	for _, t := range rest {
		if t.text == "." {
			parts, name, open = append(parts, name), "", true
			continue
		}
		text := t.text
		if len(text) > 1 && (text[0] == '[' || text[0] == '"') {
			end := map[byte]string{'[': "]", '"': `"`}[text[0]]
			text = strings.ReplaceAll(strings.TrimSuffix(text[1:], end), end+end, end)
			if !open {
				return sqltype.Value{}
			}
		}
		name, open = name+text, false
	}
	parts = append(parts, name)
	if part < 1 || part > 4 || len(parts) > 4 || int(part) > len(parts) || parts[len(parts)-int(part)] == "" {
		return sqltype.Value{}
	}
	return sqltype.FromString(parts[len(parts)-int(part)])
}

// replaced puts a text in the place of each that is equal to another under the collation.
func replaced(s []rune, part, by string, t sqltype.Type) string {
	folded, p := t.Fold(string(s)), t.Fold(part)
	if len(p) == 0 {
		return string(s)
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if i+len(p) <= len(s) && slices.Equal(folded[i:i+len(p)], p) {
			out.WriteString(by)
			i += len(p)
			continue
		}
		out.WriteRune(s[i])
		i++
	}
	return out.String()
}

// size counts what substring counts: UTF-16 units of text, bytes of binary values.
func size(v sqltype.Value, t sqltype.Type) int64 {
	if t.Class() == sqltype.ClassBinary {
		return int64(len(v.Str()))
	}
	return int64(len(utf16.Encode([]rune(v.Str()))))
}

// substring counts from 1.
func substring(v sqltype.Value, t sqltype.Type, from, n int64) sqltype.Value {
	length := size(v, t)
	end := min(max(from-1+n, 0), length)
	if from-1+n < from-1 { // a length so large that the sum is not one
		end = length
	}
	from = min(max(from-1, 0), end)
	if t.Class() == sqltype.ClassBinary {
		return sqltype.FromBytes(v.Str()[from:end])
	}
	return sqltype.FromString(string(utf16.Decode(utf16.Encode([]rune(v.Str()))[from:end])))
}

func (b *binder) textFunction(name string, args []expr) expr {
	fn, grows := textFunctions[name], growth[name]
	text := args[fn.of].typ
	if c := text.Class(); c != sqltype.ClassString && (c != sqltype.ClassBinary || !fn.bytes) {
		if c == sqltype.ClassBinary && fn.of == 0 {
			text = sqltype.Str(sqltype.VarChar, max(text.Len, sqltype.Max))
		} else {
			text = sqltype.Str(sqltype.VarChar, textWidth(args[fn.of].typ))
		}
		args[fn.of] = b.cast(args[fn.of], text, 0)
	}
	switch name {
	case "REPLICATE", "STRING_ESCAPE", "QUOTENAME", "ASCII": // which do not look at the collation
	default:
		for i := range args {
			args[i].label().needed(lower(name))
		}
	}
	out := expr{konst: true, coll: args[fn.of].coll, clash: args[fn.of].clash}
	for i := range args {
		a := &args[i]
		if i != fn.of && a.typ.Class() != sqltype.ClassString {
			to := sqltype.Of(sqltype.BigInt)
			if textArgument(name, i) {
				to = sqltype.Str(sqltype.VarChar, textWidth(a.typ))
			}
			*a = b.given(*a, to)
		} else if i != fn.of && !textArgument(name, i) { // a number written as text
			*a = b.given(*a, sqltype.Of(sqltype.BigInt))
		}
		if i != fn.of && a.typ.Class() == sqltype.ClassString {
			of := expr{typ: text, coll: out.coll, clash: out.clash}
			text.Collation = agreed(lower(name), of, *a)
			out.coll = agree(lower(name), of, *a).rank
			if a.typ.Unicode() && (name == "REPLACE" || name == "STUFF" || name == "TRANSLATE" || name == "CHARINDEX" || name == "PATINDEX") && !text.Unicode() {
				kind := sqltype.Common(text, a.typ)
				text.Kind, text.Len = kind.Kind, min(text.Len, 4000)
			}
		}
		out.null = out.null || a.null
		out.konst = out.konst && a.konst
	}
	out.typ = fn.result(text)
	switch name {
	case "LEFT", "RIGHT", "SUBSTRING": // no longer than what is asked for (Microsoft: SUBSTRING (Transact-SQL))
		if n := args[len(args)-1]; n.konst && out.typ.Len > 0 && !out.typ.MultiByte() {
			if v := n.eval(&frame{}); b.err == nil && !v.IsNull() && v.Int() > 0 {
				out.typ.Len = int(min(int64(out.typ.Len), v.Int()))
			}
		}
	case "REPLICATE", "REPLACE", "STUFF", "QUOTENAME", "PARSENAME", "TRANSLATE", "STRING_ESCAPE", "ASCII", "UNICODE":
		out.null = true
	}
	doubt, in := text.PartDoubt(), searched[name]
	if in.text == in.part || len(args) < 2 {
		doubt = nil
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
		if grows != nil && (text.Len == sqltype.Max || name == "REPLACE") && grows(vals) > sqltype.LongestValue {
			b.fail(sqltype.TooLong())
			return sqltype.Value{}
		}
		if doubt != nil {
			if part := doubt(vals[in.text].Str(), vals[in.part].Str(), name == "PATINDEX"); part != "" {
				b.fail(apart(name, part, text))
				return sqltype.Value{}
			}
		}
		v, err := fn.call(vals, text)
		if err != nil {
			b.fail(err)
		}
		if cut && !v.IsNull() {
			v, _ = sqltype.Convert(v, out.typ, out.typ, 0)
		}
		return v
	}
	return folded(out)
}

// textArgument tells which arguments of a function are text.
func textArgument(name string, i int) bool {
	switch name {
	case "CHARINDEX", "PATINDEX":
		return i < 2
	case "REPLACE", "TRANSLATE", "QUOTENAME", "STRING_ESCAPE", "TRIM", "LTRIM", "RTRIM":
		return true
	case "STUFF":
		return i == 3
	}
	return i == 0
}

// textWidth is how many characters a value of a type takes as text.
func textWidth(t sqltype.Type) int {
	switch t.Class() {
	case sqltype.ClassString:
		return t.Len
	case sqltype.ClassDecimal:
		return 41
	}
	return 40
}

// ansi gives the type that is not Unicode in which ASCII looks at a text.
func ansi(t sqltype.Type) sqltype.Type {
	t.Kind = sqltype.VarChar
	return t
}
