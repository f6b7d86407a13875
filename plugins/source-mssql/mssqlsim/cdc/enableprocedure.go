package cdc

import (
	"context"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// enableProcedures turn change data capture of databases and tables on and off.
var enableProcedures = map[string]captureProcedure{
	"sp_cdc_enable_db":  {undone: true, call: enableDatabase},
	"sp_cdc_disable_db": {undone: true, call: disableDatabase},
	"sp_cdc_enable_table": {undone: true, params: []tsql.Param{need("@source_schema", sysname), need("@source_name", sysname), may("@capture_instance", sysname), may("@supports_net_changes", bit), need("@role_name", sysname),
		may("@index_name", sysname), may("@captured_column_list", longText), may("@filegroup_name", sysname), may("@allow_partition_switch", bit)}, call: enableTable},
	"sp_cdc_disable_table": {undone: true, params: []tsql.Param{need("@source_schema", sysname), need("@source_name", sysname), need("@capture_instance", sysname)}, call: disableTable},
	"sp_cdc_cleanup_change_table": {undone: true, params: []tsql.Param{need("@capture_instance", sysname), need("@low_water_mark", binLSN), may("@threshold", bigint), may("@fCleanupFailed", bit)},
		call: cleanupTable},
}

// captureProcedure finds a procedure of change data capture, nil when the name is no such one's.
func (s *Session) captureProcedure(db *Database, n tsql.Name) *tsql.Procedure {
	def, ok := jobProcedures[lower(n.Object)]
	if !ok {
		def, ok = enableProcedures[lower(n.Object)]
	}
	if !ok {
		return nil
	}
	return &tsql.Procedure{Params: def.params, Call: func(ctx context.Context, a map[string]sqltype.Value) (*tsql.Rows, error) {
		if def.undone && s.tx != nil {
			return nil, sqltype.Unsupported("sys.%s inside a transaction", lower(n.Object))
		}
		return def.call(ctx, s, db, a)
	}}
}

// sysadmin runs fn for members of sysadmin. In Azure SQL Database members of db_owner may too
// (Microsoft: sys.sp_cdc_enable_db (Transact-SQL)).
func (s *Session) sysadmin(db *Database, fn func() error) error {
	if s.srv.Version == Azure {
		return s.owner(db, 22904, fn)
	}
	if !s.admin() {
		return sqltype.Errorf(22902, "Caller is not authorized to initiate the requested action. Sysadmin privileges are required.")
	}
	return fn()
}

// enableDatabase is Microsoft: sys.sp_cdc_enable_db (Transact-SQL).
func enableDatabase(_ context.Context, s *Session, db *Database, _ args) (*tsql.Rows, error) {
	var out *tsql.Rows
	err := s.sysadmin(db, func() error {
		if db.enabled.Load() {
			out = informed(&sqltype.Error{Number: 22905, State: 1, Class: 10, Message: "Database '" + db.Name + "' is already enabled for Change Data Capture. Ensure that the correct database context is set, and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view."})
			return nil
		}
		return db.Enable()
	})
	return out, err
}

// disableDatabase is Microsoft: sys.sp_cdc_disable_db (Transact-SQL).
func disableDatabase(_ context.Context, s *Session, db *Database, _ args) (*tsql.Rows, error) {
	return nil, s.sysadmin(db, func() error {
		if !db.enabled.Load() {
			return db.notEnabled()
		}
		db.Disable()
		return nil
	})
}

// noParameter is the error of a parameter that is NULL or empty.
func noParameter(name string) error {
	return sqltype.Errorf(22963, "Parameter '%s' cannot be null or empty. Specify a value for the named parameter and retry the operation.", name)
}

// notCaptured is the error of a table without a capture instance.
func notCaptured(schema, name string) error {
	return sqltype.Errorf(22985, "Change data capture has not been enabled for source table '%s.%s'. Specify the name of a table enabled for Change Data Capture. To report on the tables enabled for Change Data Capture, query the is_tracked_by_cdc column in the sys.tables catalog view.", schema, name)
}

// tableArgs gives the table that @source_schema and @source_name name, in a database that is enabled.
func (db *Database) tableArgs(a args) (schema, name string, err error) {
	if !db.enabled.Load() {
		return "", "", db.notEnabled()
	}
	for _, p := range []string{"@source_schema", "@source_name"} {
		if a.str(p) == "" {
			return "", "", noParameter(p)
		}
	}
	return a.str("@source_schema"), a.str("@source_name"), nil
}

// enableTable is Microsoft: sys.sp_cdc_enable_table (Transact-SQL).
func enableTable(ctx context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	var out *tsql.Rows
	err := s.owner(db, 22904, func() error {
		schema, name, err := db.tableArgs(a)
		if err != nil {
			return err
		}
		if sqltype.EqualName(schema, "cdc") {
			return sqltype.Errorf(22974, "Tables contained in the cdc schema cannot be enabled for Change Data Capture.")
		}
		role := a["@role_name"]
		c := Capture{Role: strings.TrimRight(role.Str(), " "), Index: a.str("@index_name"), Filegroup: a.str("@filegroup_name")}
		if !role.IsNull() && c.Role == "" {
			return sqltype.Errorf(22907, "Parameter @role_name cannot be empty. Specify a value for @role_name and retry the operation. Supply null as the value if no role is to be used to gate access to captured change data.")
		}
		if a.given("@capture_instance") {
			if c.Name = strings.TrimRight(a.str("@capture_instance"), " "); c.Name == "" {
				return sqltype.Errorf(22932, "Capture instance name '%s' is invalid. Specify a valid name. See the topic 'Identifiers' in SQL Server Books Online for object name rules.", c.Name)
			}
		}
		db.mu.RLock()
		t := db.table(schema, name)
		c.Net = a.bit("@supports_net_changes")
		if !a.given("@supports_net_changes") { // on by default for a table whose rows can be told apart
			c.Net = t != nil && (t.key != nil || c.Index != "")
		}
		db.mu.RUnlock()
		if t == nil {
			return noTable(schema, name)
		}
		if c.Columns, err = t.columnList(a["@captured_column_list"]); err != nil {
			return err
		}
		if err := db.enableTable(ctx, schema+"."+name, c, enabler{login: s.who(), wait: s.wait}); err != nil {
			return err
		}
		if a.given("@allow_partition_switch") && !a.bit("@allow_partition_switch") {
			out = informed(&sqltype.Error{Number: 22857, State: 1, Class: 10, Message: "Warning: The @allow_partition_switch parameter must be 1 for tables that are not partitioned. The explicit setting of the parameter to 0 was ignored. Refer to books online for more information about partition switching behavior when using Change Data Capture."})
		}
		return nil
	})
	return out, err
}

// columnList cuts @captured_column_list into names, which may be in brackets or double quotes; NULL is all columns.
func (t *Table) columnList(list sqltype.Value) (names []string, err error) {
	if list.IsNull() {
		return nil, nil
	}
	s := strings.TrimSpace(list.Str())
	for {
		var name string
		if name, s, err = columnName(s); err != nil {
			return nil, err
		}
		if name == "" {
			return nil, t.badList()
		}
		names = append(names, name)
		if s = strings.TrimSpace(s); s == "" {
			return names, nil
		}
		if s[0] != ',' {
			return nil, t.badList()
		}
		s = strings.TrimSpace(s[1:])
	}
}

// columnName cuts the first name off a list of columns.
func columnName(s string) (name, rest string, err error) {
	if s == "" || s[0] != '[' && s[0] != '"' {
		i := strings.IndexByte(s, ',')
		if i < 0 {
			i = len(s)
		}
		return strings.TrimSpace(s[:i]), s[i:], nil
	}
	end := s[0]
	if end == '[' {
		end = ']'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != end {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == end { // doubled: the character itself
			b.WriteByte(end)
			i++
			continue
		}
		return b.String(), s[i+1:], nil
	}
	return "", "", sqltype.Errorf(22965, "A quoted column in the column list is not properly terminated. Verify that columns are correctly delimited and retry the operation. For more information, see 'Delimited Identifiers' in Books Online.")
}

// disableTable is Microsoft: sys.sp_cdc_disable_table (Transact-SQL).
func disableTable(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return nil, s.owner(db, 22904, func() error {
		schema, name, err := db.tableArgs(a)
		if err != nil {
			return err
		}
		instance := a.str("@capture_instance")
		if instance == "" {
			return noParameter("@capture_instance")
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		t := db.table(schema, name)
		if t == nil {
			return noTable(schema, name)
		}
		if len(t.inst) == 0 {
			return notCaptured(schema, name)
		}
		found := false
		for _, in := range append([]*Instance(nil), t.inst...) {
			if sqltype.EqualName(instance, "all") || sqltype.EqualName(instance, in.Name) {
				db.dropInstance(in)
				found = true
			}
		}
		if !found {
			return sqltype.Errorf(22960, "Change data capture instance '%s' has not been enabled for the source table '%s.%s'. Use sys.sp_cdc_help_change_data_capture to verify the capture instance name and retry the operation.", instance, schema, name)
		}
		return nil
	})
}

// cleanupTable is Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL).
func cleanupTable(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return nil, s.owner(db, 22904, func() error {
		if !db.enabled.Load() {
			return db.notEnabled()
		}
		name := a.str("@capture_instance")
		if name == "" {
			return noParameter("@capture_instance")
		}
		threshold := jobDefaults[jobCleanup].threshold
		if a.given("@threshold") {
			threshold = a["@threshold"].Int()
		}
		if threshold <= 0 {
			return errThreshold()
		}
		db.mu.Lock()
		in, ok := db.instance(name)
		if !ok {
			db.mu.Unlock()
			return sqltype.Errorf(22920, "The named capture instance %s does not exist for database %s.", name, db.Name)
		}
		if low, ok := lsnOf(a["@low_water_mark"]); ok {
			if i := db.entriesBefore(low); i == len(db.mapping) || db.mapping[i].LSN != low {
				db.mu.Unlock()
				return sqltype.Errorf(22964, "LSN %s, specified as the new low end point for change table cleanup must represent the start_lsn value of a current entry in the cdc.lsn_time_mapping table. Choose an LSN value that satisfies this requirement.", low)
			}
			in.raise(db.sharedTime(low))
		}
		db.mu.Unlock()
		db.purge([]*Instance{in}, threshold, func() bool { return true })
		return nil
	})
}

// informed is an answer of informational messages and no rows.
func informed(messages ...*sqltype.Error) *tsql.Rows { return &tsql.Rows{Messages: messages} }
