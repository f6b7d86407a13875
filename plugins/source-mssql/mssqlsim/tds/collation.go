package tds

import (
	"encoding/binary"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// Collation is the collation of a character type as it is sent: 20 bits of locale, 8 of flags, 4 of version, and the
// sort order of a SQL collation (Microsoft: [MS-TDS] Collation Rule Definition). The zero Collation means
// DefaultCollation. It decides the code page of char, varchar and text.
type Collation [5]byte

// Collations that have a name here; any other can be written down as its five bytes.
var (
	// DefaultCollation is SQL_Latin1_General_CP1_CI_AS, which the login answer names as the server's: code page 1252.
	DefaultCollation = Collation{0x09, 0x04, 0xD0, 0x00, 0x34}
	// UTF8Collation is Latin1_General_100_CI_AS_SC_UTF8: char and varchar hold UTF-8.
	UTF8Collation = Collation{0x09, 0x04, 0xD0, 0x24, 0x00}
)

func (c Collation) append(b []byte) []byte {
	if c == (Collation{}) {
		c = DefaultCollation
	}
	return append(b, c[:]...)
}

// utf8Flag is the bit fUTF8 of the locale and flags.
const utf8Flag = 1 << 26

// encoding is that of char and varchar with the collation. The code page follows the locale
// (Microsoft: Collation and Unicode support, and Windows: National Language Support code page table).
func (c Collation) encoding() encoding.Encoding {
	info := binary.LittleEndian.Uint32(c[:])
	if info&utf8Flag != 0 {
		return unicode.UTF8
	}
	switch lcid := info & 0xFFFF; lcid & 0x3FF { // the language without its country
	case 0x04: // Chinese
		if lcid == 0x0404 || lcid == 0x0C04 || lcid == 0x1404 {
			return traditionalchinese.Big5
		}
		return simplifiedchinese.GBK
	case 0x11:
		return japanese.ShiftJIS
	case 0x12:
		return korean.EUCKR
	case 0x1E:
		return charmap.Windows874
	case 0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x1C, 0x24: // Czech to Slovenian
		if lcid == 0x0C1A { // Serbian in Cyrillic
			return charmap.Windows1251
		}
		return charmap.Windows1250
	case 0x02, 0x19, 0x22, 0x23, 0x2F: // Bulgarian, Russian, Ukrainian, Belarusian, Macedonian
		return charmap.Windows1251
	case 0x08:
		return charmap.Windows1253
	case 0x1F, 0x2C:
		return charmap.Windows1254
	case 0x0D:
		return charmap.Windows1255
	case 0x01, 0x20, 0x29:
		return charmap.Windows1256
	case 0x25, 0x26, 0x27:
		return charmap.Windows1257
	case 0x2A:
		return charmap.Windows1258
	}
	return charmap.Windows1252
}

// encode appends text in the code page. A character that it lacks becomes a question mark, as in SQL Server.
func (c Collation) encode(b []byte, s string) []byte {
	if ascii(s) {
		return append(b, s...)
	}
	switch enc := c.encoding().(type) {
	case *charmap.Charmap:
		for _, r := range s {
			x, ok := enc.EncodeRune(r)
			if !ok {
				x = '?'
			}
			b = append(b, x)
		}
	default:
		e := enc.NewEncoder()
		for _, r := range s {
			x, err := e.String(string(r))
			if err != nil {
				x = "?"
			}
			b = append(b, x...)
		}
	}
	return b
}

// decode reads text in the code page. Bytes that mean nothing in it become U+FFFD.
func (c Collation) decode(p []byte) string {
	if ascii(p) {
		return string(p)
	}
	out, err := c.encoding().NewDecoder().Bytes(p)
	if err != nil { // decoders replace and do not fail; were one to, the bytes are better than nothing
		return string(p)
	}
	return string(out)
}

func ascii[T string | []byte](s T) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// collation reads the five bytes after a character type.
func (d *decoder) collation() (c Collation) {
	copy(c[:], d.take(5))
	if c == DefaultCollation {
		c = Collation{} // so that types compare equal
	}
	return c
}
