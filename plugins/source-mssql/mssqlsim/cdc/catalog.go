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
	if schema == "sys" {
		if v := captureViews[name]; v != nil {
			return s.captureView(db, v)
		}
		if name == "dm_db_partition_stats" {
			if err := s.stateOf(db); err != nil {
				return nil, err
			}
		}
		if v := serverViews[name]; v != nil {
			if err := s.serverState(); err != nil {
				return nil, err
			}
			return v(s, db), nil
		}
		for _, m := range []map[string]view{sysViews, objectViews, securityViews, aboutSystem()} {
			if v := m[name]; v != nil {
				return v(s, db), nil
			}
		}
		return nil, nil
	}
	if v := infoViews[name]; v != nil {
		return v(s, db), nil
	}
	return nil, nil
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
	"dm_db_partition_stats":      sysPartitionStats,
	"syslanguages":               sysLanguages,
}

func sysDatabases(s *Session, _ *Database) *tsql.Rows {
	desc := sqltype.Str(sqltype.NVarChar, 60)
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("database_id", integer), col("create_date", stamp), col("compatibility_level", tiny), ncol("collation_name", sysname),
		ncol("state", tiny), ncol("state_desc", desc), ncol("snapshot_isolation_state", tiny), ncol("snapshot_isolation_state_desc", desc), ncol("is_read_committed_snapshot_on", bit),
		col("is_cdc_enabled", bit), col("service_broker_guid", sqltype.Of(sqltype.UniqueIdentifier)), ncol("group_database_id", sqltype.Of(sqltype.UniqueIdentifier)), ncol("is_read_only", bit), ncol("recovery_model", tiny), ncol("recovery_model_desc", desc), ncol("user_access", tiny), ncol("user_access_desc", desc)}}
	level := map[Version]int64{V2016: 130, V2017: 140, V2019: 150, V2022: 160, Azure: 160}[s.srv.Version]
	for _, d := range s.srv.databases() {
		if !s.serverCan("VIEW ANY DATABASE") && !s.reaches(d) {
			continue
		}
		state, stateDesc := int64(0), "OFF"
		if d.snapshotAllowed.Load() {
			state, stateDesc = 1, "ON"
		}
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
		r.Data = append(r.Data, sqltype.Row{text(d.Name), num(int64(d.ID)), sqltype.FromTicks(d.created), num(level), text(sqltype.DefaultCollation), num(online), text(onlineDesc),
			num(state), text(stateDesc), flag(d.rcsi.Load()), flag(d.enabled.Load()), sqltype.FromGUID(*d.guid.Load()), group, flag(false), num(recoveryModels[*d.recovery.Load()]), text(*d.recovery.Load()), num(access), text(accessDesc)})
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
		col("generated_always_type", tiny), ncol("is_sparse", bit), col("default_object_id", integer)}}
	for _, o := range s.objects(db) {
		for _, c := range s.shownColumns(db, &o) {
			def := int32(0)
			if c.defined != nil {
				def = c.defined.def
			}
			r.Data = append(r.Data, columnRow(int64(o.id), c.Column, c.place, c.sparse, def))
		}
	}
	return r
}

// columnRow is a row of sys.columns.
func columnRow(id int64, c tsql.Column, place int, sparse bool, def int32) sqltype.Row {
	n, p, sc := size(c.Type)
	collation := null
	if c.Type.Class() == sqltype.ClassString && c.Type.Kind != sqltype.XML {
		collation = text(sqltype.DefaultCollation)
		if c.Type.Collation != "" {
			collation = text(c.Type.Collation)
		}
	}
	t := typeIDs[c.Type.Kind]
	return sqltype.Row{num(id), text(c.Name), num(int64(place)), num(t), num(t), num(n), num(p), num(sc), collation, flag(c.Nullable), flag(c.Identity), flag(c.Computed), flag(false), num(0), flag(sparse), num(int64(def))}
}

func sysTypes(*Session, *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("system_type_id", tiny), col("user_type_id", integer), col("schema_id", integer), col("is_user_defined", bit)}}
	for k := sqltype.Bit; k <= sqltype.Geometry; k++ {
		id := typeIDs[k]
		user := id
		switch k {
		case sqltype.HierarchyID:
			user = 128
		case sqltype.Geometry:
			user = 129
		case sqltype.Geography:
			user = 130
		}
		r.Data = append(r.Data, sqltype.Row{text(k.String()), num(id), num(user), num(4), flag(false)})
	}
	r.Data = append(r.Data, sqltype.Row{text("sysname"), num(231), num(256), num(4), flag(false)})
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
