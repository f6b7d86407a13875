package tds_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// faulty starts a server whose statements beginning with "fault" get a fault.
func faulty(t *testing.T, f tds.Fault) (ran *atomic.Int64, c *rawConn) {
	t.Helper()
	ran = new(atomic.Int64)
	h := &canned{}
	h.exec = func(ctx context.Context, _ *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
		if !strings.HasPrefix(q.SQL, "fault") {
			return false, nil
		}
		ran.Add(1)
		if q.SQL == "fault wait" {
			<-ctx.Done()
			return true, ctx.Err()
		}
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}})
		for i := range int64(5) {
			if err := w.Row(i); err != nil {
				return true, nil // a handler may swallow it: the fault happens all the same
			}
		}
		return true, nil
	}
	s := &tds.Server{Handler: h, Fault: func(_ *tds.Session, q tds.Request) *tds.Fault {
		if strings.HasPrefix(q.SQL, "fault") || q.Tran != nil {
			return &f
		}
		return nil
	}}
	return ran, loggedIn(t, serve(t, s), tds74)
}

func TestFaultDropsTheConnection(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		f    tds.Fault
		rows int
		ran  int64
		end  bool // the answer is complete
	}{
		{"before", tds.Fault{Drop: tds.DropBefore}, 0, 0, false},
		{"unanswered", tds.Fault{Drop: tds.DropUnanswered}, 0, 1, false},
		{"before the first row", tds.Fault{Drop: tds.DropRows}, 0, 0, false},
		{"after three rows", tds.Fault{Drop: tds.DropRows, Rows: 3}, 3, 1, false},
		{"after more rows than there are", tds.Fault{Drop: tds.DropRows, Rows: 9}, 5, 1, false},
		{"after the answer", tds.Fault{Drop: tds.DropAfter}, 5, 1, true},
	} {
		ran, c := faulty(t, x.f)
		c.send(rawBatch("fault"))
		r, err := c.tryReply()
		if x.end != (err == nil) {
			t.Errorf("%s: %v", x.name, err)
		}
		if err == nil {
			c.cut()
		} else if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the answer ended with %v", x.name, err)
		}
		if n := strings.Count(string(r.data), "\xd1"); n != x.rows || ran.Load() != x.ran {
			t.Errorf("%s: %d rows, run %d times, want %d and %d", x.name, n, ran.Load(), x.rows, x.ran)
		}
	}
}

func TestFaultSendsAnErrorAfterRows(t *testing.T) {
	t.Parallel()
	deadlock := &tds.Error{Number: 1205, Class: 13, State: 51, Line: 1, Msg: "deadlock"}
	const token = `ERROR 1205 state=51 class=13 line=1 server=MSSQLSIM proc= "deadlock"` + "\n"
	for _, x := range []struct {
		name string
		rows uint64
		ran  int64
		want string
	}{
		{"instead of the answer", 0, 0, token},
		{"after two rows", 2, 1, "COLMETADATA a type=38/4 flags=08 user=0\nROW 0\nROW 1\n" + token},
		{"after more rows than there are", 9, 1, "COLMETADATA a type=38/4 flags=08 user=0\nROW 0\nROW 1\nROW 2\nROW 3\nROW 4\n" + token},
	} {
		ran, c := faulty(t, tds.Fault{Error: deadlock, Rows: x.rows})
		assertTokens(t, c.batch("fault"), x.want+"DONE status=02 cmd=00 rows=0")
		assertTokens(t, c.batch("select 1"), selected)
		got := c.call(rawCallByNumber(10, rawParam{v: "fault"}), rawCallByNumber(10, rawParam{v: "select 1"}))
		assertTokens(t, got, x.want+"RETURNSTATUS -3\nDONEPROC status=03 cmd=e0 rows=0\n"+strings.ReplaceAll(strings.ReplaceAll(selected, "DONE status=10", "DONEINPROC status=11"), "\nDONE ", "\nDONEINPROC ")+"\nRETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0")
		if ran.Load() != 2*x.ran {
			t.Errorf("%s: run %d times", x.name, ran.Load())
		}
	}
}

func TestFaultOfATransactionManagerRequest(t *testing.T) {
	t.Parallel()
	_, c := faulty(t, tds.Fault{Error: &tds.Error{Number: 3960, Class: 16, State: 5, Line: 1, Msg: "conflict"}})
	assertTokens(t, c.tran(5, 0, 0), `
		ERROR 3960 state=5 class=16 line=1 server=MSSQLSIM proc= "conflict"
		DONE status=02 cmd=00 rows=0`)
	_, c = faulty(t, tds.Fault{Drop: tds.DropAfter})
	assertTokens(t, c.tran(5, 0, 0), "ENVCHANGE 8 T\nDONE status=00 cmd=00 rows=0")
	c.cut()
}

func TestFaultIgnoresAttention(t *testing.T) {
	t.Parallel()
	ignored := make(chan any, 1)
	running, gate := make(chan struct{}), make(chan struct{})
	h := &canned{}
	h.exec = func(ctx context.Context, _ *tds.Session, q tds.Request, _ *tds.Results) (bool, error) {
		if q.SQL != "fault" {
			return false, nil
		}
		close(running)
		<-gate
		return true, ctx.Err()
	}
	s := &tds.Server{Handler: h}
	s.Fault = func(_ *tds.Session, q tds.Request) *tds.Fault {
		if q.SQL == "fault" {
			return &tds.Fault{IgnoreAttention: true}
		}
		return nil
	}
	s.Trace = func(e tds.Event) {
		if e.Kind == "attention" {
			ignored <- e.Detail["ignored"]
		}
	}
	c := loggedIn(t, serve(t, s), tds74)
	c.send(rawBatch("fault"))
	<-running
	c.send(attention())
	if x := <-ignored; x != true {
		t.Errorf("ignored: %v", x)
	}
	close(gate)
	assertTokens(t, tokens(t, c.reply().data, tds74), "DONE status=00 cmd=00 rows=0")
	assertTokens(t, c.batch("select 1"), selected) // no acknowledgement between the two answers
}

func TestFaultDelayEndsWithTheAttention(t *testing.T) {
	t.Parallel()
	ran, c := faulty(t, tds.Fault{Delay: time.Hour})
	c.send(append(rawBatch("fault"), attention()...))
	c.reply()
	assertTokens(t, tokens(t, c.reply().data, tds74), attentionAck)
	if ran.Load() != 0 {
		t.Error("the request was run")
	}
}
