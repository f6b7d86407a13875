package tds_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// These tests look at the tokens that are sent: most of what they assert no driver notices when it is missing.

// assertTokens compares an answer, one token a line; hexadecimal descriptors of transactions are shown as T.
func assertTokens(t *testing.T, got []token, want string) bool {
	t.Helper()
	text := regexp.MustCompile(`(ENVCHANGE (?:8|9|10)) ?([0-9a-f]{16})?( ?)([0-9a-f]{16})?`).ReplaceAllStringFunc(show7(got), func(s string) string {
		return regexp.MustCompile(`[0-9a-f]{16}`).ReplaceAllString(s, "T")
	})
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if want := strings.Join(lines, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
		return false
	}
	return true
}

func TestLoginAnswerByVersion(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	for _, c := range []struct {
		asked, answered string
		version         uint32
		size            uint32
		packets         string
	}{
		{"7.1", "71000001", 0x71000000, 0, "4096"}, // python-tds
		{"7.1 rev 1", "71000001", tds71, 0, "4096"},
		{"7.2", "72090002", tds72, 8000, "8000"},
		{"7.3", "730b0003", tds73, 100_000, "4096"},
		{"7.4", "74000004", tds74, 512, "512"},
		{"later than 7.4", "74000004", 0x75000000, 0, "4096"},
	} {
		conn := dial(t, addr)
		conn.send(packet(16, 1, login7(c.version, c.size, "sa", password, "shop")))
		assertTokens(t, tokens(t, conn.reply().data, c.version), `
			ENVCHANGE 1 "shop" "master"
			INFO 5701 state=2 class=0 line=1 server=MSSQLSIM proc= "Changed database context to 'shop'."
			ENVCHANGE 7 0904d00034
			ENVCHANGE 2 "us_english" ""
			INFO 5703 state=1 class=0 line=1 server=MSSQLSIM proc= "Changed language setting to us_english."
			LOGINACK interface=1 tds=`+c.answered+` "Microsoft SQL Server" version=10001000
			ENVCHANGE 4 "`+c.packets+`" "4096"
			DONE status=00 cmd=00 rows=0`)
	}
}

func TestVersionsBefore71AreRefused(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	conn := dial(t, addr)
	conn.send(packet(16, 1, login7(0x70000000, 0, "sa", password, "shop")))
	conn.ended()
}

// Clients that ask for strict encryption begin with TLS, and some wait for its answer without a limit. The bytes are
// those of Java's: read as a packet, the version of TLS would make a length that never comes.
func TestTLSAtTheBeginningEndsTheConnectionWithoutACertificate(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	conn := dial(t, addr)
	conn.send(append([]byte{0x16, 3, 3, 0, 0x30, 1, 0, 0, 0x2C, 3, 3}, make([]byte, 0x2A)...))
	if r, err := conn.tryReply(); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) || len(r.data) > 0 { // not all of it was read
		t.Errorf("the connection ended with % x, %v", r.data, err)
	}
}

func TestOnlyUTF8SupportIsAcknowledged(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	conn := dial(t, addr)
	l := login7(tds74, 0, "sa", password, "shop")
	l[27] |= 0x10 // fExtension
	l[56], l[57], l[58] = byte(len(l)), byte(len(l)>>8), 4
	at := len(l) + 4
	l = append(l, byte(at), byte(at>>8), 0, 0)
	l = append(l, 4, 1, 0, 0, 0, 1, 10, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0xFF) // COLUMNENCRYPTION, UTF8_SUPPORT, SESSIONRECOVERY
	conn.send(packet(16, 1, l))
	text := show7(tokens(t, conn.reply().data, tds74))
	if !strings.Contains(text, "FEATUREEXTACK  10=01\n") {
		t.Error(text)
	}
}

func TestRefusedLoginIsAnErrorAndADone(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	for _, ver := range []uint32{tds71, tds74} {
		conn := dial(t, addr)
		conn.send(packet(16, 1, login7(ver, 0, "sa", "wrong", "shop")))
		assertTokens(t, tokens(t, conn.reply().data, ver), `
			ERROR 18456 state=1 class=14 line=1 server=MSSQLSIM proc= "Login failed for user 'sa'."
			DONE status=02 cmd=00 rows=0`)
		conn.ended()
	}
}

// mixed answers what most tests here need.
func mixed(_ context.Context, s *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
	switch q.SQL {
	case "select a":
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}, {Name: "n", Type: tds.Int, Nullable: true}, {Name: "t", Type: tds.NVarChar(5), Nullable: true}, {Name: "v", Type: tds.BigInt, UserType: 80}})
		if err := w.Row(int64(1), int64(2), "x", int64(3)); err != nil {
			return true, err
		}
		return true, w.Row(int64(4), nil, nil, int64(5))
	case "insert":
		w.Affected(3, tds.CmdInsert)
	case "insert; select":
		w.Affected(3, tds.CmdInsert)
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		return true, w.Row(int64(1))
	case "nocount":
		w.NoCount = true
		w.Affected(3, tds.CmdInsert)
	case "nothing":
	case "raise":
		w.Raise(&tds.Error{Number: 50000, Class: 16, State: 1, Line: 2, Msg: "raised"})
		w.Affected(1, tds.CmdUpdate)
	case "select; raise", "raise in select":
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		if err := w.Row(int64(1)); err != nil {
			return true, err
		}
		if q.SQL == "select; raise" {
			w.EndResult()
		}
		w.Raise(&tds.Error{Number: 50000, Class: 16, State: 1, Line: 2, Msg: "raised"})
		w.Affected(1, tds.CmdUpdate)
	case "begin":
		s.Begin(w)
	case "commit":
		return true, s.Commit(w)
	case "rollback":
		return true, s.Rollback(w)
	case "use":
		w.Database("other", "shop")
	case "moments":
		w.Columns([]tds.Column{{Name: "d", Type: tds.DateTime2(3), Nullable: true}, {Name: "o", Type: tds.DTOffset(0), Nullable: true}, {Name: "m", Type: tds.NVarChar(-1), Nullable: true}})
		if err := w.Row(moment, offset, "漢"); err != nil {
			return true, err
		}
		row := w.RowWriter()
		row.DateTime2(tds.TicksOf(moment))
		row.DateTimeOffset(tds.TicksOf(offset), 330)
		row.Null()
		return true, row.End()
	default:
		return false, nil
	}
	return true, nil
}

func newMixed(t *testing.T, version uint32) *rawConn {
	t.Helper()
	return loggedIn(t, serve(t, &tds.Server{Handler: &canned{exec: mixed}}), version)
}

func TestNotNullColumnsHaveTheFixedLengthTypes(t *testing.T) {
	t.Parallel()
	for ver, second := range map[uint32]string{tds71: "ROW", tds72: "ROW", tds73: "NBCROW", tds74: "NBCROW"} {
		assertTokens(t, newMixed(t, ver).batch("select a"), `
			COLMETADATA a type=38/4 flags=08 user=0, n type=26/4 flags=09 user=0, t type=e7/10 flags=09 user=0, v type=7f/8 flags=08 user=80
			ROW 1, 2, "x", 3
			`+second+` 4, NULL, NULL, 5
			DONE status=10 cmd=c1 rows=2`)
	}
}

func TestDoneTokensOfABatch(t *testing.T) {
	t.Parallel()
	c := newMixed(t, tds74)
	for sql, want := range map[string]string{
		"insert":         "DONE status=10 cmd=c3 rows=3",
		"nothing":        "DONE status=00 cmd=00 rows=0",
		"nocount":        "DONE status=00 cmd=c3 rows=0",
		"insert; select": "DONE status=11 cmd=c3 rows=3\nCOLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=10 cmd=c1 rows=1",
		"raise":          "ERROR 50000 state=1 class=16 line=2 server=MSSQLSIM proc= \"raised\"\nDONE status=03 cmd=00 rows=0\nDONE status=10 cmd=c5 rows=1",
		// What comes after the error of a statement is another one's: a result has one DONE, with the error or before it.
		"select; raise":   "COLMETADATA a type=38/4 flags=08 user=0\nROW 1\nDONE status=11 cmd=c1 rows=1\nERROR 50000 state=1 class=16 line=2 server=MSSQLSIM proc= \"raised\"\nDONE status=03 cmd=00 rows=0\nDONE status=10 cmd=c5 rows=1",
		"raise in select": "COLMETADATA a type=38/4 flags=08 user=0\nROW 1\nERROR 50000 state=1 class=16 line=2 server=MSSQLSIM proc= \"raised\"\nDONE status=03 cmd=c1 rows=0\nDONE status=10 cmd=c5 rows=1",
		"unknown":         "ERROR 2812 state=62 class=16 line=1 server=MSSQLSIM proc= \"not known: unknown\"\nDONE status=02 cmd=00 rows=0",
		"use":             "ENVCHANGE 1 \"other\" \"shop\"\nINFO 5701 state=2 class=0 line=1 server=MSSQLSIM proc= \"Changed database context to 'other'.\"\nDONE status=00 cmd=00 rows=0",
	} {
		assertTokens(t, c.batch(sql), want)
	}
}

func TestProceduresEndStatementsWithDoneInProcAndThemselvesWithDoneProc(t *testing.T) {
	t.Parallel()
	for _, ver := range []uint32{tds71, tds74} {
		c := newMixed(t, ver)
		assertTokens(t, c.call(rawCallByNumber(10, rawParam{v: "insert; select"})), `
			DONEINPROC status=11 cmd=c3 rows=3
			COLMETADATA a type=38/4 flags=08 user=0
			ROW 1
			DONEINPROC status=11 cmd=c1 rows=1
			RETURNSTATUS 0
			DONEPROC status=00 cmd=e0 rows=0`)
		assertTokens(t, c.call(rawCallByName("sys.sp_executesql", rawParam{v: "unknown"})), `
			ERROR 2812 state=62 class=16 line=1 server=MSSQLSIM proc= "not known: unknown"
			RETURNSTATUS -6
			DONEPROC status=02 cmd=e0 rows=0`)
	}
}

func TestSeveralCallsInOneMessage(t *testing.T) {
	t.Parallel()
	for _, ver := range []uint32{tds71, tds72, tds74} {
		c := newMixed(t, ver)
		assertTokens(t, c.call(rawCallByNumber(10, rawParam{v: "insert"}), rawCallByNumber(10, rawParam{v: "unknown"}), rawCallByNumber(10, rawParam{v: "nothing"})), `
			DONEINPROC status=11 cmd=c3 rows=3
			RETURNSTATUS 0
			DONEPROC status=01 cmd=e0 rows=0
			ERROR 2812 state=62 class=16 line=1 server=MSSQLSIM proc= "not known: unknown"
			RETURNSTATUS -6
			DONEPROC status=03 cmd=e0 rows=0
			RETURNSTATUS 0
			DONEPROC status=00 cmd=e0 rows=0`)
	}
}

func TestReturnValuesNameTheirPlaceAmongAllParameters(t *testing.T) {
	t.Parallel()
	h := &canned{}
	h.exec = func(_ context.Context, _ *tds.Session, q tds.Request, _ *tds.Results) (bool, error) {
		if q.Proc == "dbo.unnamed" {
			q.Out("", tds.Int, int64(1))
			q.Out("", tds.Int, int64(2))
			q.Out("", tds.Int, int64(3)) // there is no third one
			return true, nil
		}
		if q.Out != nil {
			q.Out("@b", tds.Int, int64(9))
			q.Out("1", tds.Int, int64(8)) // the second one of a procedure's, if it has no name
			q.Out("@absent", tds.Int, int64(7))
		}
		return true, nil
	}
	for _, ver := range []uint32{tds71, tds74} {
		c := loggedIn(t, serve(t, &tds.Server{Handler: h}), ver)
		assertTokens(t, c.call(rawCallByNumber(10, rawParam{v: "stmt"}, rawParam{v: "@a int, @b int output"}, rawParam{v: 1}, rawParam{output: true})), `
			RETURNSTATUS 0
			RETURNVALUE ordinal=3 name=@b status=1 9
			DONEPROC status=00 cmd=e0 rows=0`)
		assertTokens(t, c.call(rawCallByName("dbo.p", rawParam{name: "@a", v: 1}, rawParam{output: true}, rawParam{name: "@B", output: true})), `
			RETURNSTATUS 0
			RETURNVALUE ordinal=1 name= status=1 8
			RETURNVALUE ordinal=2 name=@B status=1 9
			DONEPROC status=00 cmd=e0 rows=0`)
		assertTokens(t, c.call(rawCallByName("dbo.unnamed", rawParam{output: true}, rawParam{v: 1}, rawParam{output: true})), `
			RETURNSTATUS 0
			RETURNVALUE ordinal=0 name= status=1 1
			RETURNVALUE ordinal=2 name= status=1 2
			DONEPROC status=00 cmd=e0 rows=0`)
		// sp_prepexec: the handle, then the parameters of the statement.
		assertTokens(t, c.call(rawCallByNumber(13, rawParam{output: true}, rawParam{v: "@a int, @b int output"}, rawParam{v: "stmt"}, rawParam{v: 1}, rawParam{output: true})), `
			RETURNSTATUS 0
			RETURNVALUE ordinal=0 name= status=1 1
			RETURNVALUE ordinal=4 name=@b status=1 9
			DONEPROC status=00 cmd=e0 rows=0`)
	}
}

func TestTransactionsByTextTellTheClient(t *testing.T) {
	t.Parallel()
	c := newMixed(t, tds74)
	for _, step := range []struct{ sql, want string }{
		{"begin", "ENVCHANGE 8 T \nDONE status=00 cmd=00 rows=0"},
		{"begin", "DONE status=00 cmd=00 rows=0"}, // nested
		{"commit", "DONE status=00 cmd=00 rows=0"},
		{"commit", "ENVCHANGE 9  T\nDONE status=00 cmd=00 rows=0"},
		{"begin", "ENVCHANGE 8 T \nDONE status=00 cmd=00 rows=0"},
		{"rollback", "ENVCHANGE 10  T\nDONE status=00 cmd=00 rows=0"},
	} {
		assertTokens(t, c.batch(step.sql), strings.ReplaceAll(step.want, "T \n", "T\n"))
	}
	assertTokens(t, c.batch("commit"), `
		ERROR 3902 state=1 class=16 line=1 server=MSSQLSIM proc= "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."
		DONE status=02 cmd=00 rows=0`)
	assertTokens(t, c.batch("rollback"), `
		ERROR 3903 state=1 class=16 line=1 server=MSSQLSIM proc= "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."
		DONE status=02 cmd=00 rows=0`)
	assertTokens(t, newMixed(t, tds71).batch("begin"), "DONE status=00 cmd=00 rows=0") // older clients never get them
}

func TestTransactionManagerRequestsTellTheClient(t *testing.T) {
	t.Parallel()
	c := newMixed(t, tds74)
	assertTokens(t, c.tran(5, 2, 0), "ENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0")
	assertTokens(t, c.tran(9, 2, 's', 0), "DONE status=00 cmd=00 rows=0")
	assertTokens(t, c.tran(8, 2, 's', 0, 0), "DONE status=00 cmd=00 rows=0") // to the savepoint
	assertTokens(t, c.tran(7, 0, 1, 0, 0), "ENVCHANGE 9  T\nENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0")
	assertTokens(t, c.tran(8, 0, 1), "ENVCHANGE 10  T\nENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0") // python-tds: no level
	assertTokens(t, c.tran(8, 0, 0), "ENVCHANGE 10  T\nDONE status=00 cmd=00 rows=0")
	if text := show7(c.tran(6)); !strings.HasPrefix(text, "ERROR 50001") {
		t.Errorf("promotion to a distributed transaction: %s", text)
	}
}

func TestDescriptorsOfTransactionsDifferAndAreNamedAtTheEnd(t *testing.T) {
	t.Parallel()
	c := newMixed(t, tds74)
	first := c.tran(5, 0, 0)[0].text
	end := c.tran(7, 0, 0)[0].text
	second := c.tran(5, 0, 0)[0].text
	if strings.TrimSpace(first) != strings.TrimSpace(end) || first == second {
		t.Errorf("begun %s, ended %s, begun %s", first, end, second)
	}
}

func TestOldVersionsGetOldTypes(t *testing.T) {
	t.Parallel()
	assertTokens(t, newMixed(t, tds72).batch("moments"), `
		COLMETADATA d type=e7/46 flags=09 user=0, o type=e7/52 flags=09 user=0, m type=e7/65535 flags=09 user=0
		ROW "2024-02-29 23:59:59.123", "2024-02-29 23:59:59 +05:30", "漢"
		ROW "2024-02-29 23:59:59.123", "2024-02-29 23:59:59 +05:30", NULL
		DONE status=10 cmd=c1 rows=2`)
	assertTokens(t, newMixed(t, tds71).batch("moments"), `
		COLMETADATA d type=e7/46 flags=09 user=0, o type=e7/52 flags=09 user=0, m type=63/2147483646 of [] flags=09 user=0
		ROW "2024-02-29 23:59:59.123", "2024-02-29 23:59:59 +05:30", "漢"
		ROW "2024-02-29 23:59:59.123", "2024-02-29 23:59:59 +05:30", NULL
		DONE status=10 cmd=c1 rows=2`)
}

func TestResetIsAcknowledgedBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	c := newMixed(t, tds74)
	c.call(rawCallByNumber(11, rawParam{output: true}, rawParam{v: ""}, rawParam{v: "nothing"}, rawParam{v: 1}))
	assertTokens(t, c.call(rawCallByNumber(12, rawParam{v: 1})), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0")
	c.send(packet(1, 1|8, append(allHeaders(), utf16le("nothing")...)))
	assertTokens(t, tokens(t, c.reply().data, tds74), "ENVCHANGE 18\nDONE status=00 cmd=00 rows=0")
	if text := show7(c.call(rawCallByNumber(12, rawParam{v: 1}))); !strings.HasPrefix(text, "ERROR 8179") {
		t.Errorf("the prepared statement after the reset: %s", text)
	}
}

func TestPacketsAreFullUpToTheLast(t *testing.T) {
	t.Parallel()
	h := &canned{exec: generic(10_000)}
	addr := serve(t, &tds.Server{Handler: h})
	for _, size := range []int{512, 4096, 32767} {
		c := dial(t, addr)
		c.send(packet(16, 1, login7(tds74, uint32(size), "sa", password, "shop")))
		c.reply()
		c.send(rawBatch("rows"))
		r := c.reply()
		for i, n := range r.packets {
			if last := i == len(r.packets)-1; !last && n != size || last && n > size {
				t.Fatalf("packet %d of %d has %d bytes, the size is %d", i+1, len(r.packets), n, size)
			}
		}
	}
}
