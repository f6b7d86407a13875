package tsql_test

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"
	"github.com/sqlc-dev/teesql/parser"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

var (
	collateInCast = regexp.MustCompile(` COLLATE [A-Za-z0-9_]+ AS `)
	// settings are what may stand before the one statement of a text.
	settings = regexp.MustCompile(`\A(SET LOCK_TIMEOUT [0-9]+; )?(SET TRANSACTION ISOLATION LEVEL SNAPSHOT; )?`)
	// plain is what a text is made of outside of names and texts.
	plain = regexp.MustCompile(`\A[A-Za-z0-9_@$., ()=<>*/+;-]*\z`)
)

// gate holds a text to what SQL Server accepts and the parser (teesql v1.1.0) is too lenient to refuse: one statement,
// which is a SELECT or a call that says EXEC, behind the settings that stand there; brackets, quotes and parentheses
// closed; no sign outside of them that T-SQL does not know (id::int); no ORDER BY where rows have no order
// (Microsoft: SELECT - ORDER BY Clause); no FOR clause; nothing that the tree leaves out.
func gate(text string) error {
	outside, err := outsideQuotes(text)
	if err != nil {
		return err
	}
	if !plain.MatchString(outside) {
		return fmt.Errorf("it holds a sign that none of the source's statements has: %q", outside)
	}
	if strings.Contains(outside, "--") || strings.Contains(outside, "/*") {
		return fmt.Errorf("it holds a comment")
	}
	// The parser misreads COLLATE inside CAST.
	script, err := parser.Parse(context.Background(), strings.NewReader(collateInCast.ReplaceAllString(text, " AS ")))
	if err != nil {
		return err
	}
	if len(script.Batches) != 1 {
		return fmt.Errorf("it reads as %d batches", len(script.Batches))
	}
	list, want := script.Batches[0].Statements, 1+strings.Count(settings.FindString(text), ";")
	if len(list) != want {
		return fmt.Errorf("it reads as %d statements, want %d", len(list), want)
	}
	body := text[len(settings.FindString(text)):]
	var query ast.QueryExpression
	switch s := list[want-1].(type) {
	case *ast.SelectStatement:
		if s.Into != nil || len(s.OptimizerHints) > 0 {
			return fmt.Errorf("it has INTO or hints")
		}
		if s.WithCtesAndXmlNamespaces != nil {
			return fmt.Errorf("it has common table expressions, which this gate does not look into")
		}
		query = s.QueryExpression
	case *ast.ExecuteStatement:
		if !strings.HasPrefix(body, "EXEC sys.sp_") {
			return fmt.Errorf("it reads as a call and does not begin with EXEC sys.sp_")
		}
		return nil
	default:
		return fmt.Errorf("it is a %T", s)
	}
	seen := clauses{}
	if err := seen.walk(reflect.ValueOf(query), query); err != nil {
		return err
	}
	if words := len(offsetWord.FindAllString(outside, -1)); words != seen.offsets {
		return fmt.Errorf("OFFSET stands %d times in the text, %d times in the tree", words, seen.offsets)
	}
	return nil
}

var offsetWord = regexp.MustCompile(`(?i)\bOFFSET\b`)

// outsideQuotes gives a text with every quoted name and text cut down to its quotes.
func outsideQuotes(text string) (string, error) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		shut := map[byte]byte{'\'': '\'', '[': ']', '"': '"'}[c]
		if shut == 0 {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			case ']':
				return "", fmt.Errorf("a bracket is closed that was not opened")
			}
			if depth < 0 {
				return "", fmt.Errorf("a parenthesis is closed that was not opened")
			}
			b.WriteByte(c)
			continue
		}
		if c == '"' {
			return "", fmt.Errorf("it holds a double quote, which means one thing or another by a setting of the session")
		}
		for i++; i < len(text) && (text[i] != shut || i+1 < len(text) && text[i+1] == shut); i++ {
			if c == '[' && text[i] == '[' { // a server takes it for a part of the name
				return "", fmt.Errorf("a bracket is opened inside of another")
			}
			if text[i] == shut { // doubled
				i++
			}
		}
		if i >= len(text) {
			return "", fmt.Errorf("%c is not closed", c)
		}
		b.WriteString("Q") // any name
	}
	if depth > 0 {
		return "", fmt.Errorf("%d parentheses are not closed", depth)
	}
	return b.String(), nil
}

// clauses are what a walk over a query finds.
type clauses struct{ offsets int }

func (c *clauses) walk(v reflect.Value, top ast.QueryExpression) error {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if v.Kind() == reflect.Pointer {
			if err := c.node(v.Interface(), top); err != nil {
				return err
			}
		}
		return c.walk(v.Elem(), top)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if err := c.walk(v.Field(i), top); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := c.walk(v.Index(i), top); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *clauses) node(n any, top ast.QueryExpression) error {
	nested := fmt.Errorf("ORDER BY in a derived table or subquery without TOP or OFFSET, error 1033 on a server")
	switch x := n.(type) {
	case *ast.QuerySpecification:
		if x.ForClause != nil {
			return fmt.Errorf("it has a FOR clause")
		}
		if x.OffsetClause != nil {
			c.offsets++
		}
		if x != top && x.OrderByClause != nil && x.TopRowFilter == nil && x.OffsetClause == nil {
			return nested
		}
	case *ast.BinaryQueryExpression:
		if x != top && x.OrderByClause != nil {
			return nested
		}
	}
	return nil
}

func TestEveryStatementPassesTheGate(t *testing.T) {
	t.Parallel()
	for _, q := range all(t) {
		if err := gate(q.Text); err != nil {
			t.Errorf("%s: %v\n%s", q.Name, err, q.Text)
		}
	}
}

// The gate is shut to what no server accepts, made of statements that it lets pass.
func TestTheGateIsShut(t *testing.T) {
	t.Parallel()
	orders := tsql.TableRead{Table: tsql.Table{Schema: "dbo", Name: "orders"}, Locking: tsql.Locking{Isolation: tsql.Snapshot, TimeoutMillis: 500}}
	rows, err := orders.Rows([]string{"order_id"}, tsql.Range{Keys: []tsql.KeyColumn{{Name: "order_id"}}, Lo: tsql.Bound{{Text: "7"}}})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := orders.KeyBound(tsql.Range{Keys: []tsql.KeyColumn{{Name: "order_id"}}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	tiles, err := orders.Tiles([]string{"order_id"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := tsql.Changes{Instance: "dbo_orders", From: "0x1", To: "0x2", Columns: []string{"a'b]"}, CommandID: true}.Query()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []tsql.Query{rows, bound, tiles, changes, tsql.Ping(), tsql.CaptureInstances()} {
		if err := gate(q.Text); err != nil {
			t.Fatalf("%s: %v", q.Text, err)
		}
	}
	swap := func(text, old, by string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%q does not hold %q", text, old)
		}
		return strings.Replace(text, old, by, 1)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"a word too many", changes.Text + " LIMIT 10", "reads as 2 statements, want 1"},
		{"another statement", rows.Text + "; SELECT 1", "reads as 4 statements, want 3"},
		{"another statement before", "SET NOCOUNT ON; " + changes.Text, "reads as 2 statements, want 1"},
		{"settings in another order", swap(rows.Text, "SET LOCK_TIMEOUT 500; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ", "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SET LOCK_TIMEOUT 500; "), "reads as 3 statements, want 2"},
		{"another batch", changes.Text + "\nGO\nSELECT 1", "sign"},
		{"a call without EXEC", swap(tsql.CaptureInstancesOf(orders.Table).Text, "EXEC ", ""), "LabelStatement"},
		{"a call by its bare name", "sp_spaceused @objname = @object", "does not begin with EXEC"},
		{"a call of something else", "EXEC xp_cmdshell", "does not begin with EXEC"},
		{"ORDER BY in a derived table", swap(bound.Text, "SELECT TOP (4) [order_id]", "SELECT [order_id]"), "error 1033"},
		{"ORDER BY in a derived table of a window", swap(tiles.Text, ") AS s)", " ORDER BY [order_id]) AS s)"), "error 1033"},
		{"ORDER BY of a UNION in a derived table", "SELECT a FROM (SELECT a FROM t UNION ALL SELECT a FROM t ORDER BY a) AS x", "error 1033"},
		{"ORDER BY in a common table expression", "WITH x AS (SELECT a FROM t ORDER BY a) SELECT a FROM x", "common table expressions"},
		{"OFFSET that the tree leaves out", "SELECT a FROM t UNION ALL SELECT a FROM t ORDER BY a OFFSET 1 ROWS", "OFFSET stands 1 times in the text, 0 times in the tree"},
		{"a bracket that is not closed", swap(changes.Text, "[__$operation]", "[__$operation"), "opened inside of another"},
		{"the last bracket that is not closed", strings.TrimSuffix(changes.Text, "]"), "[ is not closed"},
		{"a bracket that is closed twice", swap(changes.Text, "[__$operation]", "[__$operation] ]"), "closed that was not opened"},
		{"a text that is not closed", tsql.Ping().Text + ", 'a", "' is not closed"},
		{"a text with a quote in it", tsql.Ping().Text + ", 'it's'", "' is not closed"},
		{"a double quote", tsql.Ping().Text + `, "a"`, "double quote"},
		{"a parenthesis that is not closed", swap(changes.Text, "@from, 1)", "@from, 1"), "not closed"},
		{"a parenthesis too many", swap(changes.Text, "@from, 1)", "@from, 1))"), "closed that was not opened"},
		{"a comment", changes.Text + " -- all", "comment"},
		{"a comment that is not closed", changes.Text + " /* all", "comment"},
		{"a cast of other dialects", swap(rows.Text, "SELECT [order_id]", "SELECT [order_id]::int"), "sign"},
		{"a marker of other drivers", swap(changes.Text, "@from", "?"), "sign"},
		{"FOR UPDATE", rows.Text + " FOR UPDATE", "FOR clause"},
		{"FOR XML", rows.Text + " FOR XML AUTO", "FOR clause"},
		{"a hint of the query", changes.Text + " OPTION (RECOMPILE)", "INTO or hints"},
		{"a copy", swap(tsql.Ping().Text, "SELECT 1 AS one", "SELECT 1 AS one INTO dbo.t"), "INTO or hints"},
		{"something that writes", "DELETE FROM dbo.orders", "DeleteStatement"},
		{"no syntax at all", swap(rows.Text, " FROM ", " FROM FROM "), ""},
	} {
		err := gate(tc.text)
		if err == nil {
			t.Errorf("%s passes the gate:\n%s", tc.name, tc.text)
		} else if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q\n%s", tc.name, err, tc.want, tc.text)
		}
	}
}
