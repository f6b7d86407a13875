package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

func TestEveryTypeHasAColumn(t *testing.T) {
	t.Parallel()
	have := map[sqltype.Kind]bool{}
	for _, c := range typedColumns {
		typ, err := sqltype.ParseType(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		have[typ.Kind] = true
	}
	for k := sqltype.Bit; k <= sqltype.RowVersion; k++ {
		if !have[k] {
			t.Errorf("no column of type %s", k)
		}
	}
}

func TestCommandsAreAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out bytes.Buffer
	in := strings.NewReader("change 3\nquiet\ntruth " + dir + "\nchange three\nsing\n")
	if err := run(context.Background(), in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{"ready sqlserver://", "ok", "ok", "ok", "error change wants a number", "error no such command: sing"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("answers are %q, want %q in place %d", lines, want, i)
		}
	}
	for table, want := range map[string]int{"types": 105 + variants - 1, "odd": 50} {
		data, err := os.ReadFile(filepath.Join(dir, table+".ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte("\n")); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
}

// The truth must keep what other forms lose.
func TestTheTruthKeepsEveryDigit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := run(context.Background(), strings.NewReader("truth "+dir+"\n"), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "types.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"c_float":"-0"`, `"c_decimal_38_10":"-9999999999999999999999999999.9999999999"`, `"c_bigint":"-9223372036854775808"`,
		`"c_datetime2_7":"9999-12-31T23:59:59.9999999"`, `"c_datetime":"9999-12-31T23:59:59.9970000"`, `"c_date":"0001-01-01"`,
		`"c_datetimeoffset":"2026-02-28T13:14:15.1234567-03:00"`, `"c_varbinary":""`, `"c_varchar":""`, `"c_varchar":null`,
	} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the truth lacks %s", want)
		}
	}
}
