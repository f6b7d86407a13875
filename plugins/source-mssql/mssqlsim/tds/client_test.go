package tds_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// These tests use go-mssqldb as the client.

func TestLoginInEachEncryptionMode(t *testing.T) {
	t.Parallel()
	cfg, pem := certificate(t)
	for _, c := range []struct {
		name    string
		server  *tds.Server
		options string
		err     string // part of it; empty: the login succeeds
	}{
		{"off", &tds.Server{TLS: cfg}, "encrypt=disable", ""},
		{"login only", &tds.Server{TLS: cfg}, "encrypt=false&TrustServerCertificate=true", ""},
		{"on", &tds.Server{TLS: cfg}, "encrypt=true&certificate=" + pem, ""},
		{"on with packets of 32767", &tds.Server{TLS: cfg}, "encrypt=true&packet+size=32767&TrustServerCertificate=true", ""},
		{"strict", &tds.Server{TLS: cfg}, "encrypt=strict&certificate=" + pem, ""},
		{"on with an unknown certificate", &tds.Server{TLS: cfg}, "encrypt=true", "certificate"},
		{"off without a certificate", &tds.Server{}, "encrypt=disable", ""},
		{"login only without a certificate", &tds.Server{}, "encrypt=false", ""},
		{"on without a certificate", &tds.Server{}, "encrypt=true", "does not support encryption"},
		{"strict without a certificate", &tds.Server{}, "encrypt=strict&certificate=" + pem, "EOF"},
		{"off where it is required", &tds.Server{TLS: cfg, ForceTLS: true}, "encrypt=disable", "EOF"},
		{"login only where it is required", &tds.Server{TLS: cfg, ForceTLS: true}, "encrypt=false&TrustServerCertificate=true", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &canned{}
			s := c.server
			s.Handler = h
			var n int
			err := open(t, serve(t, s), c.options).QueryRow("select 1").Scan(&n)
			switch {
			case c.err == "" && (err != nil || n != 1):
				t.Errorf("%d, %v", n, err)
			case c.err != "" && err == nil:
				t.Error("the login succeeded")
			case c.err != "" && !strings.Contains(err.Error(), c.err) && !isReset(err):
				t.Errorf("%v, want %s", err, c.err)
			}
		})
	}
}

// isReset: the connection broke. Which of several errors a client sees depends on what it did at that moment.
func isReset(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset by peer") || strings.Contains(err.Error(), "bad connection")
}

func sqlError(t *testing.T, err error) mssql.Error {
	t.Helper()
	var e mssql.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no SQL Server error", err)
	}
	return e
}

func TestLoginIsRefusedWithTheErrorOfTheHandler(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	for number, dsn := range map[int32]string{
		18456: "sqlserver://sa:bad@" + addr + "?encrypt=disable",
		4060:  "sqlserver://sa:p%C3%A4ssw%C3%B6rd@" + addr + "?database=missing&encrypt=disable",
	} {
		db, err := sql.Open("sqlserver", dsn)
		if err != nil {
			t.Fatal(err)
		}
		if e := sqlError(t, db.Ping()); e.Number != number {
			t.Errorf("error %d, want %d", e.Number, number)
		}
		_ = db.Close()
	}
}

func TestErrorsBeforeRowsAndAfterThem(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	for _, c := range []struct {
		sql  string
		want mssql.Error
		rows int
	}{
		{"select error 1205", mssql.Error{Number: 1205, Class: 13, State: 51, LineNo: 1}, 0},
		{"select error 1222", mssql.Error{Number: 1222, Class: 16, State: 51, LineNo: 3}, 0},
		{"select error 208", mssql.Error{Number: 208, Class: 16, State: 1, LineNo: 1}, 0},
		{"select rows then error", mssql.Error{Number: 313, Class: 16, State: 3, LineNo: 7}, 3000},
	} {
		for _, args := range [][]any{nil, {1}} { // as a batch, as sp_executesql
			rows, err := db.Query(c.sql, args...)
			n := 0
			if err == nil {
				for rows.Next() {
					n++
				}
				err = rows.Err()
				rows.Close()
			}
			e := sqlError(t, err)
			if n != c.rows || e.Number != c.want.Number || e.Class != c.want.Class || e.State != c.want.State || e.LineNo != c.want.LineNo {
				t.Errorf("%s %v: %d rows, then %d class %d state %d line %d", c.sql, args, n, e.Number, e.Class, e.State, e.LineNo)
			}
			if e.ServerName != "MSSQLSIM" {
				t.Errorf("server name %q", e.ServerName)
			}
		}
	}
}

func TestSeveralResultsAndMessages(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	rows, err := open(t, addr, "encrypt=disable").Query("select two")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var a int
	var b string
	if !rows.Next() || rows.Scan(&a) != nil || rows.Next() {
		t.Fatal(rows.Err())
	}
	if !rows.NextResultSet() || !rows.Next() || rows.Scan(&b) != nil || rows.Next() || rows.NextResultSet() {
		t.Fatal(rows.Err())
	}
	if a != 1 || b != "x" {
		t.Errorf("%d, %s", a, b)
	}
}

// spid tells which connection a pool uses: it is the same again as long as the connection was not given up.
func spid(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("select spid").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAttentionStopsAWaitingHandlerAndTheConnectionLivesOn(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	before := spid(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		<-h.started
		cancel()
	})
	_, err := db.QueryContext(ctx, "select wait")
	wg.Wait()
	if err == nil {
		t.Fatal("the query ended without an error")
	}
	if cause := <-h.stopped; cause == nil || !strings.Contains(cause.Error(), "cancelled") {
		t.Errorf("the handler stopped for %v", cause)
	}
	if after := spid(t, db); after != before {
		t.Errorf("connection %d, then %d", before, after)
	}
}

func TestAttentionInTheMiddleOfAResultStopsTheProducer(t *testing.T) {
	t.Parallel()
	cfg, _ := certificate(t)
	for _, options := range []string{"encrypt=disable", "encrypt=true&TrustServerCertificate=true", "encrypt=disable&packet+size=512"} {
		h := &canned{stopped: make(chan error, 1)}
		h.exec = func(ctx context.Context, s *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
			if q.SQL != "select big" {
				return false, nil
			}
			err := big100k(w, 1<<40) // never ends by itself
			h.stopped <- err
			return true, err
		}
		db := open(t, serve(t, &tds.Server{Handler: h, TLS: cfg}), options)
		before := spid(t, db)
		for i := range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			rows, err := db.QueryContext(ctx, "select big")
			if err != nil {
				t.Fatal(err)
			}
			for range i * 7 {
				if !rows.Next() {
					t.Fatal(rows.Err())
				}
			}
			if i%2 == 0 {
				cancel() // the context ends in the middle
			}
			_ = rows.Close() // an early close: the error is that of the cancelled context, if any
			cancel()
			if err := <-h.stopped; !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: the producer ended with %v", options, err)
			}
			if after := spid(t, db); after != before {
				t.Fatalf("%s: connection %d, then %d", options, before, after)
			}
		}
	}
}

func TestALostClientStopsTheProducer(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	sock := rawLogin(t, addr)
	if _, err := sock.Write(rawBatch("select wait")); err != nil {
		t.Fatal(err)
	}
	<-h.started
	if err := sock.Close(); err != nil {
		t.Fatal(err)
	}
	if cause := <-h.stopped; cause == nil || !strings.Contains(cause.Error(), "gone") {
		t.Errorf("the handler stopped for %v", cause)
	}
}

func TestCloseEndsRunningRequestsAndSilentClients(t *testing.T) {
	t.Parallel()
	h, s, addr := newCanned(t)
	sock := rawLogin(t, addr)
	dial(t, addr) // says nothing
	if _, err := sock.Write(rawBatch("select wait")); err != nil {
		t.Fatal(err)
	}
	<-h.started
	s.Close() // returns: nothing waits for the clients
	<-h.stopped
	s.Close() // a second time does no harm
	if h.closed != 1 {
		t.Errorf("%d sessions were closed, want 1", h.closed)
	}
}

func TestCloseEndsAHandlerThatWritesToAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	h, s, addr := newCanned(t)
	begun := make(chan struct{})
	h.exec = func(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) (bool, error) {
		close(begun)
		err := big100k(w, 1<<40)
		h.stopped <- err
		return true, err
	}
	sock := rawLogin(t, addr)
	if _, err := sock.Write(rawBatch("select big")); err != nil {
		t.Fatal(err)
	}
	<-begun
	s.Close()
	if err := <-h.stopped; err == nil {
		t.Error("the producer ended without an error")
	}
}

func TestDropAllCutsConnectionsAndNewOnesWork(t *testing.T) {
	t.Parallel()
	_, s, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	before := spid(t, db)
	s.DropAll()
	if after := spid(t, db); after == before { // database/sql retries on a new connection
		t.Error("the connection survived")
	}
}

func TestTransactionsOfTheDriver(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	var mu sync.Mutex
	var seen []int
	h.exec = func(_ context.Context, s *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, s.TranCount, int(s.TranIso))
		return false, nil
	}
	db := open(t, addr, "encrypt=disable")
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSnapshot})
		if err != nil {
			t.Fatal(err)
		}
		res, err := tx.Exec("update t set x = 1")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != 42 {
			t.Errorf("%d rows affected", n)
		}
		if err := end(tx); err != nil {
			t.Error(err)
		}
		spid(t, db)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []int{1, 5, 0, 5, 1, 5, 0, 5}
	if len(seen) < 2 || !equal(seen, want) {
		t.Errorf("transaction count and isolation: %v, want %v", seen, want)
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestOutputParametersAndReturnStatus(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	var n int
	var text string
	var status mssql.ReturnStatus
	_, err := open(t, addr, "encrypt=disable").Exec("dbo.outputs", sql.Named("in", 1), sql.Named("out", sql.Out{Dest: &n}), sql.Named("text", sql.Out{Dest: &text}), &status)
	if err != nil || n != 5 || text != "späte" || status != 7 {
		t.Errorf("%d, %q, %d, %v", n, text, status, err)
	}
}

func TestPoolResetTellsTheHandlerAndForgetsItsState(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	var users []any
	h.exec = func(_ context.Context, s *tds.Session, _ tds.Request, _ *tds.Results) (bool, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		users = append(users, s.User)
		s.User = "mine"
		return false, nil
	}
	db := open(t, addr, "encrypt=disable") // one connection, which go-mssqldb resets before each use
	spid(t, db)
	spid(t, db)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.resets) != 2 || h.resets[0] || len(users) != 2 || users[0] != nil || users[1] != nil {
		t.Errorf("resets %v, states %v", h.resets, users)
	}
}

func TestPreparedStatementsByProcedures(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	db := open(t, addr, "encrypt=disable")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var handle int64
	if _, err := conn.ExecContext(t.Context(), "sp_prepare", sql.Named("handle", sql.Out{Dest: &handle}), sql.Named("params", "@a int, @b decimal(9,2)"), sql.Named("stmt", "select echo @a")); err != nil {
		t.Fatal(err)
	}
	var a int
	if err := conn.QueryRowContext(t.Context(), "sp_execute", handle, 5).Scan(&a); err != nil || a != 5 {
		t.Errorf("%d, %v", a, err)
	}
	if p := h.last().Params; len(p) != 1 || p[0].Name != "@p2" && p[0].Name != "@a" {
		t.Errorf("parameters %v", p)
	}
	if _, err := conn.ExecContext(t.Context(), "sp_unprepare", handle); err != nil {
		t.Error(err)
	}
	_, err = conn.ExecContext(t.Context(), "sp_execute", handle, 5)
	if e := sqlError(t, err); e.Number != 8179 {
		t.Errorf("after sp_unprepare: %v", e)
	}
}
