package mssqlsim

import (
	"context"
	"fmt"
	"testing"
)

// Microsoft: sys.dm_exec_requests (Transact-SQL), blocking_session_id: the session that blocks the request, 0 when it is
// not blocked; all requests are for those with VIEW SERVER STATE.
func TestRequestsTellWhoWaitsForWhom(t *testing.T) {
	t.Parallel()
	db, admin := newDatabase(t)
	exec(t, admin, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.t VALUES (1)")
	ctx := context.Background()
	connect := func(dsn string) (one func(string) error, spid string) {
		conn, err := open(t, dsn).Conn(ctx)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		var n int
		must(t, conn.QueryRowContext(ctx, "SELECT @@SPID").Scan(&n))
		return func(stmt string) error { _, err := conn.ExecContext(ctx, stmt); return err }, fmt.Sprint(n)
	}
	holder, holderID := connect(testServer.DSN(db.Name()))
	waiter, waiterID := connect(testServer.DSN(db.Name()))
	must(t, holder("BEGIN TRANSACTION; DELETE FROM dbo.t"))
	done := make(chan error, 1)
	go func() { done <- waiter("UPDATE dbo.t SET id = 2") }()
	of := "SELECT status, blocking_session_id FROM sys.dm_exec_requests WHERE session_id = " + waiterID
	for rows := query(t, admin, of); len(rows) != 1 || rows[0] != "suspended|"+holderID; rows = query(t, admin, of) {
	}
	equal(t, query(t, admin, "SELECT status, blocking_session_id FROM sys.dm_exec_requests WHERE session_id = @@SPID"), []string{"running|0"})
	login := testServer.AddLogin("requester", "Requester1!")
	login.Grant(db.Name(), "dbo.t")
	equal(t, query(t, open(t, testServer.UserDSN("requester", "Requester1!", db.Name())), "SELECT COUNT(*) FROM sys.dm_exec_requests"), []string{"1"})
	must(t, holder("COMMIT"))
	must(t, <-done)
	equal(t, query(t, admin, of), nil)

	// who is held up by the model's own interface waits for no session
	tx(t, db, func(x *Tx) error {
		if err := x.Insert("dbo.t", 7); err != nil {
			return err
		}
		go func() { done <- waiter("DELETE FROM dbo.t WHERE id = 7") }()
		for rows := query(t, admin, of); len(rows) != 1 || rows[0] != "suspended|-4"; rows = query(t, admin, of) {
		}
		return nil
	})
	must(t, <-done)
}
