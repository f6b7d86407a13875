package mssqlsim

import (
	"context"
	"database/sql"
	"testing"
)

// connsTo gives connections of their own to databases of a server.
func connsTo(t *testing.T, s *Server, databases ...string) (out []*sql.Conn) {
	t.Helper()
	for _, d := range databases {
		c, err := open(t, s.DSN(d)).Conn(t.Context())
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		out = append(out, c)
	}
	return out
}

// until asks a question until it has an answer, but not for ever.
func until(t *testing.T, c asked, question, want string) {
	t.Helper()
	var got string
	for range 500_000 {
		if got = answer(t.Context(), c, question); got == want {
			return
		}
	}
	t.Fatalf("%s\n got %s in the end, want %s", question, got, want)
}

const rcsiOfShop = "SELECT CAST(is_read_committed_snapshot_on AS int) FROM sys.databases WHERE name = 'shop'"

// Microsoft: ALTER DATABASE SET options (Transact-SQL), READ_COMMITTED_SNAPSHOT: nobody else may be connected to the database;
// WITH <termination>: NO_WAIT fails at once, ROLLBACK IMMEDIATE and AFTER end the others. SET Statements (Transact-SQL): ALTER
// DATABASE does not honor LOCK_TIMEOUT.
func TestReadCommittedSnapshotIsSetAlone(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	c := connsTo(t, s, "master", "shop", "shop", "master")
	admin, user, killed, watch := c[0], c[1], c[2], c[3]
	equal(t, []string{answer(t.Context(), user, "SELECT 1"), answer(t.Context(), killed, "SELECT 1")}, []string{"1", "1"})
	if got := answer(t.Context(), admin, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT"); got != "5069" {
		t.Errorf("NO_WAIT: %s", got)
	}
	if got := answer(t.Context(), killed, "USE master"); got != "" {
		t.Error(got)
	}

	// It waits, longer than LOCK_TIMEOUT, until it is cancelled, or until the last user has left.
	running := "SELECT COUNT(*) FROM sys.dm_exec_requests r JOIN sys.dm_exec_sessions s ON r.session_id = s.session_id WHERE s.session_id <> @@SPID AND s.status = 'running'"
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan string, 1)
	if got := answer(t.Context(), admin, "SET LOCK_TIMEOUT 0"); got != "" {
		t.Error(got)
	}
	go func() { result <- answer(ctx, admin, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON") }()
	until(t, watch, running, "1")
	cancel()
	if got := <-result; got != context.Canceled.Error() {
		t.Errorf("cancelled: %s", got)
	}
	if got := answer(t.Context(), watch, rcsiOfShop); got != "0" {
		t.Errorf("cancelled: %s", got)
	}
	admin = connsTo(t, s, "master")[0]
	until(t, watch, running, "0")
	go func() { result <- answer(t.Context(), admin, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON") }()
	until(t, watch, running, "1")
	if got := answer(t.Context(), user, rcsiOfShop); got != "0" {
		t.Errorf("with a user inside: %s", got)
	}
	if got := answer(t.Context(), user, "USE master"); got != "" {
		t.Error(got)
	}
	if got := <-result; got != "" {
		t.Errorf("when the last one left: %s", got)
	}
	if got := answer(t.Context(), watch, rcsiOfShop); got != "1" {
		t.Errorf("at last: %s", got)
	}

	// Others are ended, at once or after some time; from within, one's own session does not count.
	for _, with := range []string{"ROLLBACK IMMEDIATE", "ROLLBACK AFTER 0 SECONDS"} {
		user := connsTo(t, s, "shop")[0]
		if got := answer(t.Context(), user, "SELECT 1"); got != "1" {
			t.Error(got)
		}
		if got := answer(t.Context(), admin, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT OFF WITH "+with); got != "" {
			t.Errorf("%s: %s", with, got)
		}
		if got := answer(t.Context(), user, "SELECT 1"); got == "1" {
			t.Errorf("%s: the other session is still there", with)
		}
	}
	if got := answer(t.Context(), admin, "USE shop; ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK AFTER 3600"); got != "" {
		t.Error(got)
	}
	if got := answer(t.Context(), admin, "ALTER DATABASE master SET READ_COMMITTED_SNAPSHOT ON"); got != "5069" {
		t.Errorf("of master: %s", got)
	}
	for _, refused := range []string{"RECOVERY SIMPLE, READ_COMMITTED_SNAPSHOT ON", "ALLOW_SNAPSHOT_ISOLATION ON WITH NO_WAIT", "RECOVERY SIMPLE WITH NO_WAIT", "RESTRICTED_USER", "READ_ONLY"} {
		if got := answer(t.Context(), admin, "ALTER DATABASE CURRENT SET "+refused); got != "50001" {
			t.Errorf("%s: %s", refused, got)
		}
	}
}

// Microsoft: sys.databases (Transact-SQL), snapshot_isolation_state: in transition until the transactions have ended that were
// active, to ON those that have changed rows; new ones may not use SNAPSHOT isolation meanwhile. ALTER DATABASE SET options
// (Transact-SQL): one that is cancelled leaves the state as it was. Database engine events and errors: 3952, 3954, 3956.
func TestAllowSnapshotIsolationWaitsForTransactions(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	c := connsTo(t, s, "shop", "shop", "shop", "shop")
	admin, old, young, watch := c[0], c[1], c[2], c[3]
	step := func(what string, c *sql.Conn, batch, want string) {
		t.Helper()
		if got := answer(t.Context(), c, batch); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	const state = "SELECT snapshot_isolation_state_desc FROM sys.databases WHERE name = 'shop'"
	const look = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.t"
	step("rows", admin, "CREATE TABLE dbo.t (id int PRIMARY KEY); INSERT INTO dbo.t VALUES (1); CREATE TABLE dbo.heap (n int)", "")
	step("off at once", admin, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION OFF", "")
	step("off", young, look, "3952")
	step("no transaction", young, "IF @@TRANCOUNT > 0 ROLLBACK", "")

	result := make(chan string, 1)
	alter := func(ctx context.Context, to string) {
		go func() { result <- answer(ctx, admin, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION "+to) }()
	}
	step("a reader does not hold it up", young, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRAN; DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.t", "")
	step("a writer does", old, "BEGIN TRAN; INSERT INTO dbo.t VALUES (2)", "")
	alter(t.Context(), "ON")
	until(t, watch, state, "IN_TRANSITION_TO_ON")
	step("the reader ends", young, "ROLLBACK", "")
	step("to ON", young, look, "3956")
	step("no transaction", young, "IF @@TRANCOUNT > 0 ROLLBACK", "")
	step("the writer ends", old, "COMMIT", "")
	if got := <-result; got != "" {
		t.Error(got)
	}
	step("on", watch, state, "ON")

	step("a reader with SNAPSHOT", old, look, "")
	alter(t.Context(), "OFF")
	until(t, watch, state, "IN_TRANSITION_TO_OFF")
	step("another one", young, look, "3954")
	step("no transaction", young, "IF @@TRANCOUNT > 0 ROLLBACK", "")
	step("the reader goes on", old, "SELECT COUNT(*) FROM dbo.t", "2")
	step("the reader ends", old, "COMMIT", "")
	if got := <-result; got != "" {
		t.Error(got)
	}
	step("off", watch, state, "OFF")

	step("a writer of a table without a key", old, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRAN; INSERT INTO dbo.heap VALUES (1)", "")
	ctx, cancel := context.WithCancel(t.Context())
	alter(ctx, "ON")
	until(t, watch, state, "IN_TRANSITION_TO_ON")
	cancel()
	if got := <-result; got != context.Canceled.Error() {
		t.Errorf("cancelled: %s", got)
	}
	until(t, watch, state, "OFF")
}
