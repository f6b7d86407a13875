package tds

import (
	"context"
	"errors"
	"fmt"
)

// keepTokens is how large a token buffer may be to serve the next request; one of a large value is given back.
const keepTokens = 1 << 20

func (c *connection) results(ctx context.Context) *Results {
	r := &Results{w: c.writer(), b: c.tokens[:0], ctx: ctx, ver: c.sess.Version, server: c.s.name(), db: c.sess.Database}
	r.row.r = r
	return r
}

// answer answers one message; an error ends the connection.
func (c *connection) answer(ctx context.Context, m message) error {
	if m.ignore { // Microsoft: [MS-TDS] Attention: a request that was taken back gets a DONE with an error, no more
		c.s.trace(c.id, "ignored", func(e *Event) { e.Detail = map[string]any{"type": m.typ} })
		return c.acknowledge(doneError)
	}
	r := c.results(ctx)
	if m.status&(statusReset|statusResetSkipTran) != 0 {
		c.reset(m.status&statusResetSkipTran != 0)
		r.b = envBytes(r.b, envReset, nil, nil)
	}
	err := c.dispatch(ctx, m, r)
	if c.tokens = r.b; cap(c.tokens) > keepTokens {
		c.tokens = nil
	}
	if err == nil && !r.fault.silent() {
		err = r.w.finish()
	}
	if err == nil && r.fault.drops() {
		err = r.fault.err()
	}
	return err
}

func (c *connection) dispatch(ctx context.Context, m message, r *Results) error {
	switch m.typ {
	case pktSQLBatch:
		sql, err := parseBatch(m.data, c.sess.Version)
		if err != nil {
			return c.badRequest(err, r)
		}
		r.secretive = c.s.Trace != nil && (secretWord.in(sql) || secretCall.in(sql))
		c.s.trace(c.id, "batch", func(e *Event) { e.SQL = hide(sql) })
		return c.exec(ctx, Request{SQL: sql}, r, false)
	case pktRPC:
		r.rpc = true
		calls, err := parseRPC(m.data, c.sess.Version)
		if err != nil {
			return c.badRequest(err, r)
		}
		for i, call := range calls {
			c.traceCall(call)
			r.failed, r.refused, r.named, r.status, r.outs, r.fault = false, false, false, 0, r.outs[:0], nil
			r.secretive = c.s.Trace != nil && (r.secretive || call.secretive())
			if err := c.call(ctx, call, r, i < len(calls)-1); err != nil {
				return err
			}
			if r.fault.drops() {
				return nil
			}
			if ctx.Err() != nil { // the calls after a cancelled one are not made
				break
			}
		}
		return nil
	case pktTransMgr:
		return c.transaction(ctx, m, r)
	case pktBulkLoad:
		return c.badRequest(unbuilt("bulk load"), r)
	}
	return fmt.Errorf("tds: a message of type %d after the login", m.typ)
}

// numberUnbuilt is the number of errors that say that the simulator has not what a real server has. It lies in the range that SQL
// Server leaves to users.
const numberUnbuilt = 50001

// unbuilt refuses a part of the protocol by its name.
func unbuilt(what string) error {
	return &Error{Number: numberUnbuilt, Class: 16, State: 1, Line: 1, Msg: "mssqlsim does not understand " + what}
}

// badRequest answers what could not be decoded, or is not built; the connection lives on, since messages are well separated.
func (c *connection) badRequest(err error, r *Results) error {
	c.s.trace(c.id, "bad-request", func(e *Event) { e.Detail = map[string]any{"err": err.Error()} })
	var named *Error
	if !errors.As(err, &named) {
		named = &Error{Number: 8016, Class: 16, State: 1, Line: 1, Msg: "The incoming tabular data stream (TDS) protocol stream is incorrect: " + err.Error() + "."}
	}
	r.fail(named)
	r.refused = true
	r.end(false)
	return nil
}

func (c *connection) traceCall(call rpcCall) {
	c.s.trace(c.id, "rpc", func(e *Event) {
		e.Proc = call.proc
		e.Params = call.shown()
		e.Detail = map[string]any{"by_number": call.byID}
	})
}

// reset forgets the state of the session, as a pool asks when it gives a connection to somebody else.
func (c *connection) reset(keepTran bool) {
	c.s.trace(c.id, "reset", func(e *Event) { e.Detail = map[string]any{"keep_transaction": keepTran} })
	if h, ok := c.s.Handler.(Resetter); ok {
		h.Reset(c.sess, keepTran)
	}
	c.sess.reset(keepTran)
}

// exec runs one request and ends its part of the answer.
func (c *connection) exec(ctx context.Context, req Request, r *Results, more bool) error {
	return c.settle(ctx, c.run(ctx, req, r), r, more)
}

// run runs one request, with its fault.
func (c *connection) run(ctx context.Context, req Request, r *Results) error {
	err := c.faulty(ctx, req, r)
	if err == nil {
		err = c.s.Handler.Exec(ctx, c.sess, req, r)
	}
	return c.afterFault(err, r)
}

// faulty asks for a fault and does what it does before the request; with an error the request is not to be run.
func (c *connection) faulty(ctx context.Context, req Request, r *Results) error {
	if c.s.Fault == nil {
		return nil
	}
	f := c.s.Fault(c.sess, req)
	if f == nil {
		return nil
	}
	c.s.trace(c.id, "fault", func(e *Event) { e.Detail = map[string]any{"fault": fmt.Sprintf("%+v", *f)} })
	if f.IgnoreAttention {
		c.deafen()
	}
	r.fault = &faultState{Fault: *f}
	return r.fault.begin(ctx)
}

// afterFault gives a request that ended well the error of a fault that had not enough rows to happen earlier.
func (c *connection) afterFault(err error, r *Results) error {
	if err != nil || r.fault == nil || r.fault.drops() {
		return err
	}
	return r.fault.err()
}

// fatal is the severity from which errors end the connection (Microsoft: Database Engine error severities).
const fatal = 20

// settle ends the answer of a request that returned err. What it returns ends the connection.
func (c *connection) settle(ctx context.Context, err error, r *Results, more bool) error {
	if r.w.err != nil {
		return r.w.err
	}
	if context.Cause(ctx) == errClosed { // an answer would say that the request was carried out
		return errClosed
	}
	if r.err != nil { // sticks, even if the handler went on
		err = r.err
	}
	if errors.Is(err, ErrDrop) {
		c.s.trace(c.id, "error", func(e *Event) { e.Detail = map[string]any{"err": traced(err, r.secretive)} })
		r.push()
		if r.w.err == nil && !r.fault.silent() {
			_ = r.w.flush() // the connection is cut whether or not the client still reads
		}
		return err
	}
	if err != nil && ctx.Err() == nil {
		c.s.trace(c.id, "error", func(e *Event) { e.Detail = map[string]any{"err": traced(err, r.secretive)} })
		r.fail(err)
	}
	r.err = nil
	var e *Error
	if errors.As(err, &e) && e.Class >= fatal && ctx.Err() == nil {
		r.fatal = true
		r.end(false)
		_ = r.w.finish() // the connection is cut whether or not the client still reads
		return fmt.Errorf("tds: an error of severity %d ends the connection: %w", e.Class, err)
	}
	r.end(more)
	return r.w.err
}
