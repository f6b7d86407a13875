package mssqlsim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// handler answers the wire with the evaluator over the model.
type handler struct {
	model *cdc.Server
	mu    sync.Mutex
	conns map[uint64]*conn
	fails func(tds.Login) error // faults of logins
}

// conn is one connection: the session of the model, which also tells the client of transactions.
type conn struct {
	*cdc.Session
	tds     *tds.Session
	w       *tds.Results
	noCount bool
}

// Begin begins a transaction and tells the client.
func (c *conn) Begin() error {
	if err := c.Session.Begin(); err != nil {
		return err
	}
	c.tds.Begin(c.w)
	c.Described(c.tds.TranID)
	return nil
}

// Commit commits and tells the client.
func (c *conn) Commit() error {
	if err := c.Session.Commit(); err != nil {
		return err
	}
	return c.tds.Commit(c.w)
}

// Rollback rolls back and tells the client when the transaction is over.
func (c *conn) Rollback(name string) error {
	if err := c.Session.Rollback(name); err != nil {
		return err
	}
	if c.Session.TranCount() == 0 {
		return c.tds.Rollback(c.w)
	}
	return nil
}

// Procedure also knows sp_unprepare, which clients call in batches.
func (c *conn) Procedure(n tsql.Name) (*tsql.Procedure, error) {
	if sqltype.EqualName(n.Object, "sp_unprepare") {
		return &tsql.Procedure{Params: []tsql.Param{{Name: "@handle", Type: sqltype.Of(sqltype.Int)}}, Call: func(_ context.Context, a map[string]sqltype.Value) (*tsql.Rows, error) {
			c.tds.Unprepare(a["@handle"].Int())
			return nil, nil
		}}, nil
	}
	return c.Session.Procedure(n)
}

// Login decides over a login.
func (h *handler) Login(l *tds.Login) error {
	if err := h.fails(*l); err != nil {
		return err
	}
	if err := h.model.Authenticate(l.User, l.Password); err != nil {
		return wireError(err)
	}
	s, err := h.model.NewSession(l.User, l.Database)
	if err != nil {
		return wireError(err)
	}
	defer s.Close()
	l.Database = s.DatabaseName() // the login's own where the client names none (Microsoft: CREATE LOGIN (Transact-SQL), DEFAULT_DATABASE)
	if l.NewPassword != "" {
		return wireError(s.AlterLogin(l.User, tsql.LoginChange{Password: l.NewPassword, Old: &l.Password}))
	}
	return nil
}

func (h *handler) conn(s *tds.Session) (*conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.conns[s.Conn]; c != nil {
		return c, nil
	}
	m, err := h.model.NewSession(s.Login.User, s.Login.Database)
	if err != nil {
		return nil, err
	}
	m.Connected(cdc.Connection{SPID: int16(s.SPID), Encrypted: s.Encrypted, Local: s.Local, Remote: s.Remote, Kill: s.Cut,
		Host: s.Login.Host, Program: s.Login.App, Interface: s.Login.Library, Process: int64(s.Login.Process), Version: s.Version, PacketSize: s.PacketSize})
	c := &conn{Session: m, tds: s}
	h.conns[s.Conn] = c
	return c, nil
}

// Exec runs a batch, a prepared statement or a procedure.
func (h *handler) Exec(ctx context.Context, s *tds.Session, req tds.Request, w *tds.Results) error {
	c, err := h.conn(s)
	if err != nil {
		return wireError(err)
	}
	c.w = w
	args, err := arguments(req.Params)
	if err != nil {
		return wireError(err)
	}
	ctx, done := c.Request(ctx, cmp.Or(req.SQL, req.Proc), req.Proc != "" || req.Scoped)
	out := &output{c: c, w: w}
	defer func() { done(out.rows, out.lastError) }()
	w.NoCount = c.noCount
	if req.Proc != "" {
		err = c.procedure(ctx, req, args, out)
	} else {
		if s.TranIso != 0 && s.TranIso != byte(c.Isolation()) {
			if err := c.SetIsolation(tsql.Isolation(s.TranIso)); err != nil {
				return wireError(err)
			}
		}
		err = tsql.Exec(ctx, c, tsql.Request{SQL: req.SQL, Args: given(args), Scoped: req.Scoped}, s.Implicit, out)
		s.TranIso = byte(c.Isolation())
	}
	if c.Session.TranCount() == 0 && s.TranCount > 0 { // a deadlock has ended it
		err = errors.Join(err, s.Rollback(w))
	}
	if err == nil { // a call that failed gives none
		c.returnValues(req, args)
	}
	var e *sqltype.Error
	if errors.As(err, &e) {
		out.lastError = e.Number
	}
	return wireError(err)
}

func (c *conn) returnValues(req tds.Request, args []*tsql.Argument) {
	if req.Out == nil {
		return
	}
	for i, p := range req.Params {
		if !p.Output || i >= len(args) {
			continue
		}
		t, err := wireType(args[i].Type)
		if err != nil {
			continue
		}
		req.Out(p.Name, t, wireValue(args[i].Value, args[i].Type))
	}
}

// procedure runs a procedure called by name. A driver may send a batch of one word so, which then is a statement.
func (c *conn) procedure(ctx context.Context, req tds.Request, args []*tsql.Argument, out *output) error {
	n := procedureName(req.Proc)
	declared := make([]sqltype.Type, len(args))
	for i, a := range args {
		declared[i] = a.Type
	}
	if status, ok, err := tsql.CallRoutine(ctx, c, n, args, out); ok {
		out.w.ReturnStatus(status)
		if err != nil {
			return err
		}
		return asDeclared(args, declared)
	}
	status, err := tsql.Call(ctx, c, n, given(args), out)
	out.w.ReturnStatus(status)
	return err
}

// asDeclared gives output parameters the types that the client wrote into its call, whatever those of the procedure are: a
// client that asked for a bigint gets one from a parameter of type bit (the driver's own TestOutputParamWithRows).
func asDeclared(args []*tsql.Argument, declared []sqltype.Type) error {
	for i, a := range args {
		if !a.Output || declared[i].Kind == sqltype.Null {
			continue
		}
		v, err := sqltype.Convert(a.Value, a.Type, declared[i], 0)
		if err != nil {
			return err
		}
		a.Type, a.Value = declared[i], v
	}
	return nil
}

// given leaves out arguments that ask for a default.
func given(args []*tsql.Argument) []*tsql.Argument {
	return slices.DeleteFunc(slices.Clone(args), func(a *tsql.Argument) bool { return a.Default })
}

// procedureName cuts "[db]..[sp_tables]" into its parts.
func procedureName(s string) tsql.Name {
	var parts []string
	for _, p := range strings.Split(s, ".") {
		parts = append(parts, strings.Trim(p, "[]\""))
	}
	n := tsql.Name{Object: parts[len(parts)-1]}
	if i := strings.IndexByte(n.Object, ';'); i >= 0 { // a procedure's number
		n.Object = n.Object[:i]
	}
	if len(parts) > 1 {
		n.Schema = parts[len(parts)-2]
	}
	if len(parts) > 2 {
		n.Database = parts[len(parts)-3]
	}
	return n
}

func arguments(params []tds.Param) ([]*tsql.Argument, error) {
	var args []*tsql.Argument
	for _, p := range params {
		if p.Default {
			args = append(args, &tsql.Argument{Name: p.Name, Output: p.Output, Default: true})
			continue
		}
		t, err := modelType(p.Type)
		if err != nil {
			return nil, err
		}
		v, err := modelValue(p.Value, t)
		if err != nil {
			return nil, err
		}
		args = append(args, &tsql.Argument{Name: p.Name, Type: t, Value: v, Output: p.Output})
	}
	return args, nil
}

// Transaction carries out a transaction manager request.
func (h *handler) Transaction(_ context.Context, s *tds.Session, req tds.TranRequest, w *tds.Results) error {
	c, err := h.conn(s)
	if err != nil {
		return wireError(err)
	}
	c.w = w
	switch req.Kind {
	case tds.TranBegin:
		if req.Isolation != 0 {
			if err := c.SetIsolation(tsql.Isolation(req.Isolation)); err != nil {
				return wireError(err)
			}
		}
		if err = c.Begin(); err == nil && c.TranCount() == 1 {
			c.NameTransaction(req.Name)
		}
	case tds.TranCommit:
		err = c.Commit()
	case tds.TranRollback:
		err = c.Rollback(req.Name)
	case tds.TranSave:
		err = c.Save(req.Name)
	default:
		err = sqltype.Unsupported("the transaction manager request %d", req.Kind)
	}
	return wireError(err)
}

// Reset is what a pool asks for before it hands a connection out again.
func (h *handler) Reset(s *tds.Session, keepTran bool) {
	h.mu.Lock()
	c := h.conns[s.Conn]
	h.mu.Unlock()
	if c == nil {
		return
	}
	c.noCount = false
	c.Session.Reset()
	if !keepTran {
		c.Session.Abort()
	}
	// The login was let in with this database; when it was dropped since, the session stays where it is.
	_ = c.Use(s.Login.Database)
}

// CloseSession rolls back what a connection left open.
func (h *handler) CloseSession(s *tds.Session) {
	h.mu.Lock()
	c := h.conns[s.Conn]
	delete(h.conns, s.Conn)
	h.mu.Unlock()
	if c != nil {
		c.Session.Close()
	}
}

// wireError gives an error as the wire sends it.
func wireError(err error) error {
	var e *sqltype.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	return toWire(e)
}

func toWire(e *sqltype.Error) *tds.Error {
	out := &tds.Error{Number: e.Number, State: e.State, Class: e.Class, Msg: e.Message, Line: max(e.Line, 1), Proc: e.Procedure}
	if e.First != nil {
		out.First = toWire(e.First)
	}
	if e.Undone { // Microsoft: Database engine events and errors, 3621
		out.Then = &tds.Error{Number: 3621, Msg: "The statement has been terminated.", Line: out.Line, Proc: out.Proc}
	}
	return out
}

// output writes results to the client.
type output struct {
	c     *conn
	w     *tds.Results
	write []columnWriter // of the columns of the open result
	row   *tds.RowWriter
	// rows that were sent, and the number of the last error
	rows      int64
	lastError int32
}

func (o *output) Columns(cols []tsql.Column) error {
	wire, err := wireColumns(cols)
	if err != nil {
		return err
	}
	o.write = o.write[:0]
	for _, c := range cols {
		o.write = append(o.write, writerOf(c.Type))
	}
	o.w.Columns(wire)
	o.row = o.w.RowWriter()
	return nil
}

func (o *output) Row(row sqltype.Row) error {
	for i := range row {
		if v := &row[i]; v.IsNull() {
			o.row.Null()
		} else {
			o.write[i](o.row, v)
		}
	}
	o.rows++
	return o.row.End()
}

func (o *output) EndResult() { o.w.EndResult() }

func (o *output) Affected(n int64, kind tsql.StatementKind) {
	cmd := map[tsql.StatementKind]uint16{tsql.KindSelect: tds.CmdSelect, tsql.KindInsert: tds.CmdInsert, tsql.KindUpdate: tds.CmdUpdate, tsql.KindDelete: tds.CmdDelete, tsql.KindMerge: tds.CmdMerge}[kind]
	o.w.Affected(uint64(n), cmd)
}

func (o *output) Done(kind tsql.StatementKind) {
	o.w.Done(map[tsql.StatementKind]uint16{tsql.KindBegin: tds.CmdBegin, tsql.KindCommit: tds.CmdCommit, tsql.KindRollback: tds.CmdRollback}[kind])
}

func (o *output) BeginProcedure()                        { o.w.BeginProcedure() }
func (o *output) EndProcedure(status int32, failed bool) { o.w.EndProcedure(status, failed) }
func (o *output) Info(e *sqltype.Error)                  { o.w.Info(toWire(e)) }

func (o *output) Warn(e *sqltype.Error) { o.w.Warn(toWire(e)) }

func (o *output) Raise(e *sqltype.Error) {
	o.lastError = e.Number
	o.w.Raise(toWire(e))
}
func (o *output) NoCount(on bool) (before bool) {
	before = o.c.noCount
	o.w.NoCount, o.c.noCount = on, on
	return before
}
func (o *output) Implicit(on bool) (before bool) {
	before = o.c.tds.Implicit
	o.c.tds.Implicit = on
	return before
}
func (o *output) Language(name, before string) { o.w.Language(name, before) }
func (o *output) Database(name string) {
	o.w.Database(name, o.c.tds.Database)
	o.c.tds.Database = name
}
func (o *output) DatabaseAgain(name string) {
	o.w.DatabaseAgain(name, o.c.tds.Database)
	o.c.tds.Database = name
}
