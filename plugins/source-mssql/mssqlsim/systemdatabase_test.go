package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: Back up and restore of system databases: master and msdb have the simple recovery model. tempdb database; model
// database: their options; ALTER DATABASE SET options (Transact-SQL): row versions are on in master and msdb.
func TestSystemDatabases(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT name, database_id, recovery_model_desc, snapshot_isolation_state_desc, is_read_committed_snapshot_on FROM sys.databases WHERE database_id < 5 ORDER BY database_id"),
		[]string{"master|1|SIMPLE|ON|false", "tempdb|2|SIMPLE|OFF|false", "model|3|FULL|OFF|false", "msdb|4|SIMPLE|ON|false"})
	equal(t, query(t, conn, "SELECT recovery_model_desc FROM sys.databases WHERE name = DB_NAME()"), []string{"FULL"})
	equal(t, query(t, conn, "SELECT DB_NAME(2), DB_ID('model')"), []string{"tempdb|3"})
	equal(t, query(t, conn, "USE tempdb; CREATE TABLE dbo.t (n int); INSERT INTO dbo.t VALUES (1); CREATE TABLE #t (n int); INSERT INTO #t VALUES (2); SELECT n FROM tempdb.dbo.t UNION ALL SELECT n FROM tempdb..#t; DROP TABLE dbo.t"), []string{"1", "2"})
	for stmt, number := range map[string]int32{
		"BACKUP DATABASE tempdb TO DISK = 'x'":                             3013,
		"DROP DATABASE model":                                              3708,
		"USE tempdb; EXEC sys.sp_cdc_enable_db":                            22989,
		"USE model; CREATE TABLE dbo.t (n int)":                            50001,
		"ALTER DATABASE tempdb SET OFFLINE":                                5069,
		"ALTER DATABASE tempdb SET READ_COMMITTED_SNAPSHOT ON":             5069,
		"CREATE TABLE guest.t (n int)":                                     50001,
		"CREATE SCHEMA db_owner":                                           2714,
		"DROP SCHEMA db_datareader":                                        50001,
		"CREATE TABLE nowhere.t (n int)":                                   2760,
		"CREATE TABLE INFORMATION_SCHEMA.t (n int)":                        2760,
		"SELECT 1; ALTER DATABASE CURRENT SET AUTO_SHRINK ON WITH NO_WAIT": 50001,
	} {
		_, err := tryQuery(conn, stmt)
		wantError(t, err, number, "")
	}
}

// Microsoft: model database: a new database has its options.
func TestANewDatabaseIsAsModel(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	defer s.Close()
	conn := open(t, s.DSN("master"))
	exec(t, conn, "ALTER DATABASE model SET RECOVERY SIMPLE; ALTER DATABASE model SET ALLOW_SNAPSHOT_ISOLATION ON; ALTER DATABASE model SET READ_COMMITTED_SNAPSHOT ON")
	exec(t, conn, "CREATE DATABASE [of model]")
	equal(t, query(t, conn, "SELECT recovery_model_desc, snapshot_isolation_state_desc, is_read_committed_snapshot_on FROM sys.databases WHERE name = 'of model'"), []string{"SIMPLE|ON|true"})
}

// Microsoft: CREATE TABLE (Transact-SQL), Temporary tables: they are in tempdb, under a name with a suffix, wherever their session
// is. Each session sees its own here.
func TestTemporaryTablesAreInTheCatalogOfTempdb(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.plain (n int)")
	got := query(t, conn, `CREATE TABLE #stock (id int NOT NULL PRIMARY KEY, name varchar(10));
SELECT LEFT(name, 7), LEN(name) FROM tempdb.sys.tables WHERE object_id = OBJECT_ID('tempdb..#stock');
SELECT name FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#stock') ORDER BY column_id;
SELECT COUNT(*) FROM sys.tables WHERE name LIKE '#%'; SELECT LEFT(TABLE_NAME, 6) FROM tempdb.INFORMATION_SCHEMA.TABLES`)
	if strings.Join(got, " ") != "#stock_|128" { // the rows of the first result
		t.Error(got)
	}
	equal(t, query(t, conn, "CREATE TABLE #u (n int); SELECT COUNT(*) FROM sys.tables WHERE name LIKE '#%'"), []string{"0"})
	equal(t, query(t, conn, "CREATE TABLE #u (id int, name int); SELECT name FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#u') ORDER BY column_id"), []string{"id", "name"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM tempdb.sys.tables"), []string{"0"})
	for _, stmt := range []string{"SELECT * FROM #w", "CREATE TABLE #w (n int)", "INSERT INTO #w VALUES (1)"} { // kept where they were made
		_, err := tryQuery(conn, "CREATE TABLE #w (n int); USE tempdb; EXEC ('"+stmt+"')")
		wantError(t, err, 50001, "#w")
	}
}

// Microsoft: sys.schemas (Transact-SQL); Ownership and user-schema separation: every database has schemas of the names of its
// built-in users and roles, which own them. Their ids are those of the principals (sys.database_principals (Transact-SQL)).
func TestSchemasOfEveryDatabase(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT s.name, s.schema_id FROM sys.schemas s JOIN sys.database_principals p ON p.principal_id = s.principal_id AND p.name = s.name WHERE s.name <> 'cdc' ORDER BY s.schema_id"),
		[]string{"dbo|1", "guest|2", "INFORMATION_SCHEMA|3", "sys|4", "db_owner|16384", "db_accessadmin|16385", "db_securityadmin|16386", "db_ddladmin|16387", "db_backupoperator|16389",
			"db_datareader|16390", "db_datawriter|16391", "db_denydatareader|16392", "db_denydatawriter|16393"})
	equal(t, query(t, conn, "SELECT SCHEMA_NAME(2), SCHEMA_ID('information_schema'), (SELECT COUNT(*) FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_OWNER = 'db_owner')"), []string{"guest|3|1"})
}
