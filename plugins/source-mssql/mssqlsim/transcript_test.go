package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// exchange is a batch that a person typed into tsql, and what came back.
type exchange struct{ batch, answer string }

var (
	transcriptBlock = regexp.MustCompile("(?ms)^```tsql\n(.*?)^```$")
	prompted        = regexp.MustCompile(`^[0-9]+> (.*)$`)
)

// transcript takes the exchanges out of the blocks of a page.
func transcript(t testing.TB, page string) (all []exchange) {
	t.Helper()
	var batch []string
	ended := false
	for _, block := range transcriptBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			typed := prompted.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			switch {
			case ended:
				t.Errorf("a line behind quit: %s", line)
			case typed == nil && len(all) == 0, typed == nil && len(batch) > 0:
				t.Errorf("an answer where a statement is typed: %s", line)
			case typed == nil:
				all[len(all)-1].answer += line
			case len(batch) == 0 && typed[1] == "quit":
				ended = true
			case typed[1] == "GO":
				all = append(all, exchange{batch: strings.Join(batch, "\n")})
				batch = nil
			default:
				batch = append(batch, typed[1])
				if want := fmt.Sprintf("%d> ", len(batch)); !strings.HasPrefix(line, want) {
					t.Errorf("%q does not begin with %q", line, want)
				}
			}
		}
	}
	if !ended {
		t.Error("the transcript does not end with quit")
	}
	return all
}

// What a person gets in tsql who starts with an empty server is what the guide says. The real tsql is run over the same
// page by the judges; here the driver is, whose answers are written as tsql writes them.
func TestTheTranscriptOfTheGuide(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guides/simulator.md")
	must(t, err)
	exchanges := transcript(t, string(page))
	if len(exchanges) < 15 {
		t.Fatalf("%d batches", len(exchanges))
	}
	next, end := startProgram(t, nil, "-password", "pw1")
	pool := open(t, strings.Replace(dsn(t, next()), "database=shop", "", 1))
	conn, err := pool.Conn(t.Context())
	must(t, err)
	for _, x := range exchanges {
		if got := asInTsql(t.Context(), conn, x.batch); got != x.answer {
			t.Errorf("%s\n\ngives\n%s\nthe page says\n%s", x.batch, got, x.answer)
		}
	}
	must(t, conn.Close())
	if c := end(); c != 0 {
		t.Errorf("exit code %d", c)
	}
}

// asInTsql runs a batch and writes its answer as FreeTDS's tsql does, with marks for what differs each time. Of several
// procedures that a batch calls the driver knows the status of the last.
func asInTsql(ctx context.Context, conn *sql.Conn, batch string) string {
	var out strings.Builder
	var status mssql.ReturnStatus
	err := func() error {
		rows, err := conn.QueryContext(ctx, batch, &status)
		if err != nil {
			return err
		}
		defer rows.Close()
		for more := true; more; more = rows.NextResultSet() {
			if err := resultAsInTsql(&out, rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}()
	var e mssql.Error
	switch {
	case errors.As(err, &e):
		fmt.Fprintf(&out, "Msg %d (severity %d, state %d) from %s Line %d:\n\t\"%s\"\n", e.Number, e.Class, e.State, e.ServerName, e.LineNo, e.Message)
	case err != nil:
		return err.Error()
	case strings.HasPrefix(batch, "EXEC "):
		fmt.Fprintf(&out, "(return status = %d)\n", status)
	}
	return out.String()
}

func resultAsInTsql(out *strings.Builder, rows *sql.Rows) error {
	cols, err := rows.ColumnTypes()
	if err != nil || len(cols) == 0 {
		return err
	}
	values, places := make([]any, len(cols)), make([]any, len(cols))
	names, texts := make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		places[i], names[i] = &values[i], c.Name()
	}
	fmt.Fprintln(out, strings.Join(names, "\t"))
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		for i, c := range cols {
			switch v := values[i].(type) {
			case nil:
				texts[i] = "NULL"
			case bool:
				texts[i] = map[bool]string{false: "0", true: "1"}[v]
			case []byte:
				switch texts[i] = string(v); {
				case c.DatabaseTypeName() != "DECIMAL" && len(v) == 10:
					texts[i] = "<lsn>"
				case c.DatabaseTypeName() != "DECIMAL":
					texts[i] = fmt.Sprintf("%x", v)
				}
			default:
				switch texts[i] = fmt.Sprint(v); {
				case c.DatabaseTypeName() == "DATETIME":
					texts[i] = "<time>"
				case strings.HasSuffix(c.Name(), "object_id"):
					texts[i] = "<id>"
				}
			}
		}
		fmt.Fprintln(out, strings.Join(texts, "\t"))
	}
	count := "rows"
	if n == 1 {
		count = "row"
	}
	fmt.Fprintf(out, "(%d %s affected)\n", n, count)
	return nil
}
