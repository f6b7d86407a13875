package cdc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// productVersions are builds of the versions the simulator can be.
var productVersions = map[Version]string{V2016: "13.0.6435.1", V2017: "14.0.3460.9", V2019: "15.0.4430.1", V2022: "16.0.4195.2", Azure: "12.0.2000.8"}

var productNames = map[Version]string{V2016: "Microsoft SQL Server 2016 (SP3)", V2017: "Microsoft SQL Server 2017", V2019: "Microsoft SQL Server 2019", V2022: "Microsoft SQL Server 2022", Azure: "Microsoft SQL Azure"}

// System gives functions of the server, the session and the catalog.
func (s *Session) System(name string, a []sqltype.Value) (sqltype.Value, sqltype.Type, bool, error) {
	arg := func(i int) sqltype.Value {
		if i < len(a) {
			return a[i]
		}
		return null
	}
	now := s.srv.clock.Now()
	local := s.srv.local(now)
	switch name {
	case "@@SPID":
		return num(int64(s.SPID)), sqltype.Of(sqltype.SmallInt), true, nil
	case "@@SERVERNAME":
		return text(s.srv.Name), sysname, true, nil
	case "@@SERVICENAME":
		return text("MSSQLSERVER"), sysname, true, nil
	case "@@VERSION":
		return text(fmt.Sprintf("%s - %s (X64), simulated by mssqlsim", productNames[s.srv.Version], productVersions[s.srv.Version])), sqltype.Str(sqltype.NVarChar, 300), true, nil
	case "@@LANGUAGE":
		return text(s.settings.Locale.Language().Name), sysname, true, nil
	case "@@LANGID":
		return num(int64(s.settings.Locale.Language().ID)), sqltype.Of(sqltype.SmallInt), true, nil
	case "@@TEXTSIZE":
		return num(s.textSize()), integer, true, nil
	case "@@LOCK_TIMEOUT":
		ms := int64(-1)
		if s.wait >= 0 {
			ms = int64(s.wait) / 1e6
		}
		return num(ms), integer, true, nil
	case "@@OPTIONS":
		return num(s.settings.Options), integer, true, nil
	case "@@MAX_PRECISION":
		return num(38), sqltype.Of(sqltype.TinyInt), true, nil
	case "@@MICROSOFTVERSION":
		return num(0x10001077), integer, true, nil
	case "@@DATEFIRST":
		return num(int64(s.settings.Locale.First())), sqltype.Of(sqltype.TinyInt), true, nil
	case "SYSDATETIMEOFFSET":
		return sqltype.FromTicksOffset(sqltype.TicksOf(now), int((local-sqltype.TicksOf(now))/sqltype.TicksPerMinute)), sqltype.Scaled(sqltype.DateTimeOffset, 7), true, nil
	case "SYSDATETIME":
		return sqltype.FromTicks(local), sqltype.Scaled(sqltype.DateTime2, 7), true, nil
	case "SYSUTCDATETIME":
		return sqltype.FromTicks(sqltype.TicksOf(now)), sqltype.Scaled(sqltype.DateTime2, 7), true, nil
	case "GETDATE":
		return sqltype.FromTicks(sqltype.DateTimeTicks(local)), sqltype.Of(sqltype.DateTime), true, nil
	case "GETUTCDATE":
		return sqltype.FromTicks(sqltype.DateTimeTicks(sqltype.TicksOf(now))), sqltype.Of(sqltype.DateTime), true, nil
	case "CURRENT_TIMEZONE_ID": // SQL Server 2022, Azure SQL Database and Managed Instance
		if s.srv.Version != V2022 && s.srv.Version != Azure {
			return null, sysname, false, nil
		}
		return text(s.srv.Zone), sqltype.Str(sqltype.VarChar, 128), true, nil
	case "NEWID":
		return sqltype.FromGUID(newGUID()), sqltype.Of(sqltype.UniqueIdentifier), true, nil
	case "XACT_STATE":
		if s.settings.Doomed {
			return num(-1), sqltype.Of(sqltype.SmallInt), true, nil
		}
		return num(int64(min(s.nesting, 1))), sqltype.Of(sqltype.SmallInt), true, nil
	case "APP_NAME":
		return text(s.client.Program), sysname, true, nil
	case "HOST_NAME":
		return text(s.client.Host), sysname, true, nil
	case "HOST_ID":
		if s.srv.Version == Azure { // the page is of SQL Server and Managed Instance alone
			return null, sysname, false, sqltype.Unsupported("HOST_ID in Azure SQL Database")
		}
		return text(fmt.Sprintf("%-10d", s.client.Process)), sqltype.Str(sqltype.Char, 10), true, nil
	case "CONTEXT_INFO":
		switch c := s.settings.ContextInfo; {
		case c != nil:
			return sqltype.FromBytes(string(c)), sqltype.Bin(sqltype.VarBinary, 128), true, nil
		case s.srv.Version == Azure: // a GUID of the session
			return null, sysname, false, sqltype.Unsupported("CONTEXT_INFO that was not set, in Azure SQL Database")
		}
		return null, sqltype.Bin(sqltype.VarBinary, 128), true, nil
	case "SESSIONPROPERTY":
		v, err := s.sessionProperty(arg(0))
		return v, sqltype.Of(sqltype.Variant), true, err
	case "DB_NAME":
		if len(a) == 0 {
			return text(s.db.Name), sysname, true, nil
		}
		for _, db := range s.srv.databases() {
			if v, err := sqltype.Convert(a[0], sysname, integer, 0); err == nil && !v.IsNull() && int64(db.ID) == v.Int() {
				return text(db.Name), sysname, true, nil
			}
		}
		return null, sysname, true, nil
	case "DB_ID":
		t := sqltype.Of(sqltype.SmallInt)
		if len(a) == 0 {
			return num(int64(s.db.ID)), t, true, nil
		}
		if db := s.srv.Find(arg(0).Str()); db != nil && !arg(0).IsNull() {
			return num(int64(db.ID)), t, true, nil
		}
		return null, t, true, nil
	case "DATABASEPROPERTYEX":
		return s.databaseProperty(arg(0), arg(1)), sqltype.Str(sqltype.NVarChar, 128), true, nil
	case "SERVERPROPERTY":
		v, err := s.property(arg(0))
		return v, sqltype.Str(sqltype.NVarChar, 128), true, err
	}
	if v, t, ok := s.identityOf(name, a, arg); ok {
		return v, t, true, nil
	}
	if v, t, ok := s.identityFunction(name, arg(0)); ok {
		return v, t, true, nil
	}
	return s.catalogFunction(name, a, arg)
}

// catalogFunction answers OBJECT_ID and its like.
func (s *Session) catalogFunction(name string, a []sqltype.Value, arg func(int) sqltype.Value) (sqltype.Value, sqltype.Type, bool, error) {
	if name == "OBJECT_ID" && !arg(0).IsNull() {
		if parts := nameParts(arg(0).Str()); isTemporary(parts[len(parts)-1]) {
			return s.temporaryObject(parts, arg(1)), integer, true, nil
		}
	}
	db := s.db
	if name == "COL_LENGTH" {
		if db = s.databaseNamed(arg(0).Str()); db == nil {
			return null, small, true, nil
		}
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	id := int64(-1)
	if v, err := sqltype.Convert(arg(0), sysname, sqltype.Of(sqltype.BigInt), 0); err == nil && !v.IsNull() {
		id = v.Int()
	}
	switch name {
	case "OBJECT_ID":
		if arg(0).IsNull() {
			return null, integer, true, nil
		}
		parts := nameParts(arg(0).Str())
		obj, schema := parts[len(parts)-1], "dbo"
		if len(parts) > 1 && parts[len(parts)-2] != "" {
			schema = parts[len(parts)-2]
		}
		for _, p := range s.parts(db) {
			if sqltype.EqualName(p.name, obj) && sqltype.EqualName(p.schema, schema) && (arg(1).IsNull() || strings.EqualFold(strings.TrimSpace(p.typ), strings.TrimSpace(arg(1).Str()))) {
				return num(int64(p.id)), integer, true, nil
			}
		}
		return null, integer, true, nil
	case "OBJECT_NAME", "OBJECT_SCHEMA_NAME":
		for _, p := range s.parts(db) {
			if int64(p.id) == id {
				if name == "OBJECT_NAME" {
					return text(p.name), sysname, true, nil
				}
				return text(p.schema), sysname, true, nil
			}
		}
		return null, sysname, true, nil
	case "SCHEMA_ID":
		want := arg(0).Str()
		if len(a) == 0 {
			want = "dbo"
		}
		if k, ok := db.schemaID(want); ok {
			return num(int64(k)), integer, true, nil
		}
		return null, integer, true, nil
	case "SCHEMA_NAME":
		if len(a) == 0 {
			return text("dbo"), sysname, true, nil
		}
		for _, n := range db.allSchemas() {
			if k, _ := db.schemaID(n); int64(k) == id {
				return text(n), sysname, true, nil
			}
		}
		return null, sysname, true, nil
	case "HAS_PERMS_BY_NAME":
		return s.hasPerms(db, arg), integer, true, nil
	}
	return s.metadataFunction(db, name, arg)
}

// object is a table as the catalog shows it.
type object struct {
	id      int32
	name    string
	schema  string
	created int64
	table   *Table
	in      *Instance
}

// everyObject lists the tables and change tables of a database. The temporary tables of the session are in the catalog of tempdb.
func (s *Session) everyObject(db *Database) (out []object) {
	tables := db.tables
	if db.Name == tempdb {
		tables = append(slices.Clone(tables), s.ownTemporaries()...)
	}
	for _, t := range tables {
		if isTemporary(t.Name) != s.temporaryIn(db, t) {
			continue
		}
		out = append(out, object{id: t.ID, name: t.Name, schema: t.Schema, created: t.created, table: t})
		for _, in := range t.inst {
			out = append(out, object{id: in.ID, name: in.Name + "_CT", schema: "cdc", created: in.at, table: t, in: in})
		}
	}
	return out
}

// objects lists what the session may see.
func (s *Session) objects(db *Database) (out []object) {
	for _, o := range s.everyObject(db) {
		if _, ok := s.visible(db, &o); ok {
			out = append(out, o)
		}
	}
	return out
}

var _ tsql.Session = (*Session)(nil)
