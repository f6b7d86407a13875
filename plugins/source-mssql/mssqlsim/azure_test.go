package mssqlsim

import "testing"

// What Azure SQL Database does not have. Microsoft: USE (Transact-SQL), Troubleshooting connectivity issues and other errors with
// Azure SQL Database (40508, 40510, 40515); sys.databases (Transact-SQL); SERVERPROPERTY (Transact-SQL), EngineEdition and Edition;
// ORIGINAL_LOGIN (Transact-SQL); Change data capture (CDC) with Azure SQL Database: a scheduler takes the place of jobs.
func TestAzureSQLDatabaseIsOneDatabase(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{Version: Azure})
	must(t, err)
	defer s.Close()
	s.Database("shop")
	s.Database("other")
	conn := open(t, s.DSN("shop"))
	// Microsoft: SET TRANSACTION ISOLATION LEVEL (Transact-SQL), READ COMMITTED: on by default there
	equal(t, query(t, conn, "SELECT is_read_committed_snapshot_on FROM sys.databases WHERE name = 'shop'"), []string{"true"})
	for stmt, number := range map[string]int32{
		"USE other": 40508, "USE master": 40508, "USE nowhere": 40508, "SELECT 1; USE other; SELECT 2": 40508,
		"SELECT * FROM other.sys.tables": 40515, "INSERT INTO master.dbo.t VALUES (1)": 40515,
		"BACKUP DATABASE shop TO DISK = 'x'": 3013, "RESTORE DATABASE shop FROM DISK = 'x'": 3013,
		"SELECT CURRENT_DATE": 50001, "EXEC sys.sp_cdc_stop_job": 50001, "EXEC sys.sp_cdc_change_job @pollinginterval = 1": 50001, "EXEC sys.sp_cdc_add_job N'capture'": 50001,
	} {
		_, err := tryQuery(conn, stmt)
		wantError(t, err, number, "")
	}
	equal(t, query(t, conn, "USE shop; SELECT DB_NAME()"), []string{"shop"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM shop.sys.tables"), []string{"0"})
	equal(t, query(t, conn, "SELECT name FROM sys.databases ORDER BY name"), []string{"master", "shop"})
	equal(t, query(t, open(t, s.DSN("master")), "SELECT name FROM sys.databases ORDER BY name"), []string{"master", "other", "shop"})
	equal(t, query(t, conn, "SELECT SERVERPROPERTY('EngineEdition'), SERVERPROPERTY('Edition'), ORIGINAL_LOGIN(), LEFT(@@VERSION, 19)"), []string{"5|SQL Azure|NULL|Microsoft SQL Azure"})
	equal(t, query(t, conn, "CREATE TABLE #t (n int); SELECT COUNT(*) FROM tempdb.sys.tables WHERE object_id = OBJECT_ID('tempdb..#t')"), []string{"1"})
	exec(t, conn, "EXEC sys.sp_cdc_enable_db")
	_, err = tryQuery(conn, "SELECT * FROM cdc.cdc_jobs")
	wantError(t, err, 50001, "cdc.cdc_jobs")
}
