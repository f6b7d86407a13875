package tds_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"
)

func bigInt(n int64) *big.Int { return big.NewInt(n) }

// This file is a client that looks at bytes: what no driver notices is asserted with it.

// TDS versions as LOGIN7 names them.
const (
	tds71 = 0x71000001
	tds72 = 0x72090002
	tds73 = 0x730B0003
	tds74 = 0x74000004
)

func utf16le(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// packet is one message in one packet.
func packet(typ, status byte, body []byte) []byte {
	p := append([]byte{typ, status, 0, 0, 0, 0, 1, 0}, body...)
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	return p
}

// login7 is a LOGIN7 record (Microsoft: [MS-TDS] LOGIN7).
func login7(version uint32, packetSize uint32, user, pw, db string) []byte {
	b := make([]byte, 94)
	binary.LittleEndian.PutUint32(b[4:], version)
	binary.LittleEndian.PutUint32(b[8:], packetSize)
	field := func(at int, p []byte) {
		binary.LittleEndian.PutUint16(b[at:], uint16(len(b)))
		binary.LittleEndian.PutUint16(b[at+2:], uint16(len(p)/2))
		b = append(b, p...)
	}
	scrambled := utf16le(pw)
	for i, x := range scrambled {
		scrambled[i] = (x<<4 | x>>4) ^ 0xA5
	}
	field(36, utf16le("testhost"))
	field(40, utf16le(user))
	field(44, scrambled)
	field(48, utf16le("rawclient"))
	field(68, utf16le(db))
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// allHeaders are the headers of a request outside a transaction.
func allHeaders() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 22)
	b = binary.LittleEndian.AppendUint32(b, 18)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint64(b, 0)
	return binary.LittleEndian.AppendUint32(b, 1)
}

func rawBatch(sql string) []byte { return packet(1, 1, append(allHeaders(), utf16le(sql)...)) }

// rawLogin opens a connection of TDS 7.4 without PRELOGIN.
func rawLogin(t testing.TB, addr string) net.Conn {
	c := dial(t, addr)
	c.send(packet(16, 1, login7(tds74, 0, "sa", password, "")))
	c.reply()
	return c.Conn
}

// rawConn is a connection whose failures end the test.
type rawConn struct {
	net.Conn
	t       testing.TB
	version uint32
}

func dial(t testing.TB, addr string) *rawConn {
	t.Helper()
	sock, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sock.Close() })
	if err := sock.SetDeadline(time.Now().Add(time.Minute)); err != nil { // so that a hang is a failure
		t.Fatal(err)
	}
	return &rawConn{Conn: sock, t: t, version: tds74}
}

// loggedIn is a connection of a version that has logged in.
func loggedIn(t testing.TB, addr string, version uint32) *rawConn {
	t.Helper()
	c := dial(t, addr)
	c.version = version
	c.send(packet(16, 1, login7(version, 0, "sa", password, "shop")))
	c.reply()
	return c
}

func (c *rawConn) send(p []byte) {
	c.t.Helper()
	if _, err := c.Write(p); err != nil {
		c.t.Fatal(err)
	}
}

// rawReply is a message of the server.
type rawReply struct {
	data    []byte
	packets []int // the length of each, with header
}

func (c *rawConn) reply() rawReply {
	c.t.Helper()
	r, err := c.tryReply()
	if err != nil {
		c.t.Fatalf("after %d bytes: %v", len(r.data), err)
	}
	return r
}

func (c *rawConn) tryReply() (r rawReply, err error) {
	for {
		var h [8]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			return r, err
		}
		n := int(binary.BigEndian.Uint16(h[2:]))
		body := make([]byte, n-8)
		if _, err := io.ReadFull(c, body); err != nil {
			return r, err
		}
		if h[0] != 4 || h[6] != byte(len(r.packets)+1) {
			c.t.Fatalf("header % x of packet %d", h, len(r.packets)+1)
		}
		r.data = append(r.data, body...)
		r.packets = append(r.packets, n)
		if h[1]&1 != 0 {
			return r, nil
		}
	}
}

// ended demands that the server has closed the connection and sent nothing more before.
func (c *rawConn) ended() {
	c.t.Helper()
	if r, err := c.tryReply(); !errors.Is(err, io.EOF) || len(r.data) > 0 {
		c.t.Errorf("the connection ended with % x, %v, where it was to be closed", r.data, err)
	}
}

// cut demands that the server has reset the connection.
func (c *rawConn) cut() {
	c.t.Helper()
	if r, err := c.tryReply(); !errors.Is(err, syscall.ECONNRESET) {
		c.t.Errorf("the connection ended with % x, %v, where it was to be reset", r.data, err)
	}
}

// packet reads one packet of the server.
func (c *rawConn) packet() (status byte, body []byte) {
	c.t.Helper()
	var h [8]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		c.t.Fatal(err)
	}
	body = make([]byte, int(binary.BigEndian.Uint16(h[2:]))-8)
	if _, err := io.ReadFull(c, body); err != nil {
		c.t.Fatal(err)
	}
	return h[1], body
}

// batch sends a statement in the form of the connection's version and gives the tokens of the answer.
func (c *rawConn) batch(sql string) []token {
	c.t.Helper()
	body := utf16le(sql)
	if c.version >= tds72 {
		body = append(allHeaders(), body...)
	}
	c.send(packet(1, 1, body))
	return tokens(c.t, c.reply().data, c.version)
}
