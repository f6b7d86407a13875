package mssqlsim

import "testing"

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
