package mssqlsim

import (
	"context"
	"testing"
)

// Microsoft: Transaction locking and row versioning guide, Customize the lock time-out: the statement that waited is cancelled,
// its transaction is not, and an application that does not handle the error goes on.
func TestALockTimeoutEndsItsStatementOnly(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NOT NULL); CREATE TABLE dbo.log (n int); INSERT dbo.t VALUES (1, 0)")
	holder, err := conn.Begin()
	must(t, err)
	_, err = holder.Exec("UPDATE dbo.t SET n = 1")
	must(t, err)
	one, err := conn.Conn(context.Background())
	must(t, err)
	_, err = one.ExecContext(context.Background(), "SET LOCK_TIMEOUT 0; BEGIN TRANSACTION; INSERT dbo.log VALUES (1); UPDATE dbo.t SET n = 2; INSERT dbo.log VALUES (@@ERROR); COMMIT")
	wantError(t, err, 1222, "Lock request time out")
	must(t, one.Close())
	must(t, holder.Rollback())
	equal(t, query(t, conn, "SELECT n FROM dbo.log UNION ALL SELECT n FROM dbo.t ORDER BY n"), []string{"0", "1", "1222"})
}

// Microsoft: Transaction locking and row versioning guide, Exclusive locks: an update holds the lock of its row until its transaction
// ends, be the value another or not.
func TestAnUpdateThatLeavesARowAsItIsLocksIt(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NOT NULL); INSERT dbo.t VALUES (1, 0), (2, 0)")
	for _, update := range []string{"UPDATE dbo.t SET n = n WHERE id = 1", "UPDATE dbo.t SET n = 0 WHERE id = 1", "MERGE dbo.t AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n;"} {
		holder, err := conn.Begin()
		must(t, err)
		_, err = holder.Exec(update)
		must(t, err)
		_, err = conn.Exec("SET LOCK_TIMEOUT 0; UPDATE dbo.t SET n = 1 WHERE id = 1")
		wantError(t, err, 1222, "Lock request time out")
		exec(t, conn, "SET LOCK_TIMEOUT 0; UPDATE dbo.t SET n = n + 1 WHERE id = 2")
		must(t, holder.Commit())
	}
	equal(t, query(t, conn, "SELECT n FROM dbo.t ORDER BY id"), []string{"0", "3"})
}
