package tds_test

import (
	"strings"
	"testing"
)

// What a statement says beside its rows and errors. Microsoft: Database engine events and errors (3606, 3607, 3621, 8153, 15477); SET
// ANSI_WARNINGS (Transact-SQL); SET ARITHIGNORE (Transact-SQL); Database Engine error severities: severity 10 goes to the
// client as 0.
func TestSimulatorSendsTheMessagesOfStatements(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n tinyint NULL)", "INSERT INTO dbo.t VALUES (1, NULL), (2, 2)")
	const (
		info       = " class=0 line=1 server=MSSQLSIM proc= "
		eliminated = "INFO 8153 state=1" + info + `"Warning: Null value is eliminated by an aggregate or other SET operation."`
		terminated = "INFO 3621 state=0" + info + `"The statement has been terminated."`
		division   = "INFO 3607 state=1" + info + `"Division by zero occurred."`
		overflow   = "INFO 3606 state=1" + info + `"Arithmetic overflow occurred."`
	)
	for _, tc := range []struct {
		what, sql string
		want      string // without what is not a message, an error or a DONE
	}{
		{"a NULL that SUM leaves out", "SELECT SUM(n) FROM dbo.t", eliminated + "\nDONE status=10 cmd=c1 rows=1"},
		{"once for all", "SELECT COUNT(n), MAX(n), MIN(n) FROM dbo.t", eliminated + "\nDONE status=10 cmd=c1 rows=1"},
		{"over a window", "SELECT AVG(n) OVER () FROM dbo.t", eliminated + "\nDONE status=10 cmd=c1 rows=2"},
		{"none is left out", "SELECT COUNT(*), SUM(id) FROM dbo.t", "DONE status=10 cmd=c1 rows=1"},
		{"of an assignment", "DECLARE @n int; SET @n = (SELECT MAX(n) FROM dbo.t)", eliminated + "\nDONE status=00 cmd=00 rows=0"},
		{"of an INSERT", "INSERT INTO dbo.t SELECT 3, SUM(n) FROM dbo.t", eliminated + "\nDONE status=10 cmd=c3 rows=1"},
		{"without ANSI_WARNINGS", "SET ANSI_WARNINGS OFF SELECT SUM(n) FROM dbo.t", "DONE status=01 cmd=00 rows=0\nDONE status=10 cmd=c1 rows=1"},
		{"NULL in place of an error", "SET ARITHABORT OFF SELECT 1 / 0, 2 / 0, CAST(256 AS tinyint)", "DONE status=01 cmd=00 rows=0\n" + division + "\n" + overflow + "\nDONE status=10 cmd=c1 rows=1"},
		{"with ARITHIGNORE", "SET ARITHIGNORE ON SELECT 1 / 0", "DONE status=01 cmd=00 rows=0\nDONE status=10 cmd=c1 rows=1"},
		{"which is not of changes", "UPDATE dbo.t SET n = 1 / 0 WHERE id = 2", division + "\nDONE status=10 cmd=c5 rows=1"},
		{"a change that fails", "SET ANSI_WARNINGS ON INSERT INTO dbo.t VALUES (1, 1) DELETE FROM dbo.t WHERE id = 7", "DONE status=01 cmd=00 rows=0\nERROR 2627\n" + terminated + "\nDONE status=03 cmd=00 rows=0\nDONE status=10 cmd=c4 rows=0"},
		{"a query that fails", "SELECT 1 / 0 SELECT 2", "ERROR 8134\nDONE status=03 cmd=c1 rows=0\nDONE status=10 cmd=c1 rows=1"},
		{"a change that is caught", "BEGIN TRY INSERT INTO dbo.t VALUES (1, 1) END TRY BEGIN CATCH END CATCH", "DONE status=00 cmd=00 rows=0"},
		// Microsoft: THROW (Transact-SQL), example B
		{"a change that is thrown on", "BEGIN TRY INSERT INTO dbo.t VALUES (1, 1) END TRY BEGIN CATCH THROW END CATCH", "ERROR 2627\n" + terminated + "\nDONE status=02 cmd=00 rows=0"},
		{"from within", "BEGIN TRY IF 1 = 1 BEGIN INSERT INTO dbo.t VALUES (1, 1) END END TRY BEGIN CATCH THROW END CATCH", "ERROR 2627\n" + terminated + "\nDONE status=02 cmd=00 rows=0"},
		{"a query that is thrown on", "BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH THROW END CATCH", "ERROR 8134\nDONE status=02 cmd=00 rows=0"},
		{"an error of one's own", "BEGIN TRY THROW 51000, 'x', 1 END TRY BEGIN CATCH THROW END CATCH", "ERROR 51000\nDONE status=02 cmd=00 rows=0"},
		{"a new name", "EXEC sp_rename 'dbo.t.n', 'm', 'COLUMN'", "INFO 15477 state=1" + info + `"Caution: Changing any part of an object name could break scripts and stored procedures."` + "\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
	} {
		var got []string
		for _, k := range c.batch(tc.sql) {
			switch s := k.String(); k.name {
			case "ERROR":
				got = append(got, strings.Join(strings.Fields(s)[:2], " "))
			case "COLMETADATA", "ROW", "NBCROW":
			default:
				got = append(got, s)
			}
		}
		if s := strings.Join(got, "\n"); s != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.what, s, tc.want)
		}
	}
}
