package mssqlsim

import (
	"fmt"
	"strings"
	"testing"
)

// Microsoft: cdc.fn_cdc_get_net_changes_<capture_instance> (Transact-SQL); the operations and the masks as the functions
// that sys.sp_cdc_enable_table makes compute them.
func TestNetChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		sql   string
		all   string // operation, mask, id, note of each row
		mask  string
		merge string
	}{
		{"a row that was inserted", "INSERT INTO dbo.orders VALUES (9, N'a', 1)", "2||9|a", "2||9|a", "5||9|a"},
		{"inserted and updated", "INSERT INTO dbo.orders VALUES (9, N'a', 1); UPDATE dbo.orders SET note = N'b' WHERE id = 9", "2||9|b", "2||9|b", "5||9|b"},
		{"inserted and deleted", "INSERT INTO dbo.orders VALUES (9, N'a', 1); DELETE FROM dbo.orders WHERE id = 9", "", "", ""},
		{"inserted, deleted, inserted", "INSERT INTO dbo.orders VALUES (9, N'a', 1); DELETE FROM dbo.orders WHERE id = 9; INSERT INTO dbo.orders VALUES (9, N'c', 1)", "2||9|c", "2||9|c", "5||9|c"},
		{"updated", "UPDATE dbo.orders SET note = N'b' WHERE id = 1", "4||1|b", "4|0x02|1|b", "5||1|b"},
		{"updated in two columns at two times", "UPDATE dbo.orders SET note = N'b' WHERE id = 1; UPDATE dbo.orders SET amount = 7 WHERE id = 1", "4||1|b", "4|0x06|1|b", "5||1|b"},
		{"deleted", "DELETE FROM dbo.orders WHERE id = 1", "1||1|one", "1||1|one", "1||1|one"},
		{"updated and deleted", "UPDATE dbo.orders SET note = N'b' WHERE id = 1; DELETE FROM dbo.orders WHERE id = 1", "1||1|b", "1||1|b", "1||1|b"},
		{"deleted and inserted", "DELETE FROM dbo.orders WHERE id = 1; INSERT INTO dbo.orders VALUES (1, N'n', 1)", "4||1|n", "4|0x07|1|n", "5||1|n"},
		{"deleted, inserted, deleted", "DELETE FROM dbo.orders WHERE id = 1; INSERT INTO dbo.orders VALUES (1, N'n', 1); DELETE FROM dbo.orders WHERE id = 1", "1||1|n", "1||1|n", "1||1|n"},
		{"moved to another key", "UPDATE dbo.orders SET id = 5 WHERE id = 1", "1||1|one;2||5|one", "1||1|one;2||5|one", "1||1|one;5||5|one"},
		{"moved and moved back", "UPDATE dbo.orders SET id = 5 WHERE id = 1; UPDATE dbo.orders SET id = 1 WHERE id = 5", "4||1|one", "4|0x07|1|one", "5||1|one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			db, conn := newDatabase(t)
			orders(t, db)
			must(t, db.EnableTable("dbo.orders", Capture{Name: "net", Net: true}))
			exec(t, conn, "INSERT INTO dbo.orders VALUES (1, N'one', 1)")
			from := db.MaxLSN().Add(1)
			exec(t, conn, tc.sql)
			for option, want := range map[string]string{"all": tc.all, "all with mask": tc.mask, " ALL with Merge ": tc.merge} {
				rows := query(t, conn, "SELECT CONCAT([__$operation], '|', CONVERT(varchar(10), [__$update_mask], 1), '|', id, '|', note) FROM cdc.fn_cdc_get_net_changes_net(@p1, sys.fn_cdc_get_max_lsn(), @p2) ORDER BY id", from[:], option)
				if got := strings.Join(rows, ";"); got != want {
					t.Errorf("%s: %q, want %q", option, got, want)
				}
			}
		})
	}
}

// Microsoft: cdc.fn_cdc_get_all_changes_<capture_instance> (Transact-SQL).
func TestAllChanges(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	first := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "one", "1") })
	exec(t, conn, "UPDATE dbo.orders SET note = N'b' WHERE id = 1; DELETE FROM dbo.orders WHERE id = 1")
	last := db.MaxLSN()
	all := func(option string) []string {
		return query(t, conn, "SELECT [__$operation], CONVERT(varchar(10), [__$update_mask], 1), note FROM cdc.fn_cdc_get_all_changes_dbo_orders(@p1, @p2, @p3) ORDER BY [__$start_lsn], [__$seqval], [__$operation]", first[:], last[:], option)
	}
	equal(t, all("all"), []string{"2|0x07|one", "4|0x02|b", "1|0x07|b"})
	equal(t, all("All Update Old "), []string{"2|0x07|one", "3|0x02|one", "4|0x02|b", "1|0x07|b"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_dbo_orders(@p1, @p1, N'all')", first[:]), []string{"1"})
	_, err := tryQuery(conn, "SELECT [__$command_id] FROM cdc.fn_cdc_get_all_changes_dbo_orders(@p1, @p2, N'all')", first[:], last[:])
	wantError(t, err, 207, "__$command_id") // verified on SQL Server 2022
}

// Microsoft: Work with change data, on ranges outside the validity interval; the number and text were seen on SQL Server
// 2022.
func TestRangesThatChangeFunctionsRefuse(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", Capture{Name: "net", Net: true}))
	tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	low := query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('net'), 1)")[0]
	top := db.MaxLSN()
	below, above := mustLSN(t, low).Add(-1), top.Add(1)
	for _, tc := range []struct {
		name, from, to, option string
		ok                     bool
	}{
		{"the whole interval", low, top.String(), "all", true},
		{"from below the low watermark", below.String(), top.String(), "all", false},
		{"to above the newest entry", low, above.String(), "all", false},
		{"upside down", top.String(), low, "all", false},
		{"from NULL", "NULL", top.String(), "all", false},
		{"to NULL", low, "NULL", "all", false},
		{"from zero", LSN{}.String(), top.String(), "all", false},
		{"a filter that is not known", low, top.String(), "some", false},
	} {
		for _, f := range []string{"all", "net"} {
			_, err := tryQuery(conn, fmt.Sprintf("SELECT COUNT(*) FROM cdc.fn_cdc_get_%s_changes_net(%s, %s, N'%s')", f, tc.from, tc.to, tc.option))
			if tc.ok {
				must(t, err)
				continue
			}
			t.Run(tc.name+" "+f, func(t *testing.T) {
				wantError(t, err, 313, "An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_"+f+"_changes_ ... .")
			})
		}
	}
	for option, f := range map[string]string{"all with mask": "all", "all update old": "net"} {
		_, err := tryQuery(conn, fmt.Sprintf("SELECT COUNT(*) FROM cdc.fn_cdc_get_%s_changes_net(%s, %s, N'%s')", f, low, top, option))
		wantError(t, err, 313, f+"_changes")
	}
	// capture has not come to the instance yet
	must(t, db.DropInstance("net"))
	db.Freeze()
	must(t, db.EnableTable("dbo.orders", Capture{Name: "net"}))
	_, err := tryQuery(conn, "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_net(sys.fn_cdc_get_min_lsn('net'), sys.fn_cdc_get_max_lsn(), N'all')")
	wantError(t, err, 313, "all_changes")
}

func mustLSN(t testing.TB, s string) LSN {
	t.Helper()
	l, err := ParseLSN(s)
	must(t, err)
	return l
}

// Microsoft: sys.fn_cdc_get_column_ordinal, sys.fn_cdc_is_bit_set, sys.fn_cdc_has_column_changed (Transact-SQL).
func TestUpdateMaskFunctions(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	var cols strings.Builder
	for i := range 9 {
		fmt.Fprintf(&cols, ", c%d int NULL", i+2)
	}
	exec(t, conn, "CREATE TABLE dbo.wide (id int NOT NULL PRIMARY KEY"+cols.String()+"); EXEC sys.sp_cdc_enable_table N'dbo', N'wide', @role_name = NULL, @captured_column_list = N'id, c3, [c2], \"c4\", c5, c6, c7, c8, c9, c10'")
	exec(t, conn, "INSERT INTO dbo.wide (id) VALUES (1); UPDATE dbo.wide SET c3 = 1, c10 = 2")
	equal(t, query(t, conn, "SELECT sys.fn_cdc_get_column_ordinal('DBO_wide', 'C2'), sys.fn_cdc_get_column_ordinal('dbo_wide', 'c10'), sys.fn_cdc_get_column_ordinal('dbo_wide', 'no'), sys.fn_cdc_get_column_ordinal('no', 'c2')"),
		[]string{"2|10|NULL|NULL"})
	const mask = "SELECT CONVERT(varchar(10), [__$update_mask], 1), sys.fn_cdc_is_bit_set(1, [__$update_mask]), sys.fn_cdc_is_bit_set(sys.fn_cdc_get_column_ordinal('dbo_wide', 'c3'), [__$update_mask]), sys.fn_cdc_is_bit_set(10, [__$update_mask]), sys.fn_cdc_is_bit_set(11, [__$update_mask]), sys.fn_cdc_is_bit_set(17, [__$update_mask]), sys.fn_cdc_is_bit_set(0, [__$update_mask]), sys.fn_cdc_has_column_changed('dbo_wide', 'c10', [__$update_mask]), sys.fn_cdc_has_column_changed('dbo_wide', 'c4', [__$update_mask]) FROM cdc.dbo_wide_CT WHERE [__$operation] = "
	equal(t, query(t, conn, mask+"2"), []string{"0x03FF|true|true|true|false|false|false|true|true"})
	equal(t, query(t, conn, mask+"3"), []string{"0x0204|false|true|true|false|false|false|true|false"})
	equal(t, query(t, conn, mask+"4"), []string{"0x0204|false|true|true|false|false|false|true|false"})
	equal(t, query(t, conn, "SELECT sys.fn_cdc_is_bit_set(NULL, 0x01), sys.fn_cdc_is_bit_set(1, NULL)"), []string{"NULL|NULL"})
	testServer.AddLogin("masked", "Masked1!")
	least := open(t, testServer.UserDSN("masked", "Masked1!", db.Name()))
	equal(t, query(t, least, "SELECT sys.fn_cdc_get_column_ordinal('dbo_wide', 'c2'), sys.fn_cdc_is_bit_set(1, 0x01)"), []string{"NULL|true"})
}

// Microsoft: sys.fn_cdc_map_time_to_lsn, sys.fn_cdc_map_lsn_to_time, sys.fn_cdc_increment_lsn, sys.fn_cdc_decrement_lsn
// (Transact-SQL).
func TestPositionFunctions(t *testing.T) {
	t.Parallel()
	_, clock, db, conn := polling(t, "")
	orders(t, db)
	exec(t, conn, "EXEC sys.sp_cdc_stop_job")
	var l [3]LSN
	for i := range l {
		if i != 1 { // the first two at one time
			clock.Advance(1e9)
		}
		l[i] = tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", i, nil, nil) })
	}
	exec(t, conn, "EXEC sys.sp_cdc_scan")
	first := query(t, conn, "SELECT CONVERT(varchar(22), MIN(start_lsn), 1) FROM cdc.lsn_time_mapping")[0] // of the enabling, at 08:00:00
	for _, tc := range []struct{ op, at, want string }{
		{"largest less than", "08:00:01", first},
		{"largest less than or equal", "08:00:01", l[1].String()},
		{"Smallest Greater Than", "08:00:01", l[2].String()},
		{"smallest greater than or equal", "08:00:01", l[0].String()},
		{"largest less than", "08:00:00", "NULL"},
		{"smallest greater than", "08:00:02", "NULL"},
		{"nearest", "08:00:01", "NULL"},
	} {
		equal(t, query(t, conn, "SELECT CONVERT(varchar(22), sys.fn_cdc_map_time_to_lsn(@p1, CAST(@p2 AS datetime)), 1)", tc.op, "2026-03-01T"+tc.at), []string{tc.want})
	}
	equal(t, query(t, conn, "SELECT sys.fn_cdc_map_lsn_to_time(@p1), sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_increment_lsn(@p1)), sys.fn_cdc_map_lsn_to_time(NULL), sys.fn_cdc_map_time_to_lsn(N'largest less than', NULL)", l[2][:]),
		[]string{"2026-03-01 08:00:02 +00:00|NULL|NULL|NULL"})
	equal(t, query(t, conn, `SELECT CONVERT(varchar(22), sys.fn_cdc_increment_lsn(0x0000002A0000010000FF), 1), CONVERT(varchar(22), sys.fn_cdc_decrement_lsn(0x0000002A000001000000), 1),
		CONVERT(varchar(22), sys.fn_cdc_increment_lsn(0x0000002A00000100FFFF), 1), sys.fn_cdc_increment_lsn(NULL), CONVERT(varchar(22), sys.fn_cdc_decrement_lsn(0x00000000000000000000), 1)`),
		[]string{"0x0000002A000001000100|0x0000002A000000FFFFFF|0x0000002A000001010000|NULL|0x00000000000000000000"})
}
