package cdc

import (
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// job is the capture or the cleanup job of a database. Guarded by the database's lock.
type job struct {
	kind     string // "capture" or "cleanup"
	id       [16]byte
	name     string
	settings jobSettings // as msdb.dbo.cdc_jobs holds them
	// active is what the job was started with, nil while it does not run: a change of the settings takes effect when
	// the job is started again (Microsoft: sys.sp_cdc_change_job (Transact-SQL)).
	active *jobSettings
	by     string // login that started it
	// made, began and ended are the server's local times of its making and of its last run; 0 is none
	made, began, ended int64
	next               time.Time // when it is due; the zero time is at once
}

// jobSettings are the columns of msdb.dbo.cdc_jobs; those of the other kind of job are zero.
type jobSettings struct {
	maxTrans, maxScans   int64
	continuous           bool
	polling              int64 // seconds between scans
	retention, threshold int64 // minutes, and rows that one statement deletes
}

// The kinds of jobs.
const (
	jobCapture = "capture"
	jobCleanup = "cleanup"
)

// jobDefaults are the settings of jobs that nobody gave any (Microsoft: sys.sp_cdc_add_job (Transact-SQL)).
var jobDefaults = map[string]jobSettings{
	jobCapture: {maxTrans: 500, maxScans: 10, continuous: true, polling: 5},
	jobCleanup: {retention: 4320, threshold: 5000},
}

// The limits of settings (Microsoft: Database engine events and errors, 22990 and 22994).
const (
	maxPolling   = 24*60*60 - 1
	maxRetention = 52594800
)

// check refuses settings out of range.
func (j jobSettings) check(kind string) error {
	if kind == jobCapture {
		switch {
		case j.maxTrans <= 0:
			return sqltype.Errorf(22991, "The value specified for the parameter @maxtrans must be greater than 0.")
		case j.maxScans <= 0:
			return sqltype.Errorf(22970, "The value for parameter @maxscans specified for the Change Data Capture job must be greater than 0.")
		case j.polling < 0 || j.polling > maxPolling:
			return sqltype.Errorf(22990, "The value specified for the parameter @pollinginterval must be greater than or equal to 0 and less than 24 hours(Max: 86399 seconds). Specify a polling interval (in seconds) that is less than 24 hours (86,400 seconds).")
		}
		return nil
	}
	switch {
	case j.retention <= 0 || j.retention > maxRetention:
		return sqltype.Errorf(22994, "The retention value specified for the Change Data Capture cleanup process must be greater than 0 and less than or equal to 52594800. When creating or modifying the cleanup job, specify a retention value (in minutes) that is within that range. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the retention value associated with the job to a non-negative value less than 52594800 by using the sp_cdc_change_job stored procedure.")
	case j.threshold <= 0:
		return errThreshold()
	}
	return nil
}

func errThreshold() error {
	return sqltype.Errorf(22850, "The threshold value specified for the Change Data Capture cleanup process must be greater than 0. When creating or modifying the cleanup job, specify a positive threshold value. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the threshold value associated with the job to a non-negative value by using the sp_cdc_change_job stored procedure.")
}

// job gives the job of a kind, and where the database keeps it.
func (db *Database) job(kind string) **job {
	if kind == jobCapture {
		return &db.capture
	}
	return &db.cleanup
}

// addJob makes a job. The database's lock is held.
func (db *Database) addJob(kind string, settings jobSettings) (*job, error) {
	if err := settings.check(kind); err != nil {
		return nil, err
	}
	if db.srv.Agent() == AgentStarting {
		return nil, sqltype.Errorf(14258, "Cannot perform this operation while SQLServerAgent is starting. Try again later.")
	}
	at := db.job(kind)
	name := "cdc." + db.Name + "_" + kind
	if *at != nil { // the form of the error is documented, that it comes here is not
		return nil, sqltype.Errorf(22836, "Could not update the metadata for database %s to indicate that a Change Data Capture job has been added. The failure occurred when executing the command 'sp_add_job_internal'. The error returned was 14261: 'The specified @name ('%s') already exists.'. Use the action and error to determine the cause of the failure and resubmit the request.", db.Name, name)
	}
	*at = &job{kind: kind, id: newGUID(), name: name, settings: settings, made: db.srv.stamp()}
	if kind == jobCleanup {
		db.scheduleCleanup()
	}
	db.srv.jobTable.Store(true)
	return *at, nil
}

// firstJobs makes the jobs that come with the first captured table, and starts the capture job
// (Microsoft: About change data capture, Agent jobs). The database's lock is held.
func (db *Database) firstJobs(by string) error {
	for _, kind := range []string{jobCapture, jobCleanup} {
		if *db.job(kind) != nil {
			continue
		}
		if _, err := db.addJob(kind, jobDefaults[kind]); err != nil {
			return err
		}
	}
	if db.capture.active == nil {
		db.startCapture(by)
	}
	return nil
}

// dropJob removes a job. The database's lock is held.
func (db *Database) dropJob(kind string) error {
	at := db.job(kind)
	if *at == nil {
		return db.noJob(kind)
	}
	if kind == jobCapture {
		db.stopCapture()
	}
	*at = nil
	return nil
}

// noJob is the error of a job that is not there.
func (db *Database) noJob(kind string) error {
	if !db.srv.jobTable.Load() {
		return db.noJobTable()
	}
	return sqltype.Errorf(22997, "The Change Data Capture '%s' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.", kind)
}

func (db *Database) noJobTable() error {
	return sqltype.Errorf(22993, "The Change Data Capture job table containing job information for database '%s' cannot be found in the msdb system database. Run the stored procedure 'sys.sp_cdc_add_job' to create the appropriate CDC capture or cleanup job. The stored procedure will create the required job table.", db.Name)
}

// startJob starts a job; a cleanup job runs once. The database's lock is not held.
func (db *Database) startJob(kind, by string) error {
	db.mu.Lock()
	j := *db.job(kind)
	var err error
	switch {
	case j == nil:
		err = db.noJob(kind)
	case db.srv.Agent() != AgentRunning:
		err = sqltype.Errorf(22022, "SQLServerAgent is not currently running so it cannot be notified of this action.")
	case j.active != nil:
		err = sqltype.Errorf(22022, "SQLServerAgent Error: Request to run job %s (from User %s) refused because the job is already running from a request by User %s.", j.name, by, j.by)
	case kind == jobCapture && db.scanner != 0: // the job would end at once with this in its history
		err = db.scanning()
	case kind == jobCapture:
		db.startCapture(by)
	default:
		db.started(j, by)
	}
	db.mu.Unlock()
	if err != nil || kind == jobCapture {
		return err
	}
	db.runCleanup()
	return nil
}

// stopJob stops a job.
func (db *Database) stopJob(kind, by string) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	j := *db.job(kind)
	switch {
	case j == nil:
		return db.noJob(kind)
	case db.srv.Agent() != AgentRunning:
		return sqltype.Errorf(22022, "SQLServerAgent is not currently running so it cannot be notified of this action.")
	case j.active == nil:
		return sqltype.Errorf(22022, "SQLServerAgent Error: Request to stop job %s (from User %s) refused because the job is not currently running.", j.name, by)
	case kind == jobCapture:
		db.stopCapture()
	default:
		db.over(j) // the cleanup that runs sees it between two deletes
	}
	return nil
}

// startCapture starts the capture job with its settings of now. The database's lock is held.
func (db *Database) startCapture(by string) {
	db.started(db.capture, by)
	db.capture.next = time.Time{}
	db.lastEntry, db.stopped = db.srv.clock.Now(), false
	db.srv.poke()
	if !db.srv.polls {
		if db.capture.active.continuous {
			db.advance()
		} else {
			db.poll(db.srv.clock.Now())
		}
	}
}

// stopCapture stops the capture job; commits wait in the log. The database's lock is held.
func (db *Database) stopCapture() {
	db.over(db.capture)
	db.stopped = true
}

// started notes that a job runs, with its settings of now. The database's lock is held.
func (db *Database) started(j *job, by string) {
	settings := j.settings
	j.active, j.by, j.began, j.ended = &settings, by, db.srv.stamp(), 0
}

// over notes that a job does not run any more. The database's lock is held.
func (db *Database) over(j *job) {
	if j.active != nil {
		j.active, j.ended = nil, db.srv.stamp()
	}
}
