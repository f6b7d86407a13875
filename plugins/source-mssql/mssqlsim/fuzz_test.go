package mssqlsim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// fuzzSchema is what generated statements find. The columns of dbo.t are of all kinds of types.
const fuzzSchema = `EXEC sys.sp_cdc_enable_db
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, i bigint NULL, d decimal(9, 2) NULL, f float NULL, s nvarchar(20) NULL, v varchar(10) NULL, b varbinary(10) NULL,
  t datetime2(3) NULL, o datetimeoffset(7) NULL, g uniqueidentifier NULL, x bit NOT NULL DEFAULT 1, m money NULL, l nvarchar(max) NULL, q sql_variant NULL)
CREATE TABLE dbo.u (a int NOT NULL, b int NOT NULL, n nvarchar(20) NULL, PRIMARY KEY (a, b))
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL, @supports_net_changes = 1
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'u', @role_name = NULL, @supports_net_changes = 1
INSERT INTO dbo.t (id, i, d, f, s, v, b, t, o, g, m, l, q) VALUES (1, 2, 3.25, 4.5, N'fünf', 'six', 0x07, '2026-08-09T10:11:12.131', '2026-08-09T10:11:12 +05:30', '00112233-4455-6677-8899-AABBCCDDEEFF', 14.15, N'sixteen', 17)
INSERT INTO dbo.t (id) VALUES (2), (3)
INSERT INTO dbo.u VALUES (1, 1, N'a'), (1, 2, NULL), (2, 1, N'b')
UPDATE dbo.t SET i = 5, s = N'x' WHERE id <= 2
UPDATE dbo.u SET b = 7 WHERE a = 2
DELETE FROM dbo.t WHERE id = 3`

const (
	fuzzDeadline = 2 * time.Second  // when a statement is cancelled
	fuzzPatience = 30 * time.Second // how long after that it is taken for one that never ends
)

// fuzzed runs a script on a server of its own, batch by batch, and looks at what comes out.
func fuzzed(t *testing.T, script string) {
	model, err := cdc.NewServer(cdc.Config{Clock: NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	model.AddLogin("sa", DefaultPassword, true)
	model.Database("fuzz")
	sess, err := model.NewSession("sa", "fuzz")
	if err != nil {
		t.Fatal(err)
	}
	if err := tsql.Exec(t.Context(), sess, tsql.Request{SQL: fuzzSchema}, false, &checked{t: t}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), fuzzDeadline)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer sess.Close()
		out := &checked{t: t}
		parts, err := batches(script)
		if err != nil {
			return // no script
		}
		for _, part := range parts {
			batch := part.text
			err := tsql.Exec(ctx, sess, tsql.Request{SQL: batch}, out.implicit, out)
			var e *sqltype.Error
			if err != nil && !errors.As(err, &e) && ctx.Err() == nil {
				t.Errorf("%s\nfails with what is no error of SQL Server: %v", batch, err)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}()
	defer func() {
		if t.Failed() {
			t.Logf("of\n%s", script)
		}
	}()
	select {
	case <-done:
	case <-time.After(fuzzDeadline + fuzzPatience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("it does not end:\n%s\n%s", script, stacks[:runtime.Stack(stacks, true)])
	}
}

// checked is an output that holds rows to what their columns say, as the wire does.
type checked struct {
	t        *testing.T
	cols     []tsql.Column
	implicit bool
}

func (o *checked) Columns(cols []tsql.Column) error {
	o.cols = cols
	_, err := wireColumns(cols)
	return err
}

func (o *checked) Row(row sqltype.Row) error {
	if len(row) != len(o.cols) {
		o.t.Errorf("a row of %d values for %d columns", len(row), len(o.cols))
		return nil
	}
	for i, v := range row {
		if wrong := misfit(v, o.cols[i]); wrong != "" {
			o.t.Errorf("column %d %q of type %s: %s", i+1, o.cols[i].Name, o.cols[i].Type, wrong)
		}
	}
	return nil
}

// misfit says what is wrong with a value in a column; empty is nothing.
func misfit(v sqltype.Value, c tsql.Column) string {
	t := c.Type
	switch {
	case v.IsNull():
		if !c.Nullable && t.Kind != sqltype.Null {
			return "NULL, which it cannot be"
		}
		return ""
	case t.Kind == sqltype.Null:
		return "a value of no type"
	}
	switch t.Class() {
	case sqltype.ClassInt:
		low, high := int64(-1<<63), int64(1<<63-1)
		switch t.Kind {
		case sqltype.TinyInt:
			low, high = 0, 255
		case sqltype.SmallInt:
			low, high = -1<<15, 1<<15-1
		case sqltype.Int:
			low, high = -1<<31, 1<<31-1
		}
		if n := v.Int(); n < low || n > high {
			return fmt.Sprint(n)
		}
	case sqltype.ClassString, sqltype.ClassBinary:
		if n := sqltype.Length(v, t); t.Len > 0 && n > t.Len {
			return fmt.Sprintf("a value of length %d", n)
		}
	case sqltype.ClassDecimal, sqltype.ClassGUID, sqltype.ClassTime:
		text, err := sqltype.Format(v, t, 0)
		if err != nil {
			return err.Error()
		}
		if t.Kind != sqltype.Decimal && t.Kind != sqltype.Numeric {
			return ""
		}
		if n := v.Big().Text(10); len(n) > int(t.Prec)+1 || v.Scale() > t.Scale {
			return text
		}
	}
	return ""
}

func (o *checked) EndResult()                         {}
func (o *checked) Warn(*sqltype.Error)                {}
func (o *checked) Affected(int64, tsql.StatementKind) {}
func (o *checked) Done(tsql.StatementKind)            {}
func (o *checked) BeginProcedure()                    {}
func (o *checked) EndProcedure(int32, bool)           {}
func (o *checked) Info(*sqltype.Error)                {}
func (o *checked) Raise(*sqltype.Error)               {}
func (o *checked) NoCount(bool) bool                  { return false }
func (o *checked) Database(string)                    {}
func (o *checked) Language(string, string)            {}
func (o *checked) DatabaseAgain(string)               {}
func (o *checked) Implicit(on bool) (before bool) {
	before, o.implicit = o.implicit, on
	return before
}

// No text of a statement ends the server or keeps it for ever, however the parser reads it, and no row breaks the promise
// of its columns. The seeds are the scenarios and statements that change shapes.
func FuzzStatements(f *testing.F) {
	for _, s := range shapeSeeds {
		f.Add(s)
	}
	scenarios, err := filepath.Glob("scenarios/*/*.sql")
	if err != nil || len(scenarios) < 60 {
		f.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	for _, file := range scenarios {
		script, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(script))
	}
	f.Fuzz(func(t *testing.T, script string) { fuzzed(t, script) })
}

// The same of statements that a grammar makes: each of them parses, so that it is the evaluator that is asked.
func FuzzGrammar(f *testing.F) {
	for i := range 64 {
		seed := make([]byte, 160)
		for j := range seed {
			seed[j] = byte(i*31 + j*j*7 + j*i)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := &grammar{choices: choices}
		fuzzed(t, g.script())
	})
}
