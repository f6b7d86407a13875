package cdc

import (
	"sort"

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

// shown tells others of the settings.
func (s *Session) shown() {
	st := s.state()
	s.srv.mu.Lock()
	defer s.srv.mu.Unlock()
	if c := s.srv.connected[s]; c != nil {
		c.state = st
	}
}

// sysSessions is Microsoft: sys.dm_exec_sessions (Transact-SQL), without what counts and measures: all sessions for those with
// VIEW SERVER STATE, else one's own.
func sysSessions(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", small), col("login_time", stamp), ncol("host_name", sysname), ncol("program_name", sysname), ncol("host_process_id", integer),
		ncol("client_interface_name", sqltype.Str(sqltype.NVarChar, 32)), col("login_name", sysname), col("status", sqltype.Str(sqltype.NVarChar, 30)), ncol("context_info", sqltype.Bin(sqltype.VarBinary, 128)),
		col("is_user_process", bit), col("text_size", integer), ncol("language", sysname), ncol("date_format", sqltype.Str(sqltype.NVarChar, 3)), col("date_first", small),
		col("quoted_identifier", bit), col("arithabort", bit), col("ansi_null_dflt_on", bit), col("ansi_defaults", bit), col("ansi_warnings", bit), col("ansi_padding", bit), col("ansi_nulls", bit),
		col("concat_null_yields_null", bit), col("transaction_isolation_level", small), col("lock_timeout", integer), col("deadlock_priority", integer), col("original_login_name", sysname),
		col("database_id", small), col("open_transaction_count", integer)}}
	own, all := s.state(), s.serverCan("VIEW SERVER STATE")
	s.srv.mu.RLock()
	defer s.srv.mu.RUnlock()
	for x, c := range s.srv.connected {
		if x != s && !all {
			continue
		}
		st, status := c.state, "sleeping"
		if x == s {
			st = own
		}
		if x == s || x.request.running.Load() {
			status = "running"
		}
		set := func(bits int64) sqltype.Value { return flag(st.options&bits == bits) }
		r.Data = append(r.Data, sqltype.Row{num(int64(c.SPID)), sqltype.FromTicks(c.since), text(c.Host), text(c.Program), num(c.Process), text(c.Interface), text(st.login), text(status), st.context,
			flag(true), num(st.textSize), text(st.language), text(st.order), num(int64(st.first)),
			set(256), set(64), set(1024), set(ansiDefaults), set(8), set(16), set(32), set(4096), num(int64(st.isolation)), num(st.wait), num(int64(st.priority)), text(st.original),
			num(int64(st.database)), num(int64(st.nesting))})
	}
	sort.Slice(r.Data, func(i, j int) bool { return r.Data[i][0].Int() < r.Data[j][0].Int() })
	return r
}

// ansiDefaults are the options that SET ANSI_DEFAULTS sets (Microsoft: SET ANSI_DEFAULTS (Transact-SQL)).
const ansiDefaults = 2 | 4 | 8 | 16 | 32 | 256 | 1024
