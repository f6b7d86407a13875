package tds

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// appendUTF16 appends UTF-8 text as UTF-16, lowest byte first. Bytes that are not UTF-8 become U+FFFD.
func appendUTF16[T string | []byte](b []byte, s T) []byte {
	b = slices.Grow(b, 2*len(s))
	at := len(b)
	b = b[:at+2*len(s)] // UTF-16 is at most twice as long as UTF-8
	i := 0
	for ; i+4 <= len(s); i += 4 { // four characters of ASCII at once
		four := uint64(s[i]) | uint64(s[i+1])<<16 | uint64(s[i+2])<<32 | uint64(s[i+3])<<48
		if four&0x0080_0080_0080_0080 != 0 {
			break
		}
		binary.LittleEndian.PutUint64(b[at:], four)
		at += 8
	}
	for ; i < len(s) && s[i] < utf8.RuneSelf; i++ {
		b[at] = s[i]
		b[at+1] = 0
		at += 2
	}
	for _, r := range string(s[i:]) {
		if r < 0x10000 {
			binary.LittleEndian.PutUint16(b[at:], uint16(r))
			at += 2
			continue
		}
		high, low := utf16.EncodeRune(r)
		binary.LittleEndian.PutUint16(b[at:], uint16(high))
		binary.LittleEndian.PutUint16(b[at+2:], uint16(low))
		at += 4
	}
	return b[:at]
}

// beginBody appends the length field of a character or binary value, to be filled in by endBody.
func beginBody(b []byte, t *Type) []byte {
	switch t.ID {
	case IDText, IDNText, IDImage: // a text pointer and a time stamp, which clients skip
		b = append(b, 16)
		b = append(b, "sixteen-byte-ptr"...)
		b = append(b, "timestmp"...)
		return append(b, 0, 0, 0, 0)
	}
	if t.Size < 0 { // partially length-prefixed: the whole length, then one chunk
		return append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	return append(b, 0, 0)
}

// endBody fills in the length of the body that begins at b[at:], pads char, nchar and binary, and refuses what is
// longer than the type.
func endBody(b []byte, at int, t *Type) ([]byte, error) {
	n := len(b) - at
	switch {
	case t.ID == IDText, t.ID == IDNText, t.ID == IDImage:
		if n > math.MaxInt32 {
			return b, fmt.Errorf("%d bytes do not fit %s", n, *t)
		}
		binary.LittleEndian.PutUint32(b[at-4:], uint32(n))
		return b, nil
	case t.Size < 0:
		if n > math.MaxInt32 {
			return b, fmt.Errorf("%d bytes do not fit %s", n, *t)
		}
		binary.LittleEndian.PutUint64(b[at-12:], uint64(n))
		if n == 0 {
			return b[:at], nil // what would be the length of the chunk ends the value
		}
		binary.LittleEndian.PutUint32(b[at-4:], uint32(n))
		return append(b, 0, 0, 0, 0), nil
	case n > t.Size:
		return b, fmt.Errorf("%d bytes do not fit %s", n, *t)
	}
	switch t.ID {
	case IDBinary:
		for ; n < t.Size; n++ {
			b = append(b, 0)
		}
	case IDChar:
		for ; n < t.Size; n++ {
			b = append(b, ' ')
		}
	case IDNChar:
		for ; n+1 < t.Size; n += 2 {
			b = append(b, ' ', 0)
		}
	}
	binary.LittleEndian.PutUint16(b[at-2:], uint16(n))
	return b, nil
}

// appendBytes appends a binary value, or a character value whose bytes are as they go on the wire.
func appendBytes[T string | []byte](b []byte, t *Type, p T) ([]byte, error) {
	if t.isNational() && len(p)%2 != 0 {
		return b, fmt.Errorf("%d bytes of UTF-16 for %s", len(p), *t)
	}
	b = beginBody(b, t)
	at := len(b)
	return endBody(append(b, p...), at, t)
}

// appendText appends a character value given in UTF-8.
func appendText[T string | []byte](b []byte, t *Type, s T) ([]byte, error) {
	if !t.isText() {
		return b, fmt.Errorf("text does not fit %s", *t)
	}
	b = beginBody(b, t)
	at := len(b)
	switch {
	case t.isNational():
		b = appendUTF16(b, s)
	case ascii(s):
		b = append(b, s...)
	default:
		b = t.Collation.encode(b, string(s))
	}
	return endBody(b, at, t)
}

// isBody: values of the type are bytes with a length of their own (text and binary), as opposed to scalars.
func (t *Type) isBody() bool {
	switch t.ID {
	case IDVarBinary, IDBinary, IDImage, IDUDT:
		return true
	}
	return t.isText()
}

// appendNull appends NULL in a row that has no bitmap of them.
func appendNull(b []byte, t *Type) []byte {
	switch {
	case t.ID == IDText, t.ID == IDNText, t.ID == IDImage:
		return append(b, 0)
	case t.isBody() && t.Size < 0:
		return u64(b, plpNull)
	case t.isBody():
		return u16(b, 0xFFFF)
	case t.ID == IDVariant:
		return u32(b, 0)
	}
	return append(b, 0)
}

// The lengths of a partially length-prefixed value that are none (Microsoft: [MS-TDS] Partially Length-Prefixed Bytes).
const (
	plpNull    = math.MaxUint64
	plpUnknown = math.MaxUint64 - 1
)
