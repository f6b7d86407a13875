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

func (a args) bit(name string) bool { v, ok := a[name]; return ok && v.Bool() }

// Procedure finds a system procedure; they are found in every schema, as names that begin with sp_ are.
func (s *Session) Procedure(n tsql.Name) (*tsql.Procedure, error) {
	db, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if n.Schema != "" && !sqltype.EqualName(n.Schema, "sys") && !sqltype.EqualName(n.Schema, "dbo") {
		return nil, nil
	}
	def, ok := procedures[lower(n.Object)]
	if !ok {
		def, ok = catalogProcedures[lower(n.Object)]
	}
	if !ok {
		return nil, nil
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
	"sp_cdc_help_jobs":                {nil, helpJobs},
	"sp_spaceused":                    {[]tsql.Param{may("@objname", sqltype.Str(sqltype.NVarChar, 776)), may("@updateusage", sqltype.Str(sqltype.VarChar, 5))}, spaceUsed},
	"sp_cdc_enable_db":                {nil, func(s *Session, db *Database, _ args) (*tsql.Rows, error) { return nil, s.owner(db, 22902, db.Enable) }},
	"sp_cdc_disable_db": {nil, func(s *Session, db *Database, _ args) (*tsql.Rows, error) {
		return nil, s.owner(db, 22902, func() error { db.Disable(); return nil })
	}},
	"sp_cdc_enable_table": {[]tsql.Param{need("@source_schema", sysname), need("@source_name", sysname), need("@role_name", sysname), may("@capture_instance", sysname),
		may("@supports_net_changes", bit), may("@index_name", sysname), may("@captured_column_list", longText), may("@filegroup_name", sysname), may("@allow_partition_switch", bit)}, enableTable},
	"sp_cdc_disable_table": {[]tsql.Param{need("@source_schema", sysname), need("@source_name", sysname), need("@capture_instance", sysname)}, disableTable},
	"sp_cdc_cleanup_change_table": {[]tsql.Param{need("@capture_instance", sysname), need("@low_water_mark", binLSN), may("@threshold", sqltype.Of(sqltype.BigInt)), may("@fcleanupfailed", bit)},
		func(s *Session, db *Database, a args) (*tsql.Rows, error) {
			return nil, s.owner(db, 22904, func() error {
				l, ok := lsnOf(a["@low_water_mark"])
				if !ok {
					return nil
				}
				return db.Cleanup(a.str("@capture_instance"), l)
			})
		}},
}

// owner runs fn for members of db_owner and sysadmin.
func (s *Session) owner(db *Database, number int32, fn func() error) error {
	if !s.login.Admin {
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
		out = append(out, "["+n+"]")
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
	schema, name := a["@source_schema"], a["@source_name"]
	if !schema.IsNull() || !name.IsNull() {
		if db.table(schema.Str(), name.Str()) == nil {
			return nil, sqltype.Errorf(22931, "Source table '%s.%s' does not exist in the current database. Ensure that the correct database context is set. Specify a valid schema and table name for the database.", schema.Str(), name.Str())
		}
	}
	for _, t := range db.tables {
		if !name.IsNull() && (!sqltype.EqualName(t.Name, name.Str()) || !sqltype.EqualName(t.Schema, schema.Str())) {
			continue
		}
		for _, in := range t.inst {
			if !s.login.mayInstance(in) {
				continue
			}
			var keys, cols []string
			for _, id := range t.key {
				keys = append(keys, t.byID(id).Name)
			}
			for _, c := range in.captured {
				cols = append(cols, c.name)
			}
			out.Data = append(out.Data, sqltype.Row{text(t.Schema), text(t.Name), text(in.Name), num(int64(in.ID)), num(int64(t.ID)), in.start.Value(), null,
				flag(in.net), null, orNull(in.Role), orNull(t.KeyName), null, sqltype.FromTicks(in.at), orNull(bracketed(keys)), text(bracketed(cols))})
		}
	}
	return out, nil
}

func visibleInstance(s *Session, db *Database, name string) (*Instance, error) {
	if !db.enabled.Load() {
		return nil, db.notEnabled()
	}
	in, ok := db.instance(name)
	if !ok || !s.login.mayInstance(in) {
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

func helpJobs(s *Session, db *Database, _ args) (*tsql.Rows, error) {
	big := sqltype.Of(sqltype.BigInt)
	if !s.login.Admin {
		return nil, sqltype.Errorf(22904, "Caller is not authorized to initiate the requested action. DBO privileges are required.")
	}
	out := &tsql.Rows{Cols: []tsql.Column{col("job_id", sqltype.Of(sqltype.UniqueIdentifier)), col("job_type", sqltype.Str(sqltype.NVarChar, 20)), ncol("job_name", sysname), ncol("maxtrans", integer),
		ncol("maxscans", integer), ncol("continuous", bit), ncol("pollinginterval", big), ncol("retention", big), ncol("threshold", big)}}
	capture, cleanup := [16]byte{1}, [16]byte{2}
	out.Data = append(out.Data,
		sqltype.Row{sqltype.FromGUID(capture), text("capture"), text("cdc." + db.Name + "_capture"), num(500), num(10), flag(true), num(5), num(0), num(0)},
		sqltype.Row{sqltype.FromGUID(cleanup), text("cleanup"), text("cdc." + db.Name + "_cleanup"), num(0), num(0), flag(false), num(0), num(4320), num(5000)})
	return out, nil
}

// spaceUsed is Microsoft: sp_spaceused (Transact-SQL) of a table.
func spaceUsed(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if a["@objname"].IsNull() {
		return nil, sqltype.Unsupported("sp_spaceused without @objname")
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
	kb := int64(rows/50+1) * 8
	return &tsql.Rows{
		Cols: []tsql.Column{ncol("name", sysname), ncol("rows", sqltype.Str(sqltype.Char, 20)), ncol("reserved", size), ncol("data", size), ncol("index_size", size), ncol("unused", size)},
		Data: []sqltype.Row{{text(name), text(fmt.Sprintf("%-20d", rows)), text(fmt.Sprintf("%d KB", kb+64)), text(fmt.Sprintf("%d KB", kb)), text("8 KB"), text("56 KB")}},
	}, nil
}

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

func enableTable(s *Session, db *Database, a args) (*tsql.Rows, error) {
	c := Capture{Name: a.str("@capture_instance"), Role: a.str("@role_name"), Net: a.bit("@supports_net_changes")}
	if _, ok := a["@supports_net_changes"]; !ok { // on by default for a table with a key
		db.mu.RLock()
		t := db.table(a.str("@source_schema"), a.str("@source_name"))
		c.Net = t != nil && t.key != nil
		db.mu.RUnlock()
	}
	for _, name := range strings.Split(a.str("@captured_column_list"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.Columns = append(c.Columns, nameParts(name)[0])
		}
	}
	return nil, s.owner(db, 22904, func() error { return db.EnableTable(a.str("@source_schema")+"."+a.str("@source_name"), c) })
}

func disableTable(s *Session, db *Database, a args) (*tsql.Rows, error) {
	return nil, s.owner(db, 22904, func() error {
		name := a.str("@capture_instance")
		if !sqltype.EqualName(name, "all") {
			return db.DisableTable(name)
		}
		db.mu.RLock()
		t := db.table(a.str("@source_schema"), a.str("@source_name"))
		var names []string
		if t != nil {
			for _, in := range t.inst {
				names = append(names, in.Name)
			}
		}
		db.mu.RUnlock()
		if len(names) == 0 {
			return noInstance()
		}
		for _, n := range names {
			if err := db.DisableTable(n); err != nil {
				return err
			}
		}
		return nil
	})
}
