package mssqlsim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Microsoft: SQL Server Utilities Statements - GO.
func TestScriptIsCutAtLinesGO(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ script, want string }{
		{"a\nGO\nb", "1x1 a;3x1 b"},
		{"a\n  go  \nb\nGO 3\nc", "1x1 a;3x3 b;5x1 c"},
		{"a\nGO -- the end\nb", "1x1 a;3x1 b"},
		{"a\n'\nGO\n'\nGO\nb", "1x1 a ' GO ';6x1 b"},
		{"/* x /* y */\nGO\n*/ a\nGO\nb", "1x1 /* x /* y */ GO */ a;5x1 b"},
		{"-- it's\nGO\nb", "1x1 -- it's;3x1 b"},
		{"[a\nGO\n]\nGO\n", "1x1 [a GO ];5x1 "},
		{"'a''b'\nGO\nc", "1x1 'a''b';3x1 c"},
		{"GOTO x\nGO\n", "1x1 GOTO x;3x1 "},
		{"a\nGO 0", `error line 2: "GO 0": behind GO stands nothing but how often the batch is to run`},
		{"a\nGO x", `error line 2: "GO x": behind GO stands nothing but how often the batch is to run`},
		{"a\n:setvar x 1", `error line 2: ":setvar" is a command of sqlcmd; a script here holds T-SQL and lines GO only`},
	} {
		var got []string
		list, err := batches(tc.script)
		for _, b := range list {
			got = append(got, fmt.Sprintf("%dx%d %s", b.line, b.times, strings.ReplaceAll(strings.TrimSuffix(b.text, "\n"), "\n", " ")))
		}
		if err != nil {
			got = []string{"error " + err.Error()}
		}
		if s := strings.Join(got, ";"); s != tc.want {
			t.Errorf("%q\n got %s\nwant %s", tc.script, s, tc.want)
		}
	}
}

// One session runs a script; an error names the file, the line and the batch.
func TestScriptOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ script, want string }{
		{"SELECT 1\nGO\nSELECT 2;\nSELECT *\nFROM dbo.nope", "line 4 (batch 2): error 208: Invalid object name 'dbo.nope'."},
		{"CREATE DATABASE other\nGO\nUSE other\nGO\nCREATE TABLE #t (a int)\nGO\nINSERT INTO #t VALUES (1)\nGO 3\nIF (SELECT COUNT(*) FROM #t) <> 3 OR DB_NAME() <> 'other' THROW 51000, 'no', 1;\nTHROW 51001, 'done', 1", "line 10 (batch 5): error 51001: done"},
	} {
		file := filepath.Join(t.TempDir(), "a.sql")
		must(t, os.WriteFile(file, []byte(tc.script), 0o600))
		var errs bytes.Buffer
		if code := Main(t.Context(), []string{"-sql", file}, nil, &errs, &errs); code != 1 || !strings.Contains(errs.String(), file+", "+tc.want) {
			t.Errorf("%q\n got %d %s\nwant %s", tc.script, code, errs.String(), tc.want)
		}
	}
	var errs bytes.Buffer
	if code := Main(t.Context(), []string{"-version", "2008"}, nil, &errs, &errs); code == 0 || !strings.Contains(errs.String(), "2008") {
		t.Errorf("an unknown version: %d %s", code, errs.String())
	}
}
