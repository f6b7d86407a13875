package sqltype

import (
	"cmp"
	"math/big"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// Compare orders two values of one type; NULL comes first, as in ORDER BY.
func Compare(a, b Value, t Type) int {
	if a.repr == isNull || b.repr == isNull {
		return cmp.Compare(min(a.repr, 1), min(b.repr, 1))
	}
	if t.Kind == Variant {
		return compareVariants(a, b)
	}
	switch a.repr {
	case isInt, isTime:
		return cmp.Compare(a.n, b.n)
	case isFloat:
		return cmp.Compare(a.Float(), b.Float())
	case isDec:
		return compareDec(a, b)
	case isStr:
		return CompareText(a.s, b.s, t)
	case isBytes:
		return compareBinary(a.s, b.s)
	case isGUID:
		return compareGUID(a.s, b.s)
	}
	return 0
}

func compareDec(a, b Value) int {
	if a.scale == b.scale && a.s == "" && b.s == "" {
		return cmp.Compare(a.n, b.n)
	}
	s := max(a.scale, b.scale)
	return scaledBig(a, s).Cmp(scaledBig(b, s))
}

// scaledBig gives the digits of v at a scale that is not below its own.
func scaledBig(v Value, scale uint8) *big.Int {
	n := v.Big()
	if scale > v.scale {
		n.Mul(n, pow10(scale-v.scale))
	}
	return n
}

// compareBinary pads the shorter value with zeros ("Microsoft: binary and varbinary (Transact-SQL)").
func compareBinary(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	for _, c := range []byte(a[n:]) {
		if c != 0 {
			return 1
		}
	}
	for _, c := range []byte(b[n:]) {
		if c != 0 {
			return -1
		}
	}
	return 0
}

// guidOrder is the order in which the bytes of a uniqueidentifier count ("Microsoft: Comparing GUID and
// uniqueidentifier values").
var guidOrder = [16]int{10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3}

func compareGUID(a, b string) int {
	for _, i := range guidOrder {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}

func (t Type) caseSensitive() bool {
	c := t.Collation
	return c != "" && (strings.Contains(c, "_BIN") || strings.Contains(c, "_CS_"))
}

func (t Type) accentInsensitive() bool {
	return strings.HasSuffix(t.Collation, "_AI") || strings.Contains(t.Collation, "_AI_")
}

func (t Type) binaryCollation() bool { return strings.Contains(t.Collation, "_BIN") }

// compareBytes orders text of a binary collation: by the bytes of its code page, or by code points. The older _BIN compares the first
// UTF-16 unit as a number and what is behind it byte by byte, the low one first (Microsoft: Collation and Unicode support, Binary
// collations).
func compareBytes(a, b string, t Type) int {
	switch {
	case !t.Unicode():
		return strings.Compare(t.Encode(a), t.Encode(b))
	case strings.Contains(t.Collation, "_BIN2") || collation.Single(a) && collation.Single(b):
		return strings.Compare(a, b)
	}
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		if i == 0 {
			return cmp.Compare(x[i], y[i])
		}
		return cmp.Compare(bits.ReverseBytes16(x[i]), bits.ReverseBytes16(y[i]))
	}
	return cmp.Compare(len(x), len(y))
}

// CompareText orders text under the type's collation. Trailing blanks do not count ("Microsoft: String comparison").
// Unicode text, and all text of Windows' collations, is compared as Windows does: see weight. SQL Server collations order other text
// by letters, then by their accents, then by case, as far as each is of interest to them ("Microsoft: Collation and Unicode
// support"); letters are in the order of their code points there, which is not SQL Server's in every case, and neither is that of
// punctuation.
func CompareText(a, b string, t Type) int {
	a, b = strings.TrimRight(a, " "), strings.TrimRight(b, " ")
	if t.binaryCollation() {
		return compareBytes(a, b, t)
	}
	if r, ok := t.windows(); ok {
		return compareWeights(a, b, r)
	}
	if t.accentInsensitive() {
		a, b = withoutAccents(a), withoutAccents(b)
	}
	if c := compareFolded(a, b); c != 0 || !t.caseSensitive() {
		return c
	}
	return -strings.Compare(a, b) // lower case sorts before upper case
}

// compareFolded compares letters without their case, and where all are equal the first accents that are not.
func compareFolded(a, b string) int {
	accents := 0
	for a != "" && b != "" {
		x, y := rune(a[0]), rune(b[0])
		nx, ny := 1, 1
		if x >= utf8.RuneSelf {
			x, nx = utf8.DecodeRuneInString(a)
		}
		if y >= utf8.RuneSelf {
			y, ny = utf8.DecodeRuneInString(b)
		}
		if x != y {
			x, y = foldRune(x), foldRune(y)
			if x >= utf8.RuneSelf || y >= utf8.RuneSelf {
				k, l := letter(x), letter(y)
				switch {
				case accents != 0:
				case k == x && l != y: // a letter without an accent comes first
					accents = -1
				case k != x && l == y:
					accents = 1
				default:
					accents = cmp.Compare(x, y)
				}
				x, y = k, l
			}
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
		a, b = a[nx:], b[ny:]
	}
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return accents
}

// letter takes the accents off a letter. Letters that are made of others, as those of Hangul are, stay.
func letter(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	var b [utf8.UTFMax]byte
	if d := norm.NFD.Properties(b[:utf8.EncodeRune(b[:], r)]).Decomposition(); d != nil {
		base, n := utf8.DecodeRune(d)
		if mark, _ := utf8.DecodeRune(d[n:]); unicode.Is(unicode.Mn, mark) {
			return base
		}
	}
	return r
}

func withoutAccents(s string) string {
	for _, c := range []byte(s) {
		if c >= utf8.RuneSelf {
			return strings.Map(letter, s)
		}
	}
	return s
}

func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

func fold(s string) string { return strings.Map(foldRune, s) }

// CompareRune orders two characters as CompareText does.
func (t Type) CompareRune(a, b rune) int {
	if a == b {
		return 0
	}
	if a < utf8.RuneSelf && b < utf8.RuneSelf && !t.caseSensitive() && !(a|b|' ' == 'i' && t.turkish()) {
		return cmp.Compare(foldRune(a), foldRune(b))
	}
	if t.binaryCollation() {
		return cmp.Compare(a, b)
	}
	if a == ' ' || b == ' ' { // which CompareText takes off the end
		return cmp.Compare(a, b)
	}
	return CompareText(string(a), string(b), t)
}

// Fold gives a key for each character of a text: two characters are equal under the type's collation when their keys are.
func (t Type) Fold(s string) []uint64 {
	rule, windows := t.windows()
	switch {
	case windows || t.binaryCollation():
	case t.accentInsensitive():
		s = withoutAccents(s)
		fallthrough
	default:
		if !t.caseSensitive() {
			s = fold(s)
		}
	}
	keys := make([]uint64, 0, len(s))
	for _, r := range s {
		k := uint64(r)
		if windows {
			w := rule.weigh(r)
			k = uint64(w.letter)<<29 | uint64(w.accent)<<8 | uint64(w.form)
		}
		keys = append(keys, k)
	}
	return keys
}

// EqualName compares names of objects as the default collation does.
func EqualName(a, b string) bool { return strings.EqualFold(a, b) }

// Comparer gives a function that compares values of a type; it is what loops over rows should use. NULL comes first.
func Comparer(t Type) func(a, b *Value) int {
	switch t.Class() {
	case ClassInt, ClassBit, ClassTime:
		return func(a, b *Value) int {
			if a.repr == isNull || b.repr == isNull {
				return cmp.Compare(min(a.repr, 1), min(b.repr, 1))
			}
			return cmp.Compare(a.n, b.n)
		}
	case ClassBinary:
		return func(a, b *Value) int {
			if a.repr == isNull || b.repr == isNull {
				return cmp.Compare(min(a.repr, 1), min(b.repr, 1))
			}
			if len(a.s) == len(b.s) {
				return strings.Compare(a.s, b.s)
			}
			return compareBinary(a.s, b.s)
		}
	}
	return func(a, b *Value) int { return Compare(*a, *b, t) }
}
