package tds_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

const count = "COLMETADATA c type=38/4 flags=08 user=0\nROW "

// What no client notices when it is missing: the descriptors of transactions, however they begin and end
// (Microsoft: [MS-TDS] ENVCHANGE, types 8, 9 and 10), and @@TRANCOUNT, which is read when its statement runs.
func TestSimulatorTellsOfTransactions(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY) INSERT INTO dbo.t VALUES (1)", "CREATE PROC dbo.p AS BEGIN TRAN INSERT INTO dbo.t VALUES (50) COMMIT")
	level := func(n string, more string) string {
		return count + n + "\nDONE status=1" + more + " cmd=c1 rows=1"
	}
	for _, tc := range []struct {
		what string
		got  func() []token
		want string
	}{
		{"by text", func() []token {
			return c.batch("SELECT @@TRANCOUNT AS c BEGIN TRAN SELECT @@TRANCOUNT AS c BEGIN TRAN SELECT @@TRANCOUNT AS c COMMIT SELECT @@TRANCOUNT AS c COMMIT SELECT @@TRANCOUNT AS c")
		}, level("0", "1") + "\nENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\n" + level("1", "1") + "\nDONE status=01 cmd=d4 rows=0\n" + level("2", "1") + "\nDONE status=01 cmd=d5 rows=0\n" + level("1", "1") +
			"\nENVCHANGE 9  T\nDONE status=01 cmd=d5 rows=0\n" + level("0", "0")},
		{"a nested one that is rolled back", func() []token { return c.batch("BEGIN TRAN BEGIN TRAN ROLLBACK SELECT @@TRANCOUNT AS c") },
			"ENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\nDONE status=01 cmd=d4 rows=0\nENVCHANGE 10  T\nDONE status=01 cmd=d2 rows=0\n" + level("0", "0")},
		{"a savepoint is none", func() []token { return c.batch("BEGIN TRAN SAVE TRAN s ROLLBACK TRAN s COMMIT") },
			"ENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\nDONE status=01 cmd=00 rows=0\nDONE status=01 cmd=d2 rows=0\nENVCHANGE 9  T\nDONE status=00 cmd=d5 rows=0"},
		{"by request: begin", func() []token { return c.tran(5, 2, 0) }, "ENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0"},
		{"and text within it", func() []token { return c.batch("SELECT @@TRANCOUNT AS c") }, level("1", "0")},
		{"by request: save, roll back to it", func() []token { return append(c.tran(9, 2, 's', 0), c.tran(8, 2, 's', 0, 0)...) }, "DONE status=00 cmd=00 rows=0\nDONE status=00 cmd=00 rows=0"},
		{"by request: commit and begin again", func() []token { return c.tran(7, 0, 1, 0, 0) }, "ENVCHANGE 9  T\nENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0"},
		{"by request: roll back", func() []token { return c.tran(8, 0, 0) }, "ENVCHANGE 10  T\nDONE status=00 cmd=00 rows=0"},
		{"begun by request, ended by text", func() []token { return append(c.tran(5, 0, 0), c.batch("COMMIT")...) }, "ENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0\nENVCHANGE 9  T\nDONE status=00 cmd=d5 rows=0"},
		{"begun by text, ended by request", func() []token { return append(c.batch("BEGIN TRAN"), c.tran(8, 0, 0)...) }, "ENVCHANGE 8 T\nDONE status=00 cmd=d4 rows=0\nENVCHANGE 10  T\nDONE status=00 cmd=00 rows=0"},
		{"in a procedure", func() []token { return c.call(rawCallByName("dbo.p")) },
			"ENVCHANGE 8 T\nDONEINPROC status=01 cmd=d4 rows=0\nDONEINPROC status=11 cmd=c3 rows=1\nENVCHANGE 9  T\nDONEINPROC status=01 cmd=d5 rows=0\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
		{"implicit: a statement begins one", func() []token {
			return c.batch("SET IMPLICIT_TRANSACTIONS ON INSERT INTO dbo.t VALUES (2) SELECT @@TRANCOUNT AS c")
		},
			"DONE status=01 cmd=00 rows=0\nENVCHANGE 8 T\nDONE status=11 cmd=c3 rows=1\n" + level("1", "0")},
		{"implicit: the same one goes on", func() []token { return c.batch("INSERT INTO dbo.t VALUES (3)") }, "DONE status=10 cmd=c3 rows=1"},
		{"implicit: its end", func() []token {
			return c.batch("ROLLBACK SET IMPLICIT_TRANSACTIONS OFF SELECT ISNULL(COUNT(*), 0) AS c FROM dbo.t")
		},
			"ENVCHANGE 10  T\nDONE status=01 cmd=d2 rows=0\nDONE status=01 cmd=00 rows=0\n" + level("2", "0")},
		{"an error under XACT_ABORT", func() []token {
			return c.batch("SET XACT_ABORT ON BEGIN TRAN INSERT INTO dbo.t VALUES (4) INSERT INTO dbo.t VALUES (1)")
		}, "DONE status=01 cmd=00 rows=0\nENVCHANGE 8 T\nDONE status=01 cmd=d4 rows=0\nDONE status=11 cmd=c3 rows=1\nENVCHANGE 10  T\nERROR 2627\nDONE status=02 cmd=00 rows=0"},
		{"and what is behind it", func() []token { return c.batch("SET XACT_ABORT OFF SELECT @@TRANCOUNT AS c") }, "DONE status=01 cmd=00 rows=0\n" + level("0", "0")},
	} {
		got := tc.got()
		for i := range got {
			if got[i].name == "ERROR" {
				got[i].text, _, _ = strings.Cut(got[i].text, " ")
			}
		}
		if !assertTokens(t, got, tc.want) {
			t.Logf("%s", tc.what)
		}
	}
	old := simulated(t, tds71) // Microsoft: [MS-TDS] ENVCHANGE: TDS 7.2 introduced them
	assertTokens(t, old.batch("BEGIN TRAN COMMIT"), "DONE status=01 cmd=d4 rows=0\nDONE status=00 cmd=d5 rows=0")
}

// The victim of a deadlock is told that its transaction is over, with the descriptor that it began with.
func TestSimulatorTellsTheVictimOfADeadlock(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	one, two := loggedIn(t, addr, tds74), loggedIn(t, addr, tds74)
	one.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NULL) INSERT INTO dbo.t VALUES (1, 0), (2, 0)", "BEGIN TRAN UPDATE dbo.t SET n = 1 WHERE id = 1")
	begun := two.batch("SET DEADLOCK_PRIORITY LOW BEGIN TRAN")[1]
	two.run("UPDATE dbo.t SET n = 2 WHERE id = 2")
	one.send(rawBatch("UPDATE dbo.t SET n = 1 WHERE id = 2")) // waits for two
	got := two.batch("UPDATE dbo.t SET n = 2 WHERE id = 1")
	for len(got) > 0 && got[0].name != "ENVCHANGE 10" && got[0].name != "ERROR" {
		got = got[1:]
	}
	names := map[string]string{}
	for _, k := range got {
		names[k.name] = k.text
	}
	if !strings.HasPrefix(names["ERROR"], "1205 state=45 class=13") || strings.TrimSpace(names["ENVCHANGE 10"]) != strings.TrimSpace(begun.text) || names["DONE"] != "status=02 cmd=00 rows=0" {
		t.Errorf("begun %s, then\n%s", begun, show7(got))
	}
	assertTokens(t, tokens(t, one.reply().data, tds74), "DONE status=10 cmd=c5 rows=1")
	assertTokens(t, two.batch("SELECT @@TRANCOUNT AS c"), count+"0\nDONE status=10 cmd=c1 rows=1")
	assertTokens(t, one.batch("COMMIT"), "ENVCHANGE 9  T\nDONE status=00 cmd=d5 rows=0")
}

// Microsoft: [MS-TDS] Packet Header Status, RESETCONNECTION: acknowledged by ENVCHANGE 18 before the answer; the transaction
// is rolled back, unless RESETCONNECTIONSKIPTRAN keeps it; settings, prepared statements and the database are those of the
// login again.
func TestSimulatorResetsConnections(t *testing.T) {
	t.Parallel()
	s, addr := newSimulator(t, mssqlsim.Options{})
	s.Database("other")
	c := loggedIn(t, addr, tds74)
	c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)", "CREATE TABLE #x (a int)", "SET NOCOUNT ON", "BEGIN TRAN INSERT INTO dbo.t VALUES (1)", "USE other")
	handle := c.call(rawCallByNumber(11, rawParam{output: true}, rawParam{v: ""}, rawParam{v: "SELECT 1 AS c"}, rawParam{v: 1}))
	if !strings.Contains(show7(handle), "RETURNVALUE ordinal=0 name= status=1 1") {
		t.Fatal(show7(handle))
	}
	c.send(packet(1, 1|0x10, append(allHeaders(), utf16le("SELECT @@TRANCOUNT AS c")...))) // keeping the transaction
	assertTokens(t, tokens(t, c.reply().data, tds74), "ENVCHANGE 18\n"+count+"1\nDONE status=10 cmd=c1 rows=1")
	c.send(packet(1, 1|8, append(allHeaders(), utf16le("SELECT @@TRANCOUNT AS c")...)))
	assertTokens(t, tokens(t, c.reply().data, tds74), "ENVCHANGE 18\n"+count+"0\nDONE status=10 cmd=c1 rows=1")
	assertTokens(t, c.batch("SELECT id FROM dbo.t"), "COLMETADATA id type=38/4 flags=08 user=0\nDONE status=10 cmd=c1 rows=0")
	for _, gone := range []struct{ got, number string }{
		{show7(c.call(rawCallByNumber(12, rawParam{v: 1}))), "ERROR 8179"}, {show7(c.batch("SELECT a FROM #x")), "ERROR 208"},
	} {
		if !strings.HasPrefix(gone.got, gone.number) {
			t.Errorf("%s instead of %s", gone.got, gone.number)
		}
	}
}
