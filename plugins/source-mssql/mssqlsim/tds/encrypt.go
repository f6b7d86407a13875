package tds

import (
	"crypto/tls"
	"fmt"
	"net"
)

// strictProtocol is the name of TDS 8.0 in the TLS handshake (Microsoft: [MS-TDS] Transport, TDS 8.0).
const strictProtocol = "tds/8.0"

// handshakeConn carries the TLS handshake of TDS 7.x inside PRELOGIN packets, then raw bytes.
type handshakeConn struct {
	net.Conn
	t    *transport
	done bool
	in   []byte
}

func (c *handshakeConn) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		if c.done {
			return c.Conn.Read(p)
		}
		typ, _, body, err := c.t.readPacket(nil, loginLimit)
		if err != nil {
			return 0, err
		}
		if typ != pktPrelogin {
			return 0, fmt.Errorf("tds: a packet of type %d inside the TLS handshake", typ)
		}
		c.in = body
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *handshakeConn) Write(p []byte) (int, error) {
	if c.done {
		return c.Conn.Write(p)
	}
	w := c.t.writer(pktPrelogin)
	if _, err := w.Write(p); err != nil {
		return 0, err
	}
	return len(p), w.finish()
}

// encrypt does the TLS handshake of TDS 7.x, after which packets travel inside TLS records. TLS 1.3 sends messages
// after its handshake, which have no place in PRELOGIN packets.
func (t *transport) encrypt(cfg *tls.Config) error {
	hc := &handshakeConn{Conn: t.raw, t: &transport{raw: t.raw, rw: t.raw, size: defaultPacket}}
	cfg = cfg.Clone()
	cfg.MaxVersion = tls.VersionTLS12
	cfg.SessionTicketsDisabled = true
	tc := tls.Server(hc, cfg)
	if err := tc.Handshake(); err != nil {
		return fmt.Errorf("tds: TLS: %w", err)
	}
	hc.done = true
	t.rw = tc
	return nil
}

// strict does the TLS handshake of TDS 8.0, which comes before everything else.
func (t *transport) strict(cfg *tls.Config) error {
	cfg = cfg.Clone()
	cfg.NextProtos = []string{strictProtocol}
	tc := tls.Server(t.raw, cfg)
	if err := tc.Handshake(); err != nil {
		return fmt.Errorf("tds: strict TLS: %w", err)
	}
	t.rw = tc
	return nil
}

// firstByteConn is a connection whose first byte was looked at.
type firstByteConn struct {
	net.Conn
	first []byte
}

// tlsRecord is the first byte of a TLS handshake, which no TDS packet begins with.
const tlsRecord = 0x16

func (c *firstByteConn) peek() (byte, error) {
	var b [1]byte
	if _, err := c.Conn.Read(b[:]); err != nil {
		return 0, err
	}
	c.first = b[:]
	return b[0], nil
}

func (c *firstByteConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
