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
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// TestEveryCodeIsDocumented finds the codes by what is passed for a parameter
// named code, wherever it is, and looks for each in docs/.
func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	found := codesOf(t)
	if len(found) < 150 {
		t.Fatalf("only %d codes are found", len(found))
	}
	docs := documents(t)
	for _, code := range slices.Sorted(maps.Keys(found)) {
		if !strings.Contains(docs, "`"+code+"`") {
			t.Errorf("`%s` stands nowhere in docs/; it is in %s", code, found[code])
		}
	}
}

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
	for _, s := range folders {
		for _, file := range s.files {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, e := range s.given(n, folders) {
					if code, ok := s.text(e); ok && strings.Contains(code, ".") {
						found[code] = strings.TrimPrefix(set.Position(e.Pos()).String(), root+string(filepath.Separator))
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
			place := 0
			for _, field := range d.Type.Params.List {
				for _, name := range field.Names {
					if name.Name == "code" {
						s.coded[d.Name.Name] = place
					}
					place++
				}
			}
		}
	}
}

// given lists what a node gives as a code.
func (s *source) given(n ast.Node, folders map[string]*source) []ast.Expr {
	switch n := n.(type) {
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
