package tds

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// decoder reads what a client sent. After the first mistake it returns zeros and keeps the error, so that callers check
// once; no length in the data makes it read, or reserve memory, beyond the data.
type decoder struct {
	b     []byte
	ver   uint32 // of TDS
	short bool   // the type read last has a length of one byte, as before TDS 7.0
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
	d.b = nil
}

// take is the next n bytes, a part of the message; nil if there are not as many.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail("%d bytes wanted where %d are left", n, len(d.b))
		return nil
	}
	x := d.b[:n:n]
	d.b = d.b[n:]
	return x
}

func (d *decoder) u8() byte {
	if x := d.take(1); x != nil {
		return x[0]
	}
	return 0
}

func (d *decoder) u16() uint16 {
	if x := d.take(2); x != nil {
		return binary.LittleEndian.Uint16(x)
	}
	return 0
}

func (d *decoder) u32() uint32 {
	if x := d.take(4); x != nil {
		return binary.LittleEndian.Uint32(x)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if x := d.take(8); x != nil {
		return binary.LittleEndian.Uint64(x)
	}
	return 0
}

// ucs2 reads text of n UTF-16 code units.
func (d *decoder) ucs2(n int) string { return d.utf16(d.take(2 * n)) }

// utf16 is the text of bytes in UTF-16; half a code unit is an error, half a surrogate pair U+FFFD.
func (d *decoder) utf16(p []byte) string {
	if len(p)%2 != 0 {
		d.fail("UTF-16 text of %d bytes", len(p))
		return ""
	}
	return fromUTF16(p)
}

func fromUTF16(p []byte) string {
	u := make([]uint16, len(p)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(p[2*i:])
	}
	return string(utf16.Decode(u))
}

// littleEndian is the unsigned number in up to 8 bytes.
func littleEndian(p []byte) (n uint64) {
	for i, x := range p {
		n |= uint64(x) << (8 * i)
	}
	return n
}

// u16, u32 and u64 append a number, lowest byte first, as all numbers of tokens are sent.
func u16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func u32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func u64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// bVarChar appends text with a length of one byte, usVarChar with one of two (Microsoft: [MS-TDS] Variable-Length Data
// Streams, B_VARCHAR and US_VARCHAR). Both count code units; longer text is cut at the limit of its length field.
func bVarChar(b []byte, s string) []byte {
	at := len(b)
	b = appendUTF16(append(b, 0), s)
	n := min((len(b)-at-1)/2, 255)
	b[at] = byte(n)
	return b[:at+1+2*n]
}

func usVarChar(b []byte, s string) []byte {
	at := len(b)
	b = appendUTF16(append(b, 0, 0), s)
	n := min((len(b)-at-2)/2, 65535)
	binary.LittleEndian.PutUint16(b[at:], uint16(n))
	return b[:at+2+2*n]
}
