package mssqlsim

import (
	"testing"
	"time"
)

// Microsoft: dbo.sysjobs, dbo.sysjobactivity, dbo.sysjobschedules, dbo.cdc_jobs (Transact-SQL); About change data capture, Agent
// jobs.
func TestJobsAreInMsdb(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	srv, err := Start(t.Context(), Options{Clock: clock})
	must(t, err)
	defer srv.Close()
	db := srv.Database("shop")
	must(t, db.CreateTable(Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}}}))
	conn := open(t, srv.DSN("shop"))
	exec(t, conn, "EXEC sys.sp_cdc_enable_db")
	exec(t, conn, "EXEC sys.sp_cdc_enable_table @source_schema = 'dbo', @source_name = 'orders', @role_name = NULL")
	jobs := "SELECT j.name, j.enabled, c.job_type FROM msdb.dbo.sysjobs j JOIN msdb.dbo.cdc_jobs c ON c.job_id = j.job_id ORDER BY j.name"
	equal(t, query(t, conn, jobs), []string{"cdc.shop_capture|1|capture", "cdc.shop_cleanup|1|cleanup"})
	activity := "SELECT j.name, CASE WHEN a.start_execution_date IS NOT NULL AND a.stop_execution_date IS NULL THEN 'running' ELSE 'idle' END, a.next_scheduled_run_date, s.next_run_date, s.next_run_time FROM msdb..sysjobactivity a JOIN msdb..sysjobs j ON j.job_id = a.job_id JOIN msdb..sysjobschedules s ON s.job_id = a.job_id ORDER BY j.name"
	equal(t, query(t, conn, activity), []string{"cdc.shop_capture|running|NULL|0|0", "cdc.shop_cleanup|idle|2026-03-05 02:00:00 +00:00|20260305|20000"})
	exec(t, conn, "EXEC sys.sp_cdc_stop_job @job_type = N'capture'")
	equal(t, query(t, conn, activity), []string{"cdc.shop_capture|idle|NULL|0|0", "cdc.shop_cleanup|idle|2026-03-05 02:00:00 +00:00|20260305|20000"})
	if got := ask(conn, "SELECT TOP 0 description FROM msdb.dbo.sysjobs", false); got != "refused: mssqlsim does not understand the column description of sysjobs, which SQL Server has and the simulator has not" {
		t.Error(got)
	}
	exec(t, conn, "CREATE LOGIN looks WITH PASSWORD = 'Str0ng!pass'")
	if got := ask(open(t, srv.UserDSN("looks", "Str0ng!pass", "master")), "SELECT name FROM msdb.dbo.sysjobs", false); got != "error 229" {
		t.Error(got)
	}
}
