package sqltype

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// CollationName gives a collation's name as it is spelled, which may come in any case; empty is that of the database.
func CollationName(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	c, ok := collation.Find(name)
	if !ok {
		return "", Unsupported("the collation %s", name)
	}
	return c.Name, nil
}

// page is the code page that values of a character type are kept in; collation.Unicode for those that are kept in UTF-16.
func (t Type) page() collation.Page {
	if t.Unicode() {
		return collation.Unicode
	}
	if t.Collation == "" || t.Collation == DefaultCollation {
		return collation.Western
	}
	if c, ok := collation.Find(t.Collation); ok {
		return c.Page
	}
	return collation.Western
}

// SamePage tells that text of one character type is text of the other as it is: nothing is lost between them.
func SamePage(from, to Type) bool {
	return from.Class() != ClassString || to.Class() != ClassString || to.Unicode() || from.Collation == to.Collation && !from.Unicode() || from.page() == to.page()
}

// MultiByte tells that a character of the type may have several bytes.
func (t Type) MultiByte() bool {
	switch t.page() {
	case 932, 936, 949, 950, collation.UTF8:
		return true
	}
	return false
}

// Keep gives what a character type keeps of a text: what its code page lacks becomes a question mark (Microsoft: char and
// varchar (Transact-SQL), Collation and Unicode Support).
func (t Type) Keep(s string) string {
	if t.Unicode() || collation.Single(s) {
		return s
	}
	return t.page().Keep(s)
}

// Encode gives the bytes in which a type that is not Unicode keeps a text.
func (t Type) Encode(s string) string {
	if collation.Single(s) {
		return s
	}
	return string(t.page().Append(nil, s))
}

// Decode reads bytes in which a type that is not Unicode keeps a text.
func (t Type) Decode(s string) string {
	if collation.Single(s) {
		return s
	}
	return t.page().Text([]byte(s))
}

// textLen counts as lengths of types do: UTF-16 units of national types, bytes in the code page else (Microsoft: char and
// varchar (Transact-SQL), nchar and nvarchar (Transact-SQL)).
func textLen(s string, t Type) int {
	if collation.Single(s) {
		return len(s)
	}
	if t.Unicode() {
		return characters(s, true)
	}
	return t.page().Len(s)
}

func characters(s string, pairs bool) int {
	n := 0
	for _, r := range s {
		if n++; pairs && r > 0xFFFF {
			n++
		}
	}
	return n
}

// Characters is LEN without its blanks: UTF-16 units, but characters where the collation knows those beyond them or the type
// is not Unicode (Microsoft: LEN (Transact-SQL)).
func Characters(s string, t Type) int {
	if collation.Single(s) {
		return len(s)
	}
	c, ok := collation.Find(t.Collation)
	return characters(s, t.Unicode() && !(ok && c.Has(collation.Supplementary)))
}

// Length gives the length of a value as that of its type is counted: UTF-16 units, or bytes; blanks at the end included.
func Length(v Value, t Type) int {
	if v.repr == isStr {
		return textLen(v.s, t)
	}
	return len(v.s)
}

// LengthToKeep is Length without blanks or zero bytes at the end, which an assignment to a column leaves out where they do
// not fit (Microsoft: SET ANSI_WARNINGS (Transact-SQL)).
func LengthToKeep(v Value, t Type) int {
	if v.repr == isStr {
		return textLen(strings.TrimRight(v.s, " "), t)
	}
	return len(strings.TrimRight(v.s, "\x00"))
}

// Beginning gives so many bytes of a text or binary value, whole characters only.
func Beginning(v Value, bytes int, t Type) Value {
	if v.repr != isStr {
		return FromBytes(v.s[:min(bytes, len(v.s))])
	}
	if t.Unicode() {
		bytes /= 2
	}
	if textLen(v.s, t) <= bytes {
		return v
	}
	return FromString(cutText(v.s, bytes, t))
}

func cutText(s string, limit int, t Type) string {
	if !t.Unicode() {
		return t.page().Cut(s, limit)
	}
	n := 0
	for i, r := range s {
		k := 1
		if r > 0xFFFF {
			k = 2
		}
		if n+k > limit {
			return s[:i]
		}
		n += k
	}
	return s
}
