package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// msdbViews are the tables of msdb about SQL Server Agent's jobs, which here are those of change data capture.
var msdbViews = map[string]func(*Server) *tsql.Rows{"sysjobs": sysJobs, "sysjobactivity": sysJobActivity, "sysjobschedules": sysJobSchedules}

// msdbTable gives a table of msdb to members of sysadmin, nil when there is none of that name.
func (s *Session) msdbTable(name string) (tsql.Relation, error) {
	v := msdbViews[lower(name)]
	switch {
	case v == nil:
		return nil, nil
	case !s.admin():
		return nil, denied("SELECT", name, msdb, "dbo")
	}
	return s.shape("msdb."+lower(name), v(s.srv)), nil
}

// eachJob runs fn for the jobs of all databases. No lock may be held.
func (s *Server) eachJob(fn func(db *Database, j *job, schedule int64)) {
	for _, db := range s.inOrder() {
		db.mu.RLock()
		for i, j := range []*job{db.capture, db.cleanup} {
			if j != nil {
				fn(db, j, int64(db.ID)*2+int64(i))
			}
		}
		db.mu.RUnlock()
	}
}

// sysJobs is Microsoft: dbo.sysjobs (Transact-SQL).
func sysJobs(srv *Server) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("job_id", guid), col("name", sysname), col("date_created", stamp), col("date_modified", stamp)}}
	srv.eachJob(func(_ *Database, j *job, _ int64) {
		r.Data = append(r.Data, sqltype.Row{sqltype.FromGUID(j.id), text(j.name), ticks(j.made), ticks(j.made)})
	})
	return r
}

// agentRun is the session of SQL Server Agent in syssessions, which starts with the server.
const agentRun = 1

// sysJobActivity is Microsoft: dbo.sysjobactivity (Transact-SQL): when a job was started and ended, and when it is due.
func sysJobActivity(srv *Server) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("session_id", integer), col("job_id", guid), ncol("run_requested_date", stamp), ncol("start_execution_date", stamp), ncol("stop_execution_date", stamp),
		ncol("next_scheduled_run_date", stamp)}}
	srv.eachJob(func(_ *Database, j *job, _ int64) {
		r.Data = append(r.Data, sqltype.Row{num(agentRun), sqltype.FromGUID(j.id), ticks(j.began), ticks(j.began), ticks(j.ended), ticks(srv.due(j))})
	})
	return r
}

// due is when the schedule of a job starts it next, 0 for one that is started with SQL Server Agent.
func (s *Server) due(j *job) int64 {
	if j.kind == jobCapture || j.next.IsZero() {
		return 0
	}
	return sqltype.DateTimeTicks(s.local(j.next))
}

// sysJobSchedules is Microsoft: dbo.sysjobschedules (Transact-SQL).
func sysJobSchedules(srv *Server) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("schedule_id", integer), ncol("job_id", guid), col("next_run_date", integer), col("next_run_time", integer)}}
	srv.eachJob(func(_ *Database, j *job, schedule int64) {
		var day, hour int64
		if n := srv.due(j); n != 0 {
			at := sqltype.FromTicks(n).Time()
			day, hour = int64(at.Year()*10000+int(at.Month())*100+at.Day()), int64(at.Hour()*10000+at.Minute()*100+at.Second())
		}
		r.Data = append(r.Data, sqltype.Row{num(schedule), sqltype.FromGUID(j.id), num(day), num(hour)})
	})
	return r
}
