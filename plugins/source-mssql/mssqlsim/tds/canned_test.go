package tds_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	_ "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// password holds characters that need two bytes in UTF-16 and an escape in a URL.
const password = "pässwörd"

func dec(t testing.TB, digits string, scale byte) tds.Dec {
	t.Helper()
	u, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		t.Fatalf("no number: %s", digits)
	}
	return tds.Dec{Unscaled: u, Scale: scale}
}

var (
	moment   = time.Date(2024, 2, 29, 23, 59, 59, 123456700, time.UTC)
	offset   = time.Date(2024, 2, 29, 23, 59, 59, 123456700, time.FixedZone("", 5*3600+1800))
	earliest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)
	guid     = tds.GUID{0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF}
)

// canned is a handler whose answers are chosen by the text of the statement.
type canned struct {
	mu       sync.Mutex
	requests []tds.Request
	closed   int
	resets   []bool
	values   []typedValue
	started  chan struct{} // signalled by "select wait" when it has begun
	stopped  chan error    // receives why "select wait" and "select big" ended
	exec     func(ctx context.Context, s *tds.Session, q tds.Request, w *tds.Results) (bool, error)
}

func (h *canned) Login(l *tds.Login) error {
	switch {
	case l.Password != password:
		return &tds.Error{Number: 18456, State: 1, Class: 14, Line: 1, Msg: "Login failed for user '" + l.User + "'."}
	case l.Database == "missing":
		return &tds.Error{Number: 4060, State: 1, Class: 11, Line: 1, Msg: `Cannot open database "missing" requested by the login. The login failed.`}
	}
	return nil
}

func (h *canned) CloseSession(*tds.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed++
}

func (h *canned) Reset(_ *tds.Session, keepTran bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resets = append(h.resets, keepTran)
}

func (h *canned) last() tds.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[len(h.requests)-1]
}

func (h *canned) Exec(ctx context.Context, s *tds.Session, q tds.Request, w *tds.Results) error {
	q.SQL = strings.TrimSpace(q.SQL)
	h.mu.Lock()
	h.requests = append(h.requests, q)
	h.mu.Unlock()
	if h.exec != nil {
		if done, err := h.exec(ctx, s, q, w); done {
			return err
		}
	}
	switch {
	case q.SQL == "select 1" || q.SQL == "SELECT 1":
		w.Columns([]tds.Column{{Type: tds.Int}})
		return w.Row(int64(1))
	case q.SQL == "select spid":
		w.Columns([]tds.Column{{Type: tds.SmallInt}})
		return w.Row(int64(s.SPID))
	case q.SQL == "select types", q.SQL == "select nulls":
		return h.typed(q.SQL, w)
	case q.SQL == "select big":
		err := big100k(w, 100_000)
		select {
		case h.stopped <- err:
		default:
		}
		return err
	case strings.HasPrefix(q.SQL, "select echo"):
		return echo(q, w)
	case q.SQL == "select rows then error":
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		for i := range int64(3000) {
			if err := w.Row(i); err != nil {
				return err
			}
		}
		return &tds.Error{Number: 313, State: 3, Class: 16, Line: 7, Msg: "An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_all_changes_ ... ."}
	case strings.HasPrefix(q.SQL, "select error "):
		return map[string]error{
			"1205": &tds.Error{Number: 1205, State: 51, Class: 13, Line: 1, Msg: "Transaction (Process ID 52) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction."},
			"1222": &tds.Error{Number: 1222, State: 51, Class: 16, Line: 3, Msg: "Lock request time out period exceeded."},
			"105":  &tds.Error{Number: 105, State: 1, Class: 15, Line: 1, Msg: "Unclosed quotation mark after the character string '" + secret + "'."},
			"208":  &tds.Error{Number: 208, State: 1, Class: 16, Line: 1, Msg: "Invalid object name 'cdc.x_CT'."},
		}[strings.TrimPrefix(q.SQL, "select error ")]
	case q.SQL == "select drop":
		return tds.ErrDrop
	case q.SQL == "select wait":
		close(h.started)
		<-ctx.Done()
		h.stopped <- context.Cause(ctx)
		return ctx.Err()
	case q.SQL == "select two":
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		if err := w.Row(int64(1)); err != nil {
			return err
		}
		w.Info(&tds.Error{Number: 0, Class: 0, State: 1, Msg: "between"})
		w.Columns([]tds.Column{{Name: "b", Type: tds.NVarChar(10)}})
		return w.Row("x")
	case strings.HasPrefix(q.SQL, "update"):
		w.Affected(42, tds.CmdUpdate)
		return nil
	case q.Proc == "dbo.outputs":
		q.Out("@out", tds.Int, int64(5))
		q.Out("@text", tds.NVarChar(10), "späte")
		w.Status(7)
		return nil
	case q.SQL == "set nothing":
		return nil
	}
	return &tds.Error{Number: 2812, Class: 16, State: 62, Line: 1, Msg: "not known: " + q.SQL + q.Proc}
}

// typed answers one row of all types, or of their NULLs.
func (h *canned) typed(sql string, w *tds.Results) error {
	var cols []tds.Column
	var vals []any
	for _, v := range h.values {
		cols = append(cols, tds.Column{Name: v.name, Type: v.t, Nullable: true})
		if strings.HasSuffix(sql, "nulls") {
			vals = append(vals, nil)
		} else {
			vals = append(vals, v.v)
		}
	}
	w.Columns(cols)
	if err := w.Row(vals...); err != nil {
		return err
	}
	return nil
}

// echo answers the parameters as columns.
func echo(q tds.Request, w *tds.Results) error {
	var cols []tds.Column
	var vals []any
	for _, p := range q.Params {
		if p.Type.ID == tds.IDNull {
			p.Type = tds.Int
		}
		cols = append(cols, tds.Column{Name: p.Name, Type: p.Type, Nullable: true})
		vals = append(vals, p.Value)
	}
	w.Columns(cols)
	return w.Row(vals...)
}

// sixColumns are those of the rate that the package promises.
var sixColumns = []tds.Column{
	{Name: "__$start_lsn", Type: tds.Binary(10)}, {Name: "__$operation", Type: tds.Int}, {Name: "id", Type: tds.BigInt},
	{Name: "amount", Type: tds.Decimal(18, 4), Nullable: true}, {Name: "at", Type: tds.DateTime2(7)}, {Name: "note", Type: tds.NVarChar(40), Nullable: true},
}

// big100k writes n rows of the six columns by the typed path.
func big100k(w *tds.Results, n int64) error {
	w.Columns(sixColumns)
	row := w.RowWriter()
	lsn := make([]byte, 10)
	at := tds.TicksOf(moment)
	for i := range n {
		lsn[8], lsn[9] = byte(i>>8), byte(i)
		row.Bytes(lsn)
		row.Int64(2)
		row.Int64(i)
		row.Decimal64(i * 7)
		row.DateTime2(at + i)
		row.Text("row note text")
		if err := row.End(); err != nil {
			return err
		}
	}
	return nil
}

// serve starts a server that the test closes.
func serve(t testing.TB, s *tds.Server) string {
	t.Helper()
	addr, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return addr.String()
}

// newCanned starts a server of the canned handler without TLS.
func newCanned(t testing.TB) (*canned, *tds.Server, string) {
	t.Helper()
	h := &canned{started: make(chan struct{}), stopped: make(chan error, 1), values: typedValues(t)}
	s := &tds.Server{Handler: h}
	return h, s, serve(t, s)
}

// open connects go-mssqldb; the pool has one connection, so that a test sees what a request did to it.
func open(t testing.TB, addr, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", "sqlserver://sa:p%C3%A4ssw%C3%B6rd@"+addr+"?database=shop&dial+timeout=10&"+options)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// certificate makes a certificate for a server and the file that clients need for strict encryption.
func certificate(t testing.TB) (*tls.Config, string) {
	t.Helper()
	cert, pem, err := tds.SelfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "server.pem")
	if err := os.WriteFile(file, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, file
}
