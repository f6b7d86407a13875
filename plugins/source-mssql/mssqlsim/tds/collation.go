package tds

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"

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

// page is the code page of char and varchar with the collation.
func (c Collation) page() collation.Page {
	if c == (Collation{}) {
		return collation.Western
	}
	return collation.PageOf(c)
}

// encode appends text in the code page. A character that it lacks becomes a question mark, as in SQL Server.
func (c Collation) encode(b []byte, s string) []byte {
	if ascii(s) {
		return append(b, s...)
	}
	return c.page().Append(b, s)
}

// decode reads text in the code page. Bytes that mean nothing in it become U+FFFD.
func (c Collation) decode(p []byte) string {
	if ascii(p) {
		return string(p)
	}
	return c.page().Text(p)
}

func ascii[T string | []byte](s T) bool { return collation.Single(s) }

// collation reads the five bytes after a character type.
func (d *decoder) collation() (c Collation) {
	copy(c[:], d.take(5))
	if c == DefaultCollation {
		c = Collation{} // so that types compare equal
	}
	return c
}
