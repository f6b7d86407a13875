package collation

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Page is a code page, by its number.
type Page uint16

// Pages with a name here. Unicode is that of collations for nchar and nvarchar alone, which have no code page.
const (
	Unicode Page = 0
	Western Page = 1252
	UTF8    Page = 65001
)

// charmaps are the pages of one byte a character.
var charmaps = map[Page]*charmap.Charmap{
	437: charmap.CodePage437, 850: charmap.CodePage850, 874: charmap.Windows874, 1250: charmap.Windows1250, 1251: charmap.Windows1251,
	1252: charmap.Windows1252, 1253: charmap.Windows1253, 1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256,
	1257: charmap.Windows1257, 1258: charmap.Windows1258,
}

// doubles are the pages of one or two bytes a character.
var doubles = map[Page]encoding.Encoding{932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5}

// Append appends text in the code page. A character that the page lacks becomes a question mark, two where it is a pair of
// surrogates, unless the page has a similar one: see fit. (Microsoft: Collation and Unicode support: characters that the code
// page lacks are lost.)
func (p Page) Append(b []byte, s string) []byte {
	if p == UTF8 || Single(s) {
		return append(b, s...)
	}
	if m := charmaps[p]; m != nil {
		for _, r := range s {
			x, ok := m.EncodeRune(r)
			if !ok && free(m, r) {
				x, ok = byte(r), true
			}
			if !ok {
				if like, fits := p.fit(r); fits {
					x, ok = m.EncodeRune(like)
				}
			}
			if !ok {
				b = lost(b, r)
				continue
			}
			b = append(b, x)
		}
		return b
	}
	double := doubles[p]
	if double == nil {
		return append(b, s...)
	}
	e := double.NewEncoder()
	for _, r := range s {
		if r < utf8.RuneSelf {
			b = append(b, byte(r))
			continue
		}
		x, err := e.String(string(r))
		if err != nil {
			b = lost(b, r)
			continue
		}
		b = append(b, x...)
	}
	return b
}

// free tells whether a byte from 0x80 to 0x9F means no character in the page: Windows keeps it as the control character of that number.
func free(m *charmap.Charmap, r rune) bool {
	return r >= 0x80 && r < 0xA0 && m.DecodeByte(byte(r)) == utf8.RuneError
}

func lost(b []byte, r rune) []byte {
	if r > 0xFFFF {
		b = append(b, '?')
	}
	return append(b, '?')
}

// Text reads bytes of the code page. Those that mean nothing in it become U+FFFD.
func (p Page) Text(b []byte) string {
	if Single(b) {
		return string(b)
	}
	if m := charmaps[p]; m != nil {
		var s strings.Builder
		s.Grow(2 * len(b))
		for _, c := range b {
			if r := rune(c); free(m, r) {
				s.WriteRune(r)
				continue
			}
			s.WriteRune(m.DecodeByte(c))
		}
		return s.String()
	}
	if double := doubles[p]; double != nil {
		if out, err := double.NewDecoder().Bytes(b); err == nil { // decoders replace and do not fail; were one to, the bytes are better than nothing
			return string(out)
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// Keep gives what is left of a text when it is stored in the code page.
func (p Page) Keep(s string) string {
	if p == UTF8 || p == Unicode || Single(s) {
		return s
	}
	return p.Text(p.Append(nil, s))
}

// Len is the number of bytes of a text in the code page.
func (p Page) Len(s string) int {
	if p == UTF8 || Single(s) {
		return len(s)
	}
	if charmaps[p] != nil {
		n := 0
		for _, r := range s {
			if n++; r > 0xFFFF {
				n++
			}
		}
		return n
	}
	return len(p.Append(nil, s))
}

// Cut gives as many whole characters of a text as fit so many bytes of the code page.
func (p Page) Cut(s string, limit int) string {
	n := 0
	for i, r := range s {
		k := 1
		if r >= utf8.RuneSelf {
			k = p.Len(string(r))
		}
		if n+k > limit {
			return s[:i]
		}
		n += k
	}
	return s
}

// Single tells whether a text is ASCII, which every code page has as it is.
func Single[T string | []byte](s T) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
