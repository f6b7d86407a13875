package mssqlsim

import (
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// What a CATCH block knows of its error, and the text of RAISERROR (Microsoft: TRY...CATCH, RAISERROR).
func TestErrorsInTheirOwnWords(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	c, err := pool.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	for _, tc := range []struct{ sql, want string }{
		{"SELECT ERROR_NUMBER()", "<nil>"},
		{"SELECT 1 WHERE ERROR_MESSAGE() IS NULL", "1"},
		{"SELECT ERROR_NUMBER(1)", "174"},
		{"RAISERROR('of %d rows %s were kept, 100%%, %x', 16, 3, 7, N'fünf', 255)", "50000"},
		{"RAISERROR('%5d', 16, 1, 7)", "50001"},
		// Microsoft: RAISERROR (Transact-SQL), @@ERROR (Transact-SQL): the number is that of the error which is told
		{"RAISERROR(50777, 16, 1) IF @@ERROR = 18054 CREATE TABLE dbo.told (id int)", "18054"},
		{"SELECT COUNT(*) FROM dbo.told", "0"},
	} {
		if got := answer(t.Context(), c, tc.sql); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
	for _, tc := range []struct{ raise, want string }{
		{"SELECT 1/0", "8134 16 1 Divide by zero error encountered."},
		{"RAISERROR('of %d rows %s were kept, 100%%, %x', 16, 3, 7, N'fünf', 255)", "50000 16 3 of 7 rows fünf were kept, 100%, ff"},
		{"RAISERROR('%s and %d', 11, 1, NULL)", "50000 11 1 (null) and (null)"},
		{"THROW 51000, 'mine', 9", "51000 16 9 mine"},
	} {
		var got string
		rows, err := c.QueryContext(t.Context(), "BEGIN TRY "+tc.raise+" END TRY BEGIN CATCH SELECT CONCAT(ERROR_NUMBER(), ' ', ERROR_SEVERITY(), ' ', ERROR_STATE(), ' ', ERROR_MESSAGE()) END CATCH")
		must(t, err)
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				must(t, rows.Scan(&got))
			}
		}
		must(t, rows.Err())
		must(t, rows.Close())
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.raise, got, tc.want)
		}
	}
}

// Where an error comes from (Microsoft: ERROR_LINE, ERROR_PROCEDURE), and @@ERROR, which is of the statement before
// (Microsoft: @@ERROR).
func TestErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.k (id int NOT NULL PRIMARY KEY); INSERT dbo.k VALUES (1)", "\nCREATE PROC dbo.bad AS\n\nINSERT dbo.k VALUES (1)")
	const place = " END TRY\nBEGIN CATCH SELECT ERROR_LINE(), ERROR_PROCEDURE() END CATCH"
	for _, tc := range []struct {
		sql  string
		want []string
	}{
		{"BEGIN TRY\n\nSELECT 1 / (id - 1) FROM dbo.k" + place, []string{"3|NULL"}},
		{"BEGIN TRY\nIF 1 = 1\nBEGIN\nTHROW 50001, 'x', 1;\nEND" + place, []string{"4|NULL"}},
		{"\nBEGIN TRY EXEC dbo.bad" + place, []string{"4|dbo.bad"}},
		{"\nBEGIN TRY EXEC sp_executesql N'\n\n\n\nSELECT 1/0'" + place, []string{"5|NULL"}},
		{"RAISERROR('low', 10, 1) SELECT @@ERROR", []string{"0"}},
		{"BEGIN TRY RAISERROR('x', 16, 1) END TRY BEGIN CATCH SELECT @@ERROR SELECT @@ERROR END CATCH", []string{"50000", "0"}},
		{"BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH IF @@ERROR = 8134 SELECT 'here', @@ERROR END CATCH", []string{"here|0"}},
	} {
		equal(t, queryAll(t, conn, tc.sql), tc.want)
	}
	_, err := conn.ExecContext(t.Context(), "SELECT 1\n\nEXEC dbo.bad")
	var e mssql.Error
	if !errors.As(err, &e) || e.LineNo != 4 || e.ProcName != "bad" {
		t.Errorf("%+v", err)
	}
}
