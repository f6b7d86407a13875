package mssqlsim

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
)

// polling starts a server whose capture jobs poll by a clock that the test moves.
func polling(t *testing.T, zone string) (*Server, *ManualClock, *Database, *sql.DB) {
	t.Helper()
	clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock, Capture: CapturePolls, Zone: zone})
	must(t, err)
	t.Cleanup(s.Close)
	db := s.Database("shop")
	must(t, db.EnableCDC())
	return s, clock, db, open(t, s.DSN("shop"))
}

func exec(t testing.TB, db *sql.DB, stmt string, args ...any) {
	t.Helper()
	if _, err := db.Exec(stmt, args...); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

const (
	jobRows    = "SELECT job_type, maxtrans, maxscans, continuous, pollinginterval, retention, threshold FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type"
	changeRows = "SELECT COUNT(*) FROM cdc.dbo_orders_CT"
)

// Microsoft: sys.sp_cdc_enable_table, Remarks; sys.sp_cdc_add_job; dbo.cdc_jobs; sys.sp_cdc_help_jobs.
func TestJobsComeWithTheFirstTable(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.databases WHERE name IN ('master', 'msdb')"), []string{"2"})
	orders(t, db)
	want := []string{"capture|500|10|true|5|0|0", "cleanup|0|0|false|0|4320|5000"}
	equal(t, query(t, conn, jobRows), want)
	var got []string
	for _, row := range query(t, conn, "EXEC sys.sp_cdc_help_jobs") {
		got = append(got, row[strings.IndexByte(row, '|')+1:])
	}
	equal(t, got, []string{"capture|cdc." + db.Name() + "_capture|500|10|true|5|0|0", "cleanup|cdc." + db.Name() + "_cleanup|0|0|false|0|4320|5000"})
	// the second table makes none again
	exec(t, conn, "EXEC sys.sp_cdc_drop_job N'cleanup'")
	exec(t, conn, "CREATE TABLE dbo.other (id int NOT NULL PRIMARY KEY); EXEC sys.sp_cdc_enable_table N'dbo', N'other', @role_name = NULL")
	equal(t, query(t, conn, jobRows), want[:1])
	exec(t, conn, "EXEC sys.sp_cdc_disable_db")
	equal(t, query(t, conn, jobRows), nil)
}

// Microsoft: Database engine events and errors, 22000 to 22999, for the numbers; the pages of the procedures for when.
func TestJobProceduresRefuse(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	for _, tc := range []struct {
		sql    string
		number int32
		part   string
	}{
		{"EXEC sys.sp_cdc_add_job @job_type = N'other'", 22992, "other"},
		{"EXEC sys.sp_cdc_drop_job", 22992, "not supported"},
		{"EXEC sys.sp_cdc_add_job", 201, "@job_type"},
		{"EXEC sys.sp_cdc_add_job @job_type = N'capture'", 22836, "already exists"},
		{"EXEC sys.sp_cdc_change_job @maxtrans = 0", 22991, "@maxtrans"},
		{"EXEC sys.sp_cdc_change_job @maxscans = 0", 22970, "@maxscans"},
		{"EXEC sys.sp_cdc_change_job @pollinginterval = 86400", 22990, "@pollinginterval"},
		{"EXEC sys.sp_cdc_change_job @pollinginterval = -1", 22990, "@pollinginterval"},
		{"EXEC sys.sp_cdc_change_job @retention = 5", 22995, "@retention"},
		{"EXEC sys.sp_cdc_change_job N'cleanup', @continuous = 1", 22996, "@continuous"},
		{"EXEC sys.sp_cdc_change_job N'cleanup', @retention = 0", 22994, "52594800"},
		{"EXEC sys.sp_cdc_change_job N'cleanup', @retention = 52594801", 22994, "52594800"},
		{"EXEC sys.sp_cdc_change_job N'cleanup', @threshold = 0", 22850, "threshold"},
		{"EXEC sys.sp_cdc_stop_job N'capture'", 22022, "not currently running"},
		{"EXEC sys.sp_cdc_scan @maxtrans = 0", 22991, "@maxtrans"},
		{"EXEC sys.sp_cdc_scan @maxscans = -1", 22970, "@maxscans"},
		{"EXEC sys.sp_cdc_scan @continuous = 2", 22998, "@continuous"},
		{"EXEC sys.sp_cdc_scan @pollinginterval = 5", 22999, "continuous mode"},
		{"EXEC sys.sp_cdc_start_job; EXEC sys.sp_cdc_start_job", 22022, "already running"},
		{"EXEC sys.sp_cdc_scan", 22903, "sp_replcmds"}, // the job scans
		{"EXEC sys.sp_cdc_drop_job N'cleanup'; EXEC sys.sp_cdc_start_job N'cleanup'", 22997, "'cleanup'"},
		{"EXEC sys.sp_cdc_change_job N'cleanup', @retention = 5", 22997, "'cleanup'"},
	} {
		_, err := conn.Exec(tc.sql)
		t.Run(tc.sql, func(t *testing.T) { wantError(t, err, tc.number, tc.part) })
	}
	testServer.AddLogin("nobody", "Nobody1!")
	least := open(t, testServer.UserDSN("nobody", "Nobody1!", db.Name()))
	for _, p := range []string{"sp_cdc_help_jobs", "sp_cdc_scan", "sp_cdc_start_job", "sp_cdc_stop_job", "sp_cdc_change_job", "sp_cdc_drop_job N'capture'", "sp_cdc_add_job N'capture'", "sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL"} {
		_, err := least.Exec("EXEC sys." + p)
		wantError(t, err, 22904, "DBO privileges")
	}
	_, err := least.Exec("EXEC sys.sp_cdc_disable_db")
	wantError(t, err, 22902, "Sysadmin privileges")
	_, err = tryQuery(least, "SELECT * FROM msdb.dbo.cdc_jobs")
	wantError(t, err, 229, "cdc_jobs")
	_, err = tryQuery(least, "SELECT * FROM sys.dm_cdc_log_scan_sessions")
	wantError(t, err, 262, "VIEW DATABASE STATE")
}

// Microsoft: sys.sp_cdc_help_jobs and errors 22993, 22901: before a first job there is no table of jobs.
func TestNoJobTableYet(t *testing.T) {
	t.Parallel()
	s, _, _, conn := polling(t, "")
	_, err := tryQuery(conn, "EXEC sys.sp_cdc_help_jobs")
	wantError(t, err, 22993, "'shop'")
	_, err = tryQuery(conn, "SELECT * FROM msdb.dbo.cdc_jobs")
	wantError(t, err, 208, "msdb.dbo.cdc_jobs")
	s.Database("plain")
	_, err = open(t, s.DSN("plain")).Exec("EXEC sys.sp_cdc_start_job")
	wantError(t, err, 22901, "'plain'")
}

// Microsoft: Administer and monitor change data capture, Capture job parameters; sys.sp_cdc_change_job, Remarks.
func TestCaptureJobPolls(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "")
	orders(t, db)
	insert := func(from, n int) {
		for i := range n {
			tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", from+i, nil, nil) })
		}
	}
	insert(0, 3)
	equal(t, query(t, conn, changeRows), []string{"0"})
	at := s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"3"})
	if want := clock.Now().Add(5 * time.Second); !at.Equal(want) {
		t.Errorf("the next poll is at %s, want %s", at, want)
	}
	insert(3, 2)
	clock.Advance(4 * time.Second)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"3"})
	clock.Advance(time.Second)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"5"})

	// maxtrans and maxscans bound what one poll takes, once the job was started again
	exec(t, conn, "EXEC sys.sp_cdc_change_job @maxtrans = 2, @maxscans = 2, @pollinginterval = 60")
	insert(5, 6)
	clock.Advance(5 * time.Second)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"11"})
	exec(t, conn, "EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_start_job")
	insert(11, 6)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"15"})
	clock.Advance(59 * time.Second)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"15"})
	clock.Advance(time.Second)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"17"})

	// no wait: what is committed is due at once
	exec(t, conn, "EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_change_job @maxscans = 1, @pollinginterval = 0; EXEC sys.sp_cdc_start_job")
	equal(t, query(t, conn, jobRows)[:1], []string{"capture|2|1|true|0|0|0"})
	s.RunJobs()
	insert(17, 3)
	if at := s.RunJobs(); !at.Equal(clock.Now()) { // one more transaction is there
		t.Errorf("the next poll is at %s, want now", at)
	}
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"20"})
}

// Microsoft: sys.sp_cdc_change_job: one shot mode and the polling interval that goes with it.
func TestCaptureJobInOneShotMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []CaptureMode{CaptureAtOnce, CapturePolls} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
			s, err := Start(t.Context(), Options{Clock: clock, Capture: mode})
			must(t, err)
			t.Cleanup(s.Close)
			db := s.Database("shop")
			must(t, db.EnableCDC())
			conn := open(t, s.DSN("shop"))
			orders(t, db)
			s.RunJobs()
			exec(t, conn, "EXEC sys.sp_cdc_change_job @continuous = 0, @pollinginterval = 30, @maxtrans = 2, @maxscans = 1; EXEC sys.sp_cdc_stop_job")
			equal(t, query(t, conn, jobRows)[:1], []string{"capture|2|1|false|0|0|0"})
			for i := range 3 {
				tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
			}
			equal(t, query(t, conn, changeRows), []string{"0"})
			exec(t, conn, "EXEC sys.sp_cdc_start_job")
			s.RunJobs()
			equal(t, query(t, conn, changeRows), []string{"2"})
			clock.Advance(time.Hour)
			s.RunJobs()
			equal(t, query(t, conn, changeRows), []string{"2"}) // it has ended
			_, err = conn.Exec("EXEC sys.sp_cdc_stop_job")
			wantError(t, err, 22022, "not currently running")
			exec(t, conn, "EXEC sys.sp_cdc_scan")
			equal(t, query(t, conn, changeRows), []string{"3"})
			exec(t, conn, "EXEC sys.sp_cdc_change_job @pollinginterval = 7")
			equal(t, query(t, conn, jobRows)[:1], []string{"capture|2|1|true|7|0|0"})
		})
	}
}

// Microsoft: About change data capture, Agent jobs: stopping the job loses nothing.
func TestStoppedCaptureJobLosesNothing(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	lsn := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	equal(t, query(t, conn, changeRows), []string{"0"})
	exec(t, conn, "EXEC sys.sp_cdc_scan")
	equal(t, query(t, conn, changeRows), []string{"1"})
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 2, nil, nil) })
	exec(t, conn, "EXEC sys.sp_cdc_drop_job N'capture'; EXEC sys.sp_cdc_add_job N'capture', @start_job = 0")
	equal(t, query(t, conn, changeRows), []string{"1"})
	exec(t, conn, "EXEC sys.sp_cdc_start_job")
	equal(t, query(t, conn, "SELECT CASE WHEN MIN([__$start_lsn]) = @p1 THEN 'first' END, COUNT(*) FROM cdc.dbo_orders_CT", lsn[:]), []string{"first|2"})
}

// Microsoft: sys.sp_cdc_scan: no two scans at a time; run continuously it ends only with its statement.
func TestContinuousScanEndsWithItsStatement(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, "EXEC sys.sp_cdc_scan @continuous = 1, @pollinginterval = 0")
		done <- err
	}()
	for { // until it runs
		if _, err := conn.Exec("EXEC sys.sp_cdc_scan"); err != nil {
			wantError(t, err, 22903, "already running")
			break
		}
	}
	_, err := conn.Exec("EXEC sys.sp_cdc_start_job")
	wantError(t, err, 22903, "already running")
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	for n := "0"; n != "1"; n = query(t, conn, changeRows)[0] {
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("the scan ended by itself")
	}
	for {
		if _, err := conn.Exec("EXEC sys.sp_cdc_start_job"); err == nil {
			break
		}
	}
}

// Microsoft: sys.dm_cdc_log_scan_sessions; Administer and monitor change data capture, Identify sessions with empty
// result sets.
func TestLogScanSessions(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "Eastern Standard Time")
	orders(t, db)
	s.RunJobs() // the entry with which capture comes to the instance has no changes
	first := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	second := tx(t, db, func(x *Tx) error {
		must(t, x.Insert("dbo.orders", 2, nil, nil))
		return x.Delete("dbo.orders", 1)
	})
	clock.Advance(5 * time.Second)
	s.RunJobs()
	for range 3 {
		clock.Advance(5 * time.Second)
		s.RunJobs()
	}
	text := func(l LSN) string { return fmt.Sprintf("%08x:%08x:%04x", l[:4], l[4:8], l[8:]) }
	none := text(LSN{})
	got := query(t, conn, "SELECT session_id, start_time, end_time, duration, scan_phase, error_count, start_lsn, current_lsn, end_lsn, tran_count, last_commit_lsn, command_count, first_begin_cdc_lsn, last_commit_cdc_lsn, last_commit_cdc_time, latency, empty_scan_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions ORDER BY session_id")
	if len(got) != 4 {
		t.Fatalf("sessions %q", got)
	}
	const at, then = "2026-03-01 03:00:05 +00:00", "2026-03-01 03:00:00 +00:00"
	equal(t, got[2:3], []string{"2|" + at + "|" + at + "|0|Done|0|" + text(first) + "|" + text(second) + "|" + text(second) + "|2|" + text(second) + "|3|" + text(first) + "|" + text(second) + "|" + then + "|5|0|0"})
	equal(t, got[3:], []string{"3|2026-03-01 03:00:10 +00:00|2026-03-01 03:00:20 +00:00|0|Done|0|" + none + "|" + none + "|" + none + "|0|" + text(second) + "|0|" + none + "|" + none + "|NULL|0|3|0"})
	equal(t, query(t, conn, "SELECT scan_phase, tran_count, command_count, latency, empty_scan_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0"), []string{"Aggregate|2|3|5|3"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.dm_cdc_errors"), []string{"0"})
}

// Microsoft: Known issues and errors with CDC, DDL changes to source tables; Database engine events and errors, 22976
// and 22860. Change rows that a column's new type does not hold stop capture until they are gone.
func TestCaptureStopsAtAColumnItCannotAlter(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"cleanup", "disable"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
			s, err := Start(t.Context(), Options{Clock: clock})
			must(t, err)
			t.Cleanup(s.Close)
			db := s.Database("shop")
			must(t, db.EnableCDC())
			conn := open(t, s.DSN("shop"))
			orders(t, db)
			exec(t, conn, "INSERT INTO dbo.orders VALUES (1, N'long text', 1); UPDATE dbo.orders SET note = N'x'")
			last := db.MaxLSN()
			exec(t, conn, "ALTER TABLE dbo.orders ALTER COLUMN note nvarchar(4) NULL; UPDATE dbo.orders SET note = N'y'")
			if db.MaxLSN() != last {
				t.Error("capture went on")
			}
			equal(t, query(t, conn, "EXEC sys.sp_cdc_get_ddl_history N'dbo_orders'"), nil)
			rows := query(t, conn, "SELECT session_id, phase_number, error_number, error_severity FROM sys.dm_cdc_errors")
			if len(rows) != 3 || !strings.HasSuffix(rows[0], "|6|2628|16") || !strings.HasSuffix(rows[1], "|6|22976|16") || !strings.HasSuffix(rows[2], "|6|22860|16") {
				t.Errorf("errors %q", rows)
			}
			clock.Advance(time.Minute)
			equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.dm_cdc_errors"), []string{"6"}) // it has tried again
			equal(t, query(t, conn, "SELECT error_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0"), []string{"6|2"})
			if way == "cleanup" {
				exec(t, conn, "EXEC sys.sp_cdc_cleanup_change_table N'dbo_orders', @low_water_mark = @p1", last[:])
				exec(t, conn, "DELETE FROM dbo.orders")
				if n := len(query(t, conn, "EXEC sys.sp_cdc_get_ddl_history N'dbo_orders'")); n != 0 {
					t.Errorf("%d DDL rows while the old update is there", n) // its before-image is too long
				}
				low := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 9, nil, nil) })
				must(t, db.Model().CleanupAt("dbo_orders", low, nil))
				equal(t, query(t, conn, "SELECT [__$operation], note FROM cdc.dbo_orders_CT"), []string{"3|x", "4|y", "1|y", "2|NULL"})
				return
			}
			must(t, db.EnableTable("dbo.orders", Capture{Name: "second"}))
			exec(t, conn, "UPDATE dbo.orders SET note = N'z'; EXEC sys.sp_cdc_disable_table N'dbo', N'orders', N'dbo_orders'")
			equal(t, query(t, conn, "SELECT [__$operation], note FROM cdc.second_CT"), []string{"3|y", "4|z"})
		})
	}
}

// Verified on SQL Server 2022 for the five minutes (they are not documented); Microsoft: cdc.lsn_time_mapping, tran_id.
func TestIdleEntriesEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "")
	orders(t, db)
	const idle = "SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id = 0x00"
	s.RunJobs()
	equal(t, query(t, conn, idle), []string{"1"}) // with which capture came to the instance
	for range 12 * 5 {                            // five minutes of polls
		clock.Advance(5 * time.Second)
		s.RunJobs()
	}
	equal(t, query(t, conn, idle), []string{"2"})
	exec(t, conn, "CREATE TABLE dbo.plain (id int); INSERT INTO dbo.plain VALUES (1); EXEC sys.sp_cdc_stop_job")
	clock.Advance(time.Hour)
	s.RunJobs()
	equal(t, query(t, conn, idle), []string{"2"}) // a stopped job writes none
	exec(t, conn, "EXEC sys.sp_cdc_start_job")
	s.RunJobs()
	clock.Advance(4 * time.Minute)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	s.RunJobs()
	clock.Advance(4 * time.Minute)
	s.RunJobs()
	equal(t, query(t, conn, idle), []string{"2"}) // the commit counts
	clock.Advance(time.Minute)
	s.RunJobs()
	equal(t, query(t, conn, idle), []string{"3"})
}

// Microsoft: Administer and monitor change data capture, Structure of the cleanup job; About change data capture: it
// runs at 2 A.M. of the server's clock.
func TestCleanupJob(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "Eastern Standard Time")
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", Capture{Name: "second"}))
	exec(t, conn, "EXEC sys.sp_cdc_change_job N'cleanup', @retention = 60, @threshold = 2")
	for i := range 8 { // two at each quarter of an hour
		if i%2 == 0 {
			clock.Advance(15 * time.Minute)
		}
		tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
	}
	s.RunJobs()
	clock.Set(time.Date(2026, 3, 2, 6, 59, 59, 0, time.UTC))
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"8"})
	const low = "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1), CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('second'), 1), CONVERT(varchar(22), MIN(start_lsn), 1) FROM cdc.lsn_time_mapping"
	clock.Set(time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)) // 2 A.M. in New York
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")              // else an idle entry is the newest
	s.RunJobs()
	newest := db.MaxLSN().String()
	equal(t, query(t, conn, low), []string{newest + "|" + newest + "|" + newest}) // an idle entry of the last poll
	equal(t, query(t, conn, changeRows), []string{"0"})

	// by hand, with the retention counted back from the newest commit, not from now
	clock.Advance(time.Hour)
	var kept []LSN
	for i := range 4 {
		clock.Advance(30 * time.Minute)
		kept = append(kept, tx(t, db, func(x *Tx) error { return x.Update("dbo.orders", map[string]any{"note": fmt.Sprint(i)}, 7) }))
	}
	exec(t, conn, "EXEC sys.sp_cdc_scan")
	clock.Advance(24 * time.Hour)
	exec(t, conn, "EXEC sys.sp_cdc_start_job N'cleanup'")
	equal(t, query(t, conn, low), []string{kept[1].String() + "|" + kept[1].String() + "|" + kept[1].String()})
	equal(t, query(t, conn, changeRows), []string{"6"})
}

// Verified on SQL Server 2022: enabling can fail with 14258 while SQL Server Agent starts. Microsoft:
// sys.sp_cdc_enable_table: it need not run, but nothing is captured until it does.
func TestSQLServerAgentStates(t *testing.T) {
	t.Parallel()
	s, _, db, conn := polling(t, "")
	must(t, db.CreateTable(Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}}}))
	const state = "SELECT status, status_desc FROM sys.dm_server_services WHERE servicename LIKE 'SQL Server Agent%'"
	equal(t, query(t, conn, state), []string{"4|Running"})
	s.SetAgent(AgentStarting)
	const enable = "EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL"
	_, err := conn.Exec(enable)
	wantError(t, err, 14258, "SQLServerAgent is starting")
	equal(t, query(t, conn, "EXEC sys.sp_cdc_help_change_data_capture"), nil)
	s.SetAgent(AgentStopped)
	equal(t, query(t, conn, state), []string{"1|Stopped"})
	exec(t, conn, enable)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1) })
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"0"})
	_, err = conn.Exec("EXEC sys.sp_cdc_stop_job")
	wantError(t, err, 22022, "not currently running")
	s.SetAgent(AgentRunning)
	s.RunJobs()
	equal(t, query(t, conn, changeRows), []string{"1"})
}

// Verified on SQL Server 2022: capture writes an entry about every five minutes without a commit. With capture right
// behind each commit whoever asks then finds it; not while the job stands still.
func TestAnIdleCaptureWritesEntries(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock, Idles: true})
	must(t, err)
	t.Cleanup(s.Close)
	db := s.Database("quiet")
	must(t, db.EnableCDC())
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	conn := open(t, s.DSN("quiet"))
	const entries = "SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id = 0x00"
	before := query(t, conn, entries)[0]
	clock.Advance(4 * time.Minute)
	equal(t, query(t, conn, entries), []string{before})
	clock.Advance(2 * time.Minute)
	if after := query(t, conn, entries)[0]; after == before {
		t.Errorf("%s idle entries, as before", after)
	}
	stopped := query(t, conn, entries)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	clock.Advance(time.Hour)
	equal(t, query(t, conn, entries), stopped)
}
