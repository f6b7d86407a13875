package mssqlsim

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// A procedure of the server raises what it does not like about its arguments and returns 1 (Microsoft: sys.sp_cdc_enable_table,
// sys.sp_cdc_scan, sp_help, sp_helptext, sp_rename, sp_configure, Return code values). As with RAISERROR the batch goes on, XACT_ABORT
// counts nothing outside of TRY, and TRY hands over to CATCH (Microsoft: RAISERROR (Transact-SQL); SET XACT_ABORT (Transact-SQL)). Errors of the
// engine are not raised so (Microsoft: Database engine events and errors).
func TestErrorsThatAProcedureOfTheServerRaises(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.ExecContext(t.Context(), "EXEC sys.sp_cdc_enable_db; CREATE TABLE #seen (s nvarchar(100))")
	must(t, err)
	const after = "; INSERT #seen SELECT CONCAT(@@ERROR, ' ', @r, ' ', @@TRANCOUNT)"
	for _, tc := range []struct {
		sql    string
		number int32
		want   string
	}{
		{"EXEC @r = sys.sp_cdc_enable_table 'dbo', 'nope', @role_name = NULL", 22931, "22931 1 0"},
		{"EXEC @r = sys.sp_cdc_disable_table 'dbo', 'nope', 'all'", 22931, "22931 1 0"},
		{"EXEC @r = sys.sp_cdc_scan @maxtrans = 0", 22991, "22991 1 0"},
		{"EXEC @r = sp_help 'nope'", 15009, "15009 1 0"},
		{"EXEC @r = sp_helptext 'nope'", 15009, "15009 1 0"},
		{"EXEC @r = sp_rename 'dbo.nope', 'x'", 15225, "15225 1 0"},
		{"EXEC @r = sp_configure 'nope'", 15123, "15123 1 0"},
		{"SET XACT_ABORT ON; BEGIN TRAN; EXEC @r = sp_helptext 'nope'", 15009, "15009 1 1"},
		{"SET @r = 7; EXEC sp_helptext 'nope'", 15009, "15009 7 0"},
		{"BEGIN TRY EXEC @r = sp_helptext 'nope'; INSERT #seen VALUES ('on') END TRY BEGIN CATCH INSERT #seen SELECT CONCAT('caught ', @@ERROR, ' ', ERROR_NUMBER(), ' ', @r) END CATCH", 0, "caught 15009 15009 ,0  0"},
		{"SET XACT_ABORT ON; BEGIN TRAN; BEGIN TRY EXEC sp_helptext 'nope' END TRY BEGIN CATCH SET @r = XACT_STATE(); ROLLBACK END CATCH", 0, "0 -1 0"},
		{"SET @r = 7; EXEC @r = sp_nope", 2812, "2812 7 0"},
		{"EXEC @r = sp_helptext", 201, "201  0"},
		{"EXEC @r = sp_helptext 'a', 'b', 'c'", 8144, "8144  0"},
	} {
		_, err := c.ExecContext(t.Context(), "SET XACT_ABORT OFF; IF @@TRANCOUNT > 0 ROLLBACK; TRUNCATE TABLE #seen")
		must(t, err)
		_, err = c.ExecContext(t.Context(), "DECLARE @r int; "+tc.sql+after)
		var e mssql.Error
		if errors.As(err, &e); e.Number != tc.number {
			t.Errorf("%s: %v, want %d", tc.sql, err, tc.number)
		}
		rows, err := c.QueryContext(t.Context(), "SELECT s FROM #seen")
		must(t, err)
		var all []string
		for rows.Next() {
			var s string
			must(t, rows.Scan(&s))
			all = append(all, s)
		}
		must(t, rows.Err())
		if got := strings.Join(all, ","); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
}

// A call has the return status of its procedure too (Microsoft: [MS-TDS] RETURNSTATUS; sp_helptext, Return code values).
func TestStatusOfACallThatRaises(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	var status mssql.ReturnStatus
	_, err := conn.ExecContext(t.Context(), "sp_helptext", &status, "nope")
	wantError(t, err, 15009, "nope")
	if status != 1 {
		t.Errorf("status %d, want 1", status)
	}
}

// A statement that fails has counted no rows (Microsoft: @@ROWCOUNT (Transact-SQL): of the last statement).
func TestRowCountBehindAFailure(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.ExecContext(t.Context(), "CREATE TABLE dbo.p (i int PRIMARY KEY); INSERT dbo.p VALUES (1); CREATE TABLE #seen (n int)")
	must(t, err)
	const two = "SELECT 1 UNION ALL SELECT 2; "
	for _, sql := range []string{
		two + "INSERT dbo.p VALUES (1); INSERT #seen SELECT @@ROWCOUNT",
		two + "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH INSERT #seen SELECT @@ROWCOUNT END CATCH",
		two + "BEGIN TRY UPDATE dbo.p SET i = NULL END TRY BEGIN CATCH INSERT #seen SELECT ROWCOUNT_BIG() END CATCH",
		two + "EXEC('INSERT dbo.p VALUES (1)'); INSERT #seen SELECT @@ROWCOUNT",
		two + "EXEC dbo.nope; INSERT #seen SELECT @@ROWCOUNT",
		two + "EXEC sp_helptext 'nope'; INSERT #seen SELECT @@ROWCOUNT",
		two + "RAISERROR('x', 16, 1); INSERT #seen SELECT @@ROWCOUNT",
	} {
		_, err := c.ExecContext(t.Context(), "TRUNCATE TABLE #seen")
		must(t, err)
		_, _ = c.ExecContext(t.Context(), sql)
		var n any
		must(t, c.QueryRowContext(t.Context(), "SELECT MAX(n) FROM #seen").Scan(&n))
		if fmt.Sprint(n) != "0" {
			t.Errorf("%s: %v", sql, n)
		}
	}
}
