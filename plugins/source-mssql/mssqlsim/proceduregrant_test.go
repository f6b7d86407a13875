package mssqlsim

import (
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// Microsoft: sys.procedures (Transact-SQL), OBJECT_ID (Transact-SQL), ROUTINES (Transact-SQL).
func TestProceduresAreInTheCatalog(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE SCHEMA app", "CREATE PROCEDURE dbo.q1 AS SELECT 1", "CREATE PROCEDURE app.q2 AS SELECT 2")
	equal(t, query(t, conn, "SELECT SCHEMA_NAME(schema_id), name, RTRIM(type), type_desc, is_ms_shipped FROM sys.procedures ORDER BY name"),
		[]string{"dbo|q1|P|SQL_STORED_PROCEDURE|false", "app|q2|P|SQL_STORED_PROCEDURE|false"})
	equal(t, query(t, conn, "SELECT name FROM sys.objects WHERE type='P' AND object_id = OBJECT_ID('dbo.q1') AND parent_object_id = 0"), []string{"q1"})
	equal(t, query(t, conn, "SELECT OBJECT_NAME(OBJECT_ID(N'dbo.q1', N'P')), OBJECT_SCHEMA_NAME(OBJECT_ID('app.q2', 'P')), OBJECT_ID('dbo.q1', 'U')"), []string{"q1|app|NULL"})
	equal(t, query(t, conn, "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE FROM INFORMATION_SCHEMA.ROUTINES ORDER BY ROUTINE_NAME"), []string{"dbo|q1|PROCEDURE", "app|q2|PROCEDURE"})
	before := query(t, conn, "SELECT object_id, create_date FROM sys.procedures WHERE name = 'q1'")
	runBatches(t, conn, "ALTER PROCEDURE dbo.q1 AS SELECT 3")
	equal(t, query(t, conn, "SELECT object_id, create_date FROM sys.procedures WHERE name = 'q1'"), before)
	for _, tc := range []struct {
		batch  string
		number int32
	}{{"CREATE TABLE dbo.q1 (id int)", 2714}, {"DROP SCHEMA app", 3729}} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		wantError(t, err, tc.number, "q")
	}
	runBatches(t, conn, "IF OBJECT_ID('dbo.q1', 'P') IS NOT NULL DROP PROCEDURE dbo.q1", "DROP PROCEDURE app.q2")
	equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.procedures"), []string{"0"})
}

// Microsoft: GRANT Object Permissions (Transact-SQL), GRANT Schema Permissions (Transact-SQL), DENY (Transact-SQL), REVOKE
// (Transact-SQL), Ownership chains.
func TestProceduresAreExecutedByWhoMay(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	runBatches(t, pool, "CREATE USER worker WITHOUT LOGIN", "CREATE USER owner WITHOUT LOGIN", "CREATE TABLE dbo.kept (n int)", "INSERT INTO dbo.kept VALUES (7)", "CREATE PROCEDURE dbo.q1 AS SELECT n FROM dbo.kept",
		"CREATE PROCEDURE dbo.texts AS EXEC ('SELECT n FROM dbo.kept')", "CREATE SCHEMA other AUTHORIZATION owner", "CREATE PROCEDURE other.q AS SELECT n FROM dbo.kept", "CREATE PROCEDURE dbo.calls AS EXEC dbo.q1",
		"CREATE PROCEDURE dbo.crosses AS EXEC other.q", "GRANT EXECUTE ON dbo.calls TO worker", "GRANT EXECUTE ON dbo.crosses TO worker")
	conn, err := pool.Conn(t.Context())
	must(t, err)
	defer func() { _ = conn.Close() }()
	as := func(batch string) (string, error) {
		_, err := conn.ExecContext(t.Context(), "EXECUTE AS USER = 'worker'")
		must(t, err)
		defer func() {
			_, err := conn.ExecContext(t.Context(), "REVERT")
			must(t, err)
		}()
		got := ""
		err = conn.QueryRowContext(t.Context(), batch).Scan(&got)
		return got, err
	}
	denied := func(batch, text string) {
		t.Helper()
		_, err := as(batch)
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != 229 || e.Class != 14 || e.State != 5 || e.Message != text {
			t.Errorf("%s: %#v", batch, err)
		}
	}
	may := func(batch, want string) {
		t.Helper()
		if got, err := as(batch); err != nil || got != want {
			t.Errorf("%s: %q, %v", batch, got, err)
		}
	}
	const no = "The EXECUTE permission was denied on the object 'q1', database 'TestProceduresAreExecutedByWhoMay', schema 'dbo'."
	denied("EXEC dbo.q1", no)
	may("EXEC dbo.calls", "7")
	denied("EXEC dbo.crosses", "The EXECUTE permission was denied on the object 'q', database 'TestProceduresAreExecutedByWhoMay', schema 'other'.")
	may("SELECT CAST(COUNT(*) AS varchar(9)) FROM sys.procedures", "2")
	may("SELECT CAST(HAS_PERMS_BY_NAME('dbo.q1', 'OBJECT', 'EXECUTE') AS varchar(9))", "0")
	runBatches(t, pool, "GRANT EXECUTE ON dbo.q1 TO worker", "GRANT EXEC ON OBJECT::dbo.texts TO worker")
	may("EXEC q1", "7")
	may("SELECT CAST(HAS_PERMS_BY_NAME('dbo.q1', 'OBJECT', 'EXECUTE') AS varchar(9))", "1")
	denied("EXEC dbo.texts", "The SELECT permission was denied on the object 'kept', database 'TestProceduresAreExecutedByWhoMay', schema 'dbo'.")
	denied("SELECT CAST(n AS varchar(9)) FROM dbo.kept", "The SELECT permission was denied on the object 'kept', database 'TestProceduresAreExecutedByWhoMay', schema 'dbo'.")
	runBatches(t, pool, "ALTER PROCEDURE dbo.q1 AS SELECT n + 1 FROM dbo.kept")
	may("EXEC dbo.q1", "8")
	runBatches(t, pool, "GRANT EXECUTE ON SCHEMA::dbo TO worker", "DENY EXECUTE ON dbo.q1 TO worker")
	denied("EXEC dbo.q1", no)
	runBatches(t, pool, "REVOKE EXECUTE ON dbo.q1 FROM worker")
	may("EXEC dbo.q1", "8")
	runBatches(t, pool, "REVOKE EXECUTE ON SCHEMA::dbo FROM worker")
	denied("EXEC dbo.q1", no)
	runBatches(t, pool, "GRANT EXECUTE TO worker")
	may("EXEC dbo.q1", "8")
	denied("EXEC other.q", "The SELECT permission was denied on the object 'kept', database 'TestProceduresAreExecutedByWhoMay', schema 'dbo'.") // it has another owner
	for _, tc := range []struct {
		batch  string
		number int32
	}{{"GRANT SELECT ON dbo.q1 TO worker", 4606}, {"GRANT EXECUTE ON dbo.kept TO worker", 4606}, {"GRANT EXECUTE ON dbo.none TO worker", 15151}} {
		_, err := pool.ExecContext(t.Context(), tc.batch)
		wantError(t, err, tc.number, "")
	}
}
