package mssql

import (
	"encoding/hex"
	"time"
)

const upperHex = "0123456789ABCDEF"

// guidPlaces are where the text of a uniqueidentifier has the two digits of
// each of its bytes on the wire: its first three groups are little endian.
var guidPlaces = [16]uint8{6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34}

// appendGUID appends the upper-case text of 16 wire bytes.
func appendGUID(dst, wire []byte) []byte {
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, c := range wire[:16] {
		at := guidPlaces[i]
		text[at], text[at+1] = upperHex[c>>4], upperHex[c&15]
	}
	return append(dst, text[:]...)
}

// appendTimeOfDay appends HH:MM:SS.nnnnnnnnn.
func appendTimeOfDay(dst []byte, t time.Time) []byte {
	hour, minute, second := t.Clock()
	dst = append(append2(append(append2(append(append2(dst, hour), ':'), minute), ':'), second), '.')
	n := t.Nanosecond()
	for div := 100_000_000; div > 0; div /= 10 {
		dst = append(dst, byte('0'+n/div%10))
	}
	return dst
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendBinary appends 0x and lower-case hexadecimal digits.
func appendBinary(dst, b []byte) []byte { return hex.AppendEncode(append(dst, "0x"...), b) }

// Layouts of times as text: a bound must be monotonic, not exact.
const (
	dateLayout   = "2006-01-02"
	millisLayout = "2006-01-02T15:04:05.000"
	microsLayout = "2006-01-02T15:04:05.000000"
	offsetLayout = "2006-01-02T15:04:05.000000-07:00"
)

// days is the number of days since 1970-01-01.
func days(t time.Time) int64 {
	s := t.Unix()
	d := s / 86400
	if s%86400 < 0 {
		d--
	}
	return d
}
