package tds_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// fiveRows answers the numbers 1 to 5, by both paths of writing rows.
func fiveRows(_ context.Context, _ *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
	switch q.SQL {
	case "five":
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}, {Name: "t", Type: tds.NVarChar(5), Nullable: true}})
		for i := range int64(5) {
			if i%2 == 0 {
				if err := w.Row(i+1, "x"); err != nil {
					return true, err
				}
				continue
			}
			row := w.RowWriter()
			row.Int64(i + 1)
			row.Null()
			if err := row.End(); err != nil {
				return true, err
			}
		}
		return true, nil
	case "none":
		w.Affected(1, tds.CmdUpdate)
		return true, nil
	}
	return false, nil
}

const (
	cursorColumns = "COLMETADATA a type=38/4 flags=08 user=0, t type=e7/10 flags=09 user=0, ROWSTAT type=38/4 flags=08 user=0\n"
	cursorEnd     = "RETURNSTATUS 0\nDONEPROC status=00 cmd=e0 rows=0"
)

// fetched is the answer of a fetch of rows from to to.
func fetched(from, to int) string {
	s := cursorColumns
	for i := from; i <= to; i++ {
		text := `"x"`
		if i%2 == 0 {
			text = "NULL"
		}
		s += fmt.Sprintf("ROW %d, %s, 1\n", i, text)
	}
	return s + fmt.Sprintf("DONEINPROC status=11 cmd=c1 rows=%d\n", max(to-from+1, 0)) + cursorEnd
}

func TestCursorOpenAnswersItsColumnsAndNoRows(t *testing.T) {
	t.Parallel()
	for _, ver := range []uint32{tds71, tds74} {
		c := loggedIn(t, serve(t, &tds.Server{Handler: &canned{exec: fiveRows}}), ver)
		opened := func(places ...int) string {
			return cursorColumns + `DONEINPROC status=11 cmd=c1 rows=0
				RETURNSTATUS 0
				RETURNVALUE ordinal=` + fmt.Sprint(places[0]) + ` name= status=1 ` + fmt.Sprint(places[4]) + `
				RETURNVALUE ordinal=` + fmt.Sprint(places[1]) + ` name= status=1 8
				RETURNVALUE ordinal=` + fmt.Sprint(places[2]) + ` name= status=1 1
				RETURNVALUE ordinal=` + fmt.Sprint(places[3]) + ` name= status=1 5
				DONEPROC status=00 cmd=e0 rows=0`
		}
		out := rawParam{output: true}
		scroll := rawParam{output: true, v: 0x1008} // static, with parameters
		assertTokens(t, c.call(rawCallByNumber(2, out, rawParam{v: "five"}, scroll, out, out)), opened(0, 2, 3, 4, 1))
		// sp_cursorprepexec gives the handle of the statement too; sp_cursorexecute uses it.
		got := show7(c.call(rawCallByNumber(5, out, out, rawParam{v: ""}, rawParam{v: "five"}, scroll, out, out)))
		if want := "RETURNVALUE ordinal=0 name= status=1 2\nRETURNVALUE ordinal=1 name= status=1 3\n"; !strings.Contains(got, want) {
			t.Errorf("sp_cursorprepexec: %s", got)
		}
		assertTokens(t, c.call(rawCallByNumber(4, rawParam{v: 2}, out, scroll, out, out)), opened(1, 2, 3, 4, 4))
	}
}

func TestCursorFetchMoves(t *testing.T) {
	t.Parallel()
	c := loggedIn(t, serve(t, &tds.Server{Handler: &canned{exec: fiveRows}}), tds74)
	c.call(rawCallByNumber(2, rawParam{output: true}, rawParam{v: "five"}))
	for _, step := range []struct {
		name         string
		typ, row, n  int
		first, final int
	}{
		{"next from before the first", 2, 0, 2, 1, 2},
		{"next", 2, 0, 2, 3, 4},
		{"next at the end", 2, 0, 2, 5, 5},
		{"next after the end", 2, 0, 2, 1, 0},
		{"previous from after the end", 4, 0, 2, 4, 5},
		{"first", 1, 0, 3, 1, 3},
		{"last", 8, 0, 2, 4, 5},
		{"absolute", 16, 3, 1, 3, 3},
		{"absolute from the end", 16, -2, 1, 4, 4},
		{"relative", 32, -2, 2, 2, 3},
		{"refresh", 0x80, 0, 2, 2, 3},
		{"previous beyond the first", 4, 0, 3, 1, 3},
		{"absolute before the first", 16, 0, 2, 1, 1},
		{"a huge number of rows", 1, 0, 1 << 30, 1, 5},
		{"a huge row", 16, 1 << 30, 1, 1, 0},
	} {
		t.Log(step.name)
		assertTokens(t, c.call(rawCallByNumber(7, rawParam{v: 1}, rawParam{v: step.typ}, rawParam{v: step.row}, rawParam{v: step.n})), fetched(step.first, step.final))
	}
	c.call(rawCallByNumber(7, rawParam{v: 1}, rawParam{v: 16}, rawParam{v: 4}, rawParam{v: 1}))
	for range 20 { // the order is part of the answer
		assertTokens(t, c.call(rawCallByNumber(7, rawParam{v: 1}, rawParam{v: 0x100}, rawParam{output: true}, rawParam{output: true})), `
			RETURNSTATUS 0
			RETURNVALUE ordinal=2 name= status=1 4
			RETURNVALUE ordinal=3 name= status=1 5
			DONEPROC status=00 cmd=e0 rows=0`)
	}
}

func TestCursorsThatDoNotExistOrCannotBe(t *testing.T) {
	t.Parallel()
	c := loggedIn(t, serve(t, &tds.Server{Handler: &canned{exec: fiveRows}}), tds74)
	c.call(rawCallByNumber(2, rawParam{output: true}, rawParam{v: "five"}))
	for name, x := range map[string]struct {
		call []byte
		want string
	}{
		"fetch of an unknown cursor":   {rawCallByNumber(7, rawParam{v: 99}), "ERROR 16916 "},
		"a fetch of an unknown kind":   {rawCallByNumber(7, rawParam{v: 1}, rawParam{v: 3}), "ERROR 16902 "},
		"close of an unknown cursor":   {rawCallByNumber(9, rawParam{v: 99}), "ERROR 16916 "},
		"a positioned change":          {rawCallByNumber(1, rawParam{v: 1}), "ERROR 16929 "},
		"a statement without a result": {rawCallByNumber(2, rawParam{output: true}, rawParam{v: "none"}), "ERROR 16937 "},
		"a statement that fails":       {rawCallByNumber(2, rawParam{output: true}, rawParam{v: "unknown"}), "ERROR 2812 "},
		"open without a statement":     {rawCallByNumber(2, rawParam{output: true}), "ERROR 201 "},
		"execution of no statement":    {rawCallByNumber(4, rawParam{v: 7}, rawParam{}), "ERROR 8179 "},
	} {
		if got := show7(c.call(x.call)); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	assertTokens(t, c.call(rawCallByNumber(9, rawParam{v: 1})), cursorEnd)
	if got := show7(c.call(rawCallByNumber(7, rawParam{v: 1}))); !strings.HasPrefix(got, "ERROR 16916 ") {
		t.Errorf("fetch after the close: %s", got)
	}
}

// The rows of all cursors of a session have one bound, which a cursor that is closed gives back.
func TestCursorsHoldNoMoreThanTheirBound(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int64]string{0: "", 200: "", 70: "ERROR 50001 ", 10: "ERROR 50001 "} {
		c := loggedIn(t, serve(t, &tds.Server{Handler: &canned{exec: fiveRows}, CursorMemory: bound}), tds74)
		opening := rawCallByNumber(2, rawParam{output: true}, rawParam{v: "five"})
		if got := show7(c.call(opening)); strings.HasPrefix(got, "ERROR 50001 ") != (bound == 10) {
			t.Errorf("%d bytes: %s", bound, got)
		}
		if got := show7(c.call(opening)); strings.HasPrefix(got, "ERROR 50001 ") != (want != "") {
			t.Errorf("%d bytes, a second one: %s", bound, got)
		}
		if bound == 70 {
			c.call(rawCallByNumber(9, rawParam{v: 1}))
			if got := show7(c.call(opening)); strings.HasPrefix(got, "ERROR") {
				t.Errorf("%d bytes, when the first is closed: %s", bound, got)
			}
		}
	}
}
