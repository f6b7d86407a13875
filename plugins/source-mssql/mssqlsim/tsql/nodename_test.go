package tsql

import (
	goast "go/ast"
	"go/build"
	goparser "go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sqlc-dev/teesql/ast"
)

// TestNodeNames: messages name each statement, expression and option that the parser's tree may hold by words of T-SQL. A type that
// a new version of the parser adds fails here before a user sees its name.
func TestNodeNames(t *testing.T) {
	t.Parallel()
	p, err := build.Import("github.com/sqlc-dev/teesql/ast", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", p.Dir, len(files), err)
	}
	// the methods that make a type one of those that reach a message
	marks := map[string]bool{"statement": true, "scalarExpression": true, "expression": true, "booleanExpression": true, "tableReference": true, "queryExpression": true, "groupingSpecification": true,
		"databaseOption": true, "createDatabaseOption": true, "indexOption": true, "tableOption": true, "optimizerHint": true, "tableHint": true, "constraintDefinition": true, "tableConstraint": true, "mergeAction": true,
		"insertSource": true, "alterRoleAction": true, "restoreOptionNode": true, "backupOption": true, "executableEntity": true, "selectElement": true, "dataTypeReference": true, "setCommand": true,
		"principalOptionNode": true, "dropIndexOption": true, "userOptionNode": true, "createLoginSource": true}
	seen := map[string]int{}
	for _, file := range files {
		f, err := goparser.ParseFile(gotoken.NewFileSet(), file, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*goast.FuncDecl)
			if !ok || fn.Recv == nil || !marks[fn.Name.Name] {
				continue
			}
			seen[fn.Name.Name]++
			typ := fn.Recv.List[0].Type
			if s, ok := typ.(*goast.StarExpr); ok {
				typ = s.X
			}
			name := typ.(*goast.Ident).Name
			words, ok := statementNames[name]
			if fn.Name.Name != "statement" {
				words, ok = nodeNames[name]
			}
			if !ok || words == "" || camel.MatchString(words) {
				t.Errorf("the type %s has no words of T-SQL, but %q", name, words)
			}
		}
	}
	for m := range marks {
		if seen[m] == 0 {
			t.Errorf("the parser has no types of the kind %s any more", m)
		}
	}
	if got := nodeName(nil); got != "what is written here" {
		t.Errorf("nothing is called %q", got)
	}
	if got := nodeName(&ast.AlterRoleStatement{}); got != "ALTER ROLE" {
		t.Errorf("ALTER ROLE is called %q", got)
	}
	for kind, want := range map[string]string{"IgnoreDupKey": "IGNORE_DUP_KEY", "ALLOW": "ALLOW", "auto_close": "AUTO_CLOSE", "AutoClose": "AUTO_CLOSE"} {
		if got := optionWord(kind); got != want {
			t.Errorf("%s is spelled %s, not %s", kind, got, want)
		}
	}
}

// camel is a word that is spelled as the parser spells its own.
var camel = regexp.MustCompile(`[a-z][A-Z]`)
