package mssqlsim

import (
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// Microsoft: SET XACT_ABORT (Transact-SQL), XACT_STATE (Transact-SQL).
func TestXactAbort(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (n int NOT NULL PRIMARY KEY)")
	exec(t, conn, "INSERT INTO dbo.t VALUES (1)")
	for _, tc := range []struct {
		name, batch string
		number      int32 // of the error that the batch ends with
		want        string
	}{
		{"off, the batch goes on", "SET XACT_ABORT OFF; BEGIN TRAN; INSERT INTO dbo.t VALUES (2); INSERT INTO dbo.t VALUES (1); INSERT INTO dbo.t VALUES (3); COMMIT", 2627, "1,2,3"},
		{"on, all is undone and the batch ends", "SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO dbo.t VALUES (4); INSERT INTO dbo.t VALUES (1); INSERT INTO dbo.t VALUES (5)", 2627, "1,2,3"},
		{"on, outside a transaction", "SET XACT_ABORT ON; INSERT INTO dbo.t VALUES (1); INSERT INTO dbo.t VALUES (6)", 2627, "1,2,3"},
		{"on, RAISERROR does not count", "SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO dbo.t VALUES (7); RAISERROR('text', 16, 1); COMMIT", 50000, "1,2,3,7"},
		{"on, THROW counts", "SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO dbo.t VALUES (8); THROW 51000, 'text', 1", 51000, "1,2,3,7"},
		{"caught, rolled back", "SET XACT_ABORT ON; BEGIN TRY BEGIN TRAN; INSERT INTO dbo.t VALUES (8); INSERT INTO dbo.t VALUES (1) END TRY BEGIN CATCH IF XACT_STATE() = -1 ROLLBACK END CATCH; INSERT INTO dbo.t VALUES (9)", 0, "1,2,3,7,9"},
		{"caught, written to", "SET XACT_ABORT ON; BEGIN TRY BEGIN TRAN; INSERT INTO dbo.t VALUES (1) END TRY BEGIN CATCH INSERT INTO dbo.t VALUES (10) END CATCH", 3930, "1,2,3,7,9"},
		{"caught, committed", "SET XACT_ABORT ON; BEGIN TRY BEGIN TRAN; INSERT INTO dbo.t VALUES (1) END TRY BEGIN CATCH COMMIT END CATCH", 3930, "1,2,3,7,9"},
		{"caught, left open", "SET XACT_ABORT ON; BEGIN TRY BEGIN TRAN; INSERT INTO dbo.t VALUES (1) END TRY BEGIN CATCH END CATCH", 3998, "1,2,3,7,9"},
		{"in a text, it ends with it", "SET XACT_ABORT OFF; EXEC('SET XACT_ABORT ON'); BEGIN TRAN; INSERT INTO dbo.t VALUES (1); INSERT INTO dbo.t VALUES (11); COMMIT", 2627, "1,2,3,7,9,11"},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		var e mssql.Error
		if tc.number == 0 && err != nil || tc.number != 0 && (!errors.As(err, &e) || e.Number != tc.number) {
			t.Errorf("%s: %v, want error %d", tc.name, err, tc.number)
		}
		exec(t, conn, "IF @@TRANCOUNT > 0 ROLLBACK")
		if got := strings.Join(query(t, conn, "SELECT n FROM dbo.t ORDER BY n"), ","); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// Microsoft: Installing SQL Server, Backward compatibility, Transactions (Level 1): a data type conversion error inside a
// transaction terminates it. TRY...CATCH (Transact-SQL): an error that would end the transaction leaves it uncommittable.
func TestAConversionThatFailsEndsItsTransaction(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (n int NOT NULL PRIMARY KEY)")
	_, err := tryQuery(conn, "BEGIN TRAN; INSERT INTO dbo.t VALUES (1); INSERT INTO dbo.t VALUES ('aaa'); INSERT INTO dbo.t VALUES (2)")
	wantError(t, err, 245, "'aaa'")
	equal(t, query(t, conn, "SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM dbo.t)"), []string{"0|0"})
	equal(t, query(t, conn, `BEGIN TRAN; INSERT INTO dbo.t VALUES (1); DECLARE @state int
DECLARE @at datetime; BEGIN TRY SET @at = CONVERT(datetime, 'x') END TRY BEGIN CATCH SET @state = XACT_STATE(); ROLLBACK END CATCH
SELECT @state, (SELECT COUNT(*) FROM dbo.t)`), []string{"-1|0"})
	_, err = tryQuery(conn, "BEGIN TRAN; BEGIN TRY SELECT CONVERT(int, 'x') END TRY BEGIN CATCH END CATCH; COMMIT")
	wantError(t, err, 3930, "")
	exec(t, conn, "IF @@TRANCOUNT > 0 ROLLBACK")
}

// Microsoft: @@OPTIONS (Transact-SQL).
func TestOptionsOfASession(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT @@OPTIONS"), []string{"5432"})
	equal(t, query(t, conn, "SET XACT_ABORT, ARITHIGNORE ON; SET NOCOUNT ON; SET ARITHABORT OFF; SELECT @@OPTIONS"), []string{"22456"})
}
