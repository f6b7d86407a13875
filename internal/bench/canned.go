package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// canned is a server that answers every statement with the same rows of six
// columns, which were made beforehand: what the simulator's reads cost without
// tables, T-SQL and change data capture.
type canned struct{ rows []cannedRow }

// cannedRow holds the values as they are written to the wire.
type cannedRow struct {
	lsn    [10]byte
	id     int64
	amount int64
	at     int64  // ticks
	name   []byte // UTF-16
}

// newCanned makes rows like those of sales.
func newCanned(n int64) *canned {
	at := sqltype.TicksOf(time.Date(2026, 3, 1, 8, 0, 0, 123456700, time.UTC))
	c := &canned{rows: make([]cannedRow, n)}
	for k := range c.rows {
		r := cannedRow{id: int64(k), amount: int64(k) * 12_345, at: at}
		binary.BigEndian.PutUint64(r.lsn[2:], uint64(k))
		for _, u := range utf16.Encode([]rune(fmt.Sprintf("customer %d ü", k))) {
			r.name = binary.LittleEndian.AppendUint16(r.name, u)
		}
		c.rows[k] = r
	}
	return c
}

// Login lets everybody in.
func (c *canned) Login(*tds.Login) error { return nil }

// Exec answers with the rows.
func (c *canned) Exec(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) error {
	w.Columns([]tds.Column{{Name: "__$start_lsn", Type: tds.Binary(10)}, {Name: "__$operation", Type: tds.Int}, {Name: "id", Type: tds.Int, Nullable: true},
		{Name: "amount", Type: tds.Decimal(18, 4), Nullable: true}, {Name: "at", Type: tds.DateTime2(7), Nullable: true}, {Name: "name", Type: tds.NVarChar(40), Nullable: true}})
	row := w.RowWriter()
	for i := range c.rows {
		r := &c.rows[i]
		row.Bytes(r.lsn[:])
		row.Int64(2)
		row.Int64(r.id)
		row.Decimal64(r.amount)
		row.DateTime2(r.at)
		row.UTF16(r.name)
		if err := row.End(); err != nil {
			return err
		}
	}
	w.EndResult()
	return nil
}

// serveCanned is the process of that server, with the protocol of
// serveSimulator. Its one command is
//
//	rows N      makes N rows
func serveCanned(in io.Reader, out io.Writer) error {
	c := &canned{}
	server := &tds.Server{Handler: c}
	addr, err := server.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Fprintf(out, "sqlserver://sa:x@%s?encrypt=disable\n", addr)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var n int64
		if _, err := fmt.Sscanf(lines.Text(), "rows %d", &n); err != nil {
			return fmt.Errorf("there is no command %q: %w", lines.Text(), err)
		}
		*c = *newCanned(n)
		fmt.Fprintln(out, "ok")
	}
	return nil
}
