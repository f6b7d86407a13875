package tds

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// The seeds are messages that clients of several makers sent, from testdata/clients.

// seed adds the messages of clients of a kind, with their version.
func seed(f *testing.F, kind string) {
	for _, m := range clientMessages(f, kind) {
		f.Add(fuzzVersionOf(m.ver), m.data)
	}
}

// readWriter is a connection that only reads.
type readWriter struct {
	io.Reader
	io.Writer
}

func FuzzPackets(f *testing.F) {
	f.Add([]byte{1, 1, 0, 8, 0, 0, 1, 0})
	f.Add([]byte{1, 0, 0, 10, 0, 0, 1, 0, 'a', 0, 1, 3, 0, 9, 0, 0, 2, 0, 'b'})
	f.Add([]byte{1, 1, 0, 7, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1000
		tr := &transport{rw: readWriter{bytes.NewReader(b), io.Discard}}
		for read := 0; ; {
			m, err := tr.readMessage(limit)
			if len(m.data) > limit {
				t.Fatalf("a message of %d bytes", len(m.data))
			}
			if err != nil {
				return
			}
			if read += headerSize + len(m.data); read > len(b) {
				t.Fatalf("%d bytes read of %d", read, len(b))
			}
		}
	})
}

func FuzzPrelogin(f *testing.F) {
	for _, m := range clientMessages(f, "prelogin") {
		f.Add(m.data)
	}
	f.Add(preloginAnswer(encOn, []preOption{{preFedAuth, []byte{1}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		opts, err := parsePrelogin(b)
		if err == nil {
			preloginDetail(opts, false)
			if _, err := parsePrelogin(preloginAnswer(encOff, opts)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzLogin7(f *testing.F) {
	for _, m := range clientMessages(f, "login") {
		f.Add(m.data)
	}
	f.Add(make([]byte, loginSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseLogin(b)
		if err != nil {
			return
		}
		l.detail()
		ver, err := l.version(false)
		if err != nil {
			return
		}
		if size := l.packetSize(0); size < 512 || size > 32767 {
			t.Fatalf("packet size %d", size)
		}
		loginAnswer(nil, newSession(l, ver, firstSPID, 1), "S", defaultPacket)
	})
}

// fuzzVersion makes one of the versions out of a byte.
func fuzzVersion(b byte) uint32 {
	return []uint32{0x71000001, 0x72090002, 0x730B0003, ver74}[b%4]
}

func FuzzBatch(f *testing.F) {
	seed(f, "batch")
	f.Add(byte(3), []byte{4, 0, 0, 0, 'a', 0})
	f.Add(byte(0), []byte{'a', 0})
	f.Fuzz(func(_ *testing.T, v byte, b []byte) {
		_, _ = parseBatch(b, fuzzVersion(v))
	})
}

func FuzzTransactionManager(f *testing.F) {
	seed(f, "tran")
	f.Add(byte(3), []byte{4, 0, 0, 0, 7, 0, 0, 1, 2, 2, 'a', 0})
	f.Fuzz(func(t *testing.T, v byte, b []byte) {
		reqs, err := parseTran(b, fuzzVersion(v))
		if err == nil && (len(reqs) < 1 || len(reqs) > 2) {
			t.Fatalf("%d requests", len(reqs))
		}
	})
}

func FuzzRPC(f *testing.F) {
	seed(f, "rpc")
	f.Add(byte(0), []byte{0xFF, 0xFF, 10, 0, 0, 0, 0, 0, 0xE7, 0x40, 0x1F, 9, 4, 0xD0, 0, 0x34, 2, 0, 'a', 0})
	f.Fuzz(func(t *testing.T, v byte, b []byte) {
		ver := fuzzVersion(v)
		calls, err := parseRPC(b, ver)
		if err != nil {
			return
		}
		for _, c := range calls {
			systemName(c.proc)
			for _, p := range c.params {
				_ = p.String()
				if p.Type.ID == IDNull {
					continue
				}
				// What was decoded can be encoded, or is refused; and what was encoded can be decoded.
				out, err := appendValue(nil, forVersion(p.Type, ver), p.Value)
				if err != nil || forVersion(p.Type, ver).ID != p.Type.ID {
					continue
				}
				d := decoder{b: out, ver: ver}
				d.value(p.Type)
				if d.err != nil || len(d.b) != 0 {
					t.Fatalf("%s: % x cannot be read back: %v", p, out, d.err)
				}
			}
		}
	})
}

// echoing answers every statement with its parameters.
type echoing struct{}

func (echoing) Login(*Login) error { return nil }

func (echoing) Exec(_ context.Context, _ *Session, q Request, w *Results) error {
	var cols []Column
	var vals []any
	for _, p := range q.Params {
		cols = append(cols, Column{Name: p.Name, Type: p.Type, Nullable: true})
		vals = append(vals, p.Value)
		if q.Out != nil {
			q.Out(p.Name, p.Type, p.Value)
		}
	}
	w.Columns(cols)
	return w.Row(vals...)
}

// FuzzConnection sends a server whatever there is: the login of a client, then a message of it, then any bytes.
func FuzzConnection(f *testing.F) {
	packet := func(typ byte, body []byte) []byte {
		p := append([]byte{typ, statusEOM, 0, 0, 0, 0, 1, 0}, body...)
		binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
		return p
	}
	logins := map[uint32][]byte{}
	for _, m := range clientMessages(f, "login") {
		logins[m.ver] = packet(pktLogin7, m.data)
	}
	for kind, typ := range map[string]byte{"rpc": pktRPC, "batch": pktSQLBatch, "tran": pktTransMgr} {
		for _, m := range clientMessages(f, kind) {
			f.Add(append(bytes.Clone(logins[m.ver]), packet(typ, m.data)...))
		}
	}
	for _, m := range clientMessages(f, "prelogin") {
		f.Add(packet(pktPrelogin, m.data))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		server, client := net.Pipe()
		c := newConnection(&Server{Handler: echoing{}, Trace: func(e Event) { _ = e.String() }}, server, 1)
		var wg sync.WaitGroup
		wg.Go(func() { _ = c.serve(context.Background()) })
		wg.Go(func() { _, _ = io.Copy(io.Discard, client) })
		_, _ = client.Write(b)
		_ = client.Close()
		wg.Wait() // hangs if the server does not notice
	})
}
