package tds_test

import (
	"encoding/binary"
)

// rawParam is a parameter of a call: int travels as int, string as nvarchar(4000), nil as a NULL int, []byte as it is.
type rawParam struct {
	name   string
	output bool
	v      any
}

func (p rawParam) append(b []byte) []byte {
	name := utf16le(p.name)
	b = append(append(b, byte(len(name)/2)), name...)
	status := byte(0)
	if p.output {
		status = 1
	}
	b = append(b, status)
	switch v := p.v.(type) {
	case nil:
		return append(b, 0x26, 4, 0)
	case int:
		return binary.LittleEndian.AppendUint32(append(b, 0x26, 4, 4), uint32(v))
	case []byte: // TYPE_INFO and value as they are
		return append(b, v...)
	case string:
		text := utf16le(v)
		b = append(b, 0xE7, 0x40, 0x1F, 0x09, 0x04, 0xD0, 0x00, 0x34)
		return append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
	}
	panic("no such parameter")
}

// rawCallByNumber and rawCallByName are one call without headers.
func rawCallByNumber(id byte, ps ...rawParam) []byte {
	b := []byte{0xFF, 0xFF, id, 0, 0, 0}
	for _, p := range ps {
		b = p.append(b)
	}
	return b
}

func rawCallByName(name string, ps ...rawParam) []byte {
	u := utf16le(name)
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(u)/2))
	b = append(append(b, u...), 0, 0)
	for _, p := range ps {
		b = p.append(b)
	}
	return b
}

// call sends calls in one message, separated as the version does it, and gives the tokens of the answer.
func (c *rawConn) call(calls ...[]byte) []token {
	c.t.Helper()
	var b []byte
	separator := byte(0x80)
	if c.version >= tds72 {
		b, separator = allHeaders(), 0xFF
	}
	for i, one := range calls {
		if i > 0 {
			b = append(b, separator)
		}
		b = append(b, one...)
	}
	c.send(packet(3, 1, b))
	return tokens(c.t, c.reply().data, c.version)
}

// tran sends a transaction manager request.
func (c *rawConn) tran(kind byte, payload ...byte) []token {
	c.t.Helper()
	c.send(packet(14, 1, append(append(allHeaders(), kind, 0), payload...)))
	return tokens(c.t, c.reply().data, c.version)
}
