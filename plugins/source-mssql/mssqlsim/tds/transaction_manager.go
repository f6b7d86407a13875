package tds

import (
	"context"
	"fmt"
)

// beginAgain is the flag of a commit or rollback that wants a new transaction at once.
const beginAgain = 1

// parseTran reads a transaction manager request (Microsoft: [MS-TDS] Transaction Manager Request). Names are UTF-16
// with their length in bytes.
func parseTran(b []byte, ver uint32) ([]TranRequest, error) {
	d := &decoder{b: b, ver: ver}
	d.headers()
	kind := TranKind(d.u16())
	name := func() string { return d.utf16(d.take(int(d.u8()))) }
	reqs := []TranRequest{{Kind: kind}}
	switch kind {
	case TranBegin:
		reqs[0].Isolation = d.u8()
		reqs[0].Name = name()
	case TranSave:
		reqs[0].Name = name()
	case TranCommit, TranRollback:
		reqs[0].Name = name()
		if len(d.b) > 0 && d.u8()&beginAgain != 0 { // python-tds leaves the flags out
			next := TranRequest{Kind: TranBegin}
			if len(d.b) > 0 {
				next.Isolation = d.u8()
				next.Name = name()
			}
			reqs = append(reqs, next)
		}
	case TranKind(0), TranKind(1), TranKind(6): // TM_GET_DTC_ADDRESS, TM_PROPAGATE_XACT, TM_PROMOTE_XACT
		return nil, unbuilt("distributed transactions")
	default:
		return nil, fmt.Errorf("transaction manager request %d is not known", kind)
	}
	if d.err != nil {
		return nil, fmt.Errorf("transaction manager request %d: %w", kind, d.err)
	}
	for _, q := range reqs {
		if q.Isolation > 5 {
			return nil, fmt.Errorf("transaction manager request %d: isolation level %d", kind, q.Isolation)
		}
	}
	return reqs, nil
}

// transaction answers a transaction manager request.
func (c *connection) transaction(ctx context.Context, m message, r *Results) error {
	reqs, err := parseTran(m.data, c.sess.Version)
	if err != nil {
		return c.badRequest(err, r)
	}
	for i := range reqs {
		q := &reqs[i]
		c.s.trace(c.id, "tran", func(e *Event) {
			e.Detail = map[string]any{"kind": q.Kind.String(), "name": q.Name, "isolation": q.Isolation}
		})
		if i == 0 {
			err = c.faulty(ctx, Request{Tran: q}, r)
		}
		if err == nil {
			err = c.doTransaction(ctx, *q, r)
		}
		if err != nil {
			break
		}
	}
	return c.settle(ctx, c.afterFault(err, r), r, false)
}

func (c *connection) doTransaction(ctx context.Context, q TranRequest, r *Results) error {
	if q.Kind == TranBegin && q.Isolation != 0 {
		c.sess.TranIso = q.Isolation
	}
	if t, ok := c.s.Handler.(Transactor); ok {
		return t.Transaction(ctx, c.sess, q, r)
	}
	switch q.Kind {
	case TranBegin:
		c.sess.Begin(r)
	case TranCommit:
		return c.sess.Commit(r)
	case TranRollback:
		if q.Name == "" { // a name is a savepoint's, which only a handler with transactions has
			return c.sess.Rollback(r)
		}
	}
	return nil
}

// String names the request as T-SQL does.
func (k TranKind) String() string {
	switch k {
	case TranBegin:
		return "begin"
	case TranCommit:
		return "commit"
	case TranRollback:
		return "rollback"
	case TranSave:
		return "save"
	}
	return fmt.Sprintf("transaction manager request %d", byte(k))
}
