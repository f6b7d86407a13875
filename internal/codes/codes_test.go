// Package codes holds the test that every code of a diagnostic is documented:
// a person who is called at night searches the docs for the code that a
// message ends with.
package codes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// TestEveryCodeIsDocumented finds the codes by what is passed for a parameter
// named code or returned as a result of that name, wherever it is, and looks for
// each in docs/. A code that is put together is in no search either, so there is
// none but those of eventCodes.
func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	found := codesOf(t)
	if len(found) < 150 {
		t.Fatalf("only %d codes are found", len(found))
	}
	for _, code := range []string{"delta.corrupt", "delta.disk_full", "internal", "usage", "reconcile.sample", "stream.target", "stream.schema_change"} {
		if found[code] == "" {
			t.Errorf("the search for codes does not see %s", code)
		}
	}
	docs := documents(t)
	for _, code := range slices.Sorted(maps.Keys(found)) {
		if !strings.Contains(docs, "`"+code+"`") {
			t.Errorf("`%s` stands nowhere in docs/; it is in %s", code, found[code])
		}
	}
}

// The warning of an event of a batch has the event's name in it. A plugin names
// events: those of the bundled source are its constants that begin with event.
const (
	eventCodes  = "core/stream/batch.go"
	eventSource = "plugins/source-mssql/mssql"
)

func documents(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// source is one folder of Go files, without its tests.
type source struct {
	files  []*ast.File
	consts map[string]string
	// coded are the functions and methods with a parameter named code, by its place.
	coded map[string]int
}

// word is the form of a code.
var word = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*$`)

// codesOf maps each code to a place where it is given.
func codesOf(t *testing.T) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	folders := map[string]*source{}
	for _, top := range []string{"core", "dsl", "cmd", "plugins"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "mssqlsim" || entry.Name() == "memory") {
				return filepath.SkipDir
			}
			if entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := filepath.Dir(path)
			if folders[dir] == nil {
				folders[dir] = &source{consts: map[string]string{}, coded: map[string]int{}}
			}
			folders[dir].read(file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]string{}
	for name, text := range folders[filepath.Join(root, eventSource)].consts {
		if strings.HasPrefix(name, "event") {
			found["stream."+text] = eventSource
		}
	}
	for dir, s := range folders {
		for name, text := range s.consts { // wherever they are given
			if rest, ok := strings.CutPrefix(strings.ToLower(name), "code"); ok && rest != "" && strings.Contains(text, ".") {
				found[text] = strings.TrimPrefix(dir, root+string(filepath.Separator))
			}
		}
		for _, file := range s.files {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, e := range s.given(n, folders) {
					at := strings.TrimPrefix(set.Position(e.Pos()).String(), root+string(filepath.Separator))
					if code, ok := s.text(e); ok && word.MatchString(code) {
						found[code] = at
					} else if _, built := e.(*ast.BinaryExpr); built && !strings.HasPrefix(at, eventCodes+":") {
						t.Errorf("%s: a code is put together; write it out", at)
					}
				}
				return true
			})
		}
	}
	return found
}

func (s *source) read(file *ast.File) {
	s.files = append(s.files, file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok || d.Tok != token.CONST {
					continue
				}
				for i, name := range v.Names {
					if i < len(v.Values) {
						if text, ok := s.text(v.Values[i]); ok {
							s.consts[name.Name] = text
						}
					}
				}
			}
		case *ast.FuncDecl:
			if place, ok := placeOf(d.Type.Params); ok {
				s.coded[d.Name.Name] = place
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		// A function in a variable of another.
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			name, named := a.Lhs[0].(*ast.Ident)
			f, is := a.Rhs[0].(*ast.FuncLit)
			if named && is {
				if place, ok := placeOf(f.Type.Params); ok {
					s.coded[name.Name] = place
				}
			}
		}
		return true
	})
}

// placeOf is the place of code in a list of parameters or results.
func placeOf(fields *ast.FieldList) (place int, ok bool) {
	if fields == nil {
		return 0, false
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			if name.Name == "code" {
				return place, true
			}
			place++
		}
	}
	return 0, false
}

// returned lists what the returns of a function give as its result named code.
func returned(f *ast.FuncType, body *ast.BlockStmt) []ast.Expr {
	place, ok := placeOf(f.Results)
	if !ok || body == nil {
		return nil
	}
	var out []ast.Expr
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its returns are its own
		case *ast.ReturnStmt:
			if place < len(n.Results) {
				out = append(out, n.Results[place])
			}
		}
		return true
	})
	return out
}

// column lists what a table, which is a list of structures without names, has in
// the field named code.
func column(table *ast.CompositeLit) []ast.Expr {
	list, ok := table.Type.(*ast.ArrayType)
	if !ok {
		return nil
	}
	row, ok := list.Elt.(*ast.StructType)
	if !ok {
		return nil
	}
	place, ok := placeOf(row.Fields)
	if !ok {
		return nil
	}
	var out []ast.Expr
	for _, e := range table.Elts {
		if r, ok := e.(*ast.CompositeLit); ok && place < len(r.Elts) {
			if _, keyed := r.Elts[place].(*ast.KeyValueExpr); !keyed {
				out = append(out, r.Elts[place])
			}
		}
	}
	return out
}

// given lists what a node gives as a code.
func (s *source) given(n ast.Node, folders map[string]*source) []ast.Expr {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return returned(n.Type, n.Body)
	case *ast.FuncLit:
		return returned(n.Type, n.Body)
	case *ast.CompositeLit:
		return column(n)
	case *ast.CallExpr:
		coded := s.coded
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
			if of, ok := f.X.(*ast.Ident); ok && of.Name == "diag" {
				coded = folders[filepath.Join(root, "core", "diag")].coded
			} else if ok && name == "Errorf" {
				return nil // of package fmt
			}
		}
		if place, ok := coded[name]; ok && place < len(n.Args) {
			return n.Args[place : place+1]
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Code" || key.Name == "code") {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, left := range n.Lhs {
			name := ""
			switch l := left.(type) {
			case *ast.Ident:
				name = l.Name
			case *ast.SelectorExpr:
				name = l.Sel.Name
			}
			if (name == "code" || name == "Code") && len(n.Rhs) == len(n.Lhs) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	}
	return nil
}

func (s *source) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.Ident:
		text, ok := s.consts[e.Name]
		return text, ok
	}
	return "", false
}
