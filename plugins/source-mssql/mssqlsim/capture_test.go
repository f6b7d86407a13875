package mssqlsim

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// changes gives (operation, command id, captured columns...) of an instance in key order.
func changes(t *testing.T, db *Database, instance, cols string) []string {
	t.Helper()
	return query(t, open(t, testServer.DSN(db.Name())), "SELECT c.[__$operation], c.[__$command_id], "+cols+" FROM cdc.["+instance+"_CT] AS c ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]")
}

// Microsoft: cdc.<capture_instance>_CT (Transact-SQL).
func TestUpdatePairSharesSeqvalAndCommand(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "a", nil) })
	tx(t, db, func(x *Tx) error {
		return errors.Join(x.Update("dbo.orders", map[string]any{"note": "b"}, 1), x.Insert("dbo.orders", 2, "x", nil))
	})
	equal(t, changes(t, db, "dbo_orders", "c.id, c.note, c.[__$update_mask]"), []string{"2|1|1|a|0x07", "3|1|1|a|0x02", "4|1|1|b|0x02", "2|3|2|x|0x07"})
	equal(t, query(t, conn, "SELECT COUNT(DISTINCT [__$seqval]) FROM cdc.dbo_orders_CT WHERE [__$operation] > 2"), []string{"1"})
}

// Verified on SQL Server 2022: a moved key is a delete and an insert.
func TestKeyUpdateIsDeleteAndInsert(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "a", nil) })
	if _, err := conn.Exec("UPDATE dbo.orders SET id = id + 1"); err != nil {
		t.Fatal(err)
	}
	equal(t, changes(t, db, "dbo_orders", "c.id, c.note"), []string{"2|1|1|a", "1|1|1|a", "2|2|2|a"})
	equal(t, query(t, conn, "SELECT COUNT(DISTINCT [__$seqval]) FROM cdc.dbo_orders_CT"), []string{"2"})
}

// Microsoft: Collapse Showplan Operator. Rows of one statement that pass their keys on never have one key twice in the
// log: its delete comes before its insert, and both together are an update.
func TestKeysThatMoveAmongRowsAreCollapsed(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]struct{ rows, changes []string }{
		"UPDATE dbo.orders SET id = id + 1":                 {[]string{"2|a", "3|b"}, []string{"1|1|1|a", "3|2|2|b", "4|2|2|a", "2|4|3|b"}},
		"UPDATE dbo.orders SET id = id - 1":                 {[]string{"0|a", "1|b"}, []string{"2|1|0|a", "3|2|1|a", "4|2|1|b", "1|4|2|b"}},
		"UPDATE dbo.orders SET id = 3 - id":                 {[]string{"1|b", "2|a"}, []string{"3|1|1|a", "4|1|1|b", "3|3|2|b", "4|3|2|a"}},
		"UPDATE dbo.orders SET id = id + 1, note = N'same'": {[]string{"2|same", "3|same"}, []string{"1|1|1|a", "3|2|2|b", "4|2|2|same", "2|4|3|same"}},
		"UPDATE dbo.orders SET id = id + 8":                 {[]string{"9|a", "10|b"}, []string{"1|1|1|a", "1|2|2|b", "2|3|9|a", "2|4|10|b"}},
	} {
		t.Run(statement, func(t *testing.T) {
			db, conn := newDatabase(t)
			orders(t, db)
			tx(t, db, func(x *Tx) error {
				return errors.Join(x.Insert("dbo.orders", 1, "a", nil), x.Insert("dbo.orders", 2, "b", nil))
			})
			if _, err := conn.Exec(statement); err != nil {
				t.Fatal(err)
			}
			equal(t, query(t, conn, "SELECT id, note FROM dbo.orders"), want.rows)
			equal(t, changes(t, db, "dbo_orders", "c.id, c.note")[2:], want.changes)
		})
	}
}

// Microsoft: UPDATE statements may be replicated as DELETE/INSERT pairs. Rows of one statement that pass values of a
// unique index on are logged as deletes and inserts, the deletes first: no value is there twice in between.
func TestValuesOfUniqueIndexesThatMoveAmongRows(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]struct{ table, index string }{
		"a heap":                      {"id int NOT NULL, note nvarchar(9)", "CREATE UNIQUE INDEX ux ON dbo.t (id)"},
		"a constraint":                {"id int NOT NULL CONSTRAINT ux UNIQUE, note nvarchar(9)", ""},
		"an index beside the key":     {"pk int IDENTITY PRIMARY KEY, id int NOT NULL, note nvarchar(9)", "CREATE UNIQUE INDEX ux ON dbo.t (id)"},
		"a clustered one, key beside": {"pk int IDENTITY PRIMARY KEY NONCLUSTERED, id int NOT NULL, note nvarchar(9)", "CREATE UNIQUE CLUSTERED INDEX ux ON dbo.t (id)"},
	} {
		for statement, want := range map[string]struct{ rows, changes []string }{
			"UPDATE dbo.t SET id = 3 - id":                   {[]string{"1|b", "2|a"}, []string{"1|1|a", "1|2|b", "2|2|a", "2|1|b"}},
			"UPDATE dbo.t SET id = id + 1":                   {[]string{"2|a", "3|b"}, []string{"1|1|a", "1|2|b", "2|2|a", "2|3|b"}},
			"UPDATE dbo.t SET note = N'same'":                {[]string{"1|same", "2|same"}, []string{"3|1|a", "4|1|same", "3|2|b", "4|2|same"}},
			"UPDATE dbo.t SET id = id + 5 WHERE note = N'a'": {[]string{"2|b", "6|a"}, []string{"1|1|a", "2|6|a"}},
		} {
			t.Run(name+" "+statement, func(t *testing.T) {
				_, conn := newDatabase(t)
				runBatches(t, conn, "CREATE TABLE dbo.t ("+shape.table+")")
				if shape.index != "" {
					runBatches(t, conn, shape.index)
				}
				runBatches(t, conn, "INSERT INTO dbo.t (id, note) VALUES (1, N'a'), (2, N'b')",
					"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL, @index_name = N'ux'", statement)
				equal(t, query(t, conn, "SELECT id, note FROM dbo.t ORDER BY id"), want.rows)
				equal(t, query(t, conn, "SELECT [__$operation], id, note FROM cdc.dbo_t_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]"), want.changes)
			})
		}
	}
}

// Verified on SQL Server 2022: two instances record a change with one LSN and one __$seqval, and number commands apart.
func TestSecondInstance(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "old only", nil) })
	must(t, db.EnableTable("dbo.orders", Capture{Name: "dbo_orders_v2", Columns: []string{"id", "amount"}}))
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 2, "both", nil) })
	tx(t, db, func(x *Tx) error { return x.Update("dbo.orders", map[string]any{"note": "not captured"}, 2) })
	equal(t, changes(t, db, "dbo_orders", "c.id"), []string{"2|1|1", "2|1|2", "3|1|2", "4|1|2"})
	equal(t, changes(t, db, "dbo_orders_v2", "c.id"), []string{"2|2|2"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT AS a JOIN cdc.dbo_orders_v2_CT AS b ON a.[__$start_lsn] = b.[__$start_lsn] AND a.[__$seqval] = b.[__$seqval]"), []string{"1"})
	err := db.EnableTable("dbo.orders", Capture{Name: "third"})
	if err == nil || !strings.Contains(err.Error(), "Two capture instances already exist") {
		t.Errorf("a third instance: %v", err)
	}
	must(t, db.DropInstance("dbo_orders"))
	_, err = tryQuery(conn, "SELECT * FROM cdc.dbo_orders_CT")
	wantError(t, err, 208, "cdc.dbo_orders_CT")
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1)"), []string{"0x00000000000000000000"})
}

// Microsoft: Known limitations, errors, and workarounds for CDC; large object data types.
func TestLargeValuesInChangeRows(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	must(t, db.Exec(t.Context(), "CREATE TABLE dbo.docs (id int NOT NULL PRIMARY KEY, body nvarchar(max) NULL, old text NULL, n int NULL, twice AS (n * 2))"))
	must(t, db.EnableTable("dbo.docs", Capture{}))
	for _, s := range []string{"INSERT INTO dbo.docs (id, body, old, n) VALUES (1, N'a', 'o', 1)", "UPDATE dbo.docs SET n = 2", "UPDATE dbo.docs SET body = N'b'", "DELETE FROM dbo.docs"} {
		if _, err := conn.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, changes(t, db, "dbo_docs", "c.body, c.old, c.n, c.twice"), []string{
		"2|1|a|o|1|NULL",
		"3|1|NULL|NULL|1|NULL", "4|1|a|o|2|NULL",
		"3|1|a|NULL|2|NULL", "4|1|b|o|2|NULL",
		"1|1|b|NULL|2|NULL"})
}

// Verified on SQL Server 2022: idle entries have no changes; a commit's entry has its begin and end in the server's local time.
func TestMappingEntries(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 7, 1, 12, 0, 0, 126e6, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock, Zone: "Eastern Standard Time", Version: V2019})
	must(t, err)
	defer s.Close()
	db := s.Database("shop")
	must(t, db.EnableCDC())
	conn := open(t, s.DSN("shop"))
	equal(t, query(t, conn, "SELECT sys.fn_cdc_get_max_lsn()"), []string{"NULL"})
	orders(t, db)
	commit := tx(t, db, func(x *Tx) error {
		clock.Advance(2 * time.Second)
		return x.Insert("dbo.orders", 1, nil, nil)
	})
	idle := db.Idle()
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), start_lsn, 1), tran_begin_time, tran_end_time, CASE WHEN tran_id = 0x00 THEN 'idle' ELSE 'commit' END FROM cdc.lsn_time_mapping WHERE start_lsn >= @p1", commit[:]), []string{
		commit.String() + "|2026-07-01 08:00:00.127 +00:00|2026-07-01 08:00:02.127 +00:00|commit",
		idle.String() + "|2026-07-01 08:00:02.127 +00:00|2026-07-01 08:00:02.127 +00:00|idle"})
	equal(t, query(t, conn, "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET())"), []string{"-240"})
	_, err = tryQuery(conn, "SELECT CURRENT_TIMEZONE_ID()")
	wantError(t, err, 195, "CURRENT_TIMEZONE_ID")
}

// Microsoft: AT TIME ZONE (Transact-SQL): a repeated time has the offset before the change, a skipped one moves forward.
func TestAtTimeZoneAroundChanges(t *testing.T) {
	t.Parallel()
	conn := open(t, testServer.DSN("master"))
	for _, tc := range []struct{ local, zone, want string }{
		{"2025-11-02T01:30:00", "Eastern Standard Time", "2025-11-02 01:30:00 -04:00"},
		{"2025-11-02T02:30:00", "Eastern Standard Time", "2025-11-02 02:30:00 -05:00"},
		{"2022-03-27T01:01:00", "Central European Standard Time", "2022-03-27 01:01:00 +01:00"},
		{"2022-03-27T02:01:00", "Central European Standard Time", "2022-03-27 03:01:00 +02:00"},
		{"2022-03-27T03:01:00", "Central European Standard Time", "2022-03-27 03:01:00 +02:00"},
		{"2022-10-30T02:01:00", "Central European Standard Time", "2022-10-30 02:01:00 +02:00"},
	} {
		equal(t, query(t, conn, "SELECT CONVERT(varchar(40), CAST(@p1 AS datetime2(0)) AT TIME ZONE '"+tc.zone+"', 121)", tc.local), []string{tc.want})
	}
	_, err := tryQuery(conn, "SELECT SYSUTCDATETIME() AT TIME ZONE 'Nowhere'")
	wantError(t, err, 9820, "Nowhere")
}

// Verified on SQL Server 2022: capture writes in commit order, and not at all while it is stopped.
func TestFrozenCaptureAndLag(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock})
	must(t, err)
	defer s.Close()
	db := s.Database("shop")
	must(t, db.EnableCDC())
	db.Freeze()
	orders(t, db)
	conn := open(t, s.DSN("shop"))
	const position = "SELECT CASE WHEN sys.fn_cdc_get_max_lsn() IS NULL THEN 'never' ELSE 'some' END, CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1)"
	equal(t, query(t, conn, position), []string{"never|0x00000000000000000000"})
	lsn := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT"), []string{"0"})
	db.Resume()
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT"), []string{"1"})
	if db.MaxLSN() != lsn {
		t.Errorf("max LSN %s, want %s", db.MaxLSN(), lsn)
	}
	db.SetCaptureLag(10 * time.Second)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 2, nil, nil) })
	clock.Advance(9 * time.Second)
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT"), []string{"1"})
	clock.Advance(time.Second)
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_orders_CT"), []string{"2"})
}

// Microsoft: sys.sp_cdc_cleanup_change_table (Transact-SQL); verified on SQL Server 2022: the mark is lowered to the
// first entry that shares its commit time.
func TestCleanup(t *testing.T) {
	t.Parallel()
	clock := NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := Start(t.Context(), Options{Clock: clock})
	must(t, err)
	defer s.Close()
	db := s.Database("shop")
	must(t, db.EnableCDC())
	orders(t, db)
	conn := open(t, s.DSN("shop"))
	var lsns []LSN
	for i := range 6 {
		if i%2 == 0 {
			clock.Advance(time.Minute)
		}
		lsns = append(lsns, tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) }))
	}
	var seen []string
	must(t, db.Model().CleanupAt("dbo_orders", lsns[1], func() {
		seen = query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1), COUNT(*) FROM cdc.dbo_orders_CT")
	}))
	equal(t, seen, []string{lsns[1].String() + "|6"}) // the watermark moves first
	if _, err := conn.Exec("EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_orders', @low_water_mark = @p1", lsns[5][:]); err != nil {
		t.Fatal(err)
	}
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1), CONVERT(varchar(22), MIN(start_lsn), 1), COUNT(*) FROM cdc.lsn_time_mapping"), []string{lsns[4].String() + "|" + lsns[4].String() + "|2"})
	equal(t, query(t, conn, "SELECT id FROM cdc.dbo_orders_CT WHERE [__$start_lsn] BETWEEN @p1 AND @p2", lsns[0][:], lsns[4][:]), []string{"4"})
	equal(t, query(t, conn, "SELECT id FROM cdc.dbo_orders_CT WHERE [__$start_lsn] BETWEEN @p1 AND @p2", lsns[5][:], lsns[4][:]), nil)
	_, err = tryQuery(conn, "SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_orders(@p1, @p2, N'all')", lsns[3][:], lsns[5][:])
	wantError(t, err, 313, "insufficient number of arguments")
}

// Verified on SQL Server 2022 and 2017: what DDL does to a captured table.
func TestDDLOfCapturedTable(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "12", "1.5") })
	for _, s := range []string{"ALTER TABLE dbo.orders ADD extra int NULL", "UPDATE dbo.orders SET extra = 5", "ALTER TABLE dbo.orders DROP COLUMN amount", "UPDATE dbo.orders SET note = N'13'", "ALTER TABLE dbo.orders ALTER COLUMN note nvarchar(80) NULL"} {
		if _, err := conn.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	equal(t, changes(t, db, "dbo_orders", "c.note, c.amount"), []string{"2|1|12|1.5000", "3|1|12|NULL", "4|1|13|NULL"})
	rows := query(t, conn, "EXEC sys.sp_cdc_get_ddl_history @capture_instance = N'dbo_orders'")
	if len(rows) != 3 || !strings.Contains(rows[0], "|false|ALTER TABLE dbo.orders ADD extra int NULL|0x") || !strings.Contains(rows[2], "|true|ALTER TABLE dbo.orders ALTER COLUMN note nvarchar(80) NULL|0x") {
		t.Errorf("DDL history %q", rows)
	}
	got := query(t, conn, "EXEC sys.sp_cdc_get_captured_columns @capture_instance = N'dbo_orders'")
	if len(got) != 3 || !strings.HasPrefix(got[1], "dbo|orders|dbo_orders|note|2|2|nvarchar|80|") {
		t.Errorf("captured columns %q", got)
	}
	equal(t, query(t, conn, "SELECT name, column_id FROM sys.columns WHERE object_id = OBJECT_ID('dbo.orders')"), []string{"id|1", "note|2", "extra|4"})
	_, err := tryQuery(conn, "SELECT amount FROM dbo.orders")
	wantError(t, err, 207, "amount")
	must(t, db.Model().RenameTable("dbo.orders", "sales"))
	if rows := query(t, conn, "EXEC sys.sp_cdc_help_change_data_capture"); len(rows) != 1 || !strings.HasPrefix(rows[0], "dbo|sales|dbo_orders|") || !strings.HasSuffix(rows[0], "|[id]|[id], [note], [amount]") {
		t.Errorf("listing %q", rows)
	}
}

// Microsoft: the Permissions sections of the change data capture procedures and functions.
func TestPermissions(t *testing.T) {
	t.Parallel()
	db, _ := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	login := testServer.AddLogin("least", "Least1!")
	conn := open(t, testServer.UserDSN("least", "Least1!", db.Name()))
	const help = "EXEC sys.sp_cdc_help_change_data_capture"
	_, err := tryQuery(conn, "SELECT id FROM dbo.orders")
	wantError(t, err, 229, "The SELECT permission was denied on the object 'orders'")
	_, err = tryQuery(conn, "EXEC sys.sp_cdc_get_captured_columns @capture_instance = N'dbo_orders'")
	wantError(t, err, 22981, "access is denied")
	equal(t, query(t, conn, help), nil)
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1), OBJECT_ID('dbo.orders')"), []string{"0x00000000000000000000|NULL"})
	login.Grant(db.Name(), "dbo.orders")
	if rows := query(t, conn, help); len(rows) != 1 {
		t.Errorf("listing %q", rows)
	}
	_, err = tryQuery(conn, "SELECT * FROM cdc.dbo_orders_CT")
	wantError(t, err, 229, "'dbo_orders_CT'")
	equal(t, query(t, conn, "SELECT HAS_PERMS_BY_NAME('cdc.[dbo_orders_CT]', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('cdc.change_tables', 'OBJECT', 'SELECT')"), []string{"0|0"})
	_, err = tryQuery(conn, "SELECT * FROM cdc.change_tables")
	wantError(t, err, 229, "'change_tables'")
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_dbo_orders(sys.fn_cdc_get_min_lsn('dbo_orders'), sys.fn_cdc_get_max_lsn(), N'all')"), []string{"1"})
	login.Grant(db.Name(), "cdc.dbo_orders_CT")
	equal(t, query(t, conn, "SELECT id FROM cdc.dbo_orders_CT"), []string{"1"})
	login.Grant(db.Name(), "dbo.orders", "id")
	equal(t, query(t, conn, "SELECT id FROM dbo.orders"), []string{"1"})
	_, err = tryQuery(conn, "SELECT note FROM dbo.orders")
	wantError(t, err, 230, "column 'note'")
	equal(t, query(t, conn, help), nil) // not all captured columns
	must(t, db.DropInstance("dbo_orders"))
	must(t, db.EnableTable("dbo.orders", Capture{Role: "gate"}))
	login.Grant(db.Name(), "dbo.orders")
	equal(t, query(t, conn, help), nil)
	login.JoinRole(db.Name(), "gate")
	if rows := query(t, conn, help); len(rows) != 1 {
		t.Errorf("listing %q", rows)
	}
}

func TestNotEnabled(t *testing.T) {
	t.Parallel()
	db := testServer.Database(t.Name())
	conn := open(t, testServer.DSN(t.Name()))
	_, err := tryQuery(conn, "EXEC sys.sp_cdc_help_change_data_capture")
	wantError(t, err, 22901, "is not enabled for Change Data Capture")
	_, err = tryQuery(conn, "SELECT * FROM cdc.lsn_time_mapping")
	wantError(t, err, 208, "cdc.lsn_time_mapping")
	equal(t, query(t, conn, "SELECT is_cdc_enabled FROM sys.databases WHERE database_id = DB_ID()"), []string{"false"})
	must(t, db.Exec(t.Context(), "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)"))
	_, err = tryQuery(conn, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL")
	wantError(t, err, 22901, "is not enabled")
	if _, err := conn.Exec("EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL"); err != nil {
		t.Fatal(err)
	}
	equal(t, query(t, conn, "SELECT name, is_tracked_by_cdc FROM sys.tables WHERE is_ms_shipped = 0"), []string{"t|true"})
}

func TestCommitBeforeReadHappensOnce(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	stamp := db.MaxLSN()
	must(t, db.CommitBeforeRead("dbo.orders", func() error {
		_, err := db.Tx(context.Background(), func(x *Tx) error { return x.Insert("dbo.orders", 2, nil, nil) })
		return err
	}))
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.orders"), []string{"1"})
	equal(t, query(t, conn, "SELECT TOP (1) id FROM dbo.orders ORDER BY id DESC"), []string{"1"})
	got := make(chan int, 4)
	for range cap(got) {
		go func() {
			rows, err := tryQuery(conn, "SELECT id FROM dbo.orders WHERE id < 1 UNION ALL SELECT id FROM dbo.orders WHERE id >= 1")
			if err != nil {
				rows = nil
			}
			got <- len(rows)
		}()
	}
	most := 0
	for range cap(got) {
		most = max(most, <-got)
	}
	if n, _ := db.Count("dbo.orders"); n != 2 || most != 2 || !stamp.Less(db.MaxLSN()) {
		t.Errorf("%d rows; a reader saw %d", n, most)
	}
}

func TestOtherDatabaseBehindTheSameName(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	first := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 2, nil, nil) })
	const identity = "SELECT CONVERT(varchar(36), service_broker_guid) FROM sys.databases WHERE database_id = DB_ID()"
	before := query(t, conn, identity)
	db.Restore(first)
	equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1), COUNT(*) FROM cdc.dbo_orders_CT"), []string{first.String() + "|1"})
	equal(t, query(t, conn, identity), before)
	db.Replace()
	if after := query(t, conn, identity); after[0] == before[0] {
		t.Error("the identity is the same")
	}
	const group = "SELECT CONVERT(varchar(36), group_database_id) FROM sys.databases WHERE database_id = DB_ID()"
	equal(t, query(t, conn, group), []string{"NULL"})
	db.JoinGroup([16]byte{15: 7})
	equal(t, query(t, conn, group), []string{"00000000-0000-0000-0000-000000000007"})
}
