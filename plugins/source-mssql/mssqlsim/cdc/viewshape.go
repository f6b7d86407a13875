package cdc

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// viewText lists the columns of system views in the order of their pages in Microsoft's documentation, columns that a release
// brought behind an @. A section begins with the name of its view; +view stands for the columns of another one. A column
// without a type is given by the view's function. One with a type has the value behind the equals sign in every row,
// else NULL; a question mark tells that it may be NULL. One with an exclamation mark is documented and not built. A view
// whose columns all have a type and that has no function is empty.
//
// Columns that SQL Server 2022 has brought are in the order in which that server shows them.
//
//go:embed views.txt
var viewText string

// viewColumn is a column of a documented view.
type viewColumn struct {
	tsql.Column
	since   tsql.Release
	typed   bool // the value is the same in every row
	value   sqltype.Value
	unbuilt bool
}

// viewShapes are the documented views by schema and name.
var viewShapes = sync.OnceValue(func() map[string][]viewColumn {
	out := map[string][]viewColumn{}
	view := ""
	for line := range strings.Lines(viewText) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			view = strings.TrimSuffix(head, "]")
			out[view] = nil
			continue
		}
		for _, word := range strings.Split(line, "; ") {
			if of, ok := strings.CutPrefix(word, "+"); ok {
				out[view] = append(out[view], out[of]...)
				continue
			}
			c, err := parseViewColumn(word)
			if err != nil {
				panic(fmt.Sprintf("views.txt: %s: %q: %v", view, word, err)) // a test reads all of it
			}
			out[view] = append(out[view], c)
		}
	}
	return out
})

func parseViewColumn(word string) (c viewColumn, err error) {
	word, since, _ := strings.Cut(word, " @")
	if since != "" {
		year, err := strconv.Atoi(since)
		if err != nil {
			return c, err
		}
		c.since = tsql.Release(year)
	}
	name, typ, typed := strings.Cut(word, " ")
	c.Name, c.typed, c.unbuilt = name, typed, typ == "!"
	if !typed || c.unbuilt {
		return c, nil
	}
	typ, value, given := strings.Cut(typ, "=")
	typ, c.Nullable = strings.CutSuffix(typ, "?")
	if c.Type, err = viewType(typ); err != nil || !given {
		return c, err
	}
	c.value, err = sqltype.Convert(text(value), longText, c.Type, 0)
	if hex, ok := strings.CutPrefix(value, "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 8)
		c.value = sqltype.FromBytes(string([]byte{byte(n)}))
		return c, err
	}
	return c, err
}

func viewType(name string) (sqltype.Type, error) {
	switch name {
	case "sysname":
		return sysname, nil
	case "sql_variant":
		return sqltype.Of(sqltype.Variant), nil
	}
	return sqltype.ParseType(name)
}

// shapedView is a system view of which some documented columns are not built.
type shapedView struct {
	*tsql.Rows
	unbuilt []string
}

// Unbuilt gives the documented columns that the view has not.
func (v *shapedView) Unbuilt() []string { return v.unbuilt }

// shape gives a view its documented columns in their order.
func (s *Session) shape(view string, r *tsql.Rows) *shapedView {
	cols, ok := viewShapes()[view]
	if !ok {
		return &shapedView{Rows: r}
	}
	out := &shapedView{Rows: &tsql.Rows{}}
	var from []int // the place of a column in the view's own rows, -1 for one that is the same in each
	var same []sqltype.Value
	for _, c := range cols {
		switch i := columnPlace(r.Cols, c.Name); {
		case c.since > s.Release():
			continue
		case i >= 0:
			out.Cols, from = append(out.Cols, r.Cols[i]), append(from, i)
		case c.unbuilt:
			out.unbuilt = append(out.unbuilt, c.Name)
			continue
		default:
			out.Cols, from = append(out.Cols, c.Column), append(from, -1)
		}
		same = append(same, c.value)
	}
	for _, row := range r.Data {
		full := make(sqltype.Row, len(from))
		for i, k := range from {
			if full[i] = same[i]; k >= 0 {
				full[i] = row[k]
			}
		}
		out.Data = append(out.Data, full)
	}
	return out
}

func columnPlace(cols []tsql.Column, name string) int {
	for i := range cols {
		if sqltype.EqualName(cols[i].Name, name) {
			return i
		}
	}
	return -1
}

// emptyView is a documented view without rows.
func emptyView(*Session, *Database) *tsql.Rows { return &tsql.Rows{} }

// emptyViews are the views that are empty whatever a database holds, by schema.
var emptyViews = sync.OnceValue(func() map[string]map[string]view {
	out := map[string]map[string]view{"sys": {}, "information_schema": {}}
next:
	for name, cols := range viewShapes() {
		for _, c := range cols {
			if !c.typed {
				continue next
			}
		}
		schema, short, _ := strings.Cut(name, ".")
		if out[schema] == nil {
			out[schema] = map[string]view{}
		}
		out[schema][short] = emptyView
	}
	return out
})
