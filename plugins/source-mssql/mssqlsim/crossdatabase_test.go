package mssqlsim

import "testing"

// A statement changes rows of another database than the current one in the log of that one, where its capture finds them (Microsoft:
// What is change data capture, Capture process). A transaction is of one database: beside it only committed rows of others are read.
func TestAStatementOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	s.Database("other")
	c := connsTo(t, s, "shop", "other", "shop")
	in, from, beside := c[0], c[1], c[2]
	for _, tc := range []struct {
		what, batch, want string
	}{
		{"tables", "CREATE TABLE shop.dbo.t (id int PRIMARY KEY); CREATE TABLE dbo.t (id int PRIMARY KEY); INSERT dbo.t VALUES (7)", ""},
		{"capture", "USE shop; EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL; USE other", ""},
		{"a statement", "INSERT shop.dbo.t VALUES (1)", ""},
		{"with rows of the current one", "INSERT shop.dbo.t SELECT id FROM dbo.t", ""},
		{"a transaction", "BEGIN TRAN; UPDATE shop.dbo.t SET id = 8 WHERE id = 7; DELETE shop.dbo.t WHERE id = 1; COMMIT", ""},
		{"undone", "BEGIN TRAN; INSERT shop.dbo.t VALUES (9); ROLLBACK", ""},
		{"behind USE", "BEGIN TRAN; USE shop; INSERT dbo.t VALUES (2); COMMIT; USE other", ""},
		{"of both", "BEGIN TRAN; INSERT dbo.t VALUES (8); INSERT shop.dbo.t VALUES (10)", "50001"},
		{"no transaction", "IF @@TRANCOUNT > 0 ROLLBACK", ""},
		{"locks of both", "BEGIN TRAN; INSERT dbo.t VALUES (8); DECLARE @n int; SELECT @n = COUNT(*) FROM shop.dbo.t WITH (HOLDLOCK)", "50001"},
		{"no transaction", "IF @@TRANCOUNT > 0 ROLLBACK", ""},
		{"versions of both", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; INSERT dbo.t VALUES (8); DECLARE @n int; SELECT @n = COUNT(*) FROM shop.dbo.t", "50001"},
		{"no transaction", "IF @@TRANCOUNT > 0 ROLLBACK; SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ""},
		{"rows of the other", "BEGIN TRAN; INSERT dbo.t SELECT id FROM shop.dbo.t WHERE id = 8", ""},
		{"it is in use", "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT OFF WITH NO_WAIT", "226"},
		{"done", "COMMIT", ""},
		{"kept locks", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRAN; DECLARE @n int; SELECT @n = COUNT(*) FROM shop.dbo.t", ""},
	} {
		if got := answer(t.Context(), from, tc.batch); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
	}
	if got := answer(t.Context(), beside, "SET LOCK_TIMEOUT 0; INSERT dbo.t VALUES (11)"); got != "1222" {
		t.Errorf("beside kept locks: %q", got)
	}
	if got := answer(t.Context(), from, "COMMIT"); got != "" {
		t.Error(got)
	}
	if got := answer(t.Context(), beside, "INSERT dbo.t VALUES (11)"); got != "" {
		t.Errorf("behind kept locks: %q", got)
	}
	for _, tc := range []struct{ question, want string }{
		{"SELECT STRING_AGG(CAST(id AS varchar(9)), ' ') WITHIN GROUP (ORDER BY id) FROM dbo.t", "2 8 11"},
		{"SELECT STRING_AGG(CAST(id AS varchar(9)) + ':' + CAST(__$operation AS varchar(9)), ' ') WITHIN GROUP (ORDER BY __$start_lsn, __$seqval, __$operation) FROM cdc.dbo_t_CT", "1:2 7:2 7:1 8:2 1:1 2:2 11:2"},
		{"SELECT COUNT(*) FROM other.dbo.t WHERE id = 8", "1"},
	} {
		if got := answer(t.Context(), in, tc.question); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.question, got, tc.want)
		}
	}
}
