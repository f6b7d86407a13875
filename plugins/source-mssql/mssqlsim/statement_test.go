package mssqlsim

import (
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"

	mssql "github.com/microsoft/go-mssqldb"
)

// The statements a reader of change data capture sends, and what SQL Server answers. Times stand still at
// 2026-03-01 08:00 UTC; LSNs are given by their distance to the first commit.
func TestStatementsOfReader(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	must(t, db.CreateTable(Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}, {Name: "amount", Type: "decimal(18,4)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", Capture{}))
	must(t, db.CreateTable(Table{Name: "dbo.lines", Key: []string{"ord", "pos"}, Columns: []Column{{Name: "ord", Type: "int"}, {Name: "pos", Type: "varchar(5)", Collation: "Greek_CI_AS"}, {Name: "qty", Type: "smallint", Nullable: true}}}))
	must(t, db.EnableTable("dbo.lines", Capture{}))
	var lsns []LSN
	for i := range 4 {
		lsns = append(lsns, tx(t, db, func(x *Tx) error {
			for k := range 5 {
				if err := x.Insert("dbo.orders", i*5+k-3, nil, k); err != nil {
					return err
				}
			}
			return x.Insert("dbo.lines", i/2, string(rune('a'+i)), i)
		}))
	}
	last := lsns[3].String()
	for _, tc := range []struct {
		name, sql string
		args      []any
		want      []string
	}{
		{"max LSN", "SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1)", nil, []string{last}},
		{"min LSN of an unknown instance is zero", "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn(@p1), 1)", []any{"nope"}, []string{"0x00000000000000000000"}},
		{"increment", "SELECT CONVERT(varchar(22), sys.fn_cdc_increment_lsn(CONVERT(binary(10), @p1, 1)), 1)", []any{last}, []string{lsns[3].Add(1).String()}},
		{"decrement", "SELECT CONVERT(varchar(22), sys.fn_cdc_decrement_lsn(CONVERT(binary(10), @p1, 1)), 1)", []any{last}, []string{lsns[3].Add(-1).String()}},
		{"n-th entry after", "SELECT CONVERT(varchar(22), MAX(e.start_lsn), 1) FROM (SELECT TOP (2) start_lsn FROM cdc.lsn_time_mapping WHERE start_lsn > CONVERT(binary(10), @p1, 1) ORDER BY start_lsn) AS e", []any{lsns[0].String()}, []string{lsns[2].String()}},
		{"no entry after", "SELECT CONVERT(varchar(22), MAX(e.start_lsn), 1) FROM (SELECT TOP (2) start_lsn FROM cdc.lsn_time_mapping WHERE start_lsn > CONVERT(binary(10), @p1, 1) ORDER BY start_lsn) AS e", []any{last}, []string{"NULL"}},
		{"commit time", "SELECT TOP (1) CONVERT(varchar(23), CONVERT(datetime2(3), m.tran_end_time AT TIME ZONE 'Eastern Standard Time' AT TIME ZONE 'UTC'), 126) FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn = CONVERT(binary(10), @p1, 1)", []any{last}, []string{"2026-03-01T13:00:00"}},
		{"commit time at or before", "SELECT TOP (1) CONVERT(varchar(23), CONVERT(datetime2(3), m.tran_end_time), 126) FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn <= CONVERT(binary(10), @p1, 1) ORDER BY m.start_lsn DESC", []any{lsns[3].Add(4).String()}, []string{"2026-03-01T08:00:00.000"[:19]}},
		{"no time for an LSN between", "SELECT sys.fn_cdc_map_lsn_to_time(CONVERT(binary(10), @p1, 1))", []any{lsns[3].Add(-1).String()}, []string{"NULL"}},
		{"time to LSN", "SELECT CONVERT(varchar(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', CAST(@p1 AS datetime2(0))), 1)", []any{"2026-03-01T08:00:00"}, []string{last}},
		{"tiles", "SELECT CONVERT(varchar(22), MAX(s.l), 1) AS bound, CONVERT(varchar(22), sys.fn_cdc_increment_lsn(MAX(s.l)), 1) AS next_from, COUNT_BIG(*) AS n_rows FROM (SELECT [__$start_lsn] AS l, NTILE(3) OVER (ORDER BY [__$start_lsn]) AS tile FROM cdc.[dbo_orders_CT] WHERE [__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1)) AS s GROUP BY s.tile ORDER BY bound", []any{lsns[0].String(), last},
			[]string{lsns[1].String() + "|" + lsns[1].Add(1).String() + "|7", lsns[2].String() + "|" + lsns[2].Add(1).String() + "|7", last + "|" + lsns[3].Add(1).String() + "|6"}},
		{"a range without its ends", "SELECT COUNT_BIG(*) FROM cdc.[dbo_orders_CT] AS c WHERE c.[__$start_lsn] > CONVERT(binary(10), @p1, 1) AND c.[__$start_lsn] < CONVERT(binary(10), @p2, 1)", []any{lsns[0].String(), last}, []string{"10"}},
		{"the narrower of two ranges", "SELECT COUNT_BIG(*) FROM cdc.[dbo_orders_CT] AS c WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1) AND c.[__$start_lsn] > CONVERT(binary(10), @p1, 1)", []any{lsns[1].String(), last}, []string{"10"}},
		{"outside a range", "SELECT COUNT_BIG(*) FROM cdc.[dbo_orders_CT] AS c WHERE c.[__$start_lsn] NOT BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1)", []any{lsns[1].String(), last}, []string{"5"}},
		{"a range to NULL", "SELECT COUNT_BIG(*) FROM cdc.[dbo_orders_CT] AS c WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), NULL, 1)", []any{lsns[0].String()}, []string{"0"}},
		{"one commit of a range", "SELECT COUNT_BIG(*) FROM cdc.[dbo_orders_CT] AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] WHERE c.[__$start_lsn] >= CONVERT(binary(10), @p1, 1) AND m.start_lsn = CONVERT(binary(10), @p1, 1)", []any{lsns[2].String()}, []string{"5"}},
		{"rows outside the range of an outer join stay", "SELECT COUNT_BIG(*), COUNT_BIG(c.[__$start_lsn]) FROM cdc.lsn_time_mapping AS m LEFT JOIN cdc.[dbo_lines_CT] AS c ON c.[__$start_lsn] = m.start_lsn AND c.[__$start_lsn] > CONVERT(binary(10), @p1, 1) WHERE m.start_lsn >= CONVERT(binary(10), @p1, 1)", []any{lsns[1].String()}, []string{"3|2"}},
		{"tiles of some rows", "SELECT s.tile, COUNT_BIG(*) FROM (SELECT NTILE(2) OVER (ORDER BY [__$start_lsn]) AS tile FROM cdc.[dbo_orders_CT] WHERE [__$start_lsn] > CONVERT(binary(10), @p1, 1) AND [id] > 6) AS s GROUP BY s.tile ORDER BY s.tile", []any{lsns[0].String()}, []string{"1|5", "2|5"}},
		{"more tiles than rows", "SELECT s.n, s.tile FROM (SELECT ROW_NUMBER() OVER (ORDER BY [__$start_lsn]) AS n, NTILE(9) OVER (ORDER BY [__$start_lsn]) AS tile FROM cdc.[dbo_lines_CT] WHERE [__$start_lsn] > CONVERT(binary(10), @p1, 1)) AS s ORDER BY s.n", []any{lsns[0].String()}, []string{"1|1", "2|2", "3|3"}},
		{"MIN and MAX are seeks", "SELECT (SELECT MIN([id]) FROM [dbo].[orders]) AS lo, (SELECT MAX([id]) FROM [dbo].[orders] WHERE [id] >= 0 AND [id] < 5) AS hi", nil, []string{"-3|4"}},
		{"last key", "SELECT TOP (1) ord, pos FROM dbo.lines ORDER BY ord DESC, pos DESC", nil, []string{"1|d"}},
		{"row estimate", "EXEC sys.sp_spaceused @objname=N'[dbo].[orders]'", nil, []string{"orders|20                  |72 KB|8 KB|8 KB|56 KB"}},
		{"buckets are floors", "SELECT x.b, COUNT_BIG(*), SUM(CAST(x.o AS decimal(38,0))) FROM (SELECT CAST([id] AS bigint) AS o, CASE WHEN CAST([id] AS bigint) >= 0 THEN CAST([id] AS bigint) / CAST(10 AS bigint) ELSE (CAST([id] AS bigint) + 1) / CAST(10 AS bigint) - 1 END AS b FROM [dbo].[orders] WHERE [id] IS NOT NULL AND [id] >= -3 AND [id] < 9223372036854775808) AS x GROUP BY x.b ORDER BY x.b", nil,
			[]string{"-1|3|-6", "0|10|45", "1|7|91"}},
		{"key seek", "SELECT ord, pos FROM (SELECT ord, pos FROM (SELECT TOP (3) ord, pos FROM dbo.lines WHERE ord = CAST(@p1 AS int) AND pos >= CAST(@p2 COLLATE Greek_CI_AS AS varchar(5)) ORDER BY ord, pos) AS p0 UNION ALL SELECT ord, pos FROM (SELECT TOP (3) ord, pos FROM dbo.lines WHERE ord > CAST(@p1 AS int) ORDER BY ord, pos) AS p1) AS u ORDER BY ord, pos OFFSET 2 ROWS FETCH NEXT 1 ROWS ONLY", []any{"0", "a"}, []string{"1|c"}},
		{"pieces of a key range", "SELECT ord, pos, qty FROM dbo.lines WHERE ord = CAST(@p1 AS int) AND (pos > CAST(@p2 AS varchar(5)) OR pos IS NULL) UNION ALL SELECT ord, pos, qty FROM dbo.lines WHERE ord > CAST(@p1 AS int) AND (ord < CAST(@p3 AS int))", []any{"0", "A", "5"}, []string{"0|b|1", "1|c|2", "1|d|3"}},
		{"columns of a table", "SELECT name, column_id, is_computed, collation_name FROM sys.columns WHERE object_id = OBJECT_ID(QUOTENAME(@p1) + '.' + QUOTENAME(@p2)) ORDER BY column_id", []any{"dbo", "lines"}, []string{"ord|1|false|NULL", "pos|2|false|Greek_CI_AS", "qty|3|false|NULL"}},
		{"own waits", "SELECT wait_time_ms FROM sys.dm_exec_session_wait_stats WHERE session_id = @@SPID AND wait_type = 'ASYNC_NETWORK_IO'", nil, nil},
		{"clock offset", "SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET()), CURRENT_TIMEZONE_ID()", nil, []string{"0|UTC"}},
		{"identity of the database", "SELECT d.name, d.group_database_id, d.is_cdc_enabled, CONVERT(nvarchar(256), SERVERPROPERTY('ServerName')), CAST(SERVERPROPERTY('EngineEdition') AS int) FROM sys.databases AS d WHERE d.database_id = DB_ID()", nil, []string{db.Name() + "|NULL|true|MSSQLSIM|3"}},
		{"permission", "SELECT HAS_PERMS_BY_NAME('cdc.[dbo_orders_CT]', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('cdc.change_tables', 'OBJECT', 'SELECT')", nil, []string{"1|1"}},
		{"lock settings and rows in one batch", "SET LOCK_TIMEOUT 500; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT COUNT_BIG(*) FROM [dbo].[lines]", nil, []string{"4"}},
		{"drops of the clock", "SELECT CONVERT(varchar(22), x.start_lsn, 1) FROM (SELECT e.start_lsn, CONVERT(datetime2(3), e.tran_end_time) AS t, LAG(CONVERT(datetime2(3), e.tran_end_time)) OVER (ORDER BY e.start_lsn) AS p FROM cdc.lsn_time_mapping AS e WHERE e.start_lsn >= ISNULL((SELECT TOP (1) b.start_lsn FROM cdc.lsn_time_mapping AS b WHERE b.tran_end_time <= CONVERT(datetime, @p1, 126) ORDER BY b.tran_end_time DESC, b.start_lsn DESC), 0x00000000000000000000) AND e.start_lsn <= CONVERT(binary(10), @p2, 1)) AS x WHERE x.p > DATEADD(minute, 1, x.t) ORDER BY x.start_lsn", []any{"2026-03-01T07:00:00", last}, nil},
		{"tiles of a key", "SELECT u.id, u.r, u.t FROM (SELECT s.id, s.r, s.t, LAG(s.t) OVER (ORDER BY s.r) AS p, LEAD(s.t) OVER (ORDER BY s.r) AS n FROM (SELECT id, NTILE(2) OVER (ORDER BY id) AS t, ROW_NUMBER() OVER (ORDER BY id) AS r FROM dbo.orders) AS s) AS u WHERE u.p IS NULL OR u.p <> u.t OR u.n IS NULL ORDER BY u.r", nil, []string{"-3|1|1", "7|11|2", "16|20|2"}},
		{"all changes", "SELECT COUNT(*), MIN(__$operation) FROM cdc.fn_cdc_get_all_changes_dbo_lines(CONVERT(binary(10), @p1, 1), CONVERT(binary(10), @p2, 1), N'all update old')", []any{lsns[0].String(), last}, []string{"4|2"}},
		{"change tables with ROW_NUMBER", "WITH t AS (SELECT capture_instance, ROW_NUMBER() OVER (PARTITION BY source_object_id ORDER BY start_lsn DESC) AS n, OBJECT_NAME(source_object_id) AS tab, OBJECT_SCHEMA_NAME(source_object_id, DB_ID(@p1)) AS sch FROM cdc.change_tables) SELECT capture_instance, n, sch, tab FROM t ORDER BY capture_instance", []any{db.Name()}, []string{"dbo_lines|1|dbo|lines", "dbo_orders|1|dbo|orders"}},
		{"times in text", "SELECT CONVERT(varchar(30), CAST('2026-01-02T03:04:05.126' AS datetime), 126), CONVERT(varchar(30), CAST('2026-01-02T03:04:05.1234567+02:00' AS datetimeoffset(7)), 127), CAST(CAST('2026-01-02' AS date) AS varchar(20)), SWITCHOFFSET(CAST('2026-01-02T03:04:05+02:00' AS datetimeoffset(0)), '-03:00'), TODATETIMEOFFSET(CAST('2026-01-02T03:04:05' AS datetime2(0)), 90)", nil,
			[]string{"2026-01-02T03:04:05.127|2026-01-02T01:04:05.1234567Z|2026-01-02|2026-01-01 22:04:05 -03:00|2026-01-02 03:04:05 +01:30"}},
		{"division", "SELECT 5/2, -5/2, CAST(5 AS decimal(9,2)) / CAST(3 AS int), 5 % 3, 7.0/2", nil, []string{"2|-2|1.6666666666666|2|3.500000"}},
		{"outer apply and values", "SELECT v.a, x.n FROM (VALUES (1), (99)) AS v(a) OUTER APPLY (SELECT TOP (1) o.note + N'!' AS n, o.id FROM dbo.orders AS o WHERE o.id = v.a) AS x ORDER BY v.a", nil, []string{"1|NULL", "99|NULL"}},
	} {
		t.Run(tc.name, func(t *testing.T) { equal(t, query(t, conn, tc.sql, tc.args...), tc.want) })
	}
}

// Errors come with SQL Server's numbers (Microsoft: Database engine events and errors).
func TestErrorNumbers(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	lsn := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "a", nil) })
	for _, tc := range []struct {
		name, sql string
		args      []any
		number    int32
		part      string
	}{
		{"unknown table", "SELECT * FROM dbo.nope", nil, 208, "Invalid object name 'dbo.nope'."},
		{"unknown column", "SELECT nope FROM dbo.orders", nil, 207, "Invalid column name 'nope'."},
		{"the query function has no command id", "SELECT __$command_id FROM cdc.fn_cdc_get_all_changes_dbo_orders(@p1, @p1, N'all')", []any{[]byte(lsn[:])}, 207, "__$command_id"},
		{"text that is no number", "SELECT CAST('abc' AS int)", nil, 245, "converting the varchar value 'abc' to data type int"},
		{"division by zero", "SELECT 1/0", nil, 8134, "Divide by zero"},
		{"overflow of int", "SELECT 2147483647 + 1", nil, 8115, "data type int"},
		{"duplicate key", "INSERT INTO dbo.orders (id) VALUES (1)", nil, 2627, "The duplicate key value is (1)."},
		{"NULL in a NOT NULL column", "INSERT INTO dbo.orders (note) VALUES ('x')", nil, 515, "column 'id'"},
		{"text too long", "UPDATE dbo.orders SET note = REPLICATE('x', 41)", nil, 2628, "column 'note'"},
		{"query function below the watermark", "SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_orders(0x00000000000000000001, @p1, N'all')", []any{[]byte(lsn[:])}, 313, "insufficient number of arguments"},
		{"unknown instance", "EXEC sys.sp_cdc_get_captured_columns @capture_instance = @p1", []any{"nope"}, 22981, "Object does not exist or access is denied."},
		{"unknown procedure", "EXEC dbo.nope", nil, 2812, "dbo.nope"},
		{"undeclared variable", "SELECT @nope", nil, 137, "@nope"},
		{"several rows of a subquery", "SELECT (SELECT v.a FROM (VALUES (1), (2)) AS v(a))", nil, 512, "more than 1 value"},
		{"not grouped", "SELECT id, COUNT(*) FROM dbo.orders", nil, 8120, "orders.id"},
		{"what is not understood is named", "SELECT id FROM dbo.orders FOR XML PATH", nil, 50001, "FOR XML"},
		{"a statement that is not understood is named", "CREATE VIEW dbo.v AS SELECT 1 AS a", nil, 50001, "CREATE VIEW"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tryQuery(conn, tc.sql, tc.args...)
			wantError(t, err, tc.number, tc.part)
		})
	}
}

// A transaction over several statements and tables is one commit; rollback undoes it
// (Microsoft: Transactions (Transact-SQL)).
func TestTransactions(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	must(t, db.Exec(t.Context(), "CREATE TABLE dbo.lines (id int NOT NULL IDENTITY(1,1) PRIMARY KEY, qty int NULL DEFAULT 7); EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'lines', @role_name = NULL"))
	before := db.MaxLSN()
	if _, err := conn.Exec("BEGIN TRAN; INSERT INTO dbo.orders VALUES (1, N'a', 1.5), (2, N'b', NULL); INSERT INTO dbo.lines (qty) VALUES (DEFAULT); UPDATE dbo.orders SET note = note + N'!' WHERE id = 2; COMMIT"); err != nil {
		t.Fatal(err)
	}
	n := query(t, conn, "SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE start_lsn > @p1", before[:])
	equal(t, n, []string{"1"})
	equal(t, query(t, conn, "SELECT id, note, amount FROM dbo.orders UNION ALL SELECT id, NULL, qty FROM dbo.lines"), []string{"1|a|1.5000", "2|b!|NULL", "1|NULL|7.0000"})
	x, err := conn.Begin()
	must(t, err)
	if _, err := x.Exec("DELETE FROM dbo.orders WHERE id = @p1", 1); err != nil {
		t.Fatal(err)
	}
	var left int
	must(t, x.QueryRow("SELECT COUNT(*) FROM dbo.orders").Scan(&left))
	if left != 1 {
		t.Errorf("the transaction sees %d rows", left)
	}
	must(t, x.Rollback())
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.orders"), []string{"2"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE start_lsn > @p1", before[:]), []string{"1"})
}

// Microsoft: SET TRANSACTION ISOLATION LEVEL, SET LOCK_TIMEOUT.
func TestReadCommittedWaitsForLocks(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error {
		return errors.Join(x.Insert("dbo.orders", 1, "old", nil), x.Insert("dbo.orders", 9, "far", nil))
	})
	x, err := conn.Begin()
	must(t, err)
	if _, err := x.Exec("UPDATE dbo.orders SET note = 'new' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	_, err = tryQuery(conn, "SET LOCK_TIMEOUT 20; SELECT note FROM dbo.orders WHERE id < 5")
	wantError(t, err, 1222, "Lock request time out period exceeded.")
	equal(t, query(t, conn, "SET LOCK_TIMEOUT 0; SELECT note FROM dbo.orders WHERE id > 5"), []string{"far"})
	equal(t, query(t, conn, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT note FROM dbo.orders WHERE id < 5"), []string{"old"})
	got := make(chan []string)
	go func() {
		rows, err := tryQuery(conn, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCK_TIMEOUT -1; SELECT note FROM dbo.orders WHERE id = 1")
		if err != nil {
			rows = []string{err.Error()}
		}
		got <- rows
	}()
	must(t, x.Commit())
	equal(t, <-got, []string{"new"})
	db.AllowSnapshot(false)
	_, err = tryQuery(conn, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT note FROM dbo.orders")
	wantError(t, err, 3952, "snapshot isolation is not allowed")
}

func TestDeadlockVictim(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error {
		return errors.Join(x.Insert("dbo.orders", 1, nil, nil), x.Insert("dbo.orders", 2, nil, nil))
	})
	a, err := conn.Begin()
	must(t, err)
	b, err := conn.Begin()
	must(t, err)
	_, err = a.Exec("UPDATE dbo.orders SET note = 'a' WHERE id = 1")
	must(t, err)
	_, err = b.Exec("UPDATE dbo.orders SET note = 'b' WHERE id = 2")
	must(t, err)
	first := make(chan error)
	go func() {
		_, err := a.Exec("UPDATE dbo.orders SET note = 'a' WHERE id = 2")
		first <- err
	}()
	_, second := b.Exec("UPDATE dbo.orders SET note = 'b' WHERE id = 1")
	_ = b.Rollback()
	one := <-first
	_ = a.Rollback()
	if (one == nil) == (second == nil) {
		t.Errorf("one of them must be the victim: %v, %v", one, second)
	}
	wantError(t, errors.Join(one, second), 1205, "deadlock victim")
}

func TestFaults(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	tx(t, db, func(x *Tx) error {
		for i := range 10 {
			if err := x.Insert("dbo.orders", i, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	before, err := testServer.Inject(ErrorFault("/select 'before' from/", 1, 1205, "chosen as the deadlock victim", 0))
	must(t, err)
	_, err = tryQuery(conn, "SELECT 'before' FROM dbo.orders")
	wantError(t, err, 1205, "deadlock victim")
	equal(t, query(t, conn, "SELECT 'before' FROM dbo.orders WHERE id = 1"), []string{"before"})
	if before.Hits() != 1 {
		t.Errorf("%d hits", before.Hits())
	}
	_, err = testServer.Inject(ErrorFault("'after three'", 1, 1222, "time out", 3))
	must(t, err)
	rows, err := conn.Query("SELECT id, 'after three' FROM dbo.orders")
	must(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	wantError(t, rows.Err(), 1222, "time out")
	if n != 3 {
		t.Errorf("%d rows before the error", n)
	}
	_ = rows.Close()
	for _, point := range []tds.DropPoint{tds.DropBefore, tds.DropRows, tds.DropAfter} {
		_, err = testServer.Inject(DropFault("'cut'", 1, point, 2))
		must(t, err)
		one, err := conn.Conn(t.Context())
		must(t, err)
		rows, err := one.QueryContext(t.Context(), "SELECT id, 'cut' FROM dbo.orders")
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			_ = rows.Close()
		}
		if err == nil && point != tds.DropAfter {
			t.Errorf("point %d: no error", point)
		}
		_ = one.Raw(func(any) error { return driver.ErrBadConn }) // whether or not it knows yet
		_ = one.Close()
	}
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.orders"), []string{"10"})
}

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	cols := []struct {
		typ, want string
		val       any
	}{
		{"tinyint", "200", 200}, {"smallint", "-5", -5}, {"bigint", "9223372036854775807", int64(9223372036854775807)}, {"bit", "true", true}, {"real", "1.5", 1.5}, {"float", "0.1", 0.1},
		{"decimal(38,10)", "9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"}, {"numeric(9,2)", "-1.05", "-1.05"}, {"money", "12.3400", "12.34"},
		{"date", "0001-01-01 00:00:00 +00:00", "0001-01-01"}, {"time(7)", "0001-01-01 13:50:01.1234567 +00:00", "13:50:01.1234567"}, {"datetime", "2026-01-02 03:04:05.127 +00:00", "2026-01-02T03:04:05.126"},
		{"smalldatetime", "2026-01-02 03:04:00 +00:00", "2026-01-02T03:04:05"}, {"datetime2(7)", "9999-12-31 23:59:59.9999999 +00:00", "9999-12-31T23:59:59.9999999"}, {"datetime2(3)", "2026-01-02 03:04:05.124 +00:00", "2026-01-02T03:04:05.1239"},
		{"datetimeoffset(7)", "2026-01-02 03:04:05.1234567 -11:30", "2026-01-02T03:04:05.1234567-11:30"}, {"char(5)", "ab   ", "ab"}, {"varchar(max)", "x€", "x€"}, {"nchar(3)", "東  ", "東"}, {"nvarchar(20)", "smile 🙂", "smile 🙂"},
		{"text", "long", "long"}, {"ntext", "Łódź", "Łódź"}, {"xml", "<a/>", "<a/>"}, {"binary(4)", "0xFF000000", []byte{0xFF}}, {"varbinary(max)", "0xFFEE", []byte{0xFF, 0xEE}}, {"image", "0xFF", []byte{0xFF}},
		{"uniqueidentifier", "0xFF19966F868B11D0B42D00C04FC964FF", "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
	}
	def := Table{Name: "dbo.t", Key: []string{"id"}, Columns: []Column{{Name: "id", Type: "int"}}}
	vals, nulls, want := []any{1}, []any{2}, []string{"1"}
	for i, c := range cols {
		def.Columns = append(def.Columns, Column{Name: "c" + string(rune('a'+i)), Type: c.typ, Nullable: true})
		vals, nulls, want = append(vals, c.val), append(nulls, nil), append(want, c.want)
	}
	must(t, db.CreateTable(def))
	must(t, db.EnableTable("dbo.t", Capture{}))
	tx(t, db, func(x *Tx) error { return errors.Join(x.Insert("dbo.t", vals...), x.Insert("dbo.t", nulls...)) })
	none := "2" + strings.Repeat("|NULL", len(cols))
	equal(t, query(t, conn, "SELECT * FROM dbo.t"), []string{strings.Join(want, "|"), none})
	rows, err := conn.Query("SELECT * FROM dbo.t")
	must(t, err)
	types, err := rows.ColumnTypes()
	must(t, err)
	must(t, rows.Close())
	for i, c := range cols {
		name, _, _ := strings.Cut(c.typ, "(")
		if name == "numeric" {
			name = "decimal"
		}
		if got := strings.ToLower(types[i+1].DatabaseTypeName()); got != name {
			t.Errorf("%s arrives as %s", c.typ, got)
		}
	}
	ct := query(t, conn, "SELECT c.* FROM cdc.dbo_t_CT AS c")
	if len(ct) != 2 || !strings.Contains(ct[0], strings.Join(want, "|")) {
		t.Errorf("change rows %q", ct)
	}
}

func TestStartIsQuick(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{TLS: TLSLogin})
	must(t, err)
	defer s.Close()
	s.Database("x")
	equal(t, query(t, open(t, s.DSN("x")), "SELECT DB_NAME()"), []string{"x"})
	_, err = tryQuery(open(t, s.UserDSN("sa", "wrong", "x")), "SELECT 1")
	wantError(t, err, 18456, "Login failed for user 'sa'.")
	_, err = tryQuery(open(t, s.DSN("nope")), "SELECT 1")
	wantError(t, err, 18456, "Login failed for user 'sa'.") // after the reason
	var e mssql.Error
	if !errors.As(err, &e) || len(e.All) != 2 || e.All[0].Number != 4060 || !strings.Contains(e.All[0].Message, "nope") {
		t.Errorf("errors %v", e.All)
	}
}

// Microsoft: DECLARE @local_variable (Transact-SQL): types that are not built in, and those that are written with their schema.
func TestVariablesOfNamedTypes(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for batch, want := range map[string]string{
		"DECLARE @s sysname = N'ä'; SELECT @s":                                                               "ä",
		"DECLARE @n int = 1, @s [sysname] = 'b', @t sys.sysname = 'c'; SELECT @s + @t":                       "bc",
		"DECLARE @h hierarchyid = '/1/'; SELECT @h":                                                          "0x58",
		"EXEC sp_executesql N'SELECT @a + @b', N'@a sysname, @b sysname', @a = 'd', @b = 'e'":                "de",
		"/* 🙂 */ DECLARE @s sysname = 'f'; EXEC sp_executesql N'SELECT @a', N'@a sysname', @a = @s":          "f",
		"EXEC sp_executesql N'DECLARE @longer varchar(9) = ''g'', @b sysname = @a; SELECT @b', N'@a int', 7": "7",
	} {
		equal(t, query(t, conn, batch), []string{want})
	}
	for batch, want := range map[string]int32{"DECLARE @x nothing": 2715, "DECLARE @x dbo.sysname": 2715} {
		_, err := conn.ExecContext(t.Context(), batch)
		wantError(t, err, want, "")
	}
}
