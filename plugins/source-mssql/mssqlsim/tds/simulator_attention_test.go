package tds_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// Whatever the simulator is busy with, an attention ends it, and is acknowledged by a message of its own behind the
// request's own end (Microsoft: [MS-TDS] Attention; mssql-jdbc waits for ever otherwise). While idle it is, too.
func TestSimulatorAcknowledgesAttentions(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	holder := loggedIn(t, addr, tds74)
	holder.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a nvarchar(10) NULL) DECLARE @i int = 0 WHILE @i < 300 BEGIN INSERT dbo.t VALUES (@i, N'x') SET @i = @i + 1 END", "BEGIN TRAN UPDATE dbo.t SET a = N'y' WHERE id = 299")
	text := func(sql string) []byte { return rawBatch(sql) }
	call := func(sql string) []byte {
		return packet(3, 1, append(allHeaders(), rawCallByNumber(10, rawParam{v: sql})...))
	}
	for _, tc := range []struct {
		what, last string
		request    []byte
	}{
		{"a wait", "DONE", text("WAITFOR DELAY '23:00:00'")},
		{"a wait of a call", "DONEPROC", call("WAITFOR DELAY '23:00:00'")},
		{"a lock", "DONE", text("SELECT COUNT(*) FROM dbo.t")},
		{"a lock that is written through", "DONEPROC", call("DELETE FROM dbo.t WHERE id = 299")},
		{"computing", "DONE", text("SELECT COUNT(*) FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id < 299 AND b.id < 299 AND c.id < 299 AND d.id < 299 AND a.id + b.id + c.id + d.id = -1")},
		{"a loop", "DONE", text("WHILE 1 = 1 SET NOCOUNT ON")},
		{"rows", "DONE", text("SELECT a.a FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id < 299 AND b.id < 299 AND c.id < 299 AND d.id < 299")},
		{"rows of a call", "DONEPROC", call("SELECT a.a FROM dbo.t a, dbo.t b, dbo.t c, dbo.t d WHERE a.id < 299 AND b.id < 299 AND c.id < 299 AND d.id < 299")},
	} {
		c := loggedIn(t, addr, tds74)
		c.send(append(tc.request, attention()...))
		got := tokens(t, c.reply().data, tds74)
		if k := got[len(got)-1]; k.name != tc.last || strings.Contains(k.text, "status=2") {
			t.Errorf("%s ends with %s", tc.what, k)
		}
		assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
		c.send(attention()) // while idle
		assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
		assertTokens(t, c.batch("SELECT @@TRANCOUNT AS c"), count+"0\nDONE status=10 cmd=c1 rows=1")
	}
	assertTokens(t, holder.batch("ROLLBACK SELECT ISNULL(COUNT(*), 0) AS c FROM dbo.t"), "ENVCHANGE 10  T\nDONE status=01 cmd=d2 rows=0\n"+count+"300\nDONE status=10 cmd=c1 rows=1")
}

// The login answer of the simulator: what clients cannot do without, in what they asked for.
func TestSimulatorAnswersLogins(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	for _, tc := range []struct {
		version, size uint32
		ack, packet   string
	}{{tds71, 0, "71000001", "4096"}, {tds72, 512, "72090002", "512"}, {tds73, 8000, "730b0003", "8000"}, {tds74, 32767, "74000004", "32767"}} {
		c := dial(t, addr)
		c.send(packet(16, 1, login7(tc.version, tc.size, "sa", password, "shop")))
		assertTokens(t, tokens(t, c.reply().data, tc.version), `
			ENVCHANGE 1 "shop" "master"
			INFO 5701 state=2 class=0 line=1 server=MSSQLSIM proc= "Changed database context to 'shop'."
			ENVCHANGE 7 0904d00034
			ENVCHANGE 2 "us_english" ""
			INFO 5703 state=1 class=0 line=1 server=MSSQLSIM proc= "Changed language setting to us_english."
			LOGINACK interface=1 tds=`+tc.ack+` "Microsoft SQL Server" version=10001000
			ENVCHANGE 4 "`+tc.packet+`" "4096"
			DONE status=00 cmd=00 rows=0`)
	}
	c := dial(t, addr)
	c.send(packet(16, 1, login7(tds74, 0, "sa", "wrong", "shop")))
	assertTokens(t, tokens(t, c.reply().data, tds74), "ERROR 18456 state=1 class=14 line=1 server=MSSQLSIM proc= \"Login failed for user 'sa'.\"\nDONE status=02 cmd=00 rows=0")
	in := loggedIn(t, addr, tds74)
	assertTokens(t, in.batch("USE master"), "ENVCHANGE 1 \"master\" \"shop\"\nINFO 5701 state=2 class=0 line=1 server=MSSQLSIM proc= \"Changed database context to 'master'.\"\nDONE status=00 cmd=00 rows=0")
	assertTokens(t, in.batch("USE shop"), "ENVCHANGE 1 \"shop\" \"master\"\nINFO 5701 state=2 class=0 line=1 server=MSSQLSIM proc= \"Changed database context to 'shop'.\"\nDONE status=00 cmd=00 rows=0")
}

// RETURNVALUE names the place among all parameters of the call: handle, declarations and statement count
// (Microsoft: [MS-TDS] RETURNVALUE, ParamOrdinal; mssql-jdbc breaks the connection otherwise).
func TestSimulatorNumbersReturnValues(t *testing.T) {
	t.Parallel()
	for _, ver := range []uint32{tds71, tds74} {
		c := simulated(t, ver)
		c.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY) INSERT INTO dbo.t VALUES (1), (2), (3)", "CREATE PROC dbo.p @a int, @b int OUTPUT, @c int = 5 OUTPUT AS SET @b = @a + @c SET @c = 9")
		declared, stmt := rawParam{v: "@x int, @y int OUTPUT"}, rawParam{v: "SET @y = @x + 1"}
		for _, tc := range []struct {
			what string
			got  []token
			want string
		}{
			{"sp_executesql", c.call(rawCallByNumber(10, stmt, declared, rawParam{v: 1}, rawParam{output: true})), "DONEINPROC status=01 cmd=00 rows=0\nRETURNSTATUS 0\nRETURNVALUE ordinal=3 name=@y status=1 2\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_prepexec", c.call(rawCallByNumber(13, rawParam{output: true}, declared, stmt, rawParam{v: 4}, rawParam{output: true})),
				"DONEINPROC status=01 cmd=00 rows=0\nRETURNSTATUS 0\nRETURNVALUE ordinal=0 name= status=1 1\nRETURNVALUE ordinal=4 name=@y status=1 5\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_prepare", c.call(rawCallByNumber(11, rawParam{output: true}, declared, stmt, rawParam{v: 1})), "RETURNSTATUS 0\nRETURNVALUE ordinal=0 name= status=1 2\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_execute", c.call(rawCallByNumber(12, rawParam{v: 2}, rawParam{v: 6}, rawParam{output: true})), "DONEINPROC status=01 cmd=00 rows=0\nRETURNSTATUS 0\nRETURNVALUE ordinal=2 name=@y status=1 7\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_unprepare", c.call(rawCallByNumber(15, rawParam{v: 2})), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"a procedure, by name and place", c.call(rawCallByName("dbo.p", rawParam{v: 1}, rawParam{output: true}, rawParam{name: "@c", output: true, v: 3})),
				"DONEINPROC status=01 cmd=00 rows=0\nDONEINPROC status=01 cmd=00 rows=0\nRETURNSTATUS 0\nRETURNVALUE ordinal=1 name= status=1 4\nRETURNVALUE ordinal=2 name=@c status=1 9\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_cursoropen", c.call(rawCallByNumber(2, rawParam{output: true}, rawParam{v: "SELECT id FROM dbo.t"}, rawParam{output: true, v: 8}, rawParam{output: true, v: 1}, rawParam{output: true, v: 0})),
				"COLMETADATA id type=38/4 flags=08 user=0, ROWSTAT type=38/4 flags=08 user=0\nDONEINPROC status=11 cmd=c1 rows=0\nRETURNSTATUS 0\nRETURNVALUE ordinal=0 name= status=1 3\nRETURNVALUE ordinal=2 name= status=1 8\nRETURNVALUE ordinal=3 name= status=1 1\nRETURNVALUE ordinal=4 name= status=1 3\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_cursorfetch", c.call(rawCallByNumber(7, rawParam{v: 3}, rawParam{v: 2}, rawParam{v: 0}, rawParam{v: 2})),
				"COLMETADATA id type=38/4 flags=08 user=0, ROWSTAT type=38/4 flags=08 user=0\nROW 1, 1\nROW 2, 1\nDONEINPROC status=11 cmd=c1 rows=2\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
			{"sp_cursorclose", c.call(rawCallByNumber(9, rawParam{v: 3})), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"},
		} {
			if !assertTokens(t, tc.got, tc.want) {
				t.Logf("%s, version %x", tc.what, ver)
			}
		}
	}
}
