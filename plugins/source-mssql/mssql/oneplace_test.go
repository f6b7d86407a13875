package mssql

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sends are methods of database/sql, of its driver interfaces and of the driver that take or begin statements.
var sends = []string{"Query", "QueryContext", "QueryRow", "QueryRowContext", "Exec", "ExecContext", "Prepare", "PrepareContext", "Begin", "BeginTx", "CopyIn", "CopyInOpts"}

// elsewhere lists what a file does that only package tsql and the function conn.open may do: making the text of a
// statement, or handing a text to the driver.
func elsewhere(name string, source any) (out []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := func(n ast.Node, format string, args ...any) {
		out = append(out, fmt.Sprintf("line %d: %s", set.Position(n.Pos()).Line, fmt.Sprintf(format, args...)))
	}
	ours := "tsql"
	for _, imp := range file.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		switch {
		case strings.HasSuffix(path, "/mssql/tsql") && imp.Name != nil:
			if ours = imp.Name.Name; ours == "." {
				found(imp, "package tsql is imported without its name")
			}
		case path == "database/sql":
			found(imp, "database/sql is imported: the source speaks to the driver, by conn.open")
		case path == "reflect" || path == "unsafe":
			found(imp, "%s is imported", path)
		}
	}
	isQuery := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == ours && s.Sel.Name == "Query"
	}
	for _, d := range file.Decls {
		where := ""
		if f, ok := d.(*ast.FuncDecl); ok {
			where = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				if isQuery(x.Type) && len(x.Elts) > 0 {
					found(x, "a statement is made")
				}
				if a, ok := x.Type.(*ast.ArrayType); ok && isQuery(a.Elt) && len(x.Elts) > 0 {
					found(x, "statements are made")
				}
			case *ast.CallExpr:
				s, ok := x.Fun.(*ast.SelectorExpr)
				if isQuery(x.Fun) {
					found(x, "a statement is made of something else")
				} else if ok && slices.Contains(sends, s.Sel.Name) && len(x.Args) > 0 && !theOne(name, where, s.Sel.Name, x.Args) {
					found(x, "%s sends something", s.Sel.Name)
				}
			case *ast.TypeSpec:
				if isQuery(x.Type) {
					found(x, "a type of statements")
				}
			case *ast.AssignStmt:
				for _, l := range x.Lhs {
					if s, ok := l.(*ast.SelectorExpr); ok && s.Sel.Name == "Text" && !isPosition(s.X) {
						found(x, "a Text is set")
					}
				}
			case *ast.UnaryExpr:
				if s, ok := x.X.(*ast.SelectorExpr); ok && x.Op == token.AND && s.Sel.Name == "Text" {
					found(x, "the address of a Text is taken")
				}
			case *ast.SelectorExpr:
				if x.Sel.Name == "SessionInitSQL" {
					found(x, "SessionInitSQL is a statement that the driver sends")
				}
			case *ast.KeyValueExpr:
				if k, ok := x.Key.(*ast.Ident); ok && k.Name == "SessionInitSQL" {
					found(x, "SessionInitSQL is a statement that the driver sends")
				}
			}
			return true
		})
	}
	return out, nil
}

// isPosition tells whether a field is a position of the stream, which has a Text, too.
func isPosition(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "DiscontinuedFrom"
}

// theOne tells whether a call is one of the two by which conn.open sends a statement: Prepare of its text, and
// QueryContext of what was prepared, which takes parameters only.
func theOne(file, where, method string, args []ast.Expr) bool {
	if filepath.Base(file) != "conn.go" || where != "open" {
		return false
	}
	switch method {
	case "Prepare":
		s, ok := args[0].(*ast.SelectorExpr)
		if !ok || s.Sel.Name != "Text" {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == "q"
	case "QueryContext":
		return len(args) == 2
	}
	return false
}

// TestStatementsAreMadeInOnePlace holds that the source sends what package tsql makes and nothing else, so that its list
// of statements is all that a server ever gets.
func TestStatementsAreMadeInOnePlace(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == filepath.Join("..", "mssqlsim") || path == filepath.Join("..", "cmd") || path == filepath.Join("..", "mssql", "tsql") || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		found, err := elsewhere(path, nil)
		for _, f := range found {
			t.Errorf("%s, %s; statements belong into package tsql, where All lists them, and go out by conn.open", path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 40 {
		t.Fatalf("only %d files were looked at", files)
	}
}

func TestAStatementElsewhereIsFound(t *testing.T) {
	t.Parallel()
	const head = "package mssql\nimport (\"context\"; \"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql\")\n"
	for name, tc := range map[string]struct{ file, body, want string }{
		"a literal":              {"x.go", head + `func f(c *conn) { c.each(nil, tsql.Query{Name: "a", Text: "SELECT 1"}, nil) }`, "a statement is made"},
		"a list of literals":     {"x.go", head + `var all = []tsql.Query{{Text: "SELECT 1"}}`, "statements are made"},
		"a text that is set":     {"x.go", head + `func f(q tsql.Query) { q.Text += " OPTION (RECOMPILE)" }`, "a Text is set"},
		"a text by its address":  {"x.go", head + `func f(q tsql.Query) { edit(&q.Text) }`, "the address of a Text"},
		"a type of one's own":    {"x.go", head + `type mine tsql.Query`, "a type of statements"},
		"a conversion":           {"x.go", head + `func f(m other) tsql.Query { return tsql.Query(m) }`, "a statement is made of something else"},
		"a call of the driver":   {"x.go", head + `func f(c *conn) { c.raw.Prepare("SELECT 1") }`, "Prepare sends something"},
		"a query of a database":  {"x.go", head + `func f(db db) { db.QueryContext(context.Background(), "SELECT 1") }`, "QueryContext sends something"},
		"a transaction":          {"x.go", head + `func f(c *conn) { c.raw.BeginTx(nil, driver.TxOptions{}) }`, "BeginTx sends something"},
		"another name":           {"x.go", strings.Replace(head, "; \"github", "; sent \"github", 1) + `var q = sent.Query{Text: "SELECT 1"}`, "a statement is made"},
		"no name":                {"x.go", strings.Replace(head, "; \"github", "; . \"github", 1) + `var q = Query{Text: "SELECT 1"}`, "without its name"},
		"database/sql":           {"x.go", "package mssql\nimport \"database/sql\"\nvar db *sql.DB", "database/sql is imported"},
		"reflection":             {"x.go", "package mssql\nimport \"reflect\"\nvar x = reflect.ValueOf(1)", "reflect is imported"},
		"what begins a session":  {"x.go", head + `func f(c *mssql.Connector) { c.SessionInitSQL = "SET NOCOUNT ON" }`, "SessionInitSQL"},
		"the same as a field":    {"x.go", head + `var c = mssql.Connector{SessionInitSQL: "SET NOCOUNT ON"}`, "SessionInitSQL"},
		"another text in open":   {"conn.go", head + `func (c *conn) open(q tsql.Query) { c.raw.Prepare(q.Text + ";") }`, "Prepare sends something"},
		"another way out":        {"conn.go", head + `func (c *conn) again(q tsql.Query) { c.raw.Prepare(q.Text) }`, "Prepare sends something"},
		"a text by QueryContext": {"conn.go", head + `func (c *conn) open(q tsql.Query) { c.raw.QueryContext(nil, "SELECT 1", nil) }`, "QueryContext sends something"},
	} {
		found, err := elsewhere(tc.file, tc.body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(strings.Join(found, "\n"), tc.want) {
			t.Errorf("%s: found %q, want %q", name, found, tc.want)
		}
	}
	if found, err := elsewhere("conn.go", head+`func (c *conn) open(q tsql.Query) { p, _ := c.raw.Prepare(q.Text); p.QueryContext(nil, nil); tsql.Changes{}.Query(); _ = tsql.Query{} }`); err != nil || len(found) > 0 {
		t.Errorf("the one place: %q, %v", found, err)
	}
}
