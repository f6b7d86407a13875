// Package lsn is the log sequence number of SQL Server change data capture:
// ten bytes that number commits of one database in commit order. It knows the
// text form and 80-bit arithmetic, and neither a server nor change tables.
//
// The text form is "0x" and exactly 20 upper-case hexadecimal digits, so that
// comparing texts byte by byte is comparing positions.
package lsn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
)

// Size is the number of bytes of an LSN (Microsoft: cdc.lsn_time_mapping,
// start_lsn binary(10)).
const Size = 10

// TextLen is the length of the canonical text.
const TextLen = 2 + 2*Size

const digits = "0123456789ABCDEF"

// LSN is one log sequence number, big endian. The zero value is the zero LSN,
// which is below every commit and which SQL Server answers for "unknown".
type LSN [Size]byte

// Parse reads text: an optional 0x, then at most 20 hexadecimal digits of any
// case, padded with zeros on the left. Empty text is no LSN.
func Parse(text string) (LSN, error) {
	var l LSN
	s := strings.TrimSpace(text)
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		s = s[2:]
	}
	if s == "" || len(s) > 2*Size {
		return LSN{}, fmt.Errorf("%q is no LSN: want 0x and 20 hexadecimal digits", text)
	}
	for i := range len(s) {
		d, ok := digit(s[len(s)-1-i])
		if !ok {
			return LSN{}, fmt.Errorf("%q is no LSN: %q is no hexadecimal digit", text, s[len(s)-1-i])
		}
		l[Size-1-i/2] |= d << (4 * (i % 2))
	}
	return l, nil
}

func digit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// FromBytes reads the ten bytes of a binary(10).
func FromBytes(b []byte) (LSN, error) {
	if len(b) != Size {
		return LSN{}, fmt.Errorf("%#x is no LSN: it has %d bytes, 10 are expected", b, len(b))
	}
	return LSN(b), nil
}

// FromInt is the LSN with the given number, which must fit 80 bits.
func FromInt(n *big.Int) (LSN, error) {
	if n.Sign() < 0 || n.BitLen() > 8*Size {
		return LSN{}, fmt.Errorf("%s is no LSN: it is outside 80 bits", n)
	}
	var l LSN
	n.FillBytes(l[:])
	return l, nil
}

// Int is the LSN as an unsigned number of 80 bits.
func (l LSN) Int() *big.Int { return new(big.Int).SetBytes(l[:]) }

// String is the canonical text.
func (l LSN) String() string { return string(l.AppendText(nil)) }

// AppendText appends the canonical text to dst.
func (l LSN) AppendText(dst []byte) []byte {
	text := [TextLen]byte{'0', 'x'}
	for i, b := range l {
		text[2+2*i], text[3+2*i] = digits[b>>4], digits[b&15]
	}
	return append(dst, text[:]...)
}

// IsZero reports whether l is the zero LSN.
func (l LSN) IsZero() bool { return l == LSN{} }

// Compare is -1, 0 or 1 as l is before, at or after m.
func (l LSN) Compare(m LSN) int { return bytes.Compare(l[:], m[:]) }

// Less reports whether l is before m.
func (l LSN) Less(m LSN) bool { return l.Compare(m) < 0 }

// Max is the later of l and m.
func Max(l, m LSN) LSN {
	if l.Less(m) {
		return m
	}
	return l
}

// Next is the LSN after l; the greatest LSN has none. Readers ask the server
// for it (sys.fn_cdc_increment_lsn); this is for models and tests.
func (l LSN) Next() (LSN, error) {
	low := binary.BigEndian.Uint64(l[2:]) + 1
	high := binary.BigEndian.Uint16(l[:2])
	if low == 0 {
		if high++; high == 0 {
			return LSN{}, fmt.Errorf("%s has no next LSN", l)
		}
	}
	return join(high, low), nil
}

// Prev is the LSN before l; the zero LSN has none.
func (l LSN) Prev() (LSN, error) {
	if l.IsZero() {
		return LSN{}, fmt.Errorf("%s has no LSN before it", l)
	}
	low := binary.BigEndian.Uint64(l[2:])
	high := binary.BigEndian.Uint16(l[:2])
	if low == 0 {
		high--
	}
	return join(high, low-1), nil
}

func join(high uint16, low uint64) LSN {
	var l LSN
	binary.BigEndian.PutUint16(l[:2], high)
	binary.BigEndian.PutUint64(l[2:], low)
	return l
}
