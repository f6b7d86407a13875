package cdc

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

type args map[string]sqltype.Value

func (a args) str(name string) string { return a[name].Str() }

func (a args) bit(name string) bool { v, ok := a[name]; return ok && !v.IsNull() && v.Bool() }

// Procedure finds a system procedure; they are found in every schema, as names that begin with sp_ are.
func (s *Session) Procedure(n tsql.Name) (*tsql.Procedure, error) {
	db, err := s.home(n)
	if err != nil {
		return nil, err
	}
	if n.Schema != "" && !sqltype.EqualName(n.Schema, "sys") && !sqltype.EqualName(n.Schema, "dbo") {
		return nil, nil
	}
	if s.srv.Version == Azure && agentProcedures[lower(n.Object)] {
		return nil, sqltype.Unsupported("%s in Azure SQL Database, where a scheduler runs capture and cleanup", n.Object)
	}
	if p := s.captureProcedure(db, n); p != nil {
		return p, nil
	}
	var def procedure
	var ok bool
	for _, m := range []map[string]procedure{procedures, catalogProcedures, keyProcedures, routineProcedures, shapeProcedures, securityProcedures, helpProcedures, moreHelp} {
		if def, ok = m[lower(n.Object)]; ok {
			break
		}
	}
	if !ok {
		return nil, s.unbuiltProcedure(db, n)
	}
	return &tsql.Procedure{Params: def.params, Call: func(ctx context.Context, a map[string]sqltype.Value) (*tsql.Rows, error) { return def.call(s, db, a) }}, nil
}

type procedure struct {
	params []tsql.Param
	call   func(s *Session, db *Database, a args) (*tsql.Rows, error)
}

func need(name string, t sqltype.Type) tsql.Param { return tsql.Param{Name: name, Type: t} }
func may(name string, t sqltype.Type) tsql.Param {
	return tsql.Param{Name: name, Type: t, Optional: true}
}

var bit = sqltype.Of(sqltype.Bit)
var longText = sqltype.Str(sqltype.NVarChar, sqltype.Max)

var procedures = map[string]procedure{
	"sp_cdc_help_change_data_capture": {[]tsql.Param{may("@source_schema", sysname), may("@source_name", sysname)}, helpCapture},
	"sp_cdc_get_captured_columns":     {[]tsql.Param{need("@capture_instance", sysname)}, capturedColumns},
	"sp_cdc_get_ddl_history":          {[]tsql.Param{need("@capture_instance", sysname)}, ddlHistory},
	"sp_spaceused":                    {[]tsql.Param{may("@objname", sqltype.Str(sqltype.NVarChar, 776)), may("@updateusage", sqltype.Str(sqltype.VarChar, 5))}, spaceUsed},
}

// owner runs fn for members of db_owner and sysadmin.
func (s *Session) owner(db *Database, number int32, fn func() error) error {
	if !s.dbo(db) {
		return sqltype.Errorf(number, "Caller is not authorized to initiate the requested action. DBO privileges are required.")
	}
	return fn()
}

func col(name string, t sqltype.Type) tsql.Column { return tsql.Column{Name: name, Type: t} }
func ncol(name string, t sqltype.Type) tsql.Column {
	return tsql.Column{Name: name, Type: t, Nullable: true}
}

var (
	text = sqltype.FromString
	num  = sqltype.FromInt
	flag = sqltype.FromBool
	null = sqltype.Value{}
)

// orNull gives text, or NULL for an empty one.
func orNull(s string) sqltype.Value {
	if s == "" {
		return null
	}
	return text(s)
}

func bracketed(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, "["+strings.ReplaceAll(n, "]", "]]")+"]")
	}
	return strings.Join(out, ", ")
}

// helpCapture is Microsoft: sys.sp_cdc_help_change_data_capture (Transact-SQL). It leaves out what the login may not see.
func helpCapture(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if !db.enabled.Load() {
		return nil, db.notEnabled()
	}
	out := &tsql.Rows{Cols: []tsql.Column{col("source_schema", sysname), col("source_table", sysname), col("capture_instance", sysname), col("object_id", integer), col("source_object_id", integer),
		ncol("start_lsn", binLSN), ncol("end_lsn", binLSN), ncol("supports_net_changes", bit), ncol("has_drop_pending", bit), ncol("role_name", sysname), ncol("index_name", sysname),
		ncol("filegroup_name", sysname), ncol("create_date", sqltype.Of(sqltype.DateTime)), ncol("index_column_list", longText), ncol("captured_column_list", longText)}}
	only, err := helpedTable(db, a.str("@source_schema"), a.str("@source_name"))
	if err != nil {
		return nil, err
	}
	for _, t := range db.tables {
		if only != nil && t != only {
			continue
		}
		for _, in := range t.inst {
			if !s.mayInstance(in) {
				continue
			}
			var keys, cols []string
			for _, id := range in.key {
				keys = append(keys, t.byID(id).Name)
			}
			for _, c := range in.captured {
				cols = append(cols, c.name)
			}
			out.Data = append(out.Data, sqltype.Row{text(t.Schema), text(t.Name), text(in.Name), num(int64(in.ID)), num(int64(t.ID)), in.start.Value(), null,
				flag(in.net), null, orNull(in.Role), orNull(in.index), orNull(in.filegroup), sqltype.FromTicks(in.at), orNull(bracketed(keys)), text(bracketed(cols))})
		}
	}
	return out, nil
}

// helpedTable finds the table whose instances are asked for, nil for all tables'. NULL and empty names are none.
func helpedTable(db *Database, schema, name string) (*Table, error) {
	if schema == "" && name == "" {
		return nil, nil
	}
	if schema == "" || name == "" {
		return nil, sqltype.Errorf(22972, "When calling stored procedure [sys].sp_cdc_help_change_data capture, if either @source_schema or @source_name is non-null and non-empty, the other parameter must also be non-null and non-empty.")
	}
	t := db.table(schema, name)
	switch {
	case t == nil:
		return nil, noTable(schema, name)
	case len(t.inst) == 0:
		return nil, notCaptured(schema, name)
	}
	return t, nil
}

func visibleInstance(s *Session, db *Database, name string) (*Instance, error) {
	if !db.enabled.Load() {
		return nil, db.notEnabled()
	}
	if name == "" {
		return nil, noParameter("@capture_instance")
	}
	in, ok := db.instance(name)
	if !ok || !s.mayInstance(in) {
		return nil, noInstance()
	}
	return in, nil
}

// capturedColumns is Microsoft: sys.sp_cdc_get_captured_columns (Transact-SQL).
func capturedColumns(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	in, err := visibleInstance(s, db, a.str("@capture_instance"))
	if err != nil {
		return nil, err
	}
	small := sqltype.Of(sqltype.SmallInt)
	out := &tsql.Rows{Cols: []tsql.Column{col("source_schema", sysname), col("source_table", sysname), col("capture_instance", sysname), col("column_name", sysname), col("column_id", integer),
		col("column_ordinal", integer), col("data_type", sysname), ncol("character_maximum_length", integer), ncol("numeric_precision", sqltype.Of(sqltype.TinyInt)),
		ncol("numeric_precision_radix", small), ncol("numeric_scale", integer), ncol("datetime_precision", small)}}
	for i, c := range in.captured {
		size, prec, scale := c.typ, null, null
		chars, radix, digits := null, null, null
		switch c.typ.Class() {
		case sqltype.ClassString, sqltype.ClassBinary:
			n := int64(size.Len)
			switch c.typ.Kind {
			case sqltype.Text, sqltype.Image:
				n = 1<<31 - 1
			case sqltype.NText:
				n = 1<<30 - 1
			case sqltype.XML:
				n = -1
			}
			chars = num(n)
		case sqltype.ClassInt, sqltype.ClassDecimal:
			d := c.typ.AsDecimal()
			prec, radix, scale = num(int64(d.Prec)), num(10), num(int64(d.Scale))
		case sqltype.ClassFloat:
			prec, radix = num(53), num(2)
			if c.typ.Kind == sqltype.Real {
				prec = num(24)
			}
		case sqltype.ClassTime:
			digits = num(int64(c.typ.Scale))
			switch c.typ.Kind {
			case sqltype.DateTime:
				digits = num(3)
			case sqltype.SmallDateTime, sqltype.Date:
				digits = num(0)
			}
		}
		out.Data = append(out.Data, sqltype.Row{text(in.table.Schema), text(in.table.Name), text(in.Name), text(c.name), num(int64(c.id)), num(int64(i + 1)), text(c.typ.Kind.String()),
			chars, prec, radix, scale, digits})
	}
	return out, nil
}

// ddlHistory is Microsoft: sys.sp_cdc_get_ddl_history (Transact-SQL).
func ddlHistory(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	in, err := visibleInstance(s, db, a.str("@capture_instance"))
	if err != nil {
		return nil, err
	}
	out := &tsql.Rows{Cols: []tsql.Column{col("source_schema", sysname), col("source_table", sysname), col("capture_instance", sysname), ncol("required_column_update", bit),
		ncol("ddl_command", longText), ncol("ddl_lsn", binLSN), ncol("ddl_time", sqltype.Of(sqltype.DateTime))}}
	for _, d := range in.ddl {
		out.Data = append(out.Data, sqltype.Row{text(in.table.Schema), text(in.table.Name), text(in.Name), flag(d.required), text(d.command), d.lsn.Value(), sqltype.FromTicks(d.time)})
	}
	return out, nil
}

// spaceUsed is Microsoft: sp_spaceused (Transact-SQL) of a table.
func spaceUsed(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if a["@objname"].IsNull() {
		return databaseSpace(db), nil
	}
	parts := nameParts(a.str("@objname"))
	name := parts[len(parts)-1]
	schema := ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	rows := -1
	if t := db.table(schema, name); t != nil {
		rows, name = t.rows.n, t.Name
	} else if sqltype.EqualName(schema, "cdc") && len(name) > 3 {
		if in, ok := db.instance(name[:len(name)-3]); ok {
			rows = len(in.rows)
		}
	}
	if rows < 0 {
		return nil, sqltype.Errorf(15009, "The object '%s' does not exist in database '%s' or is invalid for this operation.", a.str("@objname"), db.Name)
	}
	size := sqltype.Str(sqltype.VarChar, 18)
	kb := usedKB(rows)
	return &tsql.Rows{
		Cols: []tsql.Column{ncol("name", sysname), ncol("rows", sqltype.Str(sqltype.Char, 20)), ncol("reserved", size), ncol("data", size), ncol("index_size", size), ncol("unused", size)},
		Data: []sqltype.Row{{text(name), text(fmt.Sprintf("%-20d", rows)), text(fmt.Sprintf("%d KB", kb+64)), text(fmt.Sprintf("%d KB", kb)), text("8 KB"), text("56 KB")}},
	}, nil
}

// databaseSpace is sp_spaceused without a table: what the database has, and what its tables use of that.
func databaseSpace(db *Database) *tsql.Rows {
	data, tables, pages := int64(0), int64(0), int64(0)
	for _, t := range db.tables {
		data, tables = data+usedKB(t.rows.n), tables+1
		for _, in := range t.inst {
			data, tables = data+usedKB(len(in.rows)), tables+1
		}
	}
	for _, f := range db.files() {
		pages += f.pages
	}
	size, reserved := sqltype.Str(sqltype.VarChar, 18), data+64*tables
	free := max(newDatabaseKB/2-reserved, 0)
	kb := func(n int64) sqltype.Value { return text(fmt.Sprintf("%d KB", n)) }
	mb := func(n int64) sqltype.Value { return text(fmt.Sprintf("%.2f MB", float64(n)/1024)) }
	return &tsql.Rows{
		Cols: []tsql.Column{ncol("database_name", sysname), ncol("database_size", size), ncol("unallocated space", size)},
		Data: []sqltype.Row{{text(db.Name), mb(max(pages*8, reserved+newDatabaseKB/2)), mb(free)}},
		More: []*tsql.Rows{{
			Cols: []tsql.Column{ncol("reserved", size), ncol("data", size), ncol("index_size", size), ncol("unused", size)},
			Data: []sqltype.Row{{kb(reserved), kb(data), kb(8 * tables), kb(56 * tables)}},
		}},
	}
}

// usedKB is the size that so many rows are said to have.
func usedKB(rows int) int64 { return int64(rows/50+1) * 8 }

// nameParts cuts a name such as [dbo].[a]]b] into its parts.
func nameParts(s string) (parts []string) {
	for s != "" {
		if s[0] == '[' {
			var b strings.Builder
			s = s[1:]
			for s != "" {
				if s[0] == ']' {
					if len(s) > 1 && s[1] == ']' {
						b.WriteByte(']')
						s = s[2:]
						continue
					}
					s = s[1:]
					break
				}
				b.WriteByte(s[0])
				s = s[1:]
			}
			parts = append(parts, b.String())
			s = strings.TrimPrefix(s, ".")
			continue
		}
		part, rest, _ := strings.Cut(s, ".")
		parts, s = append(parts, strings.Trim(part, "\"")), rest
	}
	if parts == nil {
		parts = []string{""}
	}
	return parts
}
