package mssql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// column is one captured column of an instance.
type column struct {
	name string
	id   int64
	sql  sqlType
	// computed columns are NULL in every change row.
	computed bool
	// dropped columns are captured and no longer in the table.
	dropped bool
}

// captured is an instance and its columns in capture order.
type captured struct {
	instance
	columns []column
	// later are the table's columns that came after all captured ones.
	later []string
}

func (c captured) find(name string) (column, bool) {
	for _, col := range c.columns {
		if strings.EqualFold(col.name, name) {
			return col, true
		}
	}
	return column{}, false
}

// liveColumn is a column of a source table now.
type liveColumn struct {
	name      string
	id        int64
	computed  bool
	collation string
}

func liveColumns(ctx context.Context, c *conn, t tsql.Table) ([]liveColumn, error) {
	var out []liveColumn
	err := c.each(ctx, tsql.TableColumns(t), func(r record) error {
		out = append(out, liveColumn{name: r.text("name"), id: r.integer("column_id"), computed: r.integer("is_computed") == 1, collation: r.text("collation_name")})
		return nil
	})
	return out, err
}

// capturedColumns reads the columns of one instance. An error of the server
// and an empty answer mean that the instance is unknown or not granted.
func capturedColumns(ctx context.Context, c *conn, ci instance, live []liveColumn) (captured, error) {
	computed, newest := map[int64]bool{}, int64(0)
	for _, l := range live {
		computed[l.id] = l.computed
	}
	out := captured{instance: ci}
	type ordered struct {
		column
		ordinal int64
	}
	var list []ordered
	err := c.each(ctx, tsql.CapturedColumns(ci.name), func(r record) error {
		length := int(r.integer("character_maximum_length"))
		id := r.integer("column_id")
		_, here := computed[id]
		dropped := !here && len(live) > 0 // none can be seen: nothing is known
		newest = max(newest, id)
		list = append(list, ordered{column{
			name: r.text("column_name"), id: id, computed: computed[id], dropped: dropped,
			sql: sqlType{name: strings.ToLower(r.text("data_type")), length: length, precision: int(r.integer("numeric_precision")),
				scale: int(r.integer("numeric_scale")), fraction: int(r.integer("datetime_precision"))},
		}, r.integer("column_ordinal")})
		return nil
	})
	if err != nil {
		if transient(err) || cancelled(err) {
			return captured{}, err
		}
		return captured{}, unknownColumns(ci.name, c.mask.text(firstLine(err)))
	}
	if len(list) == 0 {
		return captured{}, unknownColumns(ci.name, "the server lists none")
	}
	slices.SortStableFunc(list, func(a, b ordered) int { return int(a.ordinal - b.ordinal) })
	for _, o := range list {
		out.columns = append(out.columns, o.column)
	}
	for _, l := range live {
		if l.id > newest && !l.computed {
			out.later = append(out.later, l.name)
		}
	}
	return out, nil
}

func unknownColumns(ci, cause string) error {
	d := diag.Errorf(diag.KindPermission, codeUnknownInstance,
		"The login needs SELECT on every captured column, and membership of the instance's gating role if it has one. The cause: "+cause,
		"The captured columns of %s cannot be read", ci)
	d.Data = map[string]string{"capture_instance": ci}
	return d.Err()
}

// present are the columns of names that the table still has: live, not
// computed, and the same column, not another one under its name. The newest
// instance that captures a name decides which column it is.
func present(instances []captured, live []liveColumn, name string) (string, bool) {
	for i := len(instances) - 1; i >= 0; i-- {
		col, ok := instances[i].find(name)
		if !ok {
			continue
		}
		for _, l := range live {
			if l.id == col.id && strings.EqualFold(l.name, col.name) {
				return l.name, !l.computed
			}
		}
		return "", false
	}
	return "", false
}

// keyColumns are the key columns as a range binds them. ok is false when the
// key cannot be cut; reason then says why.
func keyColumns(ci captured, live []liveColumn, keys []string) (cols []tsql.KeyColumn, reason string, ok bool) {
	if len(keys) == 0 {
		return nil, "the table has no unique index", false
	}
	for i, k := range keys {
		col, found := ci.find(k)
		if !found {
			return nil, fmt.Sprintf("%s is not captured by %s", k, ci.name), false
		}
		if col.computed {
			return nil, fmt.Sprintf("%s is a computed column", k), false
		}
		name, here := present([]captured{ci}, live, k)
		if !here {
			return nil, fmt.Sprintf("the table no longer has the column %s", k), false
		}
		collation := ""
		for _, l := range live {
			if l.id == col.id {
				collation = l.collation
			}
		}
		typ, can := col.sql.bound(collation, i == len(keys)-1)
		if !can || !col.sql.sortable() {
			return nil, fmt.Sprintf("no bound can be given for the column %s of type %s", k, col.sql), false
		}
		cols = append(cols, tsql.KeyColumn{Name: name, Type: typ})
	}
	return cols, "", true
}
