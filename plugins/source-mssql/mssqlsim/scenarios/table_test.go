package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// match compares a result with the table. It gives the names with those that it bound.
func (t table) match(known names, got result) (names, error) {
	rows, err := t.pick(got)
	if err != nil {
		return nil, err
	}
	if len(rows) != len(t.rows) {
		return nil, fmt.Errorf("%d rows, %d are expected", len(rows), len(t.rows))
	}
	n := maps.Clone(known)
	left := slices.Clone(rows)
	for i, want := range t.rows {
		if len(rows[i]) != len(want) {
			return nil, fmt.Errorf("%d columns, %d are expected", len(rows[i]), len(want))
		}
		at := 0
		if t.unordered {
			at = slices.IndexFunc(left, func(row []string) bool { return n.row(want, row) != nil })
		}
		if at < 0 {
			return nil, fmt.Errorf("no row is %s", strings.Join(want, " | "))
		}
		bound := n.row(want, left[at])
		if bound == nil {
			return nil, fmt.Errorf("row %d is %s, not %s%s", i+1, strings.Join(left[at], " | "), strings.Join(want, " | "), n.told(want))
		}
		n, left = bound, slices.Delete(left, at, at+1)
	}
	return n, nil
}

// row compares a row and gives the names with those it bound, nil when it differs.
func (n names) row(want, got []string) names {
	bound := maps.Clone(n)
	for i := range want {
		if !bound.match(want[i], got[i]) {
			return nil
		}
	}
	return bound
}

// told says what the names of a row stand for.
func (n names) told(row []string) string {
	var b strings.Builder
	for _, c := range row {
		if v, ok := n[c]; ok {
			fmt.Fprintf(&b, "; %s is %s", c, v)
		}
	}
	return b.String()
}

// pick takes the columns that the table names.
func (t table) pick(got result) ([][]string, error) {
	if t.columns == nil {
		return got.rows, nil
	}
	var at []int
	for _, name := range t.columns {
		i := slices.Index(got.columns, name)
		if i < 0 {
			return nil, fmt.Errorf("there is no column %s", name)
		}
		at = append(at, i)
	}
	var rows [][]string
	for _, row := range got.rows {
		var out []string
		for _, i := range at {
			out = append(out, row[i])
		}
		rows = append(rows, out)
	}
	return rows, nil
}
