package sqltype

import (
	"strings"
	"unicode/utf8"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// Doubt tells what of a text it is not known how to compare; "" is nothing.
type Doubt func(text string) string

// Doubt gives the doubt that there is of text of a type, where it is put in order or only asked whether it is equal; nil where there is
// none whatever the text. What is not known is refused: how languages order letters that are not those of the basic Latin, the Greek or
// the Cyrillic alphabet in the table for all languages, and what differs by a character that older collations do not have (Microsoft:
// Collation and Unicode support, Supplementary characters: they have weights from the collations of version 100 on).
func (t Type) Doubt(order bool) Doubt {
	if t.Class() != ClassString || t.binaryCollation() {
		return nil
	}
	name := t.Collation
	if name == "" {
		name = DefaultCollation
	}
	c, ok := collation.Find(name)
	if !ok {
		return nil
	}
	_, windows := t.windows()
	plain, together := c.Plain(), c.Together()
	if plain && !windows && (!order || c.Page == collation.Western) { // the letters of its code page are known
		return nil
	}
	old := windows && c.Version < 2
	turkish := c.LCID&0x3FF == 0x1F
	accents := c.Has(collation.IgnoreAccent)
	return func(s string) string {
		if collation.Single(s) {
			if plain || len(together) == 0 || !order && !accents {
				return ""
			}
			s = strings.ToLower(s)
			for _, l := range together {
				if strings.Contains(s, l) {
					return l
				}
			}
			return ""
		}
		for _, r := range s {
			switch {
			case r < utf8.RuneSelf:
			case r > 0xFFFF && old:
				return string(r)
			case !order && (plain || !accents) || turkish && (r == 'ı' || r == 'İ'):
			case plain && !order:
			case plain && weights.has(r):
			default:
				return string(r)
			}
		}
		return ""
	}
}

// has tells whether the place of a character in the table for all languages is known.
func (t *weightTable) has(r rune) bool {
	if int(r) < len(t.low) && t.low[r].letter != 0 || t.high[r].letter != 0 || expansions[r] != "" || uncounted(r) || isMinimal(r) {
		return true
	}
	return r >= 0xFF01 && r <= 0xFF5E
}
