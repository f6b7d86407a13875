package cdc

import (
	"context"
	"crypto/sha1" // names a text, protects nothing
	"sync/atomic"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// request is what others see of a session that waits.
type request struct {
	running atomic.Bool
	blocker atomic.Int32 // session that it waits for, 0 while it does not wait
	lock    atomic.Int32 // lockMode that it waits for
	since   atomic.Int64 // when it began to wait
	waited  atomic.Bool  // for a lock of lock
	command atomic.Pointer[string]
}

// requestKey is where the context of a request holds it.
type requestKey struct{}

// asked is what others see of what a session asked last.
type asked struct {
	text         string
	call         bool  // a procedure's, or with parameters
	began, ended int64 // ticks
	rows         int64 // that all requests have given
	lastError    int32
}

// stamp is the server's local time as datetime has it.
func (s *Server) stamp() int64 { return sqltype.DateTimeTicks(s.local(s.clock.Now())) }

// Request begins what a client asks of the session and gives the context to run it under, and how to end it: with how many
// rows it gave and the number of its last error. While it runs others see it, and whom it waits for, in
// sys.dm_exec_requests.
func (s *Session) Request(ctx context.Context, text string, call bool) (context.Context, func(rows int64, lastError int32)) {
	now := s.srv.stamp()
	s.request.waited.Store(false)
	s.request.running.Store(true)
	s.tell(func(c *connected) {
		c.asked = asked{text: text, call: call, began: now, ended: now, rows: c.rows, lastError: c.lastError}
	})
	return context.WithValue(ctx, requestKey{}, &s.request), func(rows int64, lastError int32) {
		now, state := s.srv.stamp(), s.state()
		s.request.running.Store(false)
		s.tell(func(c *connected) {
			c.state, c.ended, c.rows = state, now, c.rows+rows
			if lastError != 0 {
				c.lastError = lastError
			}
		})
	}
}

// Runs tells others the kind of the statement that runs.
func (s *Session) Runs(command string) { s.request.command.Store(&command) }

// tell changes what others see of the session.
func (s *Session) tell(fn func(c *connected)) {
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if c := s.srv.connected[s]; c != nil {
		fn(c)
	}
}

// unknownBlocker stands for a transaction that no session holds: one of the model's own interface. Microsoft:
// sys.dm_exec_requests (Transact-SQL), -4: the session could not be determined.
const unknownBlocker = -4

// showBlocked shows others that the request of a context waits for a transaction.
func showBlocked(ctx context.Context, db *Database, holder *Tx, mode lockMode) {
	r, ok := ctx.Value(requestKey{}).(*request)
	switch {
	case !ok:
		return
	case holder.session == 0:
		r.blocker.Store(unknownBlocker)
	default:
		r.blocker.Store(int32(holder.session))
	}
	r.lock.Store(int32(mode))
	r.waited.Store(true)
	r.since.Store(db.srv.stamp())
}

// showUnblocked shows others that the request of a context goes on.
func showUnblocked(ctx context.Context) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.blocker.Store(0)
	}
}

// waitTypes are the types of waits for locks (Microsoft: sys.dm_os_wait_stats (Transact-SQL)).
var waitTypes = map[lockMode]string{lockShared: "LCK_M_S", lockUpdate: "LCK_M_U", lockExclusive: "LCK_M_X", lockSchema: "LCK_M_SCH_M", lockStable: "LCK_M_SCH_S"}

var (
	guid       = sqltype.Of(sqltype.UniqueIdentifier)
	handleType = sqltype.Bin(sqltype.VarBinary, 64)
)

// handle is the sql_handle of a text, NULL before the first.
func (a *asked) handle() sqltype.Value {
	if a.text == "" {
		return null
	}
	sum := sha1.Sum([]byte(a.text))
	var b [44]byte
	b[0] = 2 // of a text that is not a procedure's
	copy(b[4:], sum[:])
	return sqltype.FromBytes(string(b[:]))
}

// sysRequests is Microsoft: sys.dm_exec_requests (Transact-SQL): the requests of all sessions for those with VIEW SERVER
// STATE, else one's own.
func sysRequests(s *Session, _ *Database) *tsql.Rows {
	kind := sqltype.Str(sqltype.NVarChar, 60)
	r := &tsql.Rows{Cols: append([]tsql.Column{col("session_id", small), col("request_id", integer), col("start_time", stamp), col("status", sqltype.Str(sqltype.NVarChar, 30)),
		col("command", sqltype.Str(sqltype.NVarChar, 32)), ncol("sql_handle", handleType), col("database_id", small), ncol("connection_id", guid), ncol("blocking_session_id", small), ncol("wait_type", kind), col("wait_time", integer), col("last_wait_type", kind), col("open_transaction_count", integer),
		col("total_elapsed_time", integer)}, settingColumns...)}
	now := s.srv.stamp()
	for _, c := range s.sessions() {
		if !c.mine && !c.request.running.Load() {
			continue
		}
		status, st := "running", c.state
		if c.mine {
			st = s.state()
		}
		blocker, wait, waited, last := c.request.blocker.Load(), null, int64(0), "MISCELLANEOUS"
		command := "SELECT"
		if p := c.request.command.Load(); p != nil {
			command = *p
		}
		if c.request.waited.Load() {
			last = waitTypes[lockMode(c.request.lock.Load())]
		}
		if blocker != 0 {
			status, wait, waited = "suspended", text(last), now-c.request.since.Load()
		}
		r.Data = append(r.Data, append(sqltype.Row{num(int64(c.SPID)), num(0), sqltype.FromTicks(c.began), text(status), text(command), c.handle(), num(int64(st.database)), sqltype.FromGUID(c.id), num(int64(blocker)), wait,
			num(waited / ticksPerMillisecond), text(last), num(int64(c.open)), num((now - c.began) / ticksPerMillisecond)}, st.settings()...))
	}
	return r
}

const ticksPerMillisecond = sqltype.TicksPerSecond / 1000
