package mssqlsim

import "testing"

// Back at a savepoint a transaction lets go of what it has locked since, and who waits for that goes on (Microsoft: ROLLBACK
// TRANSACTION (Transact-SQL), Locking behavior). Its names are told apart by case (Microsoft: SAVE TRANSACTION (Transact-SQL)).
func TestBackAtASavepoint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		what, level, before, since string
		free, held, waits          string // of another transaction
	}{
		{"changed rows", "READ COMMITTED", "UPDATE dbo.t SET n = 1 WHERE id = 1", "UPDATE dbo.t SET n = 1", "UPDATE dbo.t SET n = 2 WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 1", "UPDATE dbo.t SET n = 2 WHERE id = 2"},
		{"read beside a changed row", "READ COMMITTED", "UPDATE dbo.t SET n = 1 WHERE id = 1", "UPDATE dbo.t SET n = 1 WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 1", "DECLARE @n int; SELECT @n = n FROM dbo.t WHERE id = 2"},
		{"new rows", "READ COMMITTED", "INSERT dbo.t VALUES (3, 1)", "INSERT dbo.t VALUES (4, 1)", "INSERT dbo.t VALUES (4, 2)", "INSERT dbo.t VALUES (3, 2)", "DELETE dbo.t WHERE id = 4"},
		{"rows that were read", "REPEATABLE READ", "DECLARE @n int; SELECT @n = n FROM dbo.t WHERE id = 1", "DECLARE @n int; SELECT @n = n FROM dbo.t WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 1", "DELETE dbo.t WHERE id = 2"},
		{"nothing before", "SERIALIZABLE", "DECLARE @n int", "DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.t", "INSERT dbo.t VALUES (4, 1)", "", "INSERT dbo.t VALUES (5, 1)"},
		{"the shape of a table", "READ COMMITTED", "UPDATE dbo.t SET n = 1 WHERE id = 1", "CREATE TABLE dbo.other (id int)", "UPDATE dbo.t SET n = 2 WHERE id = 2", "UPDATE dbo.t SET n = 2 WHERE id = 1", "DECLARE @n int; SELECT @n = n FROM dbo.t WHERE id = 2"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), Options{})
			must(t, err)
			t.Cleanup(s.Close)
			s.Database("d")
			c := connsTo(t, s, "d", "d", "d", "master")
			own, other, waiter, watch := c[0], c[1], c[2], c[3]
			for _, batch := range []string{"CREATE TABLE dbo.t (id int PRIMARY KEY, n int); INSERT dbo.t VALUES (1, 0), (2, 0)", "SET TRANSACTION ISOLATION LEVEL " + tc.level + "; BEGIN TRAN; " + tc.before, "SAVE TRAN s; " + tc.since} {
				equal(t, []string{answer(t.Context(), own, batch)}, []string{""})
			}
			equal(t, []string{answer(t.Context(), own, "ROLLBACK TRAN S")}, []string{"6401"})
			waited := make(chan string, 1)
			go func() { waited <- answer(t.Context(), waiter, tc.waits) }()
			until(t, watch, "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0", "1")
			equal(t, []string{answer(t.Context(), own, "ROLLBACK TRAN s")}, []string{""})
			equal(t, []string{<-waited, answer(t.Context(), other, "SET LOCK_TIMEOUT 0; "+tc.free)}, []string{"", ""})
			if tc.held != "" {
				equal(t, []string{answer(t.Context(), other, tc.held)}, []string{"1222"})
			}
			equal(t, []string{answer(t.Context(), own, "COMMIT"), answer(t.Context(), other, tc.held)}, []string{"", map[string]string{"INSERT dbo.t VALUES (3, 2)": "2627"}[tc.held]})
		})
	}
}
