package tds_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// The tests of files whose names begin with simulator look at what the whole simulator sends: T-SQL, transactions and
// procedures come from it, and what a canned handler does right it might do wrong.

// newSimulator starts a simulator with the database shop.
func newSimulator(t testing.TB, options mssqlsim.Options) (*mssqlsim.Server, string) {
	t.Helper()
	options.Password = password
	s, err := mssqlsim.Start(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Database("shop")
	return s, s.Addr()
}

// simulated is a connection to a simulator of its own.
func simulated(t testing.TB, version uint32) *rawConn {
	t.Helper()
	_, addr := newSimulator(t, mssqlsim.Options{})
	return loggedIn(t, addr, version)
}

// run runs batches whose answers do not matter; an error ends the test.
func (c *rawConn) run(batches ...string) {
	c.t.Helper()
	for _, b := range batches {
		for _, k := range c.batch(b) {
			if k.name == "ERROR" {
				c.t.Fatalf("%s: %s", b, k)
			}
		}
	}
}

// Microsoft: [MS-TDS] DONE: one for each statement but declarations of variables, all but the last with DONE_MORE; the bit
// DONE_INXACT is not in use.
func TestSimulatorEndsEachStatementOfABatch(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NULL)")
	for _, tc := range []struct{ sql, want string }{
		{"DECLARE @x int = 1", "DONE status=00 cmd=00 rows=0"},
		{"SET NOCOUNT OFF SET LOCK_TIMEOUT -1", "DONE status=01 cmd=00 rows=0\nDONE status=00 cmd=00 rows=0"},
		{"DECLARE @x int SET @x = 2 SELECT @x = 3", "DONE status=01 cmd=00 rows=0\nDONE status=10 cmd=c1 rows=1"},
		{"INSERT INTO dbo.t VALUES (1, 1), (2, 2) UPDATE dbo.t SET n = 3 DELETE FROM dbo.t WHERE id = 7",
			"DONE status=11 cmd=c3 rows=2\nDONE status=11 cmd=c5 rows=2\nDONE status=10 cmd=c4 rows=0"},
		{"MERGE dbo.t AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE;", "DONE status=10 cmd=117 rows=1"},
		{"BEGIN TRAN INSERT INTO dbo.t VALUES (5, 5) ROLLBACK",
			"ENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\nDONE status=11 cmd=c3 rows=1\nENVCHANGE 10  T\nDONE status=00 cmd=d2 rows=0"},
		{"BEGIN TRAN COMMIT", "ENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\nENVCHANGE 9  T\nDONE status=00 cmd=d5 rows=0"},
		{"CREATE TABLE dbo.u (a int NOT NULL) PRINT 'made'",
			"DONE status=01 cmd=00 rows=0\nINFO 0 state=1 class=0 line=1 server=MSSQLSIM proc= \"made\"\nDONE status=00 cmd=00 rows=0"},
		{"RAISERROR('low', 9, 2) SELECT 1 AS a",
			"INFO 50000 state=2 class=9 line=1 server=MSSQLSIM proc= \"low\"\nDONE status=01 cmd=00 rows=0\nCOLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=10 cmd=c1 rows=1"},
		{"IF 1 = 1 SELECT 1 AS a ELSE SELECT 2 AS a", "COLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=10 cmd=c1 rows=1"},
		{"SET NOCOUNT ON INSERT INTO dbo.t VALUES (6, 6) SELECT 1 AS a SET NOCOUNT OFF",
			"DONE status=01 cmd=00 rows=0\nDONE status=01 cmd=c3 rows=0\nCOLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=01 cmd=c1 rows=0\nDONE status=00 cmd=00 rows=0"},
		// A statement that fails alone, and one that ends the batch.
		{"INSERT INTO dbo.t VALUES (6, 6)\nUPDATE dbo.t SET n = 0 WHERE id = 6",
			"ERROR 2627 state=1 class=14 line=1 server=MSSQLSIM proc= \"Violation\"\nINFO 3621 state=0 class=0 line=1 server=MSSQLSIM proc= \"The statement has been terminated.\"\nDONE status=03 cmd=00 rows=0\nDONE status=10 cmd=c5 rows=1"},
		{"SELECT 1 AS a\n\nSELECT * FROM dbo.none\nSELECT 2 AS a",
			"COLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=11 cmd=c1 rows=1\nERROR 208 state=1 class=16 line=3 server=MSSQLSIM proc= \"Invalid object name 'dbo.none'.\"\nDONE status=02 cmd=00 rows=0"},
	} {
		got := c.batch(tc.sql)
		for i := range got {
			if at := strings.Index(got[i].text, `"Violation`); at >= 0 {
				got[i].text = got[i].text[:at] + `"Violation"`
			}
		}
		if !assertTokens(t, got, tc.want) {
			t.Logf("of %s", tc.sql)
		}
	}
}

// Microsoft: [MS-TDS] DONEINPROC, DONEPROC, RETURNSTATUS, Return Parameters: a procedure's answer is the same whether a
// batch or an RPC calls it, and there is a DONEPROC for each procedure.
func TestSimulatorEndsProcedures(t *testing.T) {
	t.Parallel()
	const one = "COLMETADATA a type=38/4 flags=08 user=0\nROW 1\n"
	for _, ver := range []uint32{tds71, tds74} {
		c := simulated(t, ver)
		c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)", "CREATE PROC dbo.p @x int = 5, @y int = 0 OUTPUT AS INSERT INTO dbo.t VALUES (@x) SELECT 1 AS a SET @y = @x + 1 DELETE FROM dbo.t RETURN 7",
			"CREATE PROC dbo.outer_p AS EXEC dbo.p RETURN 8", "CREATE PROC dbo.quiet AS SET NOCOUNT ON INSERT INTO dbo.t VALUES (1) SELECT 1 AS a DELETE FROM dbo.t",
			"CREATE PROC dbo.bad AS\nSELECT 1 AS a\nSELECT * FROM dbo.none")
		inside := "DONEINPROC status=11 cmd=c3 rows=1\n" + one + "DONEINPROC status=11 cmd=c1 rows=1\nDONEINPROC status=01 cmd=00 rows=0\nDONEINPROC status=11 cmd=c4 rows=1\n"
		for _, tc := range []struct {
			what string
			got  []token
			want string
		}{
			{"a batch", c.batch("EXEC dbo.p"), inside + "RETURNSTATUS 7\nDONEPROC status=00 cmd=e0 rows=0"},
			{"a statement behind", c.batch("EXEC dbo.p SELECT 1 AS a"), inside + "RETURNSTATUS 7\nDONEPROC status=01 cmd=e0 rows=0\n" + one + "DONE status=10 cmd=c1 rows=1"},
			{"a statement before", c.batch("SELECT 1 AS a EXEC dbo.quiet"), one + "DONE status=11 cmd=c1 rows=1\n" + one + "DONEINPROC status=01 cmd=c1 rows=0\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"a procedure of a procedure", c.batch("EXEC dbo.outer_p"), inside + "RETURNSTATUS 7\nDONEPROC status=01 cmd=e0 rows=0\nRETURNSTATUS 8\nDONEPROC status=00 cmd=e0 rows=0"},
			{"text", c.batch("EXEC sp_executesql N'SELECT 1 AS a'"), one + "DONEINPROC status=11 cmd=c1 rows=1\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"the server's own", c.batch("EXEC sys.sp_cdc_enable_db"), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"an RPC by name", c.call(rawCallByName("dbo.p", rawParam{name: "@x", v: 3}, rawParam{name: "@y", output: true})),
				inside + "RETURNSTATUS 7\nRETURNVALUE ordinal=1 name=@y status=1 4\nDONEPROC status=00 cmd=e0 rows=0"},
			{"an RPC with text", c.call(rawCallByNumber(10, rawParam{v: "SELECT 1 AS a"})), one + "DONEINPROC status=11 cmd=c1 rows=1\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"an RPC of a procedure by text", c.call(rawCallByNumber(10, rawParam{v: "EXEC dbo.p"})), inside + "RETURNSTATUS 7\nDONEPROC status=01 cmd=e0 rows=0\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"two RPCs", c.call(rawCallByName("dbo.quiet"), rawCallByName("dbo.quiet")),
				one + "DONEINPROC status=01 cmd=c1 rows=0\nRETURNSTATUS 0\nDONEPROC status=01 cmd=e0 rows=0\n" + one + "DONEINPROC status=01 cmd=c1 rows=0\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"an error inside", c.batch("EXEC dbo.bad"), one + "DONEINPROC status=11 cmd=c1 rows=1\nERROR 208 state=1 class=16 line=3 server=MSSQLSIM proc=bad \"Invalid object name 'dbo.none'.\"\nDONE status=02 cmd=00 rows=0"},
			{"an error inside an RPC", c.call(rawCallByName("dbo.bad")), one + "DONEINPROC status=11 cmd=c1 rows=1\nERROR 208 state=1 class=16 line=3 server=MSSQLSIM proc=bad \"Invalid object name 'dbo.none'.\"\nRETURNSTATUS -6\nDONEPROC status=02 cmd=e0 rows=0"},
			{"an error of a call, and a call behind it", c.call(rawCallByNumber(10, rawParam{v: "SELECT * FROM dbo.none"}), rawCallByNumber(10, rawParam{v: "SELECT 1 AS a"})),
				"ERROR 208 state=1 class=16 line=1 server=MSSQLSIM proc= \"Invalid object name 'dbo.none'.\"\nRETURNSTATUS -6\nDONEPROC status=03 cmd=e0 rows=0\n" + one + "DONEINPROC status=11 cmd=c1 rows=1\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"an RPC of a procedure that is not there", c.call(rawCallByName("dbo.none")), "ERROR 2812 state=62 class=16 line=1 server=MSSQLSIM proc= \"Could not find stored procedure 'dbo.none'.\"\nDONEPROC status=02 cmd=e0 rows=0"},
			{"none of that name", c.batch("EXEC dbo.none"), "ERROR 2812 state=62 class=16 line=1 server=MSSQLSIM proc= \"Could not find stored procedure 'dbo.none'.\"\nDONE status=02 cmd=00 rows=0"},
			{"an error that is caught", c.batch("BEGIN TRY EXEC dbo.bad END TRY BEGIN CATCH SELECT 1 AS a END CATCH"),
				one + "DONEINPROC status=11 cmd=c1 rows=1\n" + one + "DONE status=10 cmd=c1 rows=1"},
		} {
			if !assertTokens(t, tc.got, tc.want) {
				t.Logf("%s, version %x", tc.what, ver)
			}
		}
	}
}
