package cdc

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// systemObject is a view of the catalog. Its identifier is below zero, as on a server, where it is another.
type systemObject struct {
	id     int64
	schema int64
	name   string
	view   view
	shape  string // as viewShapes knows it
}

// Identifiers of the schemas of system views (Microsoft: sys.schemas (Transact-SQL)).
const (
	infoSchemaID = 3
	sysSchemaID  = 4
)

// systemObjects lists the views of the catalog.
func systemObjects() (out []systemObject) {
	for _, schema := range []struct {
		id   int64
		name string
	}{{sysSchemaID, "sys"}, {infoSchemaID, "information_schema"}} {
		views := map[string]view{}
		for _, m := range systemViews(schema.name) {
			maps.Copy(views, m)
		}
		for _, name := range slices.Sorted(maps.Keys(views)) {
			shown := name
			if schema.id == infoSchemaID {
				shown = strings.ToUpper(name)
			}
			out = append(out, systemObject{id: int64(-101 - len(out)), schema: schema.id, name: shown, view: views[name], shape: schema.name + "." + name})
		}
	}
	return out
}

// aboutSystem are the views that tell of system views (Microsoft: the pages of these names). They are not in sysViews, of
// which they tell.
func aboutSystem() map[string]view {
	return map[string]view{"system_columns": systemColumns, "all_columns": allColumns, "system_objects": systemObjectRows, "all_objects": allObjects, "system_views": systemViewRows, "all_views": systemViewRows}
}

// columnsOf gives the columns of a system view.
func (o *systemObject) columnsOf(s *Session, db *Database) []tsql.Column {
	r := &tsql.Rows{}
	switch o.name {
	case "system_columns", "all_columns": // they would ask themselves
		r.Cols = sysColumns(s, db).Cols
	case "system_objects", "all_objects", "system_views", "all_views":
		r.Cols = systemCols(o.name)
	default:
		r.Cols = o.view(s, db).Cols
	}
	return s.shape(o.shape, r).Cols
}

func systemColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: sysColumns(s, db).Cols}
	for _, o := range systemObjects() {
		for i, c := range o.columnsOf(s, db) {
			r.Data = append(r.Data, columnRow(o.id, c, i+1, false, 0, false))
		}
	}
	return r
}

func allColumns(s *Session, db *Database) *tsql.Rows {
	r := sysColumns(s, db)
	r.Data = append(r.Data, systemColumns(s, db).Data...)
	return r
}

// systemCols are the columns of the views of objects.
func systemCols(name string) []tsql.Column {
	if name == "system_objects" || name == "all_objects" {
		return objectColumns
	}
	return append(objectColumns[:len(objectColumns):len(objectColumns)], ncol("is_replicated", bit), ncol("has_replication_filter", bit), ncol("has_opaque_metadata", bit), ncol("has_unchecked_assembly_data", bit),
		ncol("with_check_option", bit), ncol("is_date_correlation_view", bit))
}

func systemObjectRows(*Session, *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: systemCols("system_objects")}
	made := sqltype.FromTicks(sqltype.TicksOf(time.Date(2022, 10, 8, 6, 31, 0, 0, time.UTC))) // when the server was built
	for _, o := range systemObjects() {
		r.Data = append(r.Data, sqltype.Row{text(o.name), num(o.id), null, num(o.schema), num(0), text("V "), text("VIEW"), made, made, flag(true), flag(false), flag(false)})
	}
	return r
}

func allObjects(s *Session, db *Database) *tsql.Rows {
	r := sysObjects(s, db)
	r.Data = append(r.Data, systemObjectRows(s, db).Data...)
	return r
}

func systemViewRows(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: systemCols("system_views")}
	for _, row := range systemObjectRows(s, db).Data {
		r.Data = append(r.Data, append(row, flag(false), flag(false), flag(false), flag(false), flag(false), flag(false)))
	}
	return r
}
