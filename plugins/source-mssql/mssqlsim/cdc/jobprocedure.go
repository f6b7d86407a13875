package cdc

import (
	"context"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

var jobType = sqltype.Str(sqltype.NVarChar, 20)

// jobParams are the settings of a job as parameters of a procedure.
func jobParams(first ...tsql.Param) []tsql.Param {
	return append(first, may("@maxtrans", integer), may("@maxscans", integer), may("@continuous", bit), may("@pollinginterval", bigint), may("@retention", bigint), may("@threshold", bigint))
}

// captureProcedure is a procedure of change data capture.
type captureProcedure struct {
	params []tsql.Param
	undone bool // a rollback would undo it, which is not simulated
	call   func(ctx context.Context, s *Session, db *Database, a args) (*tsql.Rows, error)
}

// jobProcedures make, change, start and stop the capture and cleanup jobs of a database.
var jobProcedures = map[string]captureProcedure{
	"sp_cdc_add_job":    {undone: true, params: jobParams(need("@job_type", jobType), may("@start_job", bit)), call: addJob},
	"sp_cdc_change_job": {undone: true, params: jobParams(may("@job_type", jobType)), call: changeJob},
	"sp_cdc_drop_job":   {undone: true, params: []tsql.Param{may("@job_type", jobType)}, call: dropJob},
	"sp_cdc_start_job":  {params: []tsql.Param{may("@job_type", jobType)}, call: startJob},
	"sp_cdc_stop_job":   {params: []tsql.Param{may("@job_type", jobType)}, call: stopJob},
	"sp_cdc_help_jobs":  {call: helpJobs},
	"sp_cdc_scan":       {params: []tsql.Param{may("@maxtrans", integer), may("@maxscans", integer), may("@continuous", tiny), may("@pollinginterval", bigint)}, call: scanLog},
}

// jobCall does what all procedures of jobs begin with: the caller's right, the database, the kind of job. The kind is
// capture when none is given.
func (s *Session) jobCall(db *Database, a args, fn func(kind string) error) (*tsql.Rows, error) {
	return nil, s.owner(db, 22904, func() error {
		if !db.enabled.Load() {
			return db.notEnabled()
		}
		kind := jobCapture
		if v, ok := a["@job_type"]; ok {
			kind = lower(v.Str())
		}
		if kind != jobCapture && kind != jobCleanup {
			return sqltype.Errorf(22992, "The specified @job_type, %s, is not supported. The value specified for the parameter @job_type must be N'capture' to indicate a capture job, or N'cleanup' to indicate a cleanup job.", a.str("@job_type"))
		}
		return fn(kind)
	})
}

// given tells whether an argument is there and not NULL, which counts as not given.
func (a args) given(name string) bool { v, ok := a[name]; return ok && !v.IsNull() }

// settings changes the settings that arguments name; one that the kind of job does not have is an error.
func (a args) settings(kind string, j jobSettings) (jobSettings, error) {
	set := func(name string, to *int64) {
		if a.given(name) {
			*to = a[name].Int()
		}
	}
	if kind == jobCleanup {
		if a.given("@pollinginterval") || a.given("@maxtrans") || a.given("@maxscans") || a.given("@continuous") {
			return j, sqltype.Errorf(22996, "When adding or modifying the CDC cleanup job, @pollinginterval, @maxtrans, @maxscans, and @continuous may not be assigned non-null values.")
		}
		set("@retention", &j.retention)
		set("@threshold", &j.threshold)
		return j, j.check(kind)
	}
	if a.given("@retention") || a.given("@threshold") { // that the threshold has the same number is not documented
		return j, sqltype.Errorf(22995, "A value for the parameter @retention cannot be specified when the job type is 'capture'. Specify NULL for the parameter, or omit the parameter from the statement.")
	}
	set("@maxtrans", &j.maxTrans)
	set("@maxscans", &j.maxScans)
	set("@pollinginterval", &j.polling)
	if a.given("@continuous") {
		j.continuous = a.bit("@continuous")
	} else if a.given("@pollinginterval") && j.polling > 0 {
		j.continuous = true
	}
	if err := j.check(kind); err != nil {
		return j, err
	}
	if !j.continuous {
		j.polling = 0
	}
	return j, nil
}

// agentProcedures are those of jobs of SQL Server Agent, which Azure SQL Database has not (Microsoft: their pages apply to SQL
// Server alone; Change data capture (CDC) with Azure SQL Database: a scheduler takes their place).
var agentProcedures = map[string]bool{"sp_cdc_add_job": true, "sp_cdc_change_job": true, "sp_cdc_drop_job": true, "sp_cdc_start_job": true, "sp_cdc_stop_job": true}

// addJob is Microsoft: sys.sp_cdc_add_job (Transact-SQL).
func addJob(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return s.jobCall(db, a, func(kind string) error {
		settings, err := a.settings(kind, jobDefaults[kind])
		if err != nil {
			return err
		}
		db.mu.Lock()
		_, err = db.addJob(kind, settings)
		db.mu.Unlock()
		if err != nil || a.given("@start_job") && !a.bit("@start_job") || s.srv.Agent() != AgentRunning {
			return err
		}
		return db.startJob(kind, s.who())
	})
}

// changeJob is Microsoft: sys.sp_cdc_change_job (Transact-SQL).
func changeJob(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return s.jobCall(db, a, func(kind string) error {
		db.mu.Lock()
		defer db.mu.Unlock()
		j := *db.job(kind)
		if j == nil {
			return db.noJob(kind)
		}
		settings, err := a.settings(kind, j.settings)
		if err == nil {
			j.settings = settings
		}
		return err
	})
}

// dropJob is Microsoft: sys.sp_cdc_drop_job (Transact-SQL), whose job type cannot be NULL.
func dropJob(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	if !a.given("@job_type") {
		a = args{"@job_type": null}
	}
	return s.jobCall(db, a, func(kind string) error {
		db.mu.Lock()
		defer db.mu.Unlock()
		return db.dropJob(kind)
	})
}

// startJob is Microsoft: sys.sp_cdc_start_job (Transact-SQL).
func startJob(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return s.jobCall(db, a, func(kind string) error { return db.startJob(kind, s.who()) })
}

// stopJob is Microsoft: sys.sp_cdc_stop_job (Transact-SQL).
func stopJob(_ context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return s.jobCall(db, a, func(kind string) error { return db.stopJob(kind, s.who()) })
}

// helpJobs is Microsoft: sys.sp_cdc_help_jobs (Transact-SQL). The documentation leaves job_name out, which a server
// sends.
func helpJobs(_ context.Context, s *Session, db *Database, _ args) (*tsql.Rows, error) {
	out := &tsql.Rows{Cols: []tsql.Column{col("job_id", sqltype.Of(sqltype.UniqueIdentifier)), col("job_type", jobType), ncol("job_name", sysname), ncol("maxtrans", integer),
		ncol("maxscans", integer), ncol("continuous", bit), ncol("pollinginterval", bigint), ncol("retention", bigint), ncol("threshold", bigint)}}
	err := s.owner(db, 22904, func() error {
		if !db.srv.jobTable.Load() {
			return db.noJobTable()
		}
		db.mu.RLock()
		defer db.mu.RUnlock()
		for _, j := range []*job{db.capture, db.cleanup} {
			if j != nil {
				out.Data = append(out.Data, append(sqltype.Row{sqltype.FromGUID(j.id), text(j.kind), text(j.name)}, j.settings.row()...))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// row gives the settings as msdb.dbo.cdc_jobs and sys.sp_cdc_help_jobs show them.
func (j jobSettings) row() sqltype.Row {
	return sqltype.Row{num(j.maxTrans), num(j.maxScans), flag(j.continuous), num(j.polling), num(j.retention), num(j.threshold)}
}

// scanning is the error of a scan while another one is active.
func (db *Database) scanning() error {
	session := int64(db.scanner)
	if session == 0 {
		session = agentSession
	}
	return sqltype.Errorf(22903, "Another connection with session ID %d is already running 'sp_replcmds' for Change Data Capture in the current database.", session)
}

// scanLog is Microsoft: sys.sp_cdc_scan (Transact-SQL). Run continuously it waits by the machine's clock, as WAITFOR
// does, and ends with the statement.
func scanLog(ctx context.Context, s *Session, db *Database, a args) (*tsql.Rows, error) {
	return nil, s.owner(db, 22904, func() error {
		settings := jobDefaults[jobCapture]
		settings.continuous, settings.polling = false, 0
		for name, to := range map[string]*int64{"@maxtrans": &settings.maxTrans, "@maxscans": &settings.maxScans, "@pollinginterval": &settings.polling} {
			if a.given(name) {
				*to = a[name].Int()
			}
		}
		if a.given("@continuous") {
			n := a["@continuous"].Int()
			if n > 1 {
				return sqltype.Errorf(22998, "The value specified for the parameter @continuous must be 0 or 1.")
			}
			settings.continuous = n == 1
		}
		if err := settings.check(jobCapture); err != nil {
			return err
		}
		if !settings.continuous && settings.polling != 0 {
			return sqltype.Errorf(22999, "The value specified for the parameter @pollinginterval must be null or 0 when the stored procedure 'sys.sp_cdc_scan' is not being run in continuous mode.")
		}
		return db.runScan(ctx, s.SPID, settings)
	})
}

// runScan scans the log for a session, once or until the context ends.
func (db *Database) runScan(ctx context.Context, session int16, j jobSettings) error {
	db.mu.Lock()
	if !db.enabled.Load() {
		db.mu.Unlock()
		return db.notEnabled()
	}
	if db.scanner != 0 || db.capture != nil && db.capture.active != nil {
		defer db.mu.Unlock()
		return db.scanning()
	}
	db.scanner = session
	db.mu.Unlock()
	defer func() {
		db.mu.Lock()
		db.scanner = 0
		db.mu.Unlock()
	}()
	for {
		db.mu.Lock()
		from := db.scans.last
		n, drained := db.drain(j.maxTrans, j.maxScans)
		err := db.scans.failure(from)
		db.mu.Unlock()
		if err != nil || !j.continuous {
			return err
		}
		wait := time.Duration(j.polling) * time.Second
		if n > 0 && !drained && wait == 0 {
			continue
		}
		timer := time.NewTimer(max(wait, 10*time.Millisecond)) // a wait of 0 leaves the processor to others
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// failure gives the last error of the sessions after one, nil when none failed.
func (h *scanHistory) failure(after int32) error {
	if n := len(h.errors); n > 0 && h.errors[n-1].session > after {
		return h.errors[n-1].err
	}
	return nil
}
