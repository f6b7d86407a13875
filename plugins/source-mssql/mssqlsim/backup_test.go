package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// master gives a connection to master, from which databases are restored.
func master(t *testing.T) *sql.DB {
	t.Helper()
	db := open(t, testServer.DSN("master"))
	db.SetMaxOpenConns(1)
	return db
}

// Microsoft: RESTORE statements (Transact-SQL); Change data capture and other SQL Server features, Restore or attach a
// database enabled for CDC: under its name it stays enabled.
func TestARestoreTakesAllBack(t *testing.T) {
	t.Parallel()
	m := master(t)
	play(t, m, []step{
		{sql: "CREATE DATABASE again"},
		{sql: `USE again; EXEC sys.sp_cdc_enable_db;
			CREATE TABLE dbo.t (id int IDENTITY NOT NULL CONSTRAINT PK_t PRIMARY KEY, note varchar(10) NULL);
			EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
			INSERT INTO dbo.t (note) VALUES ('one'); USE master`},
		{name: "a backup", sql: "BACKUP DATABASE again TO DISK = N'/b/again.bak' WITH INIT, COMPRESSION, STATS = 10"},
		{name: "a younger life", sql: `USE again; INSERT INTO dbo.t (note) VALUES ('two'); ALTER TABLE dbo.t ADD more int NULL;
			CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_u PRIMARY KEY); CREATE USER somebody WITHOUT LOGIN;
			EXEC sys.sp_cdc_enable_table N'dbo', N't', @capture_instance = N'younger', @role_name = NULL;
			UPDATE dbo.t SET note = 'changed' WHERE id = 1;
			SELECT COUNT(*) FROM cdc.dbo_t_CT; USE master`, rows: []string{"4"}},
	})
	var before, after []byte
	must(t, m.QueryRow("SELECT again.sys.fn_cdc_get_max_lsn()").Scan(&before))
	play(t, m, []step{
		{name: "the tail of the log", sql: "RESTORE DATABASE again FROM DISK = N'/b/again.bak'", err: 3159},
		{name: "in use", sql: "USE again; RESTORE DATABASE again FROM DISK = N'/b/again.bak' WITH REPLACE", err: 3102},
		{sql: "USE master; RESTORE DATABASE again FROM DISK = '/b/again.bak' WITH FILE = 1, REPLACE, RECOVERY"},
	})
	must(t, m.QueryRow("SELECT again.sys.fn_cdc_get_max_lsn()").Scan(&after))
	if string(after) >= string(before) {
		t.Errorf("the newest entry went from %X to %X", before, after)
	}
	play(t, m, []step{
		{name: "rows and columns as they were", sql: "SELECT * FROM again.dbo.t", rows: []string{"1|one"}},
		{name: "tables", sql: "SELECT * FROM again.dbo.u", err: 208},
		{name: "changes", sql: "SELECT [__$operation], note FROM again.cdc.dbo_t_CT", rows: []string{"2|one"}},
		{name: "instances", sql: "USE again; SELECT capture_instance FROM cdc.change_tables; SELECT COUNT(*) FROM cdc.ddl_history", rows: []string{"dbo_t", "0"}},
		{name: "users", sql: "SELECT COUNT(*) FROM sys.database_principals WHERE name = 'somebody'", rows: []string{"0"}},
		{name: "capture goes on", sql: "INSERT INTO dbo.t (note) VALUES ('three'); SELECT [__$operation], id, note FROM cdc.dbo_t_CT", rows: []string{"2|1|one", "2|2|three"}},
		{sql: "USE master; BACKUP DATABASE again TO DISK = '/b/again.bak'"},
		{name: "the second set of the file", sql: "RESTORE DATABASE again FROM DISK = '/b/again.bak' WITH FILE = 2, REPLACE; SELECT COUNT(*) FROM again.dbo.t", rows: []string{"2"}},
		{sql: "RESTORE DATABASE again FROM DISK = '/b/again.bak' WITH FILE = 3, REPLACE", err: 4038},
		{sql: "RESTORE DATABASE again FROM DISK = '/b/nothing.bak' WITH REPLACE", err: 3201},
		{sql: "RESTORE DATABASE again FROM DISK = '/b/nothing.bak' WITH REPLACE", err: 3013},
		{sql: "RESTORE DATABASE again FROM DISK = '/b/again.bak' WITH NORECOVERY", err: 50001},
		{sql: "BACKUP DATABASE again TO DISK = '/b/again.bak' WITH DIFFERENTIAL", err: 50001},
		{sql: "BACKUP DATABASE nowhere TO DISK = '/b/again.bak'", err: 911},
		{sql: "BEGIN TRANSACTION; BACKUP DATABASE again TO DISK = '/b/again.bak'", err: 3021},
		{sql: "ROLLBACK; CREATE DATABASE other; BACKUP DATABASE other TO DISK = '/b/other.bak'"},
		{name: "another database's", sql: "RESTORE DATABASE again FROM DISK = '/b/other.bak'", err: 3154},
	})
}

// A change of shape before the backup is none behind the back of who begins after the restore (Microsoft: SET TRANSACTION
// ISOLATION LEVEL (Transact-SQL), SNAPSHOT).
func TestARestoredTableIsReadBySnapshots(t *testing.T) {
	t.Parallel()
	play(t, master(t), []step{
		{sql: "CREATE DATABASE altered; ALTER DATABASE altered SET ALLOW_SNAPSHOT_ISOLATION ON"},
		{sql: "USE altered; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY)"},
		{sql: "ALTER TABLE dbo.t ADD more int NULL"},
		{sql: "INSERT INTO dbo.t VALUES (1, 2); USE master"},
		{sql: "BACKUP DATABASE altered TO DISK = '/b/altered.bak'; RESTORE DATABASE unaltered FROM DISK = '/b/altered.bak' WITH MOVE 'altered' TO '/d/unaltered.mdf', MOVE 'altered_log' TO '/d/unaltered.ldf'"},
		{sql: "USE unaltered"},
		{sql: "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION; SELECT id, more FROM dbo.t; COMMIT", rows: []string{"1|2"}},
	})
}

// Microsoft: Change data capture and other SQL Server features, Restore or attach a database enabled for CDC: elsewhere
// capture is disabled and its metadata removed, unless KEEP_CDC is given; its jobs are to be added then.
func TestARestoreUnderAnotherName(t *testing.T) {
	t.Parallel()
	conn := master(t)
	play(t, conn, []step{
		{sql: "CREATE DATABASE origin"},
		{sql: `USE origin; EXEC sys.sp_cdc_enable_db; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY);
			EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate'; INSERT INTO dbo.t VALUES (1); USE master;
			BACKUP DATABASE origin TO DISK = '/b/origin.bak'`},
	})
	// Microsoft: Backup and restore to URL using managed identities, Duplicate database name; Database engine events and errors, 3234.
	for _, tc := range []struct {
		what, with string
		want       []int32
	}{
		{"the files of the other are there", "", []int32{1834, 3156, 1834, 3156, 3119, 3013}},
		{"one of them", " WITH REPLACE, MOVE 'origin' TO '/d/plain.mdf'", []int32{1834, 3156, 3119, 3013}},
		{"no such file", " WITH MOVE 'plain' TO '/d/plain.mdf'", []int32{3234, 3013}},
	} {
		_, err := conn.Exec("RESTORE DATABASE plain FROM DISK = '/b/origin.bak'" + tc.with)
		if got := numbers(err); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.what, got, tc.want)
		}
	}
	play(t, conn, []step{
		{name: "nothing is made", sql: "SELECT COUNT(*) FROM sys.databases WHERE name = 'plain'", rows: []string{"0"}},
		{sql: "RESTORE DATABASE plain FROM DISK = '/b/origin.bak' WITH MOVE 'origin' TO '/d/plain.mdf', MOVE N'origin_log' TO N'/d/plain.ldf'"},
		{name: "their files", sql: "SELECT name, physical_name FROM plain.sys.database_files", rows: []string{"origin|/d/plain.mdf", "origin_log|/d/plain.ldf"}},
		{sql: "SELECT is_cdc_enabled FROM sys.databases WHERE name = 'plain'; SELECT COUNT(*) FROM plain.dbo.t", rows: []string{"false", "1"}},
		{sql: "SELECT * FROM plain.cdc.change_tables", err: 208},
		{sql: "USE plain; EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL; USE master"},
		{sql: "RESTORE DATABASE kept FROM DISK = '/b/origin.bak' WITH KEEP_CDC, MOVE 'origin' TO '/d/kept.mdf', MOVE 'origin_log' TO '/d/kept.ldf'"},
		{sql: "USE kept; SELECT capture_instance FROM cdc.change_tables; SELECT COUNT(*) FROM cdc.dbo_t_CT", rows: []string{"dbo_t", "1"}},
		{name: "nobody captures", sql: "INSERT INTO dbo.t VALUES (2); SELECT COUNT(*) FROM cdc.dbo_t_CT", rows: []string{"1"}},
		{name: "until there is a job", sql: "EXEC sys.sp_cdc_add_job N'capture'; SELECT COUNT(*) FROM cdc.dbo_t_CT", rows: []string{"2"}},
		{name: "the origin has nothing of it", sql: "SELECT COUNT(*) FROM origin.cdc.dbo_t_CT; SELECT COUNT(*) FROM origin.dbo.t", rows: []string{"1", "1"}},
	})
}

// What is committed and not captured is in the log, and so in a backup, with the DDL.
func TestABackupHoldsTheLogThatCaptureHasNotRead(t *testing.T) {
	t.Parallel()
	play(t, master(t), []step{
		{sql: "CREATE DATABASE lagging"},
		{sql: `USE lagging; EXEC sys.sp_cdc_enable_db; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, note int NULL);
			EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL; EXEC sys.sp_cdc_stop_job N'capture';
			INSERT INTO dbo.t VALUES (1, 1); ALTER TABLE dbo.t ALTER COLUMN note bigint NULL; INSERT INTO dbo.t VALUES (2, 5000000000); USE master;
			BACKUP DATABASE lagging TO DISK = '/b/lagging.bak'; RESTORE DATABASE lagging FROM DISK = '/b/lagging.bak' WITH REPLACE`},
		{sql: "USE lagging; SELECT COUNT(*) FROM cdc.dbo_t_CT", rows: []string{"0"}},
		{sql: "EXEC sys.sp_cdc_start_job N'capture'; SELECT id, note FROM cdc.dbo_t_CT; SELECT ddl_command FROM cdc.ddl_history",
			rows: []string{"1|1", "2|5000000000", "ALTER TABLE dbo.t ALTER COLUMN note bigint NULL"}},
	})
}

// Microsoft: ALTER DATABASE SET options (Transact-SQL), SINGLE_USER, OFFLINE, WITH ROLLBACK IMMEDIATE and NO_WAIT; Database
// engine events and errors, 5070, 924, 942.
func TestADatabaseIsTakenFromItsUsers(t *testing.T) {
	t.Parallel()
	m := master(t)
	play(t, m, []step{{sql: "CREATE DATABASE taken"}, {sql: "USE taken; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY); USE master"}})
	user := open(t, testServer.DSN("taken"))
	c, err := user.Conn(context.Background())
	must(t, err)
	defer func() { _ = c.Close() }()
	_, err = c.ExecContext(context.Background(), "BEGIN TRANSACTION; INSERT INTO dbo.t VALUES (1)")
	must(t, err)
	play(t, m, []step{
		{sql: "ALTER DATABASE taken SET OFFLINE WITH NO_WAIT", err: 5070},
		{sql: "ALTER DATABASE taken SET SINGLE_USER WITH ROLLBACK IMMEDIATE"},
		{sql: "SELECT user_access_desc, state_desc FROM sys.databases WHERE name = 'taken'; SELECT COUNT(*) FROM taken.dbo.t", rows: []string{"SINGLE_USER|ONLINE", "0"}},
	})
	if _, err := c.ExecContext(context.Background(), "SELECT 1"); err == nil {
		t.Error("the connection lives on")
	}
	play(t, m, []step{{sql: "USE taken"}})
	if err := open(t, testServer.DSN("taken")).Ping(); !isError(err, 4060) {
		t.Errorf("a second user: %v", err)
	}
	play(t, m, []step{
		{sql: "USE master; ALTER DATABASE taken SET MULTI_USER; ALTER DATABASE taken SET OFFLINE"},
		{sql: "SELECT user_access_desc, state_desc FROM sys.databases WHERE name = 'taken'", rows: []string{"MULTI_USER|OFFLINE"}},
		{sql: "SELECT COUNT(*) FROM taken.dbo.t", err: 942},
		{sql: "USE taken", err: 942},
	})
	if err := open(t, testServer.DSN("taken")).Ping(); !isError(err, 4060) {
		t.Errorf("offline: %v", err)
	}
	play(t, m, []step{{sql: "ALTER DATABASE taken SET ONLINE; SELECT COUNT(*) FROM taken.dbo.t", rows: []string{"0"}}})
}

// Microsoft: KILL (Transact-SQL): the session ends and its transaction is rolled back; not one's own (6104), and one that is
// there (6106).
func TestKill(t *testing.T) {
	t.Parallel()
	m := master(t)
	play(t, m, []step{{sql: "CREATE DATABASE killing"}, {sql: "USE killing; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY)"}})
	c, err := open(t, testServer.DSN("killing")).Conn(context.Background())
	must(t, err)
	defer func() { _ = c.Close() }()
	var spid int
	must(t, c.QueryRowContext(context.Background(), "BEGIN TRANSACTION; INSERT INTO dbo.t VALUES (1); SELECT @@SPID").Scan(&spid))
	_, err = m.Exec(fmt.Sprintf("KILL %d", spid))
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var n int // waits for the lock, which ends with the session
	must(t, m.QueryRowContext(ctx, "SELECT COUNT(*) FROM killing.dbo.t").Scan(&n))
	if n != 0 {
		t.Errorf("%d rows", n)
	}
	if _, err := c.ExecContext(ctx, "SELECT 1"); err == nil {
		t.Error("the connection lives on")
	}
	play(t, m, []step{{sql: "DECLARE @me nvarchar(20) = N'KILL ' + CAST(@@SPID AS nvarchar(10)); EXEC (@me)", err: 6104}, {sql: "KILL 32000", err: 6106}})
}

func isError(err error, number int32) bool {
	var e mssql.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, x := range e.All {
		if x.Number == number {
			return true
		}
	}
	return e.Number == number
}

// A transaction keeps its database in use, wherever its session has gone meanwhile (Microsoft: RESTORE Statements
// (Transact-SQL): nobody else may use the database; DROP DATABASE (Transact-SQL); Database engine events and errors, 3101 and
// 3702).
func TestATransactionKeepsItsDatabaseInUse(t *testing.T) {
	t.Parallel()
	m := master(t)
	play(t, m, []step{
		{sql: "CREATE DATABASE held"},
		{sql: "USE held; CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); USE master; BACKUP DATABASE held TO DISK = N'/b/held.bak'"},
	})
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		other, err := master(t).Conn(t.Context())
		must(t, err)
		_, err = other.ExecContext(t.Context(), "USE held; BEGIN TRANSACTION; INSERT INTO dbo.t VALUES (1); USE master")
		must(t, err)
		play(t, m, []step{
			{name: "restored", sql: "RESTORE DATABASE held FROM DISK = N'/b/held.bak' WITH REPLACE", err: 3101},
			{name: "dropped", sql: "DROP DATABASE held", err: 3702},
		})
		_, err = other.ExecContext(t.Context(), end)
		must(t, err)
		play(t, m, []step{
			{name: "restored behind " + end, sql: "RESTORE DATABASE held FROM DISK = N'/b/held.bak' WITH REPLACE; SELECT COUNT(*) FROM held.dbo.t", rows: []string{"0"}},
		})
	}
	play(t, m, []step{{name: "dropped in the end", sql: "DROP DATABASE held"}})
}

// Backups are kept in memory, so many of them and no more; WITH INIT puts one in place of the others of its device.
func TestBackupsDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	defer s.Close()
	s.Database("shop")
	conn := open(t, s.DSN("master"))
	for i := range 64 {
		exec(t, conn, fmt.Sprintf("BACKUP DATABASE shop TO DISK = 'device%d'", i%2))
	}
	_, err = tryQuery(conn, "BACKUP DATABASE shop TO DISK = 'device2'")
	wantError(t, err, 50001, "")
	exec(t, conn, "BACKUP DATABASE shop TO DISK = 'device1' WITH INIT")
	exec(t, conn, "BACKUP DATABASE shop TO DISK = 'device2'")
	exec(t, conn, "RESTORE DATABASE shop FROM DISK = 'device0' WITH FILE = 32, REPLACE")
}
