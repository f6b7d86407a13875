package mssql

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// Each part of an answer may take as long as the limit, and the reader as long as
// it likes; only a server that sends nothing for so long is given up.
func TestASilentServerIsGivenUpInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer server.Close()
		defer client.Close()
		go func() {
			for range 3 {
				time.Sleep(59 * time.Minute)
				_, _ = server.Write([]byte{1})
			}
		}()
		watch := &socketWatch{limit: time.Hour}
		c := &answerConn{Conn: client, watch: watch}
		b := make([]byte, 1)
		for range 3 {
			if _, err := io.ReadFull(c, b); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour) // what was read is being written
		}
		if watch.silent.Load() {
			t.Error("a slow server counts as silent")
		}
		began := time.Now()
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Hour || !watch.silent.Load() {
			t.Errorf("%v after %s, silent: %t", err, time.Since(began), watch.silent.Load())
		}
	})
}

// A server that hangs while rows are read ends the read in a way that may pass.
func TestAReadOfASilentServerMayPass(t *testing.T) {
	t.Parallel()
	db, tab := ownTable(t, "silent", 100)
	patient := open(t, db, nil)
	from := start(t, patient, tab, "earliest")
	b := plan(t, patient, tab, from, latest(t, patient, tab, from))
	inject(t, mssqlsim.Fault{Match: "cdc.[dbo_silent_CT] AS c", Wrong: tds.Fault{Delay: time.Hour}})
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), dsn(db), written{"answer_timeout": str("1s")})
	_, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
	wantDiag(t, err, diag.KindTransient, codeNoAnswer, "no answer within 1s, which is answer_timeout")
}

// A connection that is closed in the middle of an answer does not share its buffer with the next one: with the driver's own
// Close the race detector sees that within some hundred connections.
func TestAConnectionClosedInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	s := open(t, db, nil)
	for range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 100 {
				c, err := dial(ctx, s.pool.config, slog.New(slog.DiscardHandler))
				must(t, err)
				err = c.each(ctx, tsql.Query{Name: "an error and more", Text: "RAISERROR('left', 16, 1); SELECT 1 AS one"}, func(record) error { return nil })
				if sqlNumber(err) != 50000 {
					t.Errorf("%v, want the error of RAISERROR", err)
				}
				must(t, c.close())
			}
		})
	}
}
