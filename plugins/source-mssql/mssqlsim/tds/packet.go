package tds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
)

// Packet types (Microsoft: [MS-TDS] Packet Header Type).
const (
	pktSQLBatch  = 1
	pktRPC       = 3
	pktReply     = 4
	pktAttention = 6
	pktBulkLoad  = 7
	pktTransMgr  = 14
	pktLogin7    = 16
	pktPrelogin  = 18
)

// Bits of the packet status (Microsoft: [MS-TDS] Packet Header Status).
const (
	statusEOM           = 0x01
	statusIgnore        = 0x02
	statusReset         = 0x08
	statusResetSkipTran = 0x10
)

const (
	headerSize = 8
	// defaultPacket is the packet size before it is negotiated and when a client leaves it to the server.
	defaultPacket = 4096
	// loginLimit bounds messages before the login succeeded: LOGIN7 is at most 128 KB (Microsoft: [MS-TDS] LOGIN7).
	loginLimit = 128 << 10
	// messageLimit bounds a request: 65,536 packets of the default size, as SQL Server bounds a batch
	// (Microsoft: Maximum capacity specifications for SQL Server).
	messageLimit = 65_536 * defaultPacket
)

// transport carries packets in both directions. One goroutine may read while another writes.
type transport struct {
	raw  net.Conn      // the socket
	rw   io.ReadWriter // raw, or the TLS layer over it
	size int           // of outgoing packets, with their header
	spid uint16
	hdr  [headerSize]byte
}

// message is one request of a client, put together from its packets.
type message struct {
	typ    byte
	status byte // of the first packet: the reset bits
	ignore bool // the client took it back before it was complete
	data   []byte
}

// readPacket appends the body of the next packet to b; the whole is to stay below limit.
func (t *transport) readPacket(b []byte, limit int) (typ, status byte, _ []byte, err error) {
	if _, err = io.ReadFull(t.rw, t.hdr[:]); err != nil {
		return 0, 0, b, err
	}
	typ, status = t.hdr[0], t.hdr[1]
	if typ == tlsRecord { // what would be its length is none, and the client would wait for ever
		return typ, status, b, errors.New("tds: the client begins TLS where a packet was expected")
	}
	n := int(binary.BigEndian.Uint16(t.hdr[2:])) - headerSize
	if n < 0 {
		return typ, status, b, fmt.Errorf("tds: a packet of %d bytes is shorter than its header", n+headerSize)
	}
	if len(b)+n > limit {
		return typ, status, b, fmt.Errorf("tds: a message of type %d is longer than %d bytes", typ, limit)
	}
	at := len(b)
	b = slices.Grow(b, n)[:at+n]
	if _, err = io.ReadFull(t.rw, b[at:]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return typ, status, b[:at], err
	}
	return typ, status, b, nil
}

func (t *transport) readMessage(limit int) (m message, err error) {
	for first := true; ; first = false {
		var typ, status byte
		if typ, status, m.data, err = t.readPacket(m.data, limit); err != nil {
			return m, err
		}
		if first {
			m.typ, m.status = typ, status
		} else if typ != m.typ {
			return m, fmt.Errorf("tds: a packet of type %d inside a message of type %d", typ, m.typ)
		}
		if status&statusEOM != 0 {
			m.ignore = status&statusIgnore != 0
			return m, nil
		}
	}
}

// packetWriter cuts one message into packets. Full packets are collected and written together.
type packetWriter struct {
	t    *transport
	typ  byte
	buf  []byte // packets; the last one is open
	open int    // where the open packet begins
	seq  byte
	err  error // of the first failed write; nothing is written after it
}

// writeTogether is how many bytes of full packets are written at once.
const writeTogether = 32 << 10

func (t *transport) writer(typ byte) *packetWriter {
	return &packetWriter{t: t, typ: typ, buf: make([]byte, headerSize, defaultPacket)}
}

// reset begins the next message; a failed write is not forgotten.
func (w *packetWriter) reset() {
	w.buf, w.open, w.seq = append(w.buf[:0], make([]byte, headerSize)...), 0, 0
}

// Write adds data to the message.
func (w *packetWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && w.err == nil {
		room := w.t.size - (len(w.buf) - w.open)
		if room == 0 { // only now is it known that this packet is not the last one
			w.closePacket(0)
			if w.open >= writeTogether {
				w.send()
			}
			w.buf = append(w.buf, make([]byte, headerSize)...)
			continue
		}
		k := min(room, len(p))
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
	}
	if w.err != nil {
		return 0, w.err
	}
	return n, nil
}

// closePacket fills in the header of the open packet; the next one has no header yet.
func (w *packetWriter) closePacket(status byte) {
	w.seq++
	h := w.buf[w.open:]
	h[0], h[1] = w.typ, status
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)))
	binary.BigEndian.PutUint16(h[4:], w.t.spid)
	h[6], h[7] = w.seq, 0
	w.open = len(w.buf)
}

// send writes the closed packets.
func (w *packetWriter) send() {
	if w.err == nil && w.open > 0 {
		_, w.err = w.t.rw.Write(w.buf[:w.open])
	}
	w.buf, w.open = w.buf[:0], 0
}

// flush sends what there is, with a packet that may be short.
func (w *packetWriter) flush() error {
	if len(w.buf)-w.open > headerSize {
		w.closePacket(0)
	} else {
		w.buf = w.buf[:w.open]
	}
	w.send()
	w.buf = append(w.buf, make([]byte, headerSize)...)
	return w.err
}

// finish ends the message.
func (w *packetWriter) finish() error {
	w.closePacket(statusEOM)
	w.send()
	return w.err
}
