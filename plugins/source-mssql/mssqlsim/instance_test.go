package mssqlsim

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Seen on SQL Server 2022: enabling waits for a transaction that has written the table, whose commit then is only in the
// instance before; one that began before and writes after is whole in both.
func TestEnablingWaitsForWriters(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	const enable = "EXEC sys.sp_cdc_enable_table N'dbo', N'orders', N'second', @role_name = NULL"
	before, err := conn.Begin()
	must(t, err)
	_, err = before.Exec("INSERT INTO dbo.orders VALUES (1, N'before', NULL)")
	must(t, err)
	later, err := conn.Begin()
	must(t, err)
	_, err = later.Exec("SELECT COUNT(*) FROM cdc.lsn_time_mapping")
	must(t, err)
	_, err = conn.Exec("SET LOCK_TIMEOUT 0; " + enable)
	wantError(t, err, 1222, "Lock request time out")
	_, err = before.Exec(enable) // a rollback would not undo it here
	wantError(t, err, 50001, "sp_cdc_enable_table inside a transaction")
	enabled := make(chan error, 1)
	go func() { _, err := conn.Exec("SET LOCK_TIMEOUT -1; " + enable); enabled <- err }()
	_, err = before.Exec("INSERT INTO dbo.orders VALUES (2, N'before', NULL)")
	must(t, err)
	must(t, before.Commit())
	must(t, <-enabled)
	_, err = later.Exec("INSERT INTO dbo.orders VALUES (3, N'later', NULL), (4, N'later', NULL)")
	must(t, err)
	must(t, later.Commit())
	equal(t, query(t, conn, "SELECT id FROM cdc.dbo_orders_CT ORDER BY id"), []string{"1", "2", "3", "4"})
	equal(t, query(t, conn, "SELECT id FROM cdc.second_CT ORDER BY id"), []string{"3", "4"})
	equal(t, query(t, conn, `SELECT CASE WHEN MAX(a.[__$start_lsn]) < MIN(t.start_lsn) THEN 'below' END FROM cdc.dbo_orders_CT AS a CROSS JOIN cdc.change_tables AS t WHERE t.capture_instance = 'second' AND a.note = N'before'`), []string{"below"})
}

// Seen on SQL Server 2022: an instance that is disabled is gone at once, with its rows and its DDL history.
func TestDisablingIsImmediate(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", Capture{Name: "second"}))
	exec(t, conn, "INSERT INTO dbo.orders VALUES (1, NULL, NULL); ALTER TABLE dbo.orders ADD extra int NULL")
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.ddl_history"), []string{"2"})
	exec(t, conn, "EXEC sys.sp_cdc_disable_table N'dbo', N'orders', N'dbo_orders'")
	_, err := tryQuery(conn, "SELECT * FROM cdc.dbo_orders_CT")
	wantError(t, err, 208, "cdc.dbo_orders_CT")
	_, err = tryQuery(conn, "EXEC sys.sp_cdc_get_ddl_history N'dbo_orders'")
	wantError(t, err, 22981, "does not exist")
	_, err = tryQuery(conn, "SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_orders(0x01, 0x02, N'all')")
	wantError(t, err, 208, "cdc.fn_cdc_get_all_changes_dbo_orders")
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1), (SELECT COUNT(*) FROM cdc.ddl_history), (SELECT COUNT(*) FROM cdc.change_tables)"), []string{"0x00000000000000000000|1|1"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.second_CT"), []string{"1"})
	// made again under the same name it starts anew
	must(t, db.EnableTable("dbo.orders", Capture{}))
	equal(t, query(t, conn, "SELECT (SELECT COUNT(*) FROM cdc.dbo_orders_CT), COUNT(*) FROM cdc.captured_columns AS c JOIN cdc.change_tables AS t ON t.object_id = c.object_id WHERE t.capture_instance = 'dbo_orders'"), []string{"0|4"})
}

// Seen on SQL Server 2022, with the default collation: functions, procedures and tables of capture take the name of an
// instance in any case.
func TestNamesOfInstancesIgnoreCase(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	lsn := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	for _, name := range []string{"dbo_orders", "DBO_ORDERS", "Dbo_Orders"} {
		equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.["+name+"_CT]"), []string{"1"})
		equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_"+name+"(@p1, @p1, N'all')", lsn[:]), []string{"1"})
		equal(t, query(t, conn, "SELECT CASE WHEN sys.fn_cdc_get_min_lsn(@p1) > 0x00 THEN 'known' END", name), []string{"known"})
		if rows := query(t, conn, "EXEC sys.sp_cdc_get_captured_columns @capture_instance = '"+name+"'"); len(rows) != 3 {
			t.Errorf("%s: %q", name, rows)
		}
		if rows := query(t, conn, "EXEC sys.sp_cdc_get_ddl_history '"+name+"'"); len(rows) != 0 {
			t.Errorf("%s: %q", name, rows)
		}
	}
}

// Seen on SQL Server 2022 and 2017: DDL is in the history whenever the newest entry is at or above its LSN; its time has
// minutes. Microsoft: sys.sp_cdc_get_ddl_history (Transact-SQL): capture writes it.
func TestDDLIsSeenWithItsPosition(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "")
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", Capture{Name: "second", Columns: []string{"id", "note"}}))
	s.RunJobs()
	clock.Advance(42 * time.Second)
	statements := []string{
		"ALTER TABLE dbo.orders ADD extra int NULL", "ALTER TABLE dbo.orders ALTER COLUMN amount decimal(19,4) NULL", "ALTER TABLE dbo.orders DROP COLUMN extra",
		"ALTER TABLE dbo.orders ADD extra varchar(10) NULL", "ALTER TABLE dbo.orders ALTER COLUMN note nvarchar(80) NULL", "ALTER TABLE dbo.orders DROP COLUMN amount",
	}
	history := func(instance string) []string {
		return query(t, conn, "SELECT h.required_column_update, h.ddl_command, h.ddl_time, CASE WHEN h.ddl_lsn <= sys.fn_cdc_get_max_lsn() THEN 'seen' END FROM cdc.ddl_history AS h JOIN cdc.change_tables AS t ON t.object_id = h.object_id WHERE t.capture_instance = @p1 ORDER BY h.ddl_lsn", instance)
	}
	var want []string
	for i, ddl := range statements {
		exec(t, conn, ddl+"; INSERT INTO dbo.orders (id) VALUES ("+fmt.Sprint(i)+")")
		equal(t, history("dbo_orders"), want) // capture has not come to it
		clock.Advance(5 * time.Second)
		s.RunJobs()
		changed := i == 1 || i == 4
		want = append(want, fmt.Sprintf("%v|%s|2026-03-01 08:%02d:00 +00:00|seen", changed, ddl, (42+5*i)/60))
		equal(t, history("dbo_orders"), want)
	}
	if got := history("second"); len(got) != len(want) || !strings.HasPrefix(got[1], "false|") || !strings.HasPrefix(got[4], "true|") {
		t.Errorf("the history of the instance without amount: %q", got)
	}
	equal(t, query(t, conn, "SELECT name, column_id FROM sys.columns WHERE object_id = OBJECT_ID('dbo.orders') ORDER BY column_id"), []string{"id|1", "note|2", "extra|5"})
}

// Microsoft: cdc.<capture_instance>_CT (Transact-SQL), Data definition language modifications: capture sees the table as
// it was at each point of the log, also when it lags behind.
func TestCaptureThatLagsSeesTheTableAsItWas(t *testing.T) {
	t.Parallel()
	s, clock, db, conn := polling(t, "")
	orders(t, db)
	s.RunJobs()
	exec(t, conn, "INSERT INTO dbo.orders VALUES (1, N'12', 1); UPDATE dbo.orders SET amount = 2; ALTER TABLE dbo.orders DROP COLUMN amount; UPDATE dbo.orders SET note = N'13'")
	exec(t, conn, "ALTER TABLE dbo.orders ALTER COLUMN note int NULL; UPDATE dbo.orders SET note = 14; ALTER TABLE dbo.orders ADD amount int NULL")
	exec(t, conn, "UPDATE dbo.orders SET amount = 5; DELETE FROM dbo.orders")
	const rows = "SELECT [__$operation], note, amount FROM cdc.dbo_orders_CT ORDER BY [__$start_lsn], [__$command_id], [__$operation]"
	equal(t, query(t, conn, rows), nil)
	clock.Advance(5 * time.Second)
	s.RunJobs()
	equal(t, query(t, conn, rows), []string{"2|12|1.0000", "3|12|1.0000", "4|12|2.0000", "3|12|NULL", "4|13|NULL", "3|13|NULL", "4|14|NULL", "1|14|NULL"})
}

// Seen on SQL Server 2022: the rows of a transaction of several statements in the order of the change table.
func TestOperationsOfATransaction(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	exec(t, conn, "BEGIN TRANSACTION; INSERT INTO dbo.orders VALUES (1, N'a', 1); UPDATE dbo.orders SET note = N'b'; UPDATE dbo.orders SET note = N'c'; DELETE FROM dbo.orders; COMMIT")
	equal(t, query(t, conn, "SELECT [__$operation], note FROM cdc.dbo_orders_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]"), []string{"2|a", "3|a", "4|b", "3|b", "4|c", "1|c"})
	equal(t, query(t, conn, "SELECT COUNT(DISTINCT [__$start_lsn]), (SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id <> 0x00) FROM cdc.dbo_orders_CT"), []string{"1|1"})
}

// Seen on SQL Server 2022: what logins with few rights can do. A login with SELECT on the table and its change table
// reads all that a reader of changes needs; columns suffice to count and to seek; the tables of capture's metadata and
// the jobs are for owners.
func TestLeastPrivilegedLogins(t *testing.T) {
	t.Parallel()
	db, _ := newDatabase(t)
	orders(t, db)
	lsn := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "a", nil) })
	login := func(name string) *Login { return testServer.AddLogin(name, "Reader1!") }
	reader, columns, table := login("least_reader"), login("least_columns"), login("least_table")
	reader.Grant(db.Name(), "dbo.orders")
	reader.Grant(db.Name(), "cdc.dbo_orders_CT")
	columns.Grant(db.Name(), "dbo.orders", "id")
	table.Grant(db.Name(), "dbo.orders")
	reads := map[string][]string{
		"SELECT c.id, m.tran_id FROM cdc.dbo_orders_CT AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]": {"least_reader"},
		"SELECT id, note, amount FROM dbo.orders":                                       {"least_reader", "least_table"},
		"SELECT COUNT(*), MIN(id), MAX(id) FROM dbo.orders":                             {"least_reader", "least_table", "least_columns"},
		"SELECT TOP (1) id FROM dbo.orders WHERE id >= 0 ORDER BY id":                   {"least_reader", "least_table", "least_columns"},
		"EXEC sys.sp_spaceused N'dbo.orders'":                                           {"least_reader", "least_table", "least_columns"},
		"SELECT COUNT(*) FROM sys.dm_exec_session_wait_stats WHERE session_id = @@SPID": {"least_reader", "least_table", "least_columns"},
		"EXEC sys.sp_cdc_get_captured_columns N'dbo_orders'":                            {"least_reader", "least_table"},
		"EXEC sys.sp_cdc_get_ddl_history N'dbo_orders'":                                 {"least_reader", "least_table"},
		"SELECT sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn()), sys.fn_cdc_increment_lsn(" + lsn.String() + "), sys.fn_cdc_map_time_to_lsn(N'largest less than', SYSDATETIME())": {"least_reader", "least_table", "least_columns"},
		"SELECT * FROM cdc.change_tables":    nil,
		"SELECT * FROM cdc.captured_columns": nil,
		"SELECT * FROM cdc.ddl_history":      nil,
		"SELECT * FROM cdc.index_columns":    nil,
		"EXEC sys.sp_cdc_help_jobs":          nil,
		"SELECT * FROM msdb.dbo.cdc_jobs":    nil,
	}
	for _, name := range []string{"least_reader", "least_columns", "least_table"} {
		conn := open(t, testServer.UserDSN(name, "Reader1!", db.Name()))
		for stmt, may := range reads {
			_, err := tryQuery(conn, stmt)
			if can := strings.Contains(strings.Join(may, " "), name); can != (err == nil) {
				t.Errorf("%s, %s: %v", name, stmt, err)
			}
		}
		known := "0x00000000000000000000"
		if name != "least_columns" {
			known = query(t, open(t, testServer.DSN(db.Name())), "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1)")[0]
		}
		equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1)"), []string{known})
	}
}

// Seen on SQL Server 2022: a batch without parameters leaves the session at the isolation level that it sets; one with
// parameters runs in a scope of its own.
func TestIsolationOfABatchStays(t *testing.T) {
	t.Parallel()
	db, pool := newDatabase(t)
	orders(t, db)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	level := func() (n int) {
		must(t, conn.QueryRowContext(t.Context(), "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID").Scan(&n))
		return n
	}
	_, err = conn.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT @p1", 1)
	must(t, err)
	if n := level(); n != 2 {
		t.Errorf("level %d after a batch with parameters", n)
	}
	_, err = conn.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
	must(t, err)
	if n := level(); n != 5 {
		t.Errorf("level %d after a batch without", n)
	}
}

// Microsoft: RESTORE (Transact-SQL), KEEP_CDC: what was made after the backup is not there.
func TestARestoreTakesWhatCameLater(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	first := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	exec(t, conn, "ALTER TABLE dbo.orders ADD extra int NULL; EXEC sys.sp_cdc_enable_table N'dbo', N'orders', N'second', @role_name = NULL; INSERT INTO dbo.orders (id) VALUES (2)")
	db.Restore(first)
	equal(t, query(t, conn, "SELECT capture_instance, (SELECT COUNT(*) FROM cdc.ddl_history), (SELECT COUNT(*) FROM cdc.dbo_orders_CT) FROM cdc.change_tables"), []string{"dbo_orders|0|1"})
	if next := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 3, nil, nil, nil) }); !first.Less(next) || db.MaxLSN() != next {
		t.Errorf("the next commit is at %s after %s, the newest entry at %s", next, first, db.MaxLSN())
	}
}
