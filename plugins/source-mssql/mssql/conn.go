package mssql

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mssqldb "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// conn is one connection. It is used by one goroutine at a time.
type conn struct {
	raw  driver.Conn
	mask masker
	log  *slog.Logger
	// database is where it led to when it was opened. It leads to no other one
	// later: what moves a database to another server breaks its connections.
	database origin
	sockets  *socketWatch
}

// dial opens a connection and asks where it leads to, each within the connection's
// timeout. The driver reads answers of the log-in without looking at the
// context, so the socket is closed when time is over.
func dial(ctx context.Context, c connection, log *slog.Logger) (*conn, error) {
	cfg := c.driver
	if cfg.TLSConfig != nil {
		cfg.TLSConfig = cfg.TLSConfig.Clone()
	}
	connector := mssqldb.NewConnectorConfig(cfg)
	if c.token != "" {
		var err error
		connector, err = mssqldb.NewSecurityTokenConnector(cfg, func(context.Context) (string, error) { return c.token, nil })
		if err != nil {
			return nil, &connectError{err: err}
		}
	}
	watch := &socketWatch{limit: c.answerTimeout}
	connector.Dialer = watch
	out := &conn{mask: c.mask, log: log, sockets: watch}
	err := watch.within(ctx, c.connectTimeout, &connectError{err: fmt.Errorf("no connection within %s", c.connectTimeout)}, func(limited context.Context) error {
		raw, err := connector.Connect(limited)
		if err != nil {
			return &connectError{err: err} // raw holds a nil pointer then
		}
		out.raw = raw
		return nil
	})
	if err == nil {
		err = watch.within(ctx, c.connectTimeout, &silenceError{asked: "which database it is", waited: c.connectTimeout, limit: argConnectTimeout}, func(limited context.Context) error {
			db, err := out.databaseRow(limited)
			out.database = originOf(db)
			return err
		})
	}
	if err != nil {
		if out.raw != nil {
			out.close()
		}
		return nil, err
	}
	return out, nil
}

// silenceError is a server that was connected and does not answer.
type silenceError struct {
	asked  string
	waited time.Duration
	// limit is the argument that says how long.
	limit string
}

func (e *silenceError) Error() string {
	return fmt.Sprintf("asked %s: no answer within %s", e.asked, e.waited)
}

// socketWatch dials and can close what it dialled. A server that keeps silent in
// an answer is given up: the driver would wait for ever, and the system keeps the
// connection of a server that hangs alive.
type socketWatch struct {
	limit  time.Duration
	silent atomic.Bool

	mu     sync.Mutex
	open   []net.Conn
	closed bool
}

func (w *socketWatch) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		c.Close()
		return nil, net.ErrClosed
	}
	w.open = append(w.open, c)
	return &answerConn{Conn: c, watch: w}, nil
}

// answerConn reads from a server that may be silent only for so long. While nobody
// reads, as where rows are written slowly, no time runs.
type answerConn struct {
	net.Conn
	watch *socketWatch
}

func (c *answerConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.watch.limit)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.watch.silent.Store(true)
	}
	return n, err
}

// within carries out what uses the socket, which is closed when it takes too long:
// late is then the error.
func (w *socketWatch) within(ctx context.Context, limit time.Duration, late error, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = w.close() })
	err := do(limited)
	switch stopped := stop(); {
	case stopped && err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return late
	}
	return err
}

func (w *socketWatch) close() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, c := range w.open {
		if cerr := c.Close(); !errors.Is(cerr, net.ErrClosed) {
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// connectError is a failure to open a connection.
type connectError struct {
	err error
	// again tells that the session has been connected before.
	again bool
}

func (e *connectError) Error() string { return "connecting: " + e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// queryError is a failure of one statement. Lost tells that the connection is
// of no more use.
type queryError struct {
	doing string
	lost  bool
	err   error
}

func (e *queryError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *queryError) Unwrap() error { return e.err }

func (c *conn) fail(q tsql.Query, err error) error {
	if c.sockets.silent.Load() {
		return &silenceError{asked: q.Name, waited: c.sockets.limit, limit: argAnswerTimeout}
	}
	return &queryError{doing: q.Name, lost: !c.usable(), err: err}
}

// usable reports whether the driver still trusts the connection.
func (c *conn) usable() bool {
	v, ok := c.raw.(driver.Validator)
	return !ok || v.IsValid()
}

// close ends the connection by its socket. The driver's own Close gives the buffer that
// answers are read into to the next connection, although it may still be read where a
// query was given up or the rest of an answer was not taken: the two would mix up their
// rows (Conn.Close in mssql.go of go-mssqldb 1.11; its pull request 410 mended that, 469
// took it back).
func (c *conn) close() error { return c.sockets.close() }

// open runs a statement and returns its rows, which the caller closes.
func (c *conn) open(ctx context.Context, q tsql.Query) (driver.Rows, error) {
	c.log.Debug("statement", "name", q.Name, "text", q.Text)
	prepared, err := c.raw.Prepare(q.Text)
	if err != nil {
		return nil, c.fail(q, err)
	}
	stmt, ok := prepared.(driver.StmtQueryContext)
	if !ok {
		return nil, c.fail(q, errors.New("the driver cannot be cancelled"))
	}
	args := make([]driver.NamedValue, len(q.Args))
	for i, a := range q.Args {
		args[i] = driver.NamedValue{Name: a.Name, Ordinal: i + 1, Value: a.Value}
	}
	rows, err := stmt.QueryContext(ctx, args)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, c.fail(q, err)
	}
	return rows, nil
}

// each runs a statement with a small result and calls use for each row.
func (c *conn) each(ctx context.Context, q tsql.Query, use func(record) error) (err error) {
	rows, err := c.open(ctx, q)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := rows.Close(); err == nil && cerr != nil {
			err = c.fail(q, cerr)
		}
	}()
	r := record{columns: map[string]int{}}
	for i, name := range rows.Columns() {
		r.columns[strings.ToLower(name)] = i
	}
	r.values = make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(r.values)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && c.usable() {
			return nil
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.fail(q, err)
		}
		if err := use(r); err != nil {
			return err
		}
	}
}

// one runs a statement and returns its first row; ok is false without rows.
func (c *conn) one(ctx context.Context, q tsql.Query) (r record, ok bool, err error) {
	err = c.each(ctx, q, func(row record) error {
		if !ok {
			r, ok = record{columns: row.columns, values: append([]driver.Value(nil), row.values...)}, true
		}
		return nil
	})
	return r, ok, err
}

// lsn runs a statement that answers one LSN; ok is false for NULL or no row.
func (c *conn) lsn(ctx context.Context, q tsql.Query) (l lsn.LSN, ok bool, err error) {
	r, found, err := c.one(ctx, q)
	if err != nil || !found {
		return lsn.LSN{}, false, err
	}
	return r.lsn("lsn")
}

// record is one row by column name, lower case. Values are valid until the
// next row.
type record struct {
	columns map[string]int
	values  []driver.Value
}

func (r record) value(name string) driver.Value {
	i, ok := r.columns[name]
	if !ok {
		return nil
	}
	return r.values[i]
}

func (r record) null(name string) bool { return r.value(name) == nil }

// text is a text column, "" when NULL.
func (r record) text(name string) string {
	switch v := r.value(name).(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// integer is an integer or bit column, 0 when NULL.
func (r record) integer(name string) int64 {
	switch v := r.value(name).(type) {
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// lsn is an LSN, as text or as binary(10); ok is false when NULL.
func (r record) lsn(name string) (l lsn.LSN, ok bool, err error) {
	switch v := r.value(name).(type) {
	case nil:
		return lsn.LSN{}, false, nil
	case string:
		l, err = lsn.Parse(v)
	case []byte:
		l, err = lsn.FromBytes(v)
	default:
		err = fmt.Errorf("column %s is %T, no LSN", name, v)
	}
	return l, err == nil, err
}

// localTime is a time in the server's clock as microseconds, nil when NULL.
func (r record) localTime(name string) (*int64, error) {
	if r.null(name) {
		return nil, nil
	}
	micros, err := parseLocal(r.text(name))
	return &micros, err
}

// noEncryption is what the driver says, without a type, of a server that offers
// none (go-mssqldb: tds.go, connect).
const noEncryption = "server does not support encryption"

// tlsProblem reports whether err is about encryption: the server's certificate,
// or that it has none.
func tlsProblem(err error) bool {
	var unverified *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	return errors.As(err, &unverified) || errors.As(err, &header) || strings.Contains(err.Error(), "x509: ") || strings.Contains(err.Error(), noEncryption)
}
