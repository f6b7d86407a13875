package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// sessionState is what others see of the settings of a session: as they were at the end of its last request.
type sessionState struct {
	login, original string // under which it executes, and which it came with
	options         int64
	textSize, wait  int64
	language, order string
	first           int
	isolation       tsql.Isolation
	priority        int8
	context         sqltype.Value
	nesting         int
	database        int16
}

func (s *Session) state() sessionState {
	l := &s.settings.Locale
	st := sessionState{login: s.who(), options: s.settings.Options, textSize: s.textSize(), wait: s.LockTimeout(), language: l.Language().Name, order: l.Order(), first: l.First(),
		isolation: s.isolation, priority: s.priority, nesting: s.nesting, original: s.login.Name()}
	if s.db != nil {
		st.database = s.db.ID
	}
	if c := s.settings.ContextInfo; c != nil {
		st.context = sqltype.FromBytes(string(c))
	}
	return st
}

// settingColumns are the columns of SET options that sessions and requests have.
var settingColumns = []tsql.Column{ncol("context_info", sqltype.Bin(sqltype.VarBinary, 128)), col("text_size", integer), ncol("language", sysname), ncol("date_format", sqltype.Str(sqltype.NVarChar, 3)), col("date_first", small),
	col("quoted_identifier", bit), col("arithabort", bit), col("ansi_null_dflt_on", bit), col("ansi_defaults", bit), col("ansi_warnings", bit), col("ansi_padding", bit), col("ansi_nulls", bit),
	col("concat_null_yields_null", bit), col("transaction_isolation_level", small), col("lock_timeout", integer), col("deadlock_priority", integer)}

// settings are the values of settingColumns.
func (st *sessionState) settings() sqltype.Row {
	set := func(bits int64) sqltype.Value { return flag(st.options&bits == bits) }
	return sqltype.Row{st.context, num(st.textSize), text(st.language), text(st.order), num(int64(st.first)), set(256), set(64), set(1024), set(ansiDefaults), set(8), set(16), set(32), set(4096), num(int64(st.isolation)),
		num(st.wait), num(int64(st.priority))}
}

// sysSessions is Microsoft: sys.dm_exec_sessions (Transact-SQL): all sessions for those with VIEW SERVER STATE, else one's
// own. The settings of others are those that they had when their last request ended.
func sysSessions(s *Session, _ *Database) *tsql.Rows {
	word := sqltype.Str(sqltype.NVarChar, 128)
	r := &tsql.Rows{Cols: append([]tsql.Column{col("session_id", small), col("login_time", stamp), ncol("host_name", word), ncol("program_name", word), ncol("host_process_id", integer), ncol("client_version", integer),
		ncol("client_interface_name", sqltype.Str(sqltype.NVarChar, 32)), col("security_id", sidType), col("login_name", word), col("status", sqltype.Str(sqltype.NVarChar, 30)), col("last_request_start_time", stamp),
		ncol("last_request_end_time", stamp), col("row_count", bigint), col("prev_error", integer), col("original_security_id", sidType), col("original_login_name", word), col("database_id", small),
		col("open_transaction_count", integer)}, settingColumns...)}
	for _, c := range s.sessions() {
		st, status := c.state, "sleeping"
		if c.mine {
			st = s.state()
		}
		if c.mine || c.request.running.Load() {
			status = "running"
		}
		sid := sqltype.FromBytes(c.original.sid)
		r.Data = append(r.Data, append(sqltype.Row{num(int64(c.SPID)), sqltype.FromTicks(c.since), text(c.Host), text(c.Program), num(c.Process), num(int64(c.Version >> 28)), text(c.Interface), sid, text(st.login),
			text(status), sqltype.FromTicks(c.began), sqltype.FromTicks(c.ended), num(c.rows), num(int64(c.lastError)), sid, text(st.original), num(int64(st.database)), num(int64(st.nesting))}, st.settings()...))
	}
	return r
}

// ansiDefaults are the options that SET ANSI_DEFAULTS sets (Microsoft: SET ANSI_DEFAULTS (Transact-SQL)).
const ansiDefaults = 2 | 4 | 8 | 16 | 32 | 256 | 1024
