package cdc

import (
	"context"
	"sort"
	"sync/atomic"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// request is what others see of what a session runs.
type request struct {
	running atomic.Bool
	blocker atomic.Int32 // session that it waits for, 0 while it does not wait
}

// requestKey is where the context of a request holds it.
type requestKey struct{}

// Request begins what a client asks of the session and gives the context to run it under, and how to end it. While it
// runs others see it, and whom it waits for, in sys.dm_exec_requests.
func (s *Session) Request(ctx context.Context) (context.Context, func()) {
	s.request.running.Store(true)
	return context.WithValue(ctx, requestKey{}, &s.request), func() {
		s.shown()
		s.request.running.Store(false)
	}
}

// unknownBlocker stands for a transaction that no session holds: one of the model's own interface. Microsoft:
// sys.dm_exec_requests (Transact-SQL), -4: the session could not be determined.
const unknownBlocker = -4

// waits tells others that the request of a context waits for a transaction, or, with nil, that it goes on.
func waits(ctx context.Context, holder *Tx) {
	r, ok := ctx.Value(requestKey{}).(*request)
	switch {
	case !ok:
	case holder == nil:
		r.blocker.Store(0)
	case holder.session == 0:
		r.blocker.Store(unknownBlocker)
	default:
		r.blocker.Store(int32(holder.session))
	}
}

// sysRequests is Microsoft: sys.dm_exec_requests (Transact-SQL), as far as it tells who waits for whom: the requests of
// all sessions for those with VIEW SERVER STATE, else one's own.
func sysRequests(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", small), col("request_id", integer), col("status", sqltype.Str(sqltype.NVarChar, 30)), col("database_id", small), ncol("blocking_session_id", small)}}
	all := s.serverCan("VIEW SERVER STATE")
	ids := map[string]int16{}
	for _, d := range s.srv.databases() {
		ids[d.Name] = d.ID
	}
	s.srv.mu.RLock()
	defer s.srv.mu.RUnlock()
	for x, c := range s.srv.connected {
		if x != s && (!all || !x.request.running.Load()) {
			continue
		}
		status, blocker := "running", x.request.blocker.Load()
		if blocker != 0 {
			status = "suspended"
		}
		r.Data = append(r.Data, sqltype.Row{num(int64(c.SPID)), num(0), text(status), num(int64(ids[c.database])), num(int64(blocker))})
	}
	sort.Slice(r.Data, func(i, j int) bool { return r.Data[i][0].Int() < r.Data[j][0].Int() })
	return r
}
