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
