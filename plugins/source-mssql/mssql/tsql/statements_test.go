package tsql_test

import (
	"go/ast"
	"go/parser"
	source "go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

func all(t *testing.T) []tsql.Query {
	t.Helper()
	queries, err := tsql.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(queries) < 60 {
		t.Fatalf("only %d statements are listed", len(queries))
	}
	return queries
}

// A statement that All does not list is parsed and run by no test.
func TestAllListsEveryStatement(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	made, listed := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(source.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if f.Name.Name == "All" {
				ast.Inspect(f, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						switch x := call.Fun.(type) {
						case *ast.Ident:
							listed[x.Name] = true
						case *ast.SelectorExpr:
							listed[x.Sel.Name] = true
						}
					}
					return true
				})
				continue
			}
			if !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			if x, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && x.Name == "Query" {
				made[f.Name.Name] = true
			}
		}
	}
	if len(made) < 30 || !made["Rows"] || !made["Ping"] {
		t.Fatalf("only %d functions make statements: %v", len(made), made)
	}
	for name := range made {
		if !listed[name] {
			t.Errorf("All does not list what %s makes", name)
		}
	}
}

func TestEveryParameterIsDeclaredOnceAndUsed(t *testing.T) {
	t.Parallel()
	used := regexp.MustCompile(`@[a-z]+[0-9]*`)
	for _, q := range all(t) {
		declared := map[string]bool{}
		for _, a := range q.Args {
			if declared["@"+a.Name] {
				t.Errorf("%s declares @%s twice", q.Name, a.Name)
			}
			declared["@"+a.Name] = true
			if !strings.Contains(q.Text, "@"+a.Name) {
				t.Errorf("%s does not use @%s:\n%s", q.Name, a.Name, q.Text)
			}
		}
		if strings.HasPrefix(q.Text, "EXEC") {
			continue // names of the procedure's parameters look the same
		}
		for _, p := range used.FindAllString(strings.ReplaceAll(q.Text, "@@SPID", ""), -1) {
			if !declared[p] {
				t.Errorf("%s uses %s, which is not declared:\n%s", q.Name, p, q.Text)
			}
		}
	}
}

func TestNothingIsWrittenAndNothingReadsUncommittedRows(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`(?i)\b(NOLOCK|READUNCOMMITTED|UNCOMMITTED|INSERT|UPDATE|DELETE|MERGE|INTO|CREATE|ALTER|DROP|GRANT|TRUNCATE|BEGIN|sp_cdc_enable\w*|sp_cdc_disable\w*)\b`)
	for _, q := range all(t) {
		if m := forbidden.FindString(q.Text); m != "" {
			t.Errorf("%s has %s:\n%s", q.Name, m, q.Text)
		}
	}
}

func TestOnlyTheseCatalogObjectsAreRead(t *testing.T) {
	t.Parallel()
	// What a login with SELECT on the table and its change table may read
	// (Microsoft: metadata visibility configuration; sys.sp_cdc_* permissions).
	allowed := map[string]bool{
		"sys.fn_cdc_get_max_lsn": true, "sys.fn_cdc_get_min_lsn": true, "sys.fn_cdc_increment_lsn": true, "sys.fn_cdc_decrement_lsn": true,
		"sys.sp_cdc_help_change_data_capture": true, "sys.sp_cdc_get_captured_columns": true, "sys.sp_cdc_get_ddl_history": true,
		"sys.sp_spaceused": true, "sys.columns": true, "sys.tables": true, "sys.databases": true, "sys.dm_exec_session_wait_stats": true,
		"cdc.lsn_time_mapping": true,
	}
	named := regexp.MustCompile(`\b(sys|cdc|msdb)\.[a-z_]+`)
	for _, q := range all(t) {
		for _, name := range named.FindAllString(q.Text, -1) {
			if !allowed[name] {
				t.Errorf("%s reads %s:\n%s", q.Name, name, q.Text)
			}
		}
	}
}

func TestATextDoesNotVaryWithPositions(t *testing.T) {
	t.Parallel()
	one, err := tsql.Changes{Instance: "dbo_orders", From: "0x00000000000000000001", To: "0x00000000000000000002", CommandID: true}.Query()
	if err != nil {
		t.Fatal(err)
	}
	two, err := tsql.Changes{Instance: "dbo_orders", From: "0x00000000000000000003", To: "0x00000000000000000004", CommandID: true}.Query()
	if err != nil || one.Text != two.Text {
		t.Fatalf("two ranges have two texts, %v", err)
	}
	if tsql.Increment("0x00000000000000000001").Text != tsql.Increment("0x00000000000000000002").Text {
		t.Fatal("two increments have two texts")
	}
}

func TestAServerInUTCNeedsNoZoneArithmetic(t *testing.T) {
	t.Parallel()
	q, err := tsql.Changes{Instance: "dbo_orders", From: "0x1", To: "0x2"}.Query()
	if err != nil || strings.Contains(q.Text, "TIME ZONE") || strings.Contains(q.Text, "DATEADD") {
		t.Fatalf("%v\n%s", err, q.Text)
	}
	e, err := tsql.Entry("0x1", "")
	if err != nil || strings.Contains(e.Text, "TIME ZONE") {
		t.Fatalf("%v\n%s", err, e.Text)
	}
}

func TestLocksComeBeforeEveryReadOfASourceTable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lock tsql.Locking
		want string
	}{
		{tsql.Locking{TimeoutMillis: -1}, "SELECT"},
		{tsql.Locking{TimeoutMillis: 0}, "SET LOCK_TIMEOUT 0; SELECT"},
		{tsql.Locking{Isolation: tsql.Snapshot, TimeoutMillis: -1}, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT"},
		{tsql.Locking{Isolation: tsql.Snapshot, TimeoutMillis: 500}, "SET LOCK_TIMEOUT 500; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT"},
	} {
		q, err := tsql.TableRead{Table: tsql.Table{Schema: "dbo", Name: "t"}, Locking: tc.lock}.Rows([]string{"a"}, tsql.Range{})
		if err != nil || !strings.HasPrefix(q.Text, tc.want) {
			t.Errorf("%+v: %v, %s", tc.lock, err, q.Text)
		}
	}
	if _, err := (tsql.TableRead{Table: tsql.Table{Schema: "dbo", Name: "t"}, Locking: tsql.Locking{Isolation: "uncommitted"}}).Count(tsql.Range{}); err == nil {
		t.Error("uncommitted is accepted")
	}
}
