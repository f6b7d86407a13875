package tds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// connection is one client. Its goroutine logs it in and answers its requests one after the other; a second one, which
// the first waits for, reads messages so that an attention or the loss of the client stops a running request.
type connection struct {
	s    *Server
	id   uint64
	sock net.Conn
	t    *transport
	sess *Session

	out    *packetWriter // of answers, one after the other
	tokens []byte        // the buffer of Results

	mu      sync.Mutex
	current *running
}

// running is the request that was read last. The reader makes it before it hands the message over, so that an attention
// behind it finds it, whether its answer has begun, goes on or has just ended.
type running struct {
	ctx       context.Context
	cancel    context.CancelCauseFunc
	attention bool
	deaf      bool // a fault: attentions are ignored
	done      bool
}

// inbound is what the reader hands over: a message with its request, an attention while idle, or the end.
type inbound struct {
	m   message
	run *running
	err error
}

func newConnection(s *Server, sock net.Conn, id uint64) *connection {
	t := &transport{raw: sock, rw: sock, size: defaultPacket, spid: uint16(firstSPID + (id-1)%32000)}
	return &connection{s: s, id: id, sock: sock, t: t}
}

// cut closes the socket so that the client sees a reset.
func (c *connection) cut() {
	if tc, ok := c.sock.(*net.TCPConn); ok {
		_ = tc.SetLinger(0)
	}
	_ = c.sock.Close()
}

// serve runs the connection to its end.
func (c *connection) serve(ctx context.Context) error {
	defer c.sock.Close()
	ok, err := c.login()
	if err != nil || !ok {
		return err
	}
	defer func() {
		if h, ok := c.s.Handler.(Closer); ok {
			h.CloseSession(c.sess)
		}
	}()
	in := make(chan inbound)
	ended := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { c.read(ctx, in, ended) })
	defer reader.Wait()
	defer c.sock.Close() // ends a read
	defer close(ended)   // ends a hand-over
	for x := range in {
		if err := c.serveOne(x); err != nil {
			if errors.Is(err, ErrDrop) {
				c.cut()
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
	return nil
}

// serveOne answers one message; an error ends the connection.
func (c *connection) serveOne(x inbound) error {
	if x.err != nil {
		return x.err
	}
	if x.run == nil {
		c.s.trace(c.id, "attention", func(e *Event) { e.Detail = map[string]any{"idle": true} })
		return c.acknowledge(doneAttn)
	}
	err := c.answer(x.run.ctx, x.m)
	c.mu.Lock()
	x.run.done = true
	attention := x.run.attention && !x.run.deaf
	c.mu.Unlock()
	x.run.cancel(context.Canceled)
	if err == nil && attention {
		err = c.acknowledge(doneAttn)
	}
	return err
}

// writer begins the next message to the client.
func (c *connection) writer() *packetWriter {
	if c.out == nil {
		c.out = c.t.writer(pktReply)
	}
	c.out.reset()
	return c.out
}

// acknowledge sends a message of a single DONE.
func (c *connection) acknowledge(status uint16) error {
	w := c.writer()
	if _, err := w.Write(doneToken(nil, tokDone, status, 0, 0, c.sess.Version)); err != nil {
		return err
	}
	return w.finish()
}

// read reads messages until the client is gone or the connection ends.
func (c *connection) read(ctx context.Context, in chan<- inbound, ended <-chan struct{}) {
	for {
		m, err := c.t.readMessage(messageLimit)
		x := inbound{m: m, err: err}
		switch {
		case err != nil:
			c.interrupt(errClient)
		case m.typ == pktAttention:
			if c.interrupt(errAttention) {
				continue
			}
		default:
			x.run = &running{}
			x.run.ctx, x.run.cancel = context.WithCancelCause(ctx)
			c.mu.Lock()
			c.current = x.run
			c.mu.Unlock()
		}
		select {
		case in <- x:
		case <-ended:
			if x.run != nil {
				x.run.cancel(errClosed)
			}
			return
		}
		if err != nil {
			return
		}
	}
}

// interrupt stops the running request. False: there is none.
func (c *connection) interrupt(cause error) bool {
	c.mu.Lock()
	r := c.current
	if r == nil || r.done {
		c.mu.Unlock()
		return false
	}
	attention := cause == errAttention
	r.attention = r.attention || attention
	deaf := attention && r.deaf
	c.mu.Unlock()
	if attention {
		c.s.trace(c.id, "attention", func(e *Event) { e.Detail = map[string]any{"ignored": deaf} })
	}
	if !deaf {
		r.cancel(cause)
	}
	return true
}

// deafen makes the running request ignore attentions.
func (c *connection) deafen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.deaf = true
	}
}

// login does everything up to the answer to LOGIN7. Not ok: the client was refused and told so.
func (c *connection) login() (ok bool, err error) {
	m, strict, onlyLogin, err := c.handshake()
	if err != nil {
		return false, err
	}
	if m.typ != pktLogin7 {
		return false, fmt.Errorf("tds: a message of type %d where LOGIN7 was expected", m.typ)
	}
	if onlyLogin {
		c.t.rw = c.t.raw
	}
	l, err := parseLogin(m.data)
	if err != nil {
		return false, err
	}
	c.s.trace(c.id, "login", func(e *Event) { e.Detail = l.detail() })
	ver, err := l.version(strict)
	if err != nil {
		return false, err
	}
	c.sess = newSession(l, ver, c.t.spid, c.id)
	c.sess.cut = c.cut
	c.sess.Encrypted, c.sess.Local, c.sess.Remote = c.t.rw != c.t.raw, c.sock.LocalAddr(), c.sock.RemoteAddr()
	if err := c.s.Handler.Login(&l); err != nil {
		return false, c.refuseLogin(err)
	}
	if l.Database != "" {
		c.sess.Login.Database, c.sess.Database = l.Database, l.Database
	}
	c.sess.Login.Password, c.sess.Login.NewPassword = "", "" // nothing needs it any more
	size := l.packetSize(c.s.PacketSize)
	c.sess.PacketSize = size
	w := c.writer()
	if _, err := w.Write(loginAnswer(nil, c.sess, c.s.name(), size)); err != nil {
		return false, err
	}
	if err := w.finish(); err != nil {
		return false, err
	}
	c.t.size = size
	return true, nil
}

func (c *connection) refuseLogin(err error) error {
	c.s.trace(c.id, "login-failed", func(e *Event) { e.Detail = map[string]any{"err": err.Error()} })
	if errors.Is(err, ErrDrop) {
		c.cut()
		return err
	}
	r := c.results(context.Background())
	r.fail(err)
	r.end(false)
	return r.w.finish()
}

// handshake does PRELOGIN and TLS and gives the first message after them.
func (c *connection) handshake() (m message, strict, onlyLogin bool, err error) {
	if c.s.TLS != nil && c.s.Strict != StrictUnknown { // TDS 8.0 begins with TLS
		first := &firstByteConn{Conn: c.sock}
		c.t.raw, c.t.rw = first, first
		b, err := first.peek()
		if err != nil {
			return m, false, false, err
		}
		if strict = b == tlsRecord; strict {
			if err := c.t.strict(c.s.TLS); err != nil {
				return m, strict, false, err
			}
		}
	}
	if m, err = c.t.readMessage(loginLimit); err != nil {
		return m, strict, false, err
	}
	if c.s.Strict == StrictForced && !strict { // its message was read, so that it sees an end and no reset
		return m, strict, false, errors.New("tds: the client does not begin with TLS, and strict encryption is required")
	}
	if m.typ == pktLogin7 { // an old client may leave PRELOGIN out
		c.s.trace(c.id, "no-prelogin", nil)
		if c.s.ForceTLS && !strict {
			return m, strict, false, errors.New("tds: a login without PRELOGIN, and encryption is required")
		}
		return m, strict, false, nil
	}
	if m.typ != pktPrelogin {
		return m, strict, false, fmt.Errorf("tds: a message of type %d where PRELOGIN was expected", m.typ)
	}
	opts, err := parsePrelogin(m.data)
	if err != nil {
		return m, strict, false, err
	}
	c.s.trace(c.id, "prelogin", func(e *Event) { e.Detail = preloginDetail(opts, strict) })
	client := byte(encNotSupported)
	if d := option(opts, preEncryption); len(d) > 0 {
		client = d[0]
	}
	enc, refuse := encryption(client, c.s.TLS != nil && !strict, c.s.ForceTLS)
	w := c.writer()
	if _, err = w.Write(preloginAnswer(enc, opts)); err == nil {
		err = w.finish()
	}
	if err == nil && refuse {
		err = errors.New("tds: the client does not encrypt, and encryption is required")
	}
	if err == nil && enc != encNotSupported {
		err = c.t.encrypt(c.s.TLS)
	}
	if err != nil {
		return m, strict, false, err
	}
	m, err = c.t.readMessage(loginLimit)
	return m, strict, enc == encOff, err
}
