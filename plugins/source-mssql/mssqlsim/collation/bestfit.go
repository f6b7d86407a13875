package collation

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// accentless are the pages that keep an accented Latin letter that they lack without its accent (Microsoft's best fit tables of the
// code pages, as the Unicode Consortium publishes them: bestfit1250 to bestfit1254). The others make it a question mark.
var accentless = []Page{437, 850, 1250, 1251, Western, 1253, 1254}

// western are the characters that page 1252 keeps as a similar one, behind it (bestfit1252).
var western = strings.Fields("!ǃ \"ʺ\u030e %٪ 'ʹʼˈ′ (⌠ )⌡ *∗ +┌┐└┘├┼╒╓╔╕╖╗╘╙╚╛╜╝╪╫╬ -‐‑−─┬┴═╤╥╦╧╨╩ /⁄∕ 0₀ 1₁ 2₂ 3₃ 4⁴₄ 5⁵₅ 6⁶₆ 7⁷₇ 8⁸₈∞ 9₉ :։∶ <〈\u3008 =‗≡≤≥ >〉\u3009 " +
	"Bℬ Cℂℭ Eℇℰ FΦℱ GǤΓ HĦℋℌℍ IƗℐℑ LŁℒ Mℳ Nℕ OƟΩ P₧℘ℙ Qℚ Rℛℜℝ SΣ TŦƮΘ Zℤℨ [〚 \\∖ ]〛 ^˄\u0302⌃ _ˍ\u0331\u0332▄ `ˋ\u0300‵ aα bƀ dđδ eε℮ℯ fφ gǥɡℊ hħһℎ iı lłƚℓ nⁿ∩ oℴ pπ sσ tŧƫτ v√ zƶ |ǀ∣❘ ~\u0303∼ " +
	"¢₡ £₤ ¤☼ ¦⌂│┤║╞╟╠╡╢╣█▌▐░▒▓■ ¨\u0308 «≪《 ¬⌐ ¯ˉ\u0304\u0305▀ °\u030a⁰∘ ±∓ ´ˊ\u0301 µμ ·․∙⋅・ ¸\u0327 »≫》 ÐĐƉ Ø∅ ßβ ƒƑ ˜≈ AǍǞ GǦ IǏ KǨ\u212a Å\u212b ;\u037e OƠǑǪǬ UƯǓǕǗǙǛ aǎǟ gǧ iǐ jǰ kǩ oơǒǫǭ uưǔǖǘǚǜ")

var westernFits = sync.OnceValue(func() map[rune]rune {
	fits := map[rune]rune{}
	for _, group := range western {
		to, n := utf8.DecodeRuneInString(group)
		for _, r := range group[n:] {
			fits[r] = to
		}
	}
	for _, blank := range "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u3000" {
		fits[blank] = ' '
	}
	return fits
})

// fit gives the character that the page keeps in place of one that it lacks.
func (p Page) fit(r rune) (rune, bool) {
	if p == Western {
		if r > 0xFF00 && r < 0xFF5F {
			return r - 0xFF00 + ' ', true // wide forms
		}
		if to, ok := westernFits()[r]; ok {
			return to, true
		}
	}
	if r >= 0xC0 && r < 0x180 && slices.Contains(accentless, p) {
		if d := norm.NFD.String(string(r)); d[0] < utf8.RuneSelf {
			return rune(d[0]), true
		}
	}
	return 0, false
}
