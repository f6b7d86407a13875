package tds_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// transactional is a handler with transactions of its own.
type transactional struct {
	canned
	seen []string
}

func (h *transactional) Transaction(_ context.Context, s *tds.Session, q tds.TranRequest, w *tds.Results) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, fmt.Sprintf("%s %q %d", q.Kind, q.Name, q.Isolation))
	switch {
	case q.Kind == tds.TranBegin:
		s.Begin(w)
	case q.Kind == tds.TranCommit:
		return &tds.Error{Number: 3960, Class: 16, State: 5, Line: 1, Msg: "conflict"}
	case q.Kind == tds.TranRollback && q.Name == "":
		return s.Rollback(w)
	}
	return nil
}

func TestAHandlerWithTransactionsIsAskedForEach(t *testing.T) {
	t.Parallel()
	h := &transactional{}
	c := loggedIn(t, serve(t, &tds.Server{Handler: h}), tds74)
	assertTokens(t, c.tran(5, 5, 0), "ENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0")
	assertTokens(t, c.tran(9, 2, 's', 0), "DONE status=00 cmd=00 rows=0")
	assertTokens(t, c.tran(7, 0, 1, 0, 0), `ERROR 3960 state=5 class=16 line=1 server=MSSQLSIM proc= "conflict"
		DONE status=02 cmd=00 rows=0`) // and does not begin again
	assertTokens(t, c.tran(8, 0, 1, 3, 0), "ENVCHANGE 10  T\nENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0")
	h.mu.Lock()
	defer h.mu.Unlock()
	want := []string{`begin "" 5`, `save "s" 0`, `commit "" 0`, `rollback "" 0`, `begin "" 3`}
	if fmt.Sprint(h.seen) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", h.seen, want)
	}
}

// dropping is a handler that cuts the connection at the login.
type dropping struct{ canned }

func (*dropping) Login(*tds.Login) error { return fmt.Errorf("no more logins: %w", tds.ErrDrop) }

func TestALoginCanBeCutOff(t *testing.T) {
	t.Parallel()
	c := dial(t, serve(t, &tds.Server{Handler: &dropping{}}))
	c.send(packet(16, 1, login7(tds74, 0, "sa", password, "")))
	c.cut()
}

func TestFlushSendsRowsWhileTheHandlerGoesOn(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	h := &canned{}
	h.exec = func(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) (bool, error) {
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		if err := w.Row(int64(1)); err != nil {
			return true, err
		}
		if err := w.Flush(); err != nil {
			return true, err
		}
		<-gate
		return true, w.Row(int64(2))
	}
	c := loggedIn(t, serve(t, &tds.Server{Handler: h}), tds74)
	c.send(rawBatch("x"))
	status, first := c.packet()
	if status&1 != 0 {
		t.Error("the message ended")
	}
	close(gate)
	status, last := c.packet()
	if status&1 == 0 {
		t.Error("the message did not end")
	}
	assertTokens(t, tokens(t, append(first, last...), tds74), "COLMETADATA a type=38/4 flags=08 user=0\nROW 1\nROW 2\nDONE status=10 cmd=c1 rows=2")
}

func TestUnprepareByText(t *testing.T) {
	t.Parallel()
	h := &canned{}
	h.exec = func(_ context.Context, s *tds.Session, q tds.Request, _ *tds.Results) (bool, error) {
		if q.SQL == "EXEC sp_unprepare 1" {
			s.Unprepare("1") // not a handle
			s.Unprepare(int64(1))
			if n := s.Prepared(); len(n) != 1 || n[0] != 2 {
				return true, fmt.Errorf("prepared: %v", n)
			}
		}
		return true, nil
	}
	c := loggedIn(t, serve(t, &tds.Server{Handler: h}), tds74)
	prepare := rawCallByNumber(11, rawParam{output: true}, rawParam{v: ""}, rawParam{v: "x"}, rawParam{v: 1})
	c.call(prepare)
	c.call(prepare)
	assertTokens(t, c.batch("EXEC sp_unprepare 1"), "DONE status=00 cmd=00 rows=0")
	assertTokens(t, c.call(rawCallByNumber(15, rawParam{v: 1})), `
		ERROR 8179 state=4 class=16 line=0 server=MSSQLSIM proc= "Could not find prepared statement with handle 1."
		RETURNSTATUS -6
		DONEPROC status=02 cmd=e0 rows=0`)
	assertTokens(t, c.call(rawCallByNumber(15, rawParam{v: 2})), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0")
}

// What has no meaning is error 8016 (Microsoft: Database engine events and errors); what a real server understands and this one
// does not is refused by name (Microsoft: [MS-TDS] BulkLoadBCP, TVPTYPE, RPCRequest fEncrypted, XML Values, Transaction Manager
// Request). After both the connection goes on.
func TestCallsThatAreNotUnderstoodLeaveTheConnectionUsable(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	call := func(param ...byte) []byte {
		return packet(3, 1, append(append(allHeaders(), 0xFF, 0xFF, 10, 0, 0, 0, 0), param...))
	}
	for _, tc := range []struct {
		name   string
		packet []byte
		want   string // number, and a part of the message
		part   string
	}{
		{"a call of an unknown type", call(0, 0x99), "8016", "data type 0x99 is not known"},
		{"a batch without headers", packet(1, 1, []byte{1, 2}), "8016", "4 bytes wanted where 2 are left"},
		{"bulk load", packet(7, 1, []byte{1, 2}), "50001", "mssqlsim does not understand bulk load"},
		{"rows in bulk", packet(7, 1, []byte{0x81, 1, 0, 0, 0, 0, 0, 8, 0, 0x38, 1, 'a', 0, 0xD1, 7, 0, 0, 0, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "50001", "bulk load"},
		{"a table-valued parameter", call(0, 0xF3, 0, 3, 'd', 0, 'b', 0, 'o', 0, 2, 't', 0, 't', 0, 0xFF, 0xFF, 0, 0), "50001", "mssqlsim does not understand table-valued parameters"},
		{"an encrypted parameter", call(8, 0xA5, 1, 0, 1, 0, 7), "50001", "encrypted values"},
		{"xml of a schema collection", call(0, 0xF1, 1, 0, 1, 'd', 0, 1, 0, 'c', 0), "50001", "xml of a schema collection"},
		{"promotion", packet(14, 1, append(allHeaders(), 6, 0)), "50001", "distributed transactions"},
		{"propagation", packet(14, 1, append(allHeaders(), 1, 0, 0, 0)), "50001", "distributed transactions"},
		{"an unknown request of the transaction manager", packet(14, 1, append(allHeaders(), 77, 0)), "8016", "77 is not known"},
	} {
		c.send(tc.packet)
		k := tokens(t, c.reply().data, tds74)
		if len(k) != 2 || k[0].name != "ERROR" || !strings.HasPrefix(k[0].text, tc.want+" ") || !strings.Contains(k[0].text, tc.part) || !strings.HasPrefix(k[1].text, "status=02") {
			t.Errorf("%s: %s", tc.name, show7(k))
		}
		assertTokens(t, c.batch("select 1"), selected)
	}
	c.send(packet(0x55, 1, nil)) // no such message: nobody knows what follows
	c.ended()
}

func TestListenRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*tds.Server{
		"packets of 100 bytes":        {PacketSize: 100},
		"packets of 40000 bytes":      {PacketSize: 40000},
		"required and no certificate": {ForceTLS: true},
	} {
		s.Handler = &canned{}
		if addr, err := s.Listen("127.0.0.1:0"); err == nil {
			t.Errorf("%s: listening on %s", name, addr)
		}
		s.Close()
	}
	s := &tds.Server{Handler: &canned{}, PacketSize: 512}
	addr := serve(t, s)
	if _, err := s.Listen("127.0.0.1:0"); err == nil {
		t.Error("a second Listen succeeded")
	}
	c := loggedIn(t, addr, tds74)
	c.send(rawBatch("select big"))
	if r := c.reply(); r.packets[0] != 512 {
		t.Errorf("packets of %d bytes", r.packets[0])
	}
	if err := (&tds.Error{Msg: "x"}); err.Error() != "x" || errors.Is(err, tds.ErrDrop) {
		t.Error(err)
	}
}
