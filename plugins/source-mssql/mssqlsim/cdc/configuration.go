package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// configurations are the options of a new server that people look for (Microsoft: sys.configurations (Transact-SQL),
// Server configuration options). Only textReplSize is
// obeyed.
var configurations = []struct {
	id                        int64
	name                      string
	value, minimum, maximum   int64
	description               string
	dynamic, advanced, agents bool
}{
	{101, "recovery interval (min)", 0, 0, 32767, "Maximum recovery interval in minutes", true, true, false},
	{102, "allow updates", 0, 0, 1, "Allow updates to system tables", true, false, false},
	{103, "user connections", 0, 0, 32767, "Number of user connections allowed", false, true, false},
	{106, "locks", 0, 5000, 2147483647, "Number of locks for all users", false, true, false},
	{115, "nested triggers", 1, 0, 1, "Allow triggers to be invoked within triggers", true, false, false},
	{124, "default language", 0, 0, 9999, "default language", true, false, false},
	{503, "max worker threads", 0, 128, 65535, "Maximum worker threads", true, true, false},
	{505, "network packet size (B)", 4096, 512, 32767, "Network packet size", true, true, false},
	{518, "show advanced options", 0, 0, 1, "show advanced options", true, false, false},
	{542, "remote proc trans", 0, 0, 1, "Create DTC transaction for remote procedures", true, false, false},
	{1534, "user options", 0, 0, 32767, "user options", true, false, false},
	{1536, textReplSize, textReplDefault, -1, 2147483647, "Maximum size of a text field in replication.", true, false, false},
	{1538, "cost threshold for parallelism", 5, 0, 32767, "cost threshold for parallelism", true, true, false},
	{1539, "max degree of parallelism", 0, 0, 32767, "maximum degree of parallelism", true, true, false},
	{1541, "query wait (s)", -1, -1, 2147483647, "maximum time to wait for query memory (s)", true, true, false},
	{1543, "min server memory (MB)", 0, 0, 2147483647, "Minimum size of server memory (MB)", true, true, false},
	{1544, "max server memory (MB)", 2147483647, 128, 2147483647, "Maximum size of server memory (MB)", true, true, false},
	{1562, "clr enabled", 0, 0, 1, "CLR user code execution enabled in the server", true, false, false},
	{1576, "remote admin connections", 0, 0, 1, "Dedicated Admin Connections are allowed from remote clients", true, false, false},
	{1579, "backup compression default", 0, 0, 1, "Enable compression of backups by default", true, false, false},
	{1581, "optimize for ad hoc workloads", 0, 0, 1, "When this option is set, plan cache size is further reduced for single-use adhoc OLTP workload.", true, true, false},
	{16384, "Agent XPs", 1, 0, 1, "Enable or disable Agent XPs", true, true, true},
	{16390, "xp_cmdshell", 0, 0, 1, "Enable or disable command shell", true, true, false},
}

// sysConfigurations is Microsoft: sys.configurations (Transact-SQL). Its values are sql_variant of int.
func sysConfigurations(s *Session, _ *Database) *tsql.Rows {
	variant := sqltype.Of(sqltype.Variant)
	r := &tsql.Rows{Cols: []tsql.Column{col("configuration_id", integer), col("name", sqltype.Str(sqltype.NVarChar, 35)), ncol("value", variant), ncol("minimum", variant), ncol("maximum", variant), ncol("value_in_use", variant),
		col("description", sqltype.Str(sqltype.NVarChar, 255)), col("is_dynamic", bit), col("is_advanced", bit)}}
	of := func(n int64) sqltype.Value {
		v, err := sqltype.Convert(num(n), integer, variant, 0)
		if err != nil {
			return null
		}
		return v
	}
	for _, c := range configurations {
		v, used := s.srv.valueOf(c.name, c.value)
		if c.agents && AgentState(s.srv.agent.Load()) != AgentRunning {
			v, used = 0, 0
		}
		r.Data = append(r.Data, sqltype.Row{num(c.id), text(c.name), of(v), of(c.minimum), of(c.maximum), of(used), text(c.description), flag(c.dynamic), flag(c.advanced)})
	}
	return r
}

// databaseProperty is DATABASEPROPERTYEX (Microsoft: DATABASEPROPERTYEX (Transact-SQL)). It answers text, where a server
// answers sql_variant: clients cast it. NULL is a property that there is not, or a database one may not see.
func (s *Session) databaseProperty(name, property sqltype.Value) sqltype.Value {
	db := s.srv.Find(name.Str())
	if name.IsNull() || db == nil || !s.reaches(db) && !s.serverCan("VIEW ANY DATABASE") {
		return null
	}
	switch strings.ToLower(property.Str()) {
	case "collation":
		return text(sqltype.DefaultCollation)
	case "recovery":
		return text(*db.recovery.Load())
	case "status":
		return text("ONLINE")
	case "updateability":
		if db.secondary.Load() {
			return text("READ_ONLY")
		}
		return text("READ_WRITE")
	case "useraccess":
		return text("MULTI_USER")
	case "version":
		return text(map[Version]string{V2016: "852", V2017: "869", V2019: "904", V2022: "957", Azure: "957"}[s.srv.Version])
	case "comparisonstyle":
		return text("196609")
	case "lcid":
		return text("1033")
	case "sqlsortorder":
		return text("52")
	case "isansinulldefault", "isansinullsenabled", "isansipaddingenabled", "isansiwarningsenabled", "isarithmeticabortenabled", "isautoclose", "isautoshrink", "isclone", "isclosecursorsoncommitenabled",
		"isfulltextenabled", "isinstandby", "islocalcursorsdefault", "ismemoryoptimizedelevatetosnapshotenabled", "ismergepublished", "isnullconcat", "isnumericroundabortenabled", "isparameterizationforced",
		"ispublished", "isquotedidentifiersenabled", "isrecursivetriggersenabled", "issubscribed", "issyncwithbackup", "istornpagedetectionenabled", "isverifiedclone", "isxtpsupported":
		return text("0")
	case "isautocreatestatistics", "isautoupdatestatistics":
		return text("1")
	}
	return null
}
