package mssql

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// instance is one capture instance as it is listed.
type instance struct {
	name    string
	table   tsql.Table
	tableID string
	// start is its low endpoint, known before capture reaches it.
	start    lsn.LSN
	hasStart bool
	created  time.Time
	// keys are the columns of its unique index, none without one.
	keys []string
}

// listInstances runs a listing.
func listInstances(ctx context.Context, c *conn, q tsql.Query) ([]instance, error) {
	var list []instance
	err := c.each(ctx, q, func(r record) error {
		i := instance{
			name:    r.text("capture_instance"),
			table:   tsql.Table{Schema: r.text("source_schema"), Name: r.text("source_table")},
			tableID: r.text("source_object_id"),
			keys:    parseIndexColumns(r.text("index_column_list")),
		}
		var err error
		if i.start, i.hasStart, err = r.lsn("start_lsn"); err != nil {
			return err
		}
		i.hasStart = i.hasStart && !i.start.IsZero()
		if t, ok := r.value("create_date").(time.Time); ok {
			i.created = t
		}
		list = append(list, i)
		return nil
	})
	sortInstances(list)
	return list, err
}

// sortInstances orders instances of one table oldest first. Cleanup can move
// the starts of two to one value, so the day of creation decides first.
func sortInstances(list []instance) {
	slices.SortStableFunc(list, func(a, b instance) int {
		return cmp.Or(a.created.Compare(b.created), a.start.Compare(b.start))
	})
}

// parseIndexColumns reads "[a], [b]", with ]] for a bracket in a name.
func parseIndexColumns(text string) []string {
	var names []string
	for text = strings.TrimSpace(text); strings.HasPrefix(text, "["); {
		var name strings.Builder
		i := 1
		for i < len(text) {
			if text[i] == ']' {
				if i+1 < len(text) && text[i+1] == ']' {
					i++
				} else {
					break
				}
			}
			name.WriteByte(text[i])
			i++
		}
		names = append(names, name.String())
		text = strings.TrimLeft(text[min(i+1, len(text)):], ", ")
	}
	return names
}

// ofTable keeps the instances of one table.
func ofTable(list []instance, t tsql.Table) []instance {
	var out []instance
	for _, i := range list {
		if i.table == t {
			out = append(out, i)
		}
	}
	return out
}

func names(list []instance) []string {
	out := make([]string, len(list))
	for i, ci := range list {
		out[i] = ci.name
	}
	return out
}

// byName finds an instance by its exact name, else ignoring case; all are the
// matches ignoring case.
func byName(list []instance, name string) (found *instance, all []instance) {
	for i := range list {
		if strings.EqualFold(list[i].name, name) {
			all = append(all, list[i])
			if list[i].name == name {
				found = &list[i]
			}
		}
	}
	if found == nil && len(all) == 1 {
		found = &all[0]
	}
	return found, all
}
