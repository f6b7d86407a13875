package sqltype

import (
	"cmp"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"
)

// weight is what a character counts in Windows' comparison: its letter, then its accent, then its case (Microsoft:
// [MS-UCODEREF], Comparing UTF-16 Strings by Using Sort Keys). Letters of scripts that are not in the lists below are behind those
// that are, in the order of their code points.
type weight struct {
	letter, accent uint32
	form           uint8
}

// The forms of a letter, as their order is.
const (
	small   = 2
	raised  = 14
	capital = 18
)

// plain is the accent of a letter that has none.
const plain = 2

// symbols are signs and digits in their order, which all come before letters (Microsoft: [MS-UCODEREF] Windows Sorting Weight
// Table).
const symbols = " \u00a0\t\n\v\f\r!\"#$%&()*,./:;?@[\\]^_`{|}~¡¦¨¯´¸¿ˇ˙˛˜˝΄‗‘’‚“”„‹›¢£¤¥₧€+∙<=>±«»×÷√∩≈≡≤≥⌐⌠⌡§©¬®°µ¶·…†‡•‰0¼½¾123456789∞"

// alike are characters that differ from others by their form at most.
var alike = map[rune]rune{'\u02c6': '^', '¹': '1', '²': '2', '³': '3'}

// minimal are the signs that count only where all else is equal, in their order, so that coop is beside co-op (Microsoft:
// [MS-UCODEREF]; Handling Sorting in Your Applications, on word sort).
const minimal = "\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f'-‐‑‒–—―"

// letters are those of the Latin, Greek and Cyrillic alphabets in their order, each with its accented forms in the order of their accents, of which the
// first has none (Microsoft: [MS-UCODEREF] Windows Sorting Weight Table).
var letters = []string{
	"aáàâäăāãåą", "b", "cćċĉčç", "dďđð", "eéèėêëěĕēę", "fƒ", "gġĝğģ", "hĥħ", "iıíìîïĭīĩį", "jĵ", "kĸķ", "lĺŀľļł", "m", "nńňñņŉ", "№", "ŋ",
	"oóòôöŏōõőø", "p", "q", "rŕřŗ", "sśŝšş", "ſ", "tťţ", "™", "ŧ", "uúùûüŭūũůųű", "v", "wŵ", "x", "yýŷÿ", "zźżž",
	"αά", "β", "γ", "δ", "εέ", "ζ", "ηή", "θ", "ιίϊΐ", "κ", "λ", "μ", "ν", "ξ", "οό", "π", "ρ", "σς", "τ", "υύϋΰ", "φ", "χ", "ψ", "ωώ",
	"а", "б", "в", "гѓ", "ґ", "д", "ђ", "еѐё", "є", "ж", "з", "ѕ", "иѝй", "ії", "ј", "кќ", "л", "љ", "м", "н", "њ", "о", "п", "р", "с", "т", "ћ", "уў", "ф", "х", "ц", "ч", "џ", "ш", "щ", "ъ", "ы", "ь", "э", "ю", "я",
}

// accents are the marks of letters in their order (Microsoft: [MS-UCODEREF] Windows Sorting Weight Table).
var accents = map[rune]uint32{'\u0301': 14, '\u0300': 15, '\u0307': 16, '\u0302': 18, '\u0308': 19, '\u030c': 20, '\u0306': 21, '\u0304': 23, '\u0303': 25, '\u030a': 26, '\u0328': 27, '\u0327': 28, '\u030b': 29}

// strokes are accents that are no marks of their own.
var strokes = map[rune]uint32{'ı': 4, 'ĸ': 4, 'ŀ': 17, 'đ': 30, 'ħ': 30, 'ŧ': 30, 'ł': 31, 'ø': 33, 'ƒ': 67, 'ŉ': 72, 'ð': 104, 'ΐ': 31, 'ΰ': 31}

// expansions are characters that count as two (Microsoft: [MS-UCODEREF] Windows Sorting Weight Table, EXPANSION).
var expansions = map[rune]string{'æ': "ae", 'Æ': "AE", 'œ': "oe", 'Œ': "OE", 'ß': "ss", 'þ': "th", 'Þ': "TH", 'ĳ': "ij", 'Ĳ': "IJ"}

// behindLatin is where letters of other scripts begin.
const behindLatin = 1 << 16

// weights are those of the characters that the lists above have.
var weights = makeWeights()

type weightTable struct {
	low  [0x180]weight // of characters below U+0180; letter 0 is none
	high map[rune]weight
}

func makeWeights() *weightTable {
	t := &weightTable{high: map[rune]weight{}}
	put := func(r rune, w weight) {
		if int(r) < len(t.low) {
			t.low[r] = w
		} else {
			t.high[r] = w
		}
	}
	n := uint32(1) // and every second number, so that languages may put letters in between
	for _, r := range symbols {
		put(r, weight{n, plain, small})
		n += 2
	}
	for r, as := range alike {
		form := uint8(small)
		if as != '^' {
			form = raised
		}
		put(r, weight{t.low[as].letter, plain, form})
	}
	for _, list := range letters {
		base, _ := utf8.DecodeRuneInString(list)
		for _, r := range list {
			if _, mark := accents[r]; mark {
				continue
			}
			accent := uint32(plain)
			if d := []rune(norm.NFD.String(string(r))); len(d) == 2 {
				accent = accents[d[1]]
			} else if r != base {
				accent = strokes[r]
			} else if s, ok := strokes[r]; ok {
				accent = s
			}
			switch r {
			case 'ς': // at the end of words
				put(r, weight{n, plain, 10})
				continue
			case '№', '™': // signs in the form of capitals
				put(r, weight{n, plain, capital})
				continue
			}
			put(r, weight{n, accent, small})
			if up := upper(r); up != r {
				put(up, weight{n, accent, capital})
			}
		}
		n += 2
	}
	put('İ', weight{t.low['i'].letter, accents['\u0307'], capital})
	put('ª', weight{t.low['a'].letter, 3, raised})
	put('ⁿ', weight{t.low['n'].letter, plain, raised})
	put('˘', weight{t.high['ˇ'].letter, 3, small})
	put('º', weight{t.low['o'].letter, 3, raised})
	return t
}

func upper(r rune) rune {
	switch r {
	case 'ı', 'ĸ', 'ŉ', 'ſ', 'ƒ', 'ΐ', 'ΰ':
		return r
	}
	u := []rune(strings.ToUpper(string(r)))
	return u[0]
}

// rules are how a collation compares text, other than by codes.
type rules struct {
	ignoreCase, ignoreAccent, ignoreKana, ignoreWidth, turkish bool
}

// reader gives the weights of a text one after the other; minimal signs it only notes.
type reader struct {
	s          string
	rules      rules
	held       string // the rest of an expansion
	sawMinimal bool
}

func newReader(s string, r rules) reader {
	if !collation.Single(s) && (strings.Contains(s, "\xcc") || strings.Contains(s, "\xcd")) { // where combining marks begin
		s = norm.NFC.String(s)
	}
	return reader{s: s, rules: r}
}

func (r *reader) next() (weight, bool) {
	for {
		from := &r.s
		if r.held != "" {
			from = &r.held
		}
		if *from == "" {
			return weight{}, false
		}
		c, n := rune((*from)[0]), 1
		if c < utf8.RuneSelf {
			if w := weights.low[c]; w.letter != 0 && !(r.rules.turkish && c == 'I') { // most of all text
				*from = (*from)[1:]
				if r.rules.ignoreCase {
					w.form = small
				}
				return w, true
			}
		} else {
			c, n = utf8.DecodeRuneInString(*from)
		}
		*from = (*from)[n:]
		if uncounted(c) {
			continue
		}
		if isMinimal(c) {
			r.sawMinimal = true
			continue
		}
		if c >= utf8.RuneSelf {
			if two, ok := expansions[c]; ok {
				r.held = two
				continue
			}
		}
		return r.rules.weigh(c), true
	}
}

// uncounted tells whether a character counts nothing (Microsoft: [MS-UCODEREF] Windows Sorting Weight Table).
func uncounted(c rune) bool { return c == '\u00ad' || c == 0 || c == '\ufeff' }

// isMinimal tells whether a character counts only where all else is equal.
func isMinimal(c rune) bool {
	if c < utf8.RuneSelf {
		return c == '\'' || c == '-' || c < ' ' && (c < '\t' || c > '\r') || c == 0x7F
	}
	return c >= '‐' && c <= '―' && strings.ContainsRune(minimal, c)
}

func (r *rules) weigh(c rune) weight {
	w := weight{form: small, accent: plain}
	switch {
	case int(c) < len(weights.low):
		w = weights.low[c]
	case c < 0x2400: // behind these the lists have nothing
		w = weights.high[c]
	}
	if w.letter == 0 {
		if c >= 0xFF01 && c <= 0xFF5E { // wide forms
			w = r.weigh(c - 0xFF01 + '!')
			if !r.ignoreWidth {
				w.form++
			}
			return w
		}
		w = weight{form: small, accent: plain}
		k := c
		if r.ignoreWidth && c >= 0xFF61 && c <= 0xFF9F {
			k, _ = utf8.DecodeRuneInString(norm.NFKC.String(string(c)))
		}
		if k >= 0x3041 && k <= 0x3096 { // Hiragana, before Katakana
			k += 0x60
		} else if !r.ignoreKana && k >= 0x30A1 && k <= 0x30F6 {
			w.form++
		}
		low := foldRune(k)
		if low != k {
			w.form = capital
		}
		base := letter(low)
		if base != low {
			w.accent = uint32(low)
		}
		w.letter = behindLatin + uint32(base)
	}
	if r.turkish && (c == 'I' || c == 'ı' || c == 'İ') { // ı is a letter of its own, before i, and İ the capital of i
		w = weight{weights.low['i'].letter, plain, capital}
		if c != 'İ' {
			w.letter--
		}
		if c == 'ı' {
			w.form = small
		}
	}
	if r.ignoreAccent {
		w.accent = plain
	}
	if r.ignoreCase && (w.form == capital || w.form == 10) {
		w.form = small
	}
	return w
}

// compareWeights orders two texts: by their letters, where these are equal by accents, then by case, then by their minimal signs.
func compareWeights(a, b string, rule rules) int {
	form, i := 0, 0
	for i < len(a) && i < len(b) && a[i]|b[i] < utf8.RuneSelf { // most of all text
		if i+1 < len(a) && a[i+1] >= utf8.RuneSelf || i+1 < len(b) && b[i+1] >= utf8.RuneSelf {
			break // a mark may belong to this character
		}
		v, w := &weights.low[a[i]], &weights.low[b[i]]
		if v.letter == 0 || w.letter == 0 || rule.turkish && (a[i] == 'I' || b[i] == 'I') {
			break
		}
		if v.letter != w.letter {
			return cmp.Compare(v.letter, w.letter)
		}
		if form == 0 && !rule.ignoreCase {
			form = cmp.Compare(v.form, w.form)
		}
		i++
	}
	a, b = a[i:], b[i:]
	x, y := newReader(a, rule), newReader(b, rule)
	accent := 0
	for {
		v, ok := x.next()
		w, more := y.next()
		if !ok || !more {
			if ok != more {
				if ok {
					return 1
				}
				return -1
			}
			break
		}
		if v.letter != w.letter {
			return cmp.Compare(v.letter, w.letter)
		}
		if accent == 0 {
			accent = cmp.Compare(v.accent, w.accent)
		}
		if form == 0 {
			form = cmp.Compare(v.form, w.form)
		}
	}
	switch {
	case accent != 0:
		return accent
	case form != 0:
		return form
	case x.sawMinimal || y.sawMinimal:
		return strings.Compare(minimalKey(a), minimalKey(b))
	}
	return 0
}

// minimalKey gives the places and signs of a text that count least.
func minimalKey(s string) string {
	var k []byte
	at := 0
	for _, r := range s {
		switch {
		case uncounted(r):
		case isMinimal(r):
			k = append(binary.BigEndian.AppendUint32(k, uint32(at)), byte(strings.IndexRune(minimal, r)))
		default:
			if at++; expansions[r] != "" {
				at++
			}
		}
	}
	return string(k)
}

// weightKey appends bytes that are equal for texts that compare as equal.
func weightKey(k []byte, s string, rule rules) []byte {
	x := newReader(s, rule)
	for w, ok := x.next(); ok; w, ok = x.next() {
		k = append(binary.AppendUvarint(binary.AppendUvarint(k, uint64(w.letter)), uint64(w.accent)), w.form)
	}
	least := ""
	if x.sawMinimal {
		least = minimalKey(s)
	}
	return append(binary.AppendUvarint(append(k, 0), uint64(len(least))), least...) // no letter is 0
}

// windows tells whether text of the type is compared as Windows does: with Windows' collations, and all that is Unicode (Microsoft:
// Collation and Unicode support, SQL Server collations).
func (t Type) windows() (rules, bool) {
	if t.binaryCollation() {
		return rules{}, false
	}
	if t.Collation == "" || t.Collation == DefaultCollation {
		return rules{ignoreCase: true, ignoreKana: true, ignoreWidth: true}, t.Unicode()
	}
	c, ok := collation.Find(t.Collation)
	if !ok || c.SortID != 0 && !t.Unicode() {
		return rules{}, false
	}
	return rules{ignoreCase: c.Has(collation.IgnoreCase), ignoreAccent: c.Has(collation.IgnoreAccent), ignoreKana: c.Has(collation.IgnoreKana), ignoreWidth: c.Has(collation.IgnoreWidth),
		turkish: dotted(c)}, true
}

// dotted tells the collations of languages in which i and ı are two letters: Turkish and Azeri in Latin letters.
func dotted(c *collation.Collation) bool { return c.LCID&0x3FF == 0x1F || c.LCID&0xFFFF == 0x042C }
