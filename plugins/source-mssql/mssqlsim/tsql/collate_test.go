package tsql

import (
	"strings"
	"testing"
)

func TestCollateIsRewritten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"SELECT CAST(@p COLLATE Greek_CI_AS AS varchar(5))", "SELECT CAST(MSSQLSIM_COLLATE(@p, 'Greek_CI_AS') AS varchar(5))"},
		{"WHERE t.[a b] COLLATE X_BIN2 = 'x'", "WHERE MSSQLSIM_COLLATE(t.[a b], 'X_BIN2') = 'x'"},
		{"WHERE LEFT(a, (2)) COLLATE X_BIN2 = N'x' COLLATE X_BIN2", "WHERE MSSQLSIM_COLLATE(LEFT(a, (2)), 'X_BIN2') = MSSQLSIM_COLLATE(N'x', 'X_BIN2')"},
		{"CREATE TABLE t (a varchar(5) COLLATE X_BIN2 NOT NULL)", "CREATE TABLE t (a varchar(5) COLLATE X_BIN2 NOT NULL)"},
		{"SELECT 'a collate b', [collate x] -- collate", "SELECT 'a collate b', [collate x] -- collate"},
		{"SELECT type, a.type FROM t", "SELECT [type], a.[type] FROM t"},
	} {
		if got := rewrite(tc.in); got != tc.want {
			t.Errorf("%s\nbecame %s\nwant   %s", tc.in, got, tc.want)
		}
	}
}

// The parser's ways are of no concern to texts, quoted names and comments.
func TestWordsOfPermissionsAreRewrittenOutsideTextsOnly(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"GRANT Alter /* all */ ANY\tLogin TO x", "GRANT Alter /* all */ ANY\tMSSQLSIM_LOGIN TO x"},
		{"SELECT N'alter any login', [alter any login] -- alter any login", "SELECT N'alter any login', [alter any login] -- alter any login"},
		{"CREATE LOGIN l WITH PASSWORD = N'x'", "CREATE LOGIN l WITH PASSWORD = 'x'"},
		{"SELECT @login, login_name, any_login", "SELECT @login, login_name, any_login"},
	} {
		if got := quoteLogin(tc.in); got != tc.want {
			t.Errorf("%s\nbecame %s\nwant   %s", tc.in, got, tc.want)
		}
	}
}

func TestHasWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"merge": true, "MERGE dbo.t": true, "; Merge;": true, "[merge]": true, "/*merge*/": true, "unmerge merge": true,
		"": false, "merg": false, "merged": false, "unmerge": false, "@merge": false, "#merge": false, "merge_": false, "émerge": false, "mer ge": false,
	} {
		if hasWord(text, "merge") != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// Cutting a statement into tokens loses nothing, whatever it holds.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT 'it''s' [a]]b] -- c\n/* d */ @x", "'", "[", "/*", "--", "N'ü' COLLATE", "COLLATE x", ") COLLATE x", "((a) COLLATE b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		for _, x := range tokens(s) {
			b.WriteString(x.text)
		}
		if b.String() != s {
			t.Fatalf("%q became %q", s, b.String())
		}
		rewrite(s)
	})
}
