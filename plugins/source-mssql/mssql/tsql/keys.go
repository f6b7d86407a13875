package tsql

import (
	"fmt"
	"strconv"
	"strings"
)

// KeyColumn is a column that a table is cut on.
type KeyColumn struct {
	Name string
	// Type is the declared type to which a bound is converted, so that the
	// column itself never is; "" inlines bounds as integer literals.
	Type string
}

// Value is one value of a bound: NULL, or text (ISO 8601 times, plain
// decimals, 0x and hexadecimal for binaries).
type Value struct {
	Null bool
	Text string
}

// Bound is one value per key column; nil is an open end.
type Bound []Value

// Range is a half-open piece lo <= key < hi of the key space in the order that
// ORDER BY uses: column by column, NULL first.
type Range struct {
	Keys   []KeyColumn
	Lo, Hi Bound
}

// pieces cuts the range into disjoint predicates "equalities on a prefix and
// one range on the next column": T-SQL has no comparison of rows, and one
// WHERE that nests ORs seeks on the first column only. A range without bounds
// is one empty predicate; there is always one piece.
//
// Two bounds can differ here and be equal to the server ('n' and 'N' under a
// collation that ignores case), so the lower and upper pieces carry the other
// bound's condition too and every row comes once.
func (r Range) pieces() ([]string, []Arg, error) {
	b, err := r.bind()
	if err != nil {
		return nil, nil, err
	}
	n := len(r.Keys)
	if r.Lo == nil && r.Hi == nil {
		return []string{""}, nil, nil
	}
	p := 0
	if r.Lo != nil && r.Hi != nil {
		for p < n-1 && r.Lo[p] == r.Hi[p] {
			p++
		}
	}
	var out []string
	add := func(terms ...string) {
		var kept []string
		for _, t := range terms {
			if t == never {
				return
			}
			if t != "" {
				kept = append(kept, t)
			}
		}
		out = append(out, strings.Join(kept, " AND "))
	}
	equal := func(side *bound, from, to int) string {
		var terms []string
		for i := from; i < to; i++ {
			terms = append(terms, b.compare(i, "=", side))
		}
		return strings.Join(terms, " AND ")
	}
	prefix := ""
	if p > 0 {
		prefix = equal(b.lo, 0, p)
	}
	lower := ">"
	if p == n-1 {
		lower = ">="
	}
	if r.Lo != nil {
		for j := n - 1; j > p; j-- {
			op := ">"
			if j == n-1 {
				op = ">="
			}
			add(prefix, equal(b.lo, p, j), b.compare(j, op, b.lo), b.below())
		}
	}
	middle := []string{prefix}
	if r.Lo != nil {
		middle = append(middle, b.compare(p, lower, b.lo))
	}
	if r.Hi != nil {
		middle = append(middle, b.compare(p, "<", b.hi))
	}
	add(middle...)
	if r.Hi != nil {
		for j := p + 1; j < n; j++ {
			above := ""
			if r.Lo != nil {
				above = b.compare(p, ">", b.lo)
			}
			add(prefix, equal(b.hi, p, j), b.compare(j, "<", b.hi), above)
		}
	}
	if len(out) == 0 { // nothing lies below NULL in every column
		out = append(out, never)
	}
	return out, b.args, nil
}

// never is a predicate that no row fulfils.
const never = "1 = 0"

type bound struct {
	values Bound
	exprs  []string
}

type bounds struct {
	columns []string
	lo, hi  *bound
	args    []Arg
}

func (r Range) bind() (*bounds, error) {
	names := make([]string, len(r.Keys))
	for i, k := range r.Keys {
		names[i] = k.Name
	}
	quoted, err := quoteAll(names)
	if err != nil {
		return nil, err
	}
	b := &bounds{columns: quoted}
	if b.lo, err = b.side("lo", r.Keys, r.Lo); err != nil {
		return nil, err
	}
	if b.hi, err = b.side("hi", r.Keys, r.Hi); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *bounds) side(name string, keys []KeyColumn, values Bound) (*bound, error) {
	if values == nil {
		return nil, nil
	}
	if len(values) != len(keys) || len(keys) == 0 {
		return nil, fmt.Errorf("a bound of %d values does not fit a key of %d columns", len(values), len(keys))
	}
	s := &bound{values: values, exprs: make([]string, len(values))}
	for i, v := range values {
		if v.Null {
			continue
		}
		expr, inline, err := keys[i].render(name+strconv.Itoa(i), v.Text)
		if err != nil {
			return nil, err
		}
		if !inline {
			b.args = append(b.args, Arg{name + strconv.Itoa(i), v.Text})
		}
		s.exprs[i] = expr
	}
	return s, nil
}

// render is the expression of one value of a bound.
func (k KeyColumn) render(param, text string) (expr string, inline bool, err error) {
	if k.Type == "" {
		if !isInteger(text) {
			return "", false, fmt.Errorf("%q is no integer bound of the key column %q", text, k.Name)
		}
		return text, true, nil
	}
	if err := CheckType(k.Type); err != nil {
		return "", false, err
	}
	base, collation, collated := strings.Cut(k.Type, " COLLATE ")
	switch {
	case strings.HasPrefix(base, "binary"), strings.HasPrefix(base, "varbinary"):
		return "CONVERT(" + base + ", @" + param + ", 1)", false, nil
	case collated:
		// A text parameter is nvarchar and would be converted through the code
		// page of the database, not of the column.
		return "CAST(@" + param + " COLLATE " + collation + " AS " + base + ")", false, nil
	}
	return "CAST(@" + param + " AS " + base + ")", false, nil
}

// isInteger accepts decimal integers of at most 38 digits: a bound may lie
// past bigint and is then a numeric literal.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 38 {
		return false
	}
	for _, r := range digits {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// compare is one comparison with NULL below every value.
func (b *bounds) compare(i int, op string, side *bound) string {
	col := b.columns[i]
	if side.values[i].Null {
		switch op {
		case "=":
			return col + " IS NULL"
		case ">":
			return col + " IS NOT NULL"
		case ">=":
			return ""
		}
		return never
	}
	if op == "<" {
		return "(" + col + " < " + side.exprs[i] + " OR " + col + " IS NULL)"
	}
	return col + " " + op + " " + side.exprs[i]
}

// below is the full condition row < hi, "" without hi.
func (b *bounds) below() string {
	if b.hi == nil {
		return ""
	}
	var any []string
	for j := range b.columns {
		less := b.compare(j, "<", b.hi)
		if less == never {
			continue
		}
		terms := make([]string, 0, j+1)
		for i := range j {
			terms = append(terms, b.compare(i, "=", b.hi))
		}
		any = append(any, strings.Join(append(terms, less), " AND "))
	}
	if len(any) == 0 {
		return never
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

func where(predicate string) string {
	if predicate == "" {
		return ""
	}
	return " WHERE " + predicate
}
