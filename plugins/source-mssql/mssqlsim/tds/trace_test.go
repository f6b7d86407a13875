package tds_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// secret is a password in a statement.
const secret = "it''s-5ecret"

func TestTraceShowsEachRequestAndNoPassword(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines, all []string
	cfg, _ := certificate(t)
	s := &tds.Server{Handler: &canned{}, TLS: cfg, Trace: func(e tds.Event) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, e.String())
		all = append(all, fmt.Sprintf("%#v", e))
	}}
	addr := serve(t, s)
	db := open(t, addr, "encrypt=true&TrustServerCertificate=true&app+name=judge")
	var n int
	if err := db.QueryRow("select 1").Scan(&n); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("select echo @p1", sql.Named("a", []byte{1, 0xAB}), "tëxt", nil, strings.Repeat("x", 5000))
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	if _, err := db.Exec("update t", 5); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback()
	if _, err := db.Exec("select error 208"); err == nil {
		t.Fatal("no error")
	}
	for _, stmt := range []string{
		"create login l with Password = N'" + secret + "' old_password='" + secret + "', default_database = [shop]", "alter login l with password\n=\t0x5ec2e7 hashed",
		"create user u with password = '" + secret, "exec sp_addlogin 'l', N'" + secret + "'", "open symmetric key k decryption by password = '" + secret + "'",
		"exec ('create login l with password = N''" + secret + "''')", "exec ('exec (''create login l with password = ''''" + secret + "'''''')')", "select error 105", "select echo /* sp_setapprole */ 1, '" + secret + "'",
	} {
		_, _ = db.Exec(stmt)
		_, _ = db.Exec("select echo @p1; "+stmt, 1)
	}
	_, _ = db.Exec("sp_setapprole", sql.Named("rolename", "r"), sql.Named("password", secret))
	_, _ = db.Exec("select echo @word", sql.Named("word", "seen"))
	_ = db.Close()
	s.Close() // all events are there
	mu.Lock()
	defer mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"conn 1 prelogin ENCRYPTION=01", "conn 1 login app=judge database=shop", "user=sa",
		"conn 1 batch select 1", "conn 1 reset keep_transaction=false",
		`conn 1 rpc sp_executesql (nvarchar(15) = "select echo @p1", nvarchar(65) = `,
		"@a varbinary(2) = 0x01AB", `@p2 nvarchar(4) = "tëxt"`, "@p3 null = NULL", `xxx..."`,
		`kind=begin`, `kind=rollback`, "error err=Invalid object name", "conn 1 close",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.3000s", want, text)
		}
	}
	for _, shown := range []string{"Password = '***' old_password='***', default_database = [shop]", "password\n=\t'***' hashed", "exec sp_addlogin '***', '***'", `sp_setapprole (@rolename nvarchar(1) = "***"`, `= "seen"`} {
		if !strings.Contains(text, shown) {
			t.Errorf("no %q in\n%s", shown, text)
		}
	}
	for _, secret := range []string{password, "p%C3%A4ssw", secret, "5ec2e7"} {
		if strings.Contains(strings.ToLower(text+strings.Join(all, "")), secret) {
			t.Errorf("the password is in the trace")
		}
	}
	if l := (tds.Login{User: "sa", Password: password}); strings.Contains(fmt.Sprintf("%v %+v %#v %s", l, l, l, l), password) {
		t.Error("a printed login shows its password")
	}
}

// What clients send that is no statement is told as readably as what is.
func TestTraceShowsWhatIsNoStatement(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []string
	h := &canned{started: make(chan struct{}), stopped: make(chan error, 1)}
	s := &tds.Server{Handler: h, Trace: func(e tds.Event) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, e.String())
	}, Fault: func(_ *tds.Session, r tds.Request) *tds.Fault {
		if r.SQL == "select fault" {
			return &tds.Fault{Error: &tds.Error{Number: 1205, Class: 13, State: 1, Msg: "a deadlock"}}
		}
		return nil
	}}
	addr := serve(t, s)
	wrong := dial(t, addr)
	wrong.send(packet(16, 1, login7(tds74, 0, "sa", "wr0ng", "shop")))
	wrong.reply()
	c := loggedIn(t, addr, tds74)
	c.send(attention())
	c.reply()
	c.send(append(rawBatch("select wait"), attention()...))
	<-h.started
	c.reply()
	c.reply()
	c.send(packet(1, 3, append(allHeaders(), utf16le("select 1")...))) // taken back
	c.reply()
	c.send(packet(7, 1, nil)) // bulk load
	c.reply()
	c.send(packet(3, 1, append(allHeaders(), 1, 0))) // a call that is cut off
	c.reply()
	c.batch("select fault")
	_ = c.Close()
	s.Close() // all events are there
	mu.Lock()
	defer mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"conn 1 no-prelogin", "conn 1 login app=rawclient database=shop", "conn 1 login-failed err=Login failed", "conn 1 close",
		"conn 2 attention idle=true", "conn 2 batch select wait", "conn 2 attention ignored=false", "conn 2 ignored type=1",
		"conn 2 bad-request err=mssqlsim does not understand bulk load", "conn 2 bad-request err=call 1: 2 bytes wanted where 0 are left", "conn 2 batch select fault", "conn 2 fault fault={", "conn 2 error err=a deadlock", "conn 2 close",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.3000s", want, text)
		}
	}
	if strings.Contains(text, "wr0ng") || strings.Contains(text, password) {
		t.Error("a password is in the trace")
	}
}
