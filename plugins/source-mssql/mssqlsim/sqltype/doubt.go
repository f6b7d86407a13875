package sqltype

import (
	"strings"
	"unicode"
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
			case windows && ligature(r):
				return string(r)
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

// ligature tells the characters that stand for two letters, of which the comparison here does not know (Microsoft: [MS-UCODEREF]
// Windows Sorting Weight Table, EXPANSION).
func ligature(r rune) bool {
	switch {
	case r >= 'Ǆ' && r <= 'ǌ', r >= 'Ǳ' && r <= 'ǳ', r >= 'ﬀ' && r <= 'ﬆ', r == 'Ǣ', r == 'ǣ', r == 'Ǽ', r == 'ǽ':
		return true
	}
	return false
}

// PartDoubt gives the doubt that there is of looking for a part in a text, character by character; nil where there is none whatever
// the two. With Windows' comparison a character may count as two, so that ß is found where ss is looked for, another as none, and a mark
// together with its letter: that is refused where the other of the two has a letter of it. A pattern has wildcards.
func (t Type) PartDoubt() func(text, part string, pattern bool) string {
	rule, windows := t.windows()
	if !windows {
		return nil
	}
	var together []string
	if c, ok := collation.Find(t.Collation); ok && !c.Plain() {
		together = c.Together()
	}
	return func(text, part string, pattern bool) string {
		for _, two := range together {
			if strings.Contains(strings.ToLower(text), two) && strings.ContainsAny(strings.ToLower(part), two) {
				return two
			}
		}
		if collation.Single(text) && collation.Single(part) && strings.IndexByte(text, 0) < 0 && strings.IndexByte(part, 0) < 0 {
			return ""
		}
		wild := pattern && strings.ContainsAny(part, "_[")
		for _, r := range text {
			if splits(r) && (wild || rule.shares(r, part)) {
				return string(r)
			}
		}
		for _, r := range part {
			if splits(r) && rule.shares(r, text) {
				return string(r)
			}
		}
		return ""
	}
}

// splits tells the characters that do not count as one.
func splits(r rune) bool {
	if r < utf8.RuneSelf {
		return r == 0
	}
	return expansions[r] != "" || ligature(r) || uncounted(r) || unicode.Is(unicode.Mn, r)
}

// shares tells whether a text has a letter of a character that counts as two. Of others that do not count as one it is not known.
func (r rules) shares(c rune, text string) bool {
	two := expansions[c]
	if two == "" {
		return true
	}
	x := newReader(text, r)
	for w, ok := x.next(); ok; w, ok = x.next() {
		if w.letter == weights.low[two[0]].letter || w.letter == weights.low[two[1]].letter {
			return true
		}
	}
	return strings.ContainsFunc(text, ligature)
}
