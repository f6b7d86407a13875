package tsql_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// cell is a value of a key column as SQL Server compares it: NULL first, text
// without case.
type cell struct {
	null bool
	text string
}

func (c cell) compare(d cell) int {
	switch {
	case c.null && d.null:
		return 0
	case c.null:
		return -1
	case d.null:
		return 1
	}
	return strings.Compare(strings.ToLower(c.text), strings.ToLower(d.text))
}

func compareKeys(a, b []cell) int {
	for i := range a {
		if c := a[i].compare(b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// evaluate is the predicates of the tests in three-valued logic cut to true or
// not: comparisons with NULL are not true.
type evaluate struct {
	tokens []string
	row    []cell
	args   map[string]string
}

var token = regexp.MustCompile(`CAST\(@[a-z0-9]+ AS [a-z0-9()]+\)|IS NOT NULL|IS NULL|AND|OR|\[k[0-9]\]|[<>=]+|[()]|1|0`)

func (e *evaluate) peek() string {
	if len(e.tokens) == 0 {
		return ""
	}
	return e.tokens[0]
}

func (e *evaluate) next() string {
	t := e.peek()
	e.tokens = e.tokens[1:]
	return t
}

func (e *evaluate) or() bool {
	v := e.and()
	for e.peek() == "OR" {
		e.next()
		w := e.and()
		v = v || w
	}
	return v
}

func (e *evaluate) and() bool {
	v := e.term()
	for e.peek() == "AND" {
		e.next()
		w := e.term()
		v = v && w
	}
	return v
}

func (e *evaluate) term() bool {
	t := e.next()
	switch {
	case t == "(":
		v := e.or()
		e.next()
		return v
	case t == "1": // 1 = 0
		e.next()
		e.next()
		return false
	}
	i, _ := strconv.Atoi(t[2:3])
	value := e.row[i]
	op := e.next()
	switch op {
	case "IS NULL":
		return value.null
	case "IS NOT NULL":
		return !value.null
	}
	param := e.next()
	name := param[strings.Index(param, "@")+1 : strings.Index(param, " ")]
	if value.null {
		return false
	}
	c := value.compare(cell{text: e.args[name]})
	switch op {
	case "=":
		return c == 0
	case "<":
		return c < 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	}
	panic("operator " + op)
}

// matches counts the pieces of a statement that select a row.
func matches(q tsql.Query, row []cell) int {
	args := map[string]string{}
	for _, a := range q.Args {
		args[a.Name] = a.Value
	}
	n := 0
	for _, piece := range strings.Split(q.Text, " UNION ALL ") {
		_, predicate, found := strings.Cut(piece, " WHERE ")
		if !found {
			n++
			continue
		}
		e := &evaluate{tokens: token.FindAllString(predicate, -1), row: row, args: args}
		if e.or() {
			n++
		}
		if len(e.tokens) > 0 {
			panic("left over: " + strings.Join(e.tokens, " ") + " of " + predicate)
		}
	}
	return n
}

func TestEveryRowOfAKeyRangeComesOnceAndNoOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "columns")
		drawCell := func(name string) cell {
			if rapid.IntRange(0, 5).Draw(t, name+" null") == 0 {
				return cell{null: true}
			}
			return cell{text: rapid.SampledFrom([]string{"a", "A", "b", "n", "N", "z"}).Draw(t, name)}
		}
		drawKey := func(name string) []cell {
			k := make([]cell, n)
			for i := range k {
				k[i] = drawCell(fmt.Sprint(name, i))
			}
			return k
		}
		bound := func(k []cell) tsql.Bound {
			var b tsql.Bound
			for _, c := range k {
				b = append(b, tsql.Value{Null: c.null, Text: c.text})
			}
			return b
		}
		r := tsql.Range{}
		for i := range n {
			r.Keys = append(r.Keys, tsql.KeyColumn{Name: fmt.Sprint("k", i), Type: "varchar(8)"})
		}
		var lo, hi []cell
		if rapid.Bool().Draw(t, "has lo") {
			lo = drawKey("lo")
			r.Lo = bound(lo)
		}
		if rapid.Bool().Draw(t, "has hi") {
			hi = drawKey("hi")
			r.Hi = bound(hi)
		}
		q, err := table.Rows([]string{"k0"}, r)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			row := drawKey("row")
			want := 1
			if lo != nil && compareKeys(row, lo) < 0 || hi != nil && compareKeys(row, hi) >= 0 {
				want = 0
			}
			if got := matches(q, row); got != want {
				t.Fatalf("row %v of [%v, %v) comes %d times, want %d\n%s", row, lo, hi, got, want, q.Text)
			}
		}
	})
}

func TestARangeOfOneLeadingValueSeeksOnAllColumns(t *testing.T) {
	t.Parallel()
	q, err := table.Rows([]string{"k1"}, tsql.Range{
		Keys: []tsql.KeyColumn{{Name: "k0", Type: "int"}, {Name: "k1", Type: "int"}},
		Lo:   tsql.Bound{{Text: "5"}, {Text: "10"}}, Hi: tsql.Bound{{Text: "5"}, {Text: "20"}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "SELECT [k1] FROM [dbo].[t] WHERE [k0] = CAST(@lo0 AS int) AND [k1] >= CAST(@lo1 AS int) AND ([k1] < CAST(@hi1 AS int) OR [k1] IS NULL)"
	if q.Text != want {
		t.Fatalf("\n%s\nwant\n%s", q.Text, want)
	}
}

// Nothing lies below NULL in every column, and that is a statement too.
func TestARangeBelowNull(t *testing.T) {
	t.Parallel()
	null := tsql.Bound{{Null: true}, {Null: true}}
	for name, lo := range map[string]tsql.Bound{"open": nil, "from NULL on": null} {
		r := tsql.Range{Keys: []tsql.KeyColumn{{Name: "a", Type: "int"}, {Name: "b", Type: "int"}}, Lo: lo, Hi: null}
		rows, err := table.Rows([]string{"a"}, r)
		seek, seekErr := table.KeyBound(r, 4)
		count, countErr := table.Count(r)
		if err != nil || seekErr != nil || countErr != nil {
			t.Fatal(name, err, seekErr, countErr)
		}
		for _, q := range []tsql.Query{rows, seek, count} {
			if !strings.Contains(q.Text, "FROM [dbo].[t] WHERE 1 = 0") {
				t.Errorf("%s: %s", name, q.Text)
			}
		}
	}
}

func TestHowABoundIsRendered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ typ, want string }{
		{"", "[k] >= 7"},
		{"bigint", "[k] >= CAST(@lo0 AS bigint)"},
		{"binary(10)", "[k] >= CONVERT(binary(10), @lo0, 1)"},
		{"varbinary(8)", "[k] >= CONVERT(varbinary(8), @lo0, 1)"},
		{"varchar(8) COLLATE Greek_CI_AS", "[k] >= CAST(@lo0 COLLATE Greek_CI_AS AS varchar(8))"},
		{"nvarchar(8)", "[k] >= CAST(@lo0 AS nvarchar(8))"},
		{"decimal(20,10)", "[k] >= CAST(@lo0 AS decimal(20,10))"},
	} {
		q, err := table.Rows([]string{"k"}, tsql.Range{Keys: []tsql.KeyColumn{{Name: "k", Type: tc.typ}}, Lo: tsql.Bound{{Text: "7"}}})
		if err != nil || !strings.HasSuffix(q.Text, " WHERE "+tc.want) {
			t.Errorf("%s: %v\n%s", tc.typ, err, q.Text)
		}
	}
	// A bound past bigint is a numeric literal.
	q, err := table.Rows([]string{"k"}, tsql.Range{Keys: []tsql.KeyColumn{{Name: "k"}}, Hi: tsql.Bound{{Text: "9223372036854775808"}}})
	if err != nil || !strings.HasSuffix(q.Text, "([k] < 9223372036854775808 OR [k] IS NULL)") {
		t.Errorf("%v\n%s", err, q.Text)
	}
}

func TestABoundFitsItsKey(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]tsql.Range{
		"too few":  {Keys: []tsql.KeyColumn{{Name: "a"}, {Name: "b"}}, Lo: tsql.Bound{{Text: "1"}}},
		"too many": {Keys: []tsql.KeyColumn{{Name: "a"}}, Hi: tsql.Bound{{Text: "1"}, {Text: "2"}}},
		"no key":   {Lo: tsql.Bound{}},
	} {
		if _, err := table.Rows([]string{"a"}, r); err == nil {
			t.Errorf("%s values are accepted", name)
		}
	}
	if _, err := table.KeyBound(tsql.Range{}, 1); err == nil {
		t.Error("a seek without key is accepted")
	}
}
