package sqltype

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// turkish tells whether text of the type is of a language in which i and ı are two letters.
func (t Type) turkish() bool {
	c, ok := collation.Find(t.Collation)
	return ok && t.Collation != "" && dotted(c)
}

// Upper gives a text in capitals, as the language of the collation has them. What of it is not known is refused: the letters that only
// Turkish has, in the collations of other languages, and i in those of SQL Server for Turkish (Microsoft: COLLATE (Transact-SQL);
// Introduce the Turkish I issue).
func (t Type) Upper(s string) (string, error) {
	return t.mapCase(s, "UPPER", "ı", "iı", unicode.ToUpper, unicode.TurkishCase.ToUpper)
}

// Lower is Upper in small letters.
func (t Type) Lower(s string) (string, error) {
	return t.mapCase(s, "LOWER", "İ", "Iİ", unicode.ToLower, unicode.TurkishCase.ToLower)
}

func (t Type) mapCase(s, name, foreign, own string, mapping, turkish func(rune) rune) (string, error) {
	if t.turkish() {
		if c, _ := collation.Find(t.Collation); c.SortID != 0 || t.binaryCollation() {
			foreign = own
		} else {
			return strings.Map(turkish, s), nil
		}
	}
	if collation.Single(s) && foreign != own {
		return strings.Map(mapping, s), nil
	}
	if i := strings.IndexAny(s, foreign); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return "", Unsupported("%s of %q in the collation %s", name, r, cmp.Or(t.Collation, DefaultCollation))
	}
	return strings.Map(mapping, s), nil
}
