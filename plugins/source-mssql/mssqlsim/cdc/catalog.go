package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

var (
	tiny   = sqltype.Of(sqltype.TinyInt)
	small  = sqltype.Of(sqltype.SmallInt)
	bigint = sqltype.Of(sqltype.BigInt)
	stamp  = sqltype.Of(sqltype.DateTime)
)

// typeIDs are system_type_id and user_type_id of sys.types.
var typeIDs = map[sqltype.Kind]int64{sqltype.Image: 34, sqltype.Text: 35, sqltype.UniqueIdentifier: 36, sqltype.Date: 40, sqltype.Time: 41, sqltype.DateTime2: 42, sqltype.DateTimeOffset: 43,
	sqltype.TinyInt: 48, sqltype.SmallInt: 52, sqltype.Int: 56, sqltype.SmallDateTime: 58, sqltype.Real: 59, sqltype.Money: 60, sqltype.DateTime: 61, sqltype.Float: 62, sqltype.Variant: 98,
	sqltype.NText: 99, sqltype.Bit: 104, sqltype.Decimal: 106, sqltype.Numeric: 108, sqltype.SmallMoney: 122, sqltype.BigInt: 127, sqltype.VarBinary: 165, sqltype.VarChar: 167, sqltype.Binary: 173,
	sqltype.Char: 175, sqltype.RowVersion: 189, sqltype.NVarChar: 231, sqltype.NChar: 239, sqltype.XML: 241, sqltype.HierarchyID: 240, sqltype.Geometry: 240, sqltype.Geography: 240}

// size gives max_length, precision and scale as sys.columns shows them.
func size(t sqltype.Type) (length, prec, scale int64) {
	switch t.Class() {
	case sqltype.ClassString, sqltype.ClassBinary:
		length = int64(t.Len)
		if t.Unicode() && length > 0 {
			length *= 2
		}
		switch t.Kind {
		case sqltype.Text, sqltype.NText, sqltype.Image:
			length = 16
		case sqltype.XML:
			length = -1
		}
		return length, 0, 0
	}
	timeLen := func(base int64) int64 {
		n := base + 3
		if t.Scale > 2 {
			n++
		}
		if t.Scale > 4 {
			n++
		}
		return n
	}
	frac := int64(0)
	if t.Scale > 0 {
		frac = int64(t.Scale) + 1
	}
	switch t.Kind {
	case sqltype.Bit:
		return 1, 1, 0
	case sqltype.TinyInt:
		return 1, 3, 0
	case sqltype.SmallInt:
		return 2, 5, 0
	case sqltype.Int:
		return 4, 10, 0
	case sqltype.BigInt:
		return 8, 19, 0
	case sqltype.Real:
		return 4, 24, 0
	case sqltype.Float:
		return 8, 53, 0
	case sqltype.Money:
		return 8, 19, 4
	case sqltype.SmallMoney:
		return 4, 10, 4
	case sqltype.Decimal, sqltype.Numeric:
		n := int64(17)
		switch {
		case t.Prec <= 9:
			n = 5
		case t.Prec <= 19:
			n = 9
		case t.Prec <= 28:
			n = 13
		}
		return n, int64(t.Prec), int64(t.Scale)
	case sqltype.Date:
		return 3, 10, 0
	case sqltype.DateTime:
		return 8, 23, 3
	case sqltype.SmallDateTime:
		return 4, 16, 0
	case sqltype.Time:
		return timeLen(0), 8 + frac, int64(t.Scale)
	case sqltype.DateTime2:
		return timeLen(3), 19 + frac, int64(t.Scale)
	case sqltype.DateTimeOffset:
		return timeLen(5), 26 + frac, int64(t.Scale)
	case sqltype.UniqueIdentifier:
		return 16, 0, 0
	}
	return -1, 0, 0
}

// view builds the rows of a catalog view. The database's lock is held for reading.
type view func(s *Session, db *Database) *tsql.Rows

func (s *Session) systemView(db *Database, schema, name string) (tsql.Relation, error) {
	v := systemViewNamed(schema, name)
	if v == nil {
		return nil, nil
	}
	if schema == "sys" {
		if captureViews[name] != nil || name == "dm_db_partition_stats" {
			if err := s.stateOf(db); err != nil {
				return nil, err
			}
		}
		if serverViews[name] != nil {
			if err := s.serverState(); err != nil {
				return nil, err
			}
		}
	}
	return s.shape(schema+"."+name, v(s, db)), nil
}

// systemViews are the views of a schema, in several maps.
func systemViews(schema string) []map[string]view {
	if schema != "sys" {
		return []map[string]view{infoViews, emptyViews()["information_schema"]}
	}
	return []map[string]view{sysViews, objectViews, securityViews, captureViews, serverViews, compatViews, aboutSystem(), emptyViews()["sys"]}
}

func systemViewNamed(schema, name string) view {
	for _, m := range systemViews(schema) {
		if v := m[name]; v != nil {
			return v
		}
	}
	return nil
}

var sysViews = map[string]view{
	"databases":                  sysDatabases,
	"schemas":                    sysSchemas,
	"columns":                    sysColumns,
	"types":                      sysTypes,
	"indexes":                    sysIndexes,
	"index_columns":              sysIndexColumns,
	"partitions":                 sysPartitions,
	"configurations":             sysConfigurations,
	"dm_exec_session_wait_stats": sysWaits,
	"dm_exec_sessions":           sysSessions,
	"dm_exec_requests":           sysRequests,
	"database_files":             databaseFiles,
	"master_files":               masterFiles,
	"data_spaces":                dataSpaces,
	"filegroups":                 dataSpaces,
	"sql_modules":                sqlModules,
	"parameters":                 sysParameters,
	"masked_columns":             func(s *Session, db *Database) *tsql.Rows { return &tsql.Rows{Cols: sysColumns(s, db).Cols} },
	"table_types":                func(s *Session, db *Database) *tsql.Rows { return &tsql.Rows{Cols: sysTypes(s, db).Cols} },
	"dm_db_partition_stats":      sysPartitionStats,
	"syslanguages":               sysLanguages,
}

func sysDatabases(s *Session, _ *Database) *tsql.Rows {
	desc := sqltype.Str(sqltype.NVarChar, 60)
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("database_id", integer), col("create_date", stamp), col("compatibility_level", tiny), ncol("collation_name", sysname),
		ncol("state", tiny), ncol("state_desc", desc), ncol("snapshot_isolation_state", tiny), ncol("snapshot_isolation_state_desc", desc), ncol("is_read_committed_snapshot_on", bit),
		col("is_cdc_enabled", bit), ncol("is_fulltext_enabled", bit), ncol("is_trustworthy_on", bit), col("is_db_chaining_on", bit), ncol("is_query_store_on", bit), col("is_broker_enabled", bit), ncol("log_reuse_wait", tiny),
		ncol("log_reuse_wait_desc", desc), ncol("target_recovery_time_in_seconds", integer), ncol("is_mixed_page_allocation_on", bit), ncol("physical_database_name", sysname), ncol("is_accelerated_database_recovery_on", bit),
		col("service_broker_guid", sqltype.Of(sqltype.UniqueIdentifier)), ncol("group_database_id", sqltype.Of(sqltype.UniqueIdentifier)), ncol("is_read_only", bit), ncol("recovery_model", tiny), ncol("recovery_model_desc", desc), ncol("user_access", tiny), ncol("user_access_desc", desc)}}
	for _, d := range s.srv.inOrder() {
		// In a database of Azure SQL Database master and that one alone are seen (Microsoft: sys.databases (Transact-SQL)).
		if s.srv.Version == Azure && (systemDatabase(d.Name) && d.Name != "master" || s.db.Name != "master" && d != s.db && d.Name != "master") {
			continue
		}
		if !s.serverCan("VIEW ANY DATABASE") && !s.reaches(d) {
			continue
		}
		state := int64(d.snapshots.Load())
		stateDesc := snapshotStates[state]
		online, onlineDesc := int64(0), "ONLINE"
		if d.offline.Load() {
			online, onlineDesc = 6, "OFFLINE"
		}
		access, accessDesc := int64(0), "MULTI_USER"
		if d.single.Load() {
			access, accessDesc = 1, "SINGLE_USER"
		}
		group := null
		if id := d.group.Load(); id != nil {
			group = sqltype.FromGUID(*id)
		}
		// Microsoft: master, msdb and model databases, Database options; ALTER DATABASE SET options; sys.databases
		system, wait, waitDesc, recovery := systemDatabase(d.Name), int64(0), "NOTHING", num(60)
		if d.waiting.Load() {
			wait, waitDesc = 6, "REPLICATION"
		}
		if system {
			recovery = num(0)
		}
		newest := s.srv.Version == V2022 || s.srv.Version == Azure
		r.Data = append(r.Data, sqltype.Row{text(d.Name), num(int64(d.ID)), sqltype.FromTicks(d.created), num(s.srv.level()), text(sqltype.DefaultCollation), num(online), text(onlineDesc),
			num(state), text(stateDesc), flag(d.rcsi.Load()), flag(d.enabled.Load()), flag(!system), flag(d.Name == msdb), flag(system && d.Name != "model"), flag(newest && !system), flag(d.Name != "master" && d.Name != "model"), num(wait), text(waitDesc),
			recovery, flag(system && d.Name != "tempdb"), text(d.Name), flag(s.srv.Version == Azure), sqltype.FromGUID(*d.guid.Load()), group, flag(false), num(recoveryModels[*d.recovery.Load()]), text(*d.recovery.Load()), num(access), text(accessDesc)})
	}
	return r
}

func sysSchemas(_ *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("schema_id", integer), ncol("principal_id", integer)}}
	for _, n := range db.allSchemas() {
		id, _ := db.schemaID(n)
		r.Data = append(r.Data, sqltype.Row{text(n), num(int64(id)), num(int64(db.sec.ownerID(n)))})
	}
	return r
}

func sysColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), ncol("name", sysname), col("column_id", integer), col("system_type_id", tiny), col("user_type_id", integer), col("max_length", small),
		col("precision", tiny), col("scale", tiny), ncol("collation_name", sysname), ncol("is_nullable", bit), col("is_identity", bit), col("is_computed", bit), col("is_hidden", bit),
		col("generated_always_type", tiny), ncol("is_sparse", bit), col("default_object_id", integer), col("is_ansi_padded", bit), col("is_rowguidcol", bit)}}
	for _, o := range s.objects(db) {
		for _, c := range s.shownColumns(db, &o) {
			def := int32(0)
			if c.defined != nil {
				def = c.defined.def
			}
			r.Data = append(r.Data, columnRow(int64(o.id), c.Column, c.place, c.sparse, def, c.defined != nil && c.defined.RowGUID))
		}
	}
	return r
}

// columnRow is a row of sys.columns.
func columnRow(id int64, c tsql.Column, place int, sparse bool, def int32, rowguid bool) sqltype.Row {
	n, p, sc := size(c.Type)
	collation := null
	if c.Type.Class() == sqltype.ClassString && c.Type.Kind != sqltype.XML {
		collation = text(sqltype.DefaultCollation)
		if c.Type.Collation != "" {
			collation = text(c.Type.Collation)
		}
	}
	t := typeIDs[c.Type.Kind]
	k := c.Type.Class()
	padded := (k == sqltype.ClassString || k == sqltype.ClassBinary) && c.Type.Kind != sqltype.RowVersion && c.Type.Kind != sqltype.XML || c.Type.Kind == sqltype.Variant
	return sqltype.Row{num(id), text(c.Name), num(int64(place)), num(t), num(userTypeID(c.Type.Kind)), num(n), num(p), num(sc), collation, flag(c.Nullable), flag(c.Identity), flag(c.Computed), flag(false), num(0), flag(sparse), num(int64(def)), flag(padded), flag(rowguid)}
}

// userTypeID gives user_type_id: those of the CLR share a system type.
func userTypeID(k sqltype.Kind) int64 {
	switch k {
	case sqltype.HierarchyID:
		return 128
	case sqltype.Geometry:
		return 129
	case sqltype.Geography:
		return 130
	}
	return typeIDs[k]
}

// largest is a type at its largest, as sys.types and sp_datatype_info show it.
func largest(k sqltype.Kind) sqltype.Type {
	t := sqltype.Of(k)
	switch k {
	case sqltype.Char, sqltype.VarChar, sqltype.Binary, sqltype.VarBinary:
		t.Len = 8000
	case sqltype.NChar, sqltype.NVarChar:
		t.Len = 4000
	case sqltype.Decimal, sqltype.Numeric:
		t.Prec, t.Scale = 38, 38
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		t.Scale = 7
	}
	return t
}

// sysTypes is Microsoft: sys.types (Transact-SQL).
func sysTypes(*Session, *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("system_type_id", tiny), col("user_type_id", integer), col("schema_id", integer), col("max_length", small), col("precision", tiny), col("scale", tiny),
		ncol("collation_name", sysname), ncol("is_nullable", bit), col("is_user_defined", bit), col("is_assembly_type", bit)}}
	for k := sqltype.Bit; k <= sqltype.Geometry; k++ {
		t := largest(k)
		n, p, sc := size(t)
		switch k {
		case sqltype.Variant:
			n = 8016
		case sqltype.HierarchyID:
			n = 892
		case sqltype.RowVersion:
			n = 8
		}
		collation := null
		if t.Class() == sqltype.ClassString && k != sqltype.XML {
			collation = text(sqltype.DefaultCollation)
		}
		user := userTypeID(k)
		r.Data = append(r.Data, sqltype.Row{text(k.String()), num(typeIDs[k]), num(user), num(4), num(n), num(p), num(sc), collation, flag(k != sqltype.RowVersion), flag(false), flag(user != typeIDs[k])})
	}
	r.Data = append(r.Data, sqltype.Row{text("sysname"), num(231), num(256), num(4), num(256), num(0), num(0), text(sqltype.DefaultCollation), flag(false), flag(false), flag(false)})
	return r
}

func sysWaits(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", small), col("wait_type", sqltype.Str(sqltype.NVarChar, 60)), col("waiting_tasks_count", bigint), col("wait_time_ms", bigint), col("max_wait_time_ms", bigint), col("signal_wait_time_ms", bigint)}}
	if s.NetworkWait != nil {
		if ms := s.NetworkWait(); ms > 0 {
			r.Data = append(r.Data, sqltype.Row{num(int64(s.SPID)), text("ASYNC_NETWORK_IO"), num(1), num(ms), num(ms), num(0)})
		}
	}
	return r
}

// cdcViews are the tables of the schema cdc that only db_owner may read.
var cdcViews = map[string]view{
	"change_tables": func(s *Session, db *Database) *tsql.Rows {
		r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), ncol("version", integer), ncol("source_object_id", integer), col("capture_instance", sysname), ncol("start_lsn", binLSN), ncol("end_lsn", binLSN),
			ncol("supports_net_changes", bit), ncol("has_drop_pending", bit), ncol("role_name", sysname), ncol("index_name", sysname), ncol("filegroup_name", sysname), ncol("create_date", stamp), ncol("partition_switch", bit)}}
		for _, o := range s.everyObject(db) {
			if o.in != nil {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), num(0), num(int64(o.table.ID)), text(o.in.Name), o.in.start.Value(), null, flag(o.in.net), null, orNull(o.in.Role),
					orNull(o.in.index), orNull(o.in.filegroup), sqltype.FromTicks(o.in.at), flag(true)})
			}
		}
		return r
	},
	"captured_columns": func(s *Session, db *Database) *tsql.Rows {
		r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), col("column_name", sysname), ncol("column_id", integer), ncol("column_type", sysname), col("column_ordinal", integer), ncol("is_computed", bit)}}
		for _, o := range s.everyObject(db) {
			if o.in == nil {
				continue
			}
			for i, c := range o.in.captured {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), text(c.name), num(int64(c.id)), text(c.typ.Kind.String()), num(int64(i + 1)), flag(c.computed)})
			}
		}
		return r
	},
	"index_columns": func(s *Session, db *Database) *tsql.Rows {
		r := &tsql.Rows{Cols: []tsql.Column{col("object_id", integer), col("column_name", sysname), col("index_ordinal", tiny), col("column_id", integer)}}
		for _, o := range s.everyObject(db) {
			if o.in == nil {
				continue
			}
			for i, id := range o.in.key {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), text(o.table.byID(id).Name), num(int64(i + 1)), num(int64(id))})
			}
		}
		return r
	},
	"ddl_history": func(s *Session, db *Database) *tsql.Rows {
		r := &tsql.Rows{Cols: []tsql.Column{ncol("source_object_id", integer), col("object_id", integer), ncol("required_column_update", bit), ncol("ddl_command", longText), ncol("ddl_lsn", binLSN), ncol("ddl_time", stamp)}}
		for _, o := range s.everyObject(db) {
			if o.in == nil {
				continue
			}
			for _, d := range o.in.ddl {
				r.Data = append(r.Data, sqltype.Row{num(int64(o.table.ID)), num(int64(o.id)), flag(d.required), text(d.command), d.lsn.Value(), sqltype.FromTicks(d.time)})
			}
		}
		return r
	},
}
