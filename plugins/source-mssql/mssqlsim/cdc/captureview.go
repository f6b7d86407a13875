package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

var lsnText = sqltype.Str(sqltype.NVarChar, 23)

// captureViews are the views of how capture does; they ask for VIEW DATABASE STATE.
var captureViews = map[string]view{
	"dm_cdc_log_scan_sessions": scanSessions,
	"dm_cdc_errors":            scanErrors,
	"dm_server_services":       services, // VIEW SERVER STATE, which implies it
}

// ticks gives a time, NULL when there is none.
func ticks(t int64) sqltype.Value {
	if t == 0 {
		return null
	}
	return sqltype.FromTicks(t)
}

// scanPhases of a session that ended and of the row that adds all of them up.
const (
	phaseDone      = "Done"
	phaseAggregate = "Aggregate"
)

// scanSessions is Microsoft: sys.dm_cdc_log_scan_sessions (Transact-SQL). Its first row, with the id 0, adds up all
// sessions since the server started.
func scanSessions(_ *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", integer), ncol("start_time", stamp), ncol("end_time", stamp), ncol("duration", bigint), ncol("scan_phase", sqltype.Str(sqltype.NVarChar, 200)),
		ncol("error_count", integer), ncol("start_lsn", lsnText), ncol("current_lsn", lsnText), ncol("end_lsn", lsnText), ncol("tran_count", bigint), ncol("last_commit_lsn", lsnText), ncol("last_commit_time", stamp),
		ncol("log_record_count", bigint), ncol("schema_change_count", integer), ncol("command_count", bigint), ncol("first_begin_cdc_lsn", lsnText), ncol("last_commit_cdc_lsn", lsnText), ncol("last_commit_cdc_time", stamp),
		ncol("latency", integer), ncol("empty_scan_count", integer), ncol("failed_sessions_count", integer)}}
	add := func(s *scanSession, phase string) {
		current := s.lastLSN
		if phase == phaseAggregate {
			current = LSN{}
		}
		duration := (s.end - s.start) / sqltype.TicksPerSecond
		if s.transactions == 0 || phase == phaseAggregate { // a scan takes no time here
			duration = 0
		}
		r.Data = append(r.Data, sqltype.Row{num(int64(s.id)), ticks(s.start), ticks(s.end), num(duration), text(phase), num(s.errors), text(s.firstLSN.logText()), text(current.logText()), text(s.lastLSN.logText()),
			num(s.transactions), text(s.commit.logText()), ticks(s.commitTime), num(s.records), num(s.schemaChanges), num(s.commands), text(s.firstCDC.logText()), text(s.lastCDC.logText()), ticks(s.lastCDCTime),
			num(s.latency), num(s.empty), num(s.failedBefore)})
	}
	add(&db.scans.total, phaseAggregate)
	for i := range db.scans.sessions {
		add(&db.scans.sessions[i], phaseDone)
	}
	return r
}

// scanErrors is Microsoft: sys.dm_cdc_errors (Transact-SQL).
func scanErrors(_ *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", integer), ncol("phase_number", integer), ncol("entry_time", stamp), ncol("error_number", integer), ncol("error_severity", integer), ncol("error_state", integer),
		ncol("error_message", sqltype.Str(sqltype.NVarChar, 1024)), ncol("start_lsn", lsnText), ncol("begin_lsn", lsnText), ncol("sequence_value", lsnText)}}
	for _, e := range db.scans.errors {
		r.Data = append(r.Data, sqltype.Row{num(int64(e.session)), num(e.phase), ticks(e.time), num(int64(e.err.Number)), num(int64(e.err.Class)), num(int64(e.err.State)), text(e.err.Message),
			text(e.start.logText()), text(e.begin.logText()), text(e.n.logText())})
	}
	return r
}

// services is Microsoft: sys.dm_server_services (Transact-SQL): the server and SQL Server Agent.
func services(s *Session, _ *Database) *tsql.Rows {
	name := sqltype.Str(sqltype.NVarChar, 256)
	r := &tsql.Rows{Cols: []tsql.Column{col("servicename", name), ncol("startup_type", integer), col("startup_type_desc", name), ncol("status", integer), col("status_desc", name), ncol("process_id", integer),
		ncol("last_startup_time", sqltype.Scaled(sqltype.DateTimeOffset, 7)), col("service_account", name), col("filename", name), col("is_clustered", sqltype.Str(sqltype.NVarChar, 1)), ncol("cluster_nodename", name)}}
	agent := s.srv.Agent()
	for _, x := range []struct {
		name, account string
		state         AgentState
	}{{"SQL Server (MSSQLSERVER)", `NT Service\MSSQLSERVER`, AgentRunning}, {"SQL Server Agent (MSSQLSERVER)", `NT Service\SQLSERVERAGENT`, agent}} {
		r.Data = append(r.Data, sqltype.Row{text(x.name), num(2), text("Automatic"), num(int64(x.state)), text(agentStates[x.state]), null, null, text(x.account), text(""), text("N"), null})
	}
	return r
}

var agentStates = map[AgentState]string{AgentStopped: "Stopped", AgentStarting: "Start pending", AgentRunning: "Running"}

// msdb is the database in which jobs are kept.
const msdb = "msdb"

// cdcJobs is Microsoft: dbo.cdc_jobs (Transact-SQL), nil before the first job.
func (s *Session) cdcJobs() (tsql.Relation, error) {
	if !s.srv.jobTable.Load() {
		return nil, nil
	}
	if !s.admin() {
		return nil, denied("SELECT", "cdc_jobs", msdb, "dbo")
	}
	r := &tsql.Rows{Cols: []tsql.Column{col("database_id", integer), col("job_type", jobType), ncol("job_id", sqltype.Of(sqltype.UniqueIdentifier)), ncol("maxtrans", integer), ncol("maxscans", integer),
		ncol("continuous", bit), ncol("pollinginterval", bigint), ncol("retention", bigint), ncol("threshold", bigint)}}
	for _, db := range s.srv.databases() {
		db.mu.RLock()
		for _, j := range []*job{db.capture, db.cleanup} {
			if j != nil {
				r.Data = append(r.Data, append(sqltype.Row{num(int64(db.ID)), text(j.kind), sqltype.FromGUID(j.id)}, j.settings.row()...))
			}
		}
		db.mu.RUnlock()
	}
	return r, nil
}
