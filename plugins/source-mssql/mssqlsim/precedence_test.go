package mssqlsim

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Microsoft: Operator Precedence (Transact-SQL). Multiplication, division and modulus are before all others, which are of one
// level, and within a level the left one is first.
func TestOperatorPrecedence(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	places := []string{
		"SELECT %s", "SELECT 'a', %s AS x, 'b'", "SELECT TOP 1 %s", "SELECT TOP (1) WITH TIES %s ORDER BY 1", "SELECT DISTINCT %s", "SELECT ALL %s",
		"SELECT @r = %s; SELECT @r", "SET @r = %s; SELECT @r", "SET @r = 0; SELECT @r += %s; SELECT @r", "SELECT ISNULL(%s, 0)", "SELECT CASE WHEN 1 = 1 THEN %s END",
		"SELECT x FROM (VALUES (0, %s)) v (y, x)", "SELECT x FROM (SELECT %s AS x) d", "WITH c AS (SELECT %s AS x) SELECT x FROM c", "SELECT SUM(%s)", "SELECT (SELECT %s)",
		"DECLARE @t table (x int); INSERT @t SELECT %s; SELECT x FROM @t", "SELECT 'a' UNION ALL SELECT CAST(%s AS varchar(12)) ORDER BY 1",
	}
	rapid.Check(t, func(t *rapid.T) {
		text, want := chain(t)
		place := rapid.SampledFrom(places).Draw(t, "place")
		batch := "DECLARE @a int = 2, @b int = 7, @r int; " + fmt.Sprintf(place, text)
		got := ask(conn, batch, false)
		got = strings.TrimSuffix(got, ";a") // of the union
		got = strings.TrimSuffix(strings.TrimPrefix(got, "a|"), "|b")
		if got != fmt.Sprint(want) {
			t.Fatalf("%s\n got %s\nwant %d", batch, got, want)
		}
		for _, test := range []string{"IF %s = %d SELECT 'yes'", "SELECT 'yes' WHERE %s = %d", "SELECT 'yes' WHERE %[2]d BETWEEN %[1]s AND %[1]s", "SELECT 'yes' WHERE %[2]d IN (99999, %[1]s)"} {
			batch := "DECLARE @a int = 2, @b int = 7; " + fmt.Sprintf(test, text, want)
			if got := ask(conn, batch, false); got != "yes" {
				t.Fatalf("%s\n got %s", batch, got)
			}
		}
	})
}

// chain draws operands and operators without parentheses, and gives their value.
func chain(t *rapid.T) (text string, value int) {
	type term struct {
		op    string
		value int
	}
	operand := func() (string, int) {
		n := rapid.IntRange(1, 9).Draw(t, "operand")
		text := map[int]string{2: "@a", 7: "@b", 3: "(5 - 2)", 4: "ABS(4)"}[n]
		if text == "" {
			text = fmt.Sprint(n)
		}
		return text, n
	}
	text, first := operand()
	terms := []term{{"+", first}}
	for range rapid.IntRange(1, 5).Draw(t, "operators") {
		op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%", "&", "|", "^"}).Draw(t, "operator")
		s, n := operand()
		text += rapid.SampledFrom([]string{" ", ""}).Draw(t, "blank") + op + " " + s
		last := &terms[len(terms)-1]
		switch op {
		case "*":
			last.value *= n
		case "/":
			last.value /= n
		case "%":
			last.value %= n
		default:
			terms = append(terms, term{op, n})
		}
	}
	for _, x := range terms {
		switch x.op {
		case "+":
			value += x.value
		case "-":
			value -= x.value
		case "&":
			value &= x.value
		case "|":
			value |= x.value
		case "^":
			value ^= x.value
		}
	}
	return text, value
}

// NOT is before AND, AND before OR (Microsoft: Operator Precedence (Transact-SQL)).
func TestLogicalPrecedence(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	truth := []string{"1 = 0", "1 = 1"}
	for n := range 16 {
		p, q, r, s := n&1 != 0, n&2 != 0, n&4 != 0, n&8 != 0
		of := func(b int) string { return truth[n>>b&1] }
		for text, want := range map[string]bool{
			fmt.Sprintf("NOT %s OR %s AND %s", of(0), of(1), of(2)):                  !p || q && r,
			fmt.Sprintf("%s OR %s AND NOT %s OR %s", of(0), of(1), of(2), of(3)):     p || q && !r || s,
			fmt.Sprintf("%s AND %s OR %s AND %s", of(0), of(1), of(2), of(3)):        p && q || r && s,
			fmt.Sprintf("NOT %s AND NOT %s OR %s", of(0), of(1), of(2)):              !p && !q || r,
			fmt.Sprintf("NOT 1 BETWEEN %d AND 1 AND %s OR %s", n&1, of(1), of(2)):    r,
			fmt.Sprintf("1 NOT IN (%d) AND %s OR NOT 'a' LIKE 'b'", n&1, of(1)):      true,
			fmt.Sprintf("(%s OR %s) AND (%s OR NOT %s)", of(0), of(1), of(2), of(3)): (p || q) && (r || !s),
		} {
			batch := "SELECT CASE WHEN " + text + " THEN 1 ELSE 0 END"
			if got := ask(conn, batch, false); (got == "1") != want || got != "0" && got != "1" {
				t.Errorf("%s: got %s, want %v", batch, got, want)
			}
		}
	}
}

// Parentheses with which a condition begins are those of a value where an operator follows (Microsoft: Search Condition
// (Transact-SQL); Operator Precedence (Transact-SQL)).
func TestConditionsThatBeginWithParentheses(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"twice", "SELECT 'yes' WHERE ((5 - 2)) * 2 = 6 AND (1 = 1)", "yes"},
		{"condition in parentheses", "SELECT 'yes' WHERE ((5 - 2) * 2 = 6 OR (1) % 2 = 0)", "yes"},
		{"subquery", "IF (SELECT 1) + 1 = 2 SELECT 'yes'", "yes"},
		{"time zone", "DECLARE @d datetime2 = '2020-01-01'; SELECT 'yes' WHERE (@d) AT TIME ZONE 'UTC' = '2020-01-01'", "yes"},
		{"join", "SELECT COUNT(*) FROM (VALUES (1), (2)) a (x) JOIN (VALUES (2)) b (x) ON (a.x) + 1 = b.x", "1"},
		{"variable first in time zone", "DECLARE @d datetime2(0) = '2020-01-01'; SELECT CONVERT(varchar(30), x, 126) FROM (SELECT @d AT TIME ZONE 'UTC' AS x) d", "2020-01-01T00:00:00+00:00"},
		{"variable of the server first", "SELECT @@OPTIONS & 0, @@TRANCOUNT | 5, @@TRANCOUNT % 2", "0|5|0"},
		{"in the text of a definition", "CREATE TABLE dbo.checked (a int CHECK ((a) + 1 > 0), b AS (a) & 3 + 1); SELECT c.definition, b.definition FROM sys.check_constraints c CROSS JOIN sys.computed_columns b",
			"(([a]+(1))>(0))|(([a]&(3))+(1))"},
	})
}
