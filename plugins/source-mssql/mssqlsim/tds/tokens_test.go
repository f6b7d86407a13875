package tds_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// token is one token of an answer: its name, what tests look at in a readable form, and its bytes.
type token struct {
	name string
	text string
	raw  []byte
}

func (t token) String() string { return strings.TrimSpace(t.name + " " + t.text) }

func show7(tk []token) string {
	var s []string
	for _, t := range tk {
		s = append(s, t.String())
	}
	return strings.Join(s, "\n")
}

// reader walks through tokens; a token that does not fit its length ends the test.
type reader struct {
	t   testing.TB
	b   []byte
	ver uint32
}

func (r *reader) take(n int) []byte {
	r.t.Helper()
	if n > len(r.b) {
		r.t.Fatalf("%d bytes wanted where %d are left", n, len(r.b))
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}

func (r *reader) u8() int  { return int(r.take(1)[0]) }
func (r *reader) u16() int { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *reader) u32() int { return int(binary.LittleEndian.Uint32(r.take(4))) }
func (r *reader) u64() uint64 {
	return binary.LittleEndian.Uint64(r.take(8))
}

func (r *reader) text(units int) string {
	b := r.take(2 * units)
	u := make([]uint16, units)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}

// testColumn is a column whose values the test client can read. More is what else its TYPE_INFO says.
type testColumn struct {
	id, size int
	more     string
}

// tokens takes an answer apart. Values of types other than integers and UTF-16 are shown as their bytes.
func tokens(t testing.TB, data []byte, ver uint32) (out []token) {
	t.Helper()
	r := &reader{t: t, b: data, ver: ver}
	var cols []testColumn
	for len(r.b) > 0 {
		before := r.b
		var k token
		switch id := r.u8(); id {
		case 0x81:
			k.name = "COLMETADATA"
			k.text, cols = r.columns()
		case 0xD1:
			k.name, k.text = "ROW", r.row(cols, nil)
		case 0xD2:
			k.name, k.text = "NBCROW", r.row(cols, r.take((len(cols)+7)/8))
		case 0xFD, 0xFE, 0xFF:
			k.name = map[int]string{0xFD: "DONE", 0xFE: "DONEPROC", 0xFF: "DONEINPROC"}[id]
			status, cmd := r.u16(), r.u16()
			n := uint64(0)
			if ver >= tds72 {
				n = r.u64()
			} else {
				n = uint64(r.u32())
			}
			k.text = fmt.Sprintf("status=%02x cmd=%02x rows=%d", status, cmd, n)
		case 0xAA, 0xAB:
			k.name = map[int]string{0xAA: "ERROR", 0xAB: "INFO"}[id]
			b := &reader{t: t, b: r.take(r.u16()), ver: ver}
			number, state, class, msg, server, proc := b.u32(), b.u8(), b.u8(), b.text(b.u16()), b.text(b.u8()), b.text(b.u8())
			line := 0
			if ver >= tds72 {
				line = b.u32()
			} else {
				line = b.u16()
			}
			k.text = fmt.Sprintf("%d state=%d class=%d line=%d server=%s proc=%s %q", number, state, class, line, server, proc, msg)
			if len(b.b) != 0 {
				t.Fatalf("%d bytes left in %s", len(b.b), k)
			}
		case 0xE3:
			b := &reader{t: t, b: r.take(r.u16())}
			typ := b.u8()
			k.name = fmt.Sprintf("ENVCHANGE %d", typ)
			if typ == 1 || typ == 2 || typ == 4 {
				k.text = fmt.Sprintf("%q %q", b.text(b.u8()), b.text(b.u8()))
			} else {
				k.text = fmt.Sprintf("%x %x", b.take(b.u8()), b.take(b.u8()))
			}
			if len(b.b) != 0 {
				t.Fatalf("%d bytes left in %s", len(b.b), k)
			}
		case 0xAD:
			k.name = "LOGINACK"
			b := &reader{t: t, b: r.take(r.u16())}
			k.text = fmt.Sprintf("interface=%d tds=%x %q version=%x", b.u8(), b.take(4), b.text(b.u8()), b.take(4))
		case 0xAE:
			k.name = "FEATUREEXTACK"
			for {
				f := r.u8()
				if f == 0xFF {
					break
				}
				k.text += fmt.Sprintf(" %d=%x", f, r.take(r.u32()))
			}
		case 0x79:
			k.name, k.text = "RETURNSTATUS", fmt.Sprint(int32(r.u32()))
		case 0xAC:
			k.name = "RETURNVALUE"
			ordinal, name, status := r.u16(), r.text(r.u8()), r.u8()
			r.userType()
			r.u16()
			c := r.typeInfo()
			k.text = fmt.Sprintf("ordinal=%d name=%s status=%d %s", ordinal, name, status, r.value(c))
		default:
			t.Fatalf("token 0x%02x after %s", id, show7(out))
		}
		k.raw = before[:len(before)-len(r.b)]
		out = append(out, k)
	}
	return out
}

func (r *reader) userType() int {
	if r.ver >= tds72 {
		return r.u32()
	}
	return r.u16()
}

func (r *reader) columns() (string, []testColumn) {
	var s []string
	var cols []testColumn
	for range r.u16() {
		user, flags := r.userType(), r.u16()
		c := r.typeInfo()
		if c.id == 0x63 || c.id == 0x23 || c.id == 0x22 {
			parts, name := 1, []string(nil)
			if r.ver >= tds72 {
				parts = r.u8()
			}
			for range parts {
				name = append(name, r.text(r.u16()))
			}
			c.more += " of [" + strings.Join(name, "][") + "]"
		}
		cols = append(cols, c)
		s = append(s, fmt.Sprintf("%s type=%02x/%d%s flags=%02x user=%d", r.text(r.u8()), c.id, c.size, c.more, flags, user))
	}
	return strings.Join(s, ", "), cols
}

// fixedSizes are the types that have no length in TYPE_INFO (Microsoft: [MS-TDS] Fixed-Length Data Types).
var fixedSizes = map[int]int{0x30: 1, 0x32: 1, 0x34: 2, 0x38: 4, 0x3A: 4, 0x3B: 4, 0x3C: 8, 0x3D: 8, 0x3E: 8, 0x7A: 4, 0x7F: 8}

func (r *reader) typeInfo() testColumn {
	c := testColumn{id: r.u8()}
	if n, ok := fixedSizes[c.id]; ok {
		c.size = n
		return c
	}
	collation := func() {
		if x := r.take(5); string(x) != "\x09\x04\xD0\x00\x34" {
			c.more = fmt.Sprintf(" %x", x)
		}
	}
	switch c.id {
	case 0x24, 0x26, 0x68, 0x6D, 0x6E, 0x6F:
		c.size = r.u8()
	case 0x6A, 0x6C:
		c.size = r.u8()
		c.more = fmt.Sprintf("(%d,%d)", r.u8(), r.u8())
	case 0x28:
	case 0x29, 0x2A, 0x2B:
		c.more = fmt.Sprintf("(%d)", r.u8())
	case 0xA5, 0xAD:
		c.size = r.u16()
	case 0xA7, 0xAF, 0xE7, 0xEF:
		c.size = r.u16()
		collation()
	case 0x63, 0x23:
		c.size = r.u32()
		collation()
	case 0x22, 0x62:
		c.size = r.u32()
	case 0xF0:
		c.size = r.u16()
		c.more = " " + r.text(r.u8()) + "." + r.text(r.u8()) + "." + r.text(r.u8())
		r.text(r.u16())
	case 0xF1:
		c.size, c.more = 0xFFFF, fmt.Sprintf(" schema=%d", r.u8())
	default:
		r.t.Fatalf("the test client does not know type 0x%02x", c.id)
	}
	return c
}

func (r *reader) row(cols []testColumn, nulls []byte) string {
	var s []string
	for i, c := range cols {
		if nulls != nil && nulls[i/8]&(1<<(i%8)) != 0 {
			s = append(s, "NULL")
			continue
		}
		s = append(s, r.value(c))
	}
	return strings.Join(s, ", ")
}

func (r *reader) value(c testColumn) string {
	n := c.size
	switch c.id {
	case 0x30, 0x32, 0x34, 0x38, 0x3A, 0x3B, 0x3C, 0x3D, 0x3E, 0x7A, 0x7F:
	case 0x63, 0x23, 0x22:
		if n = r.u8(); n == 0 {
			return "NULL"
		}
		r.take(n + 8)
		return r.body(c, r.take(r.u32()))
	case 0x62:
		if n = r.u32(); n == 0 {
			return "NULL"
		}
		return fmt.Sprintf("0x%x", r.take(n))
	case 0xA5, 0xA7, 0xAD, 0xAF, 0xE7, 0xEF, 0xF0, 0xF1:
		if c.size == 0xFFFF || c.id == 0xF0 {
			total := r.u64()
			if total == 1<<64-1 {
				return "NULL"
			}
			var b []byte
			for k := r.u32(); k > 0; k = r.u32() {
				b = append(b, r.take(k)...)
			}
			if uint64(len(b)) != total {
				r.t.Fatalf("%d bytes announced, %d sent", total, len(b))
			}
			return r.body(c, b)
		}
		if n = r.u16(); n == 0xFFFF {
			return "NULL"
		}
		return r.body(c, r.take(n))
	default:
		if n = r.u8(); n == 0 {
			return "NULL"
		}
	}
	switch {
	case c.id != 0x26 && c.id != 0x38 && c.id != 0x7F && c.id != 0x34 && c.id != 0x30:
		return fmt.Sprintf("0x%x", r.take(n))
	case n == 1:
		return fmt.Sprint(r.u8())
	case n == 2:
		return fmt.Sprint(int16(r.u16()))
	case n == 4:
		return fmt.Sprint(int32(r.u32()))
	}
	return fmt.Sprint(int64(r.u64()))
}

// body shows a value of text or bytes.
func (r *reader) body(c testColumn, b []byte) string {
	if c.id != 0xE7 && c.id != 0xEF && c.id != 0x63 && c.id != 0xF1 {
		return fmt.Sprintf("0x%x", b)
	}
	one := &reader{t: r.t, b: b}
	return fmt.Sprintf("%q", one.text(len(b)/2))
}
