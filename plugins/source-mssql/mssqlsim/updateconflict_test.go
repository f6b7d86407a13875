package mssqlsim

import "testing"

// A row that others have updated since a transaction's snapshot is not its to update, be its values others or not; what they took back
// is no update. Microsoft: Transaction locking and row versioning guide, Modify data under snapshot isolation, and that all data
// modifications are versioned. Capture sees nothing of an update that leaves a row as it is.
func TestUpdateConflicts(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	exec(t, pool, "CREATE TABLE dbo.t (id int PRIMARY KEY, u int UNIQUE, n int); CREATE TABLE dbo.h (id int, n int)")
	exec(t, pool, "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL")
	exec(t, pool, "INSERT dbo.t VALUES (1, 1, 0), (2, 2, 0); INSERT dbo.h VALUES (1, 0), (2, 0)")
	for _, tc := range []struct{ what, others, want string }{
		{"nothing", "SELECT 1", ""},
		{"the value that it had", "UPDATE dbo.t SET n = n WHERE id = 1", "3960"},
		{"its key", "UPDATE dbo.t SET id = id, u = u WHERE id = 1", "3960"},
		{"another value and back", "UPDATE dbo.t SET n = 5 WHERE id = 1; UPDATE dbo.t SET n = 0 WHERE id = 1", "3960"},
		{"while others commit", "", "3960"},
		{"another row", "UPDATE dbo.t SET n = n WHERE id = 2", ""},
		{"rolled back", "BEGIN TRAN; UPDATE dbo.t SET n = n WHERE id = 1; ROLLBACK", ""},
		{"back to a savepoint", "BEGIN TRAN; UPDATE dbo.t SET n = n WHERE id = 2; SAVE TRAN s; UPDATE dbo.t SET n = n WHERE id = 1; ROLLBACK TRAN s; COMMIT", ""},
		{"without a key", "UPDATE dbo.h SET n = n WHERE id = 1", "3960"},
		{"without a key, another row", "UPDATE dbo.h SET n = n WHERE id = 2", ""},
	} {
		own, err := pool.Conn(t.Context())
		must(t, err)
		if got := answer(t.Context(), own, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.t"); got != "" {
			t.Fatal(got)
		}
		if tc.others != "" {
			exec(t, pool, tc.others)
		} else {
			other, err := pool.Begin()
			must(t, err)
			_, err = other.Exec("UPDATE dbo.t SET n = n WHERE id = 1")
			must(t, err)
			exec(t, pool, "UPDATE dbo.t SET n = n + 1 WHERE id = 2; UPDATE dbo.t SET n = n - 1 WHERE id = 2")
			must(t, other.Commit())
		}
		got := answer(t.Context(), own, "UPDATE dbo.t SET n = 7 WHERE id = 1")
		if got == "" {
			got = answer(t.Context(), own, "UPDATE dbo.h SET n = 7 WHERE id = 1")
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
		if got := answer(t.Context(), own, "IF @@TRANCOUNT > 0 ROLLBACK; SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); got != "" {
			t.Error(got)
		}
		must(t, own.Close())
	}
	equal(t, query(t, pool, "SELECT __$operation, COUNT(*) FROM cdc.dbo_t_CT GROUP BY __$operation ORDER BY 1"), []string{"2|2", "3|4", "4|4"})
}
