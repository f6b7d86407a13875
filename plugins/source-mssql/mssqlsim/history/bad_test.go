package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
)

const (
	goodInstance = `{"kind":"instance","name":"dbo_t","table":"dbo.t","start_lsn":"0x0000002A000001000001","time":null,"ordinal":0,"key":["id"],"columns":[{"name":"id","sql":"int"},{"name":"note","sql":"nvarchar(5)"}]}`
	goodCommit   = `{"kind":"commit","lsn":"0x0000002A000001000011","time":"2026-05-04T09:00:30.000","ops":[{"table":"dbo.t","op":"insert","n":1,"before":null,"after":{"id":1,"note":null}}]}`
	goodStep     = `{"kind":"step","name":"01","action":"stream","args":{}}`
)

// play opens a history of these lines and plays it to its end, step by step or at once.
func playLines(t *testing.T, text string, stepwise bool) (file string, err error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "life.ndjson")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := cdc.NewServer(cdc.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.AddLogin("sa", "x", true)
	p, err := Open(file, s.Database("shop"), Options{})
	if err != nil {
		return file, err
	}
	if !stepwise {
		return file, p.Drain(t.Context())
	}
	for {
		if _, err := p.Next(t.Context()); err != nil {
			return file, err
		}
	}
}

func TestBadHistories(t *testing.T) {
	t.Parallel()
	commit := func(old, by string) string {
		if !strings.Contains(goodCommit, old) {
			t.Fatalf("no %s in %s", old, goodCommit)
		}
		return goodInstance + "\n" + goodStep + "\n" + strings.Replace(goodCommit, old, by, 1) + "\n"
	}
	later := strings.NewReplacer("0011", "0021", `"id":1`, `"id":2`).Replace(goodCommit)
	for name, tc := range map[string]struct {
		text string
		line string
		part string
	}{
		"no line":                   {"", "", "it holds no event"},
		"blank lines":               {"\n\r\n  \n", "", "it holds no event"},
		"a line that is cut off":    {goodInstance + "\n" + goodCommit[:len(goodCommit)/2], "line 2", "unexpected EOF"},
		"no JSON":                   {goodInstance + "\n\nwhat?\n", "line 3", "invalid character 'w'"},
		"two events on a line":      {goodInstance + goodCommit, "line 1", "more than one"},
		"an unknown field":          {commit(`"ops":`, `"opss":`), "line 3", `unknown field "opss"`},
		"an unknown field of an op": {commit(`"n":1`, `"m":1`), "line 3", `unknown field "m"`},
		"an unknown kind":           {goodInstance + "\n" + `{"kind":"comit"}`, "line 2", `the kind "comit" is not known`},
		"no kind":                   {"{}\n", "line 1", `the kind "" is not known`},
		"an unknown operation":      {commit(`"insert"`, `"upsert"`), "line 3", `the operation "upsert" is not known`},
		"no LSN":                    {commit("0x0000002A000001000011", ""), "line 3", `the LSN ""`},
		"an LSN that is none":       {commit("0x0000002A000001000011", "0x2A"), "line 3", `the LSN "0x2A"`},
		"an LSN that stands still":  {goodInstance + "\n" + goodCommit + "\n" + strings.Replace(goodCommit, `"id":1`, `"id":2`, 1), "line 3", "0x0000002A000001000011"},
		"an LSN that goes back":     {goodInstance + "\n" + later + "\n" + goodCommit, "line 3", "0x0000002A000001000011"},
		"an idle LSN that goes back": {goodInstance + "\n" + later + "\n" + `{"kind":"idle","lsn":"0x0000002A000001000011","time":"2026-05-04T09:00:31.000"}`, "line 3",
			"0x0000002A000001000011"},
		"a time that is none":          {commit("2026-05-04T09:00:30.000", "yesterday"), "line 3", `the time "yesterday"`},
		"a column that is missing":     {commit(`,"note":null`, ``), "line 3", `the column note is missing`},
		"a column that is not there":   {commit(`"note":null`, `"note":null,"city":"Bern"`), "line 3", `there is no column city`},
		"a value of another type":      {commit(`"id":1`, `"id":"one"`), "line 3", "column id"},
		"a value that does not fit":    {commit(`"id":1`, `"id":2147483648`), "line 3", "column id"},
		"a text that does not fit":     {commit(`"note":null`, `"note":"longer than five"`), "line 3", "note"},
		"a list as a value":            {commit(`"id":1`, `"id":[1]`), "line 3", "column id"},
		"true as a number":             {commit(`"id":1`, `"id":true`), "line 3", "column id"},
		"a fraction as an int":         {commit(`"id":1`, `"id":1.5`), "line 3", "column id"},
		"no row after an insert":       {commit(`{"id":1,"note":null}`, `null`), "line 3", "no row"},
		"a table that is not there":    {commit(`"table":"dbo.t"`, `"table":"dbo.u"`), "line 3", "dbo.u"},
		"a number of another type":     {commit(`"n":1`, `"n":"1"`), "line 3", "Op.ops.n"},
		"a row that is not there":      {goodInstance + "\n" + strings.NewReplacer(`"insert"`, `"delete"`, `"before":null,"after":{"id":1,"note":null}`, `"before":{"id":1,"note":null},"after":null`).Replace(goodCommit), "line 2", "dbo.t"},
		"a row that is there":          {goodInstance + "\n" + goodCommit + "\n" + strings.Replace(later, `"id":2`, `"id":1`, 1), "line 3", "dbo.t"},
		"a type that is none":          {strings.Replace(goodInstance, "nvarchar(5)", "text5", 1), "line 1", "text5"},
		"an instance a second time":    {goodInstance + "\n" + goodInstance, "line 2", "dbo_t"},
		"cleanup of no instance":       {goodInstance + "\n" + `{"kind":"cleanup","instance":"dbo_u","low_lsn":"0x0000002A000001000011"}`, "line 2", "dbo_u"},
		"a drop of no instance":        {goodInstance + "\n" + `{"kind":"drop_instance","name":"dbo_u"}`, "line 2", "dbo_u"},
		"DDL that is not understood":   {goodInstance + "\n" + `{"kind":"ddl","lsn":"0x0000002A000001000011","table":"dbo.t","column":"x","command":"TRUNCATE TABLE dbo.t"}`, "line 2", "TRUNCATE"},
		"a read without its step":      {goodInstance + "\n" + `{"kind":"read","step":"01","table":"dbo.t","commits":1}` + "\n" + goodCommit, "line 2", "read"},
		"a read of more than there is": {goodInstance + "\n" + goodStep + "\n" + `{"kind":"read","step":"01","table":"dbo.t","commits":2}` + "\n" + goodCommit, "line 3", "2 commits"},
		"a read of another step":       {goodInstance + "\n" + goodStep + "\n" + `{"kind":"read","step":"02","table":"dbo.t","commits":1}` + "\n" + goodCommit, "line 3", `the step "02"`},
		"a read of another kind":       {goodInstance + "\n" + goodStep + "\n" + `{"kind":"read","step":"01","table":"dbo.t","commits":1}` + "\n" + goodStep, "line 3", "1 commits"},
		"a step without a name":        {goodInstance + "\n" + `{"kind":"step","action":"stream"}`, "line 2", "a step needs a name and an action"},
		"a step without an action":     {goodInstance + "\n" + `{"kind":"step","name":"01"}`, "line 2", "a step needs a name and an action"},
	} {
		for _, stepwise := range []bool{false, true} {
			file, err := playLines(t, tc.text, stepwise)
			if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), tc.line) || !strings.Contains(err.Error(), tc.part) {
				t.Errorf("%s, stepwise %v: %v; want the file, %s and %q", name, stepwise, err, tc.line, tc.part)
			}
		}
	}
}

// Lines may end as on Windows, and blank ones may stand between.
func TestLinesMayEndWithCRLF(t *testing.T) {
	t.Parallel()
	if _, err := playLines(t, "\r\n"+goodInstance+"\r\n\r\n"+goodCommit+"\r\n"+goodStep, false); err != nil {
		t.Error(err)
	}
}
