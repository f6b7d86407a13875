package tds_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

const (
	attentionAck = "DONE status=20 cmd=00 rows=0"
	selected     = "COLMETADATA  type=38/4 flags=08 user=0\nROW 1\nDONE status=10 cmd=c1 rows=1"
)

func attention() []byte { return packet(6, 1, nil) }

func TestAttentionIsAcknowledgedInAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	c.send(rawBatch("select wait"))
	<-h.started
	c.send(attention())
	assertTokens(t, tokens(t, c.reply().data, tds74), "DONE status=00 cmd=00 rows=0") // the request's own end
	assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
	<-h.stopped
	assertTokens(t, c.batch("select 1"), selected)
}

func TestAttentionOfACallIsAcknowledgedInAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds71)
	c.send(packet(3, 1, rawCallByNumber(10, rawParam{v: "select wait"})))
	<-h.started
	c.send(attention())
	assertTokens(t, tokens(t, c.reply().data, tds71), "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0")
	assertTokens(t, tokens(t, c.reply().data, tds71), attentionAck)
	<-h.stopped
}

func TestAttentionWhileIdleIsAcknowledged(t *testing.T) { // ODBC and python-tds when they close a cursor
	t.Parallel()
	_, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	for range 3 {
		c.send(attention())
		assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
		assertTokens(t, c.batch("select 1"), selected)
	}
}

func TestAttentionSentTogetherWithItsRequestFindsIt(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	c.send(append(rawBatch("select wait"), attention()...))
	<-h.stopped
	c.reply()
	assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
}

func TestARequestSentBeforeTheLastOneWasSeenToEndIsNotLost(t *testing.T) {
	t.Parallel()
	_, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	for range 200 {
		c.send(append(rawBatch("select 1"), rawBatch("select 1")...))
		assertTokens(t, tokens(t, c.reply().data, tds74), selected)
		assertTokens(t, tokens(t, c.reply().data, tds74), selected)
	}
}

func TestAttentionInTheMiddleOfRowsEndsThemSoon(t *testing.T) {
	t.Parallel()
	h := &canned{stopped: make(chan error, 1)}
	h.exec = func(_ context.Context, _ *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
		if q.SQL != "endless" {
			return false, nil
		}
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		row := w.RowWriter()
		for {
			row.Int64(1)
			if err := row.End(); err != nil {
				return true, err
			}
		}
	}
	c := loggedIn(t, serve(t, &tds.Server{Handler: h}), tds74)
	c.send(append(rawBatch("endless"), attention()...))
	last := tokens(t, c.reply().data, tds74)
	if k := last[len(last)-1]; k.name != "DONE" {
		t.Errorf("the answer ends with %s", k)
	}
	assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
	assertTokens(t, c.batch("select 1"), selected)
}

// Microsoft: [MS-TDS] Attention: "a table response with a single DONE token with a status of DONE_ERROR".
func TestARequestTakenBackBeforeItWasCompleteIsNotRun(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	c.send(packet(1, 0, append(allHeaders(), utf16le("select ")...)))
	c.send(packet(1, 3, utf16le("wait")))
	assertTokens(t, tokens(t, c.reply().data, tds74), "DONE status=02 cmd=00 rows=0")
	assertTokens(t, c.batch("select 1"), selected)
	if n := len(h.requests); n != 1 {
		t.Errorf("%d requests reached the handler", n)
	}
}

func TestCallsAfterACancelledOneAreNotMade(t *testing.T) {
	t.Parallel()
	h, _, addr := newCanned(t)
	c := loggedIn(t, addr, tds74)
	b := append(allHeaders(), rawCallByNumber(10, rawParam{v: "select wait"})...)
	c.send(packet(3, 1, append(append(b, 0xFF), rawCallByNumber(10, rawParam{v: "select 1"})...)))
	<-h.started
	c.send(attention())
	if text := show7(tokens(t, c.reply().data, tds74)); strings.Contains(text, "ROW") {
		t.Error(text)
	}
	assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
}
