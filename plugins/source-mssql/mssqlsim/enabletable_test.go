package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: sys.sp_cdc_enable_db and sys.sp_cdc_disable_db (Transact-SQL); Database engine events and errors.
func TestEnableAndDisableDatabase(t *testing.T) {
	t.Parallel()
	s, _, _, conn := polling(t, "")
	exec(t, conn, "EXEC sys.sp_cdc_enable_db") // 22905 has severity 10: no error
	_, err := conn.Exec("CREATE SCHEMA cdc")   // which is change data capture's
	wantError(t, err, 2714, "There is already an object named 'cdc'")
	_, err = open(t, s.DSN("master")).Exec("EXEC sys.sp_cdc_enable_db")
	wantError(t, err, 22989, "system databases")
	s.Database("other")
	other := open(t, s.DSN("other"))
	_, err = other.Exec("EXEC sys.sp_cdc_disable_db")
	wantError(t, err, 22901, "'other'")
	exec(t, other, "CREATE SCHEMA cdc")
	_, err = other.Exec("EXEC sys.sp_cdc_enable_db")
	wantError(t, err, 22906, "schema named 'cdc'")

	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL; INSERT INTO dbo.t VALUES (1)")
	s.RunJobs()
	equal(t, query(t, conn, "SELECT COUNT(*) FROM cdc.dbo_t_CT"), []string{"1"})
	exec(t, conn, "EXEC sys.sp_cdc_disable_db")
	equal(t, query(t, conn, "SELECT is_cdc_enabled FROM sys.databases WHERE name = 'shop'"), []string{"false"})
	equal(t, query(t, conn, "SELECT is_tracked_by_cdc FROM sys.tables WHERE name = 't'"), []string{"false"})
	_, err = tryQuery(conn, "SELECT * FROM cdc.dbo_t_CT")
	wantError(t, err, 208, "cdc.dbo_t_CT")
	// enabled again: nothing is left of before
	exec(t, conn, "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL; INSERT INTO dbo.t VALUES (2)")
	s.RunJobs()
	equal(t, query(t, conn, "SELECT id FROM cdc.dbo_t_CT"), []string{"2"})
}

// Microsoft: sys.sp_cdc_enable_db (Transact-SQL), Permissions; Known issues and errors with CDC: the user and the schema
// cdc. The procedures of tables and jobs are for db_owner, who needs no gating role.
func TestOwnersOfADatabaseAndCapture(t *testing.T) {
	t.Parallel()
	for _, version := range []Version{V2022, Azure} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), Options{Version: version})
			must(t, err)
			t.Cleanup(s.Close)
			s.Database("shop")
			admin := open(t, s.DSN("shop"))
			exec(t, admin, "CREATE LOGIN olga WITH PASSWORD = 'Kept7secret!'; CREATE USER olga FOR LOGIN olga; ALTER ROLE db_owner ADD MEMBER olga; CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)")
			owner := open(t, s.UserDSN("olga", "Kept7secret!", "shop"))
			if _, err := owner.Exec("EXEC sys.sp_cdc_enable_db"); version != Azure {
				wantError(t, err, 22902, "Sysadmin")
				exec(t, admin, "EXEC sys.sp_cdc_enable_db")
			} else {
				must(t, err)
			}
			equal(t, query(t, admin, "SELECT p.name, s.name, IS_ROLEMEMBER('db_owner', 'cdc') FROM sys.database_principals AS p JOIN sys.schemas AS s ON s.principal_id = p.principal_id WHERE p.name = 'cdc'"), []string{"cdc|cdc|1"})
			exec(t, owner, "EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'gate'; INSERT INTO dbo.t VALUES (1)")
			equal(t, query(t, owner, "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_dbo_t(sys.fn_cdc_get_min_lsn('dbo_t'), sys.fn_cdc_get_max_lsn(), N'all')"), []string{"1"})
			equal(t, query(t, owner, "SELECT COUNT(*) FROM sys.database_principals WHERE name = 'gate' AND type = 'R'"), []string{"1"})
			if version != Azure { // which has no agent
				exec(t, owner, "EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_scan; EXEC sys.sp_cdc_start_job; EXEC sys.sp_cdc_change_job N'cleanup', @retention = 10")
			}
			if version != Azure {
				equal(t, query(t, owner, "SELECT COUNT(*) FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0"), []string{"1"})
			}
			exec(t, admin, "EXEC sys.sp_cdc_disable_db")
			equal(t, query(t, admin, "SELECT (SELECT COUNT(*) FROM sys.database_principals WHERE name = 'cdc'), (SELECT COUNT(*) FROM sys.schemas WHERE name = 'cdc')"), []string{"0|0"})
			exec(t, admin, "CREATE USER cdc WITHOUT LOGIN")
			_, err = admin.Exec("EXEC sys.sp_cdc_enable_db")
			wantError(t, err, 22906, "user named 'cdc'")
		})
	}
}

// Microsoft: sys.sp_cdc_enable_table and sys.sp_cdc_disable_table (Transact-SQL), Arguments; Database engine events and
// errors, 22000 to 22999.
func TestEnableTableRefuses(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.t (id int NOT NULL, part int NOT NULL, note nvarchar(10) NULL, [a,b] int NULL, CONSTRAINT PK_t PRIMARY KEY (id, part));
		CREATE TABLE dbo.heap (id int NULL);
		CREATE UNIQUE INDEX UX_heap ON dbo.heap (id);
		CREATE INDEX IX_note ON dbo.t (note);
		CREATE TABLE dbo.meta (id int NOT NULL PRIMARY KEY, [__$operation] int NULL);
		CREATE TABLE dbo.long (c1 int NOT NULL, c2 int NOT NULL, c3 int NOT NULL, c4 int NOT NULL, c5 int NOT NULL, c6 int NOT NULL, c7 int NOT NULL, c8 int NOT NULL, c9 int NOT NULL, c10 int NOT NULL, c11 int NOT NULL,
			c12 int NOT NULL, c13 int NOT NULL, c14 int NOT NULL, c15 int NOT NULL, PRIMARY KEY (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15));
		EXEC sys.sp_cdc_enable_table N'dbo', N't', N'taken', @role_name = NULL`)
	const enable = "EXEC sys.sp_cdc_enable_table @role_name = NULL, @source_schema = N'dbo', "
	for _, tc := range []struct {
		sql    string
		number int32
		part   string
	}{
		{"EXEC sys.sp_cdc_enable_table N'dbo', N't'", 201, "@role_name"},
		{"EXEC sys.sp_cdc_enable_table NULL, N't', @role_name = NULL", 22963, "'@source_schema'"},
		{"EXEC sys.sp_cdc_enable_table N'dbo', N'', @role_name = NULL", 22963, "'@source_name'"},
		{"EXEC sys.sp_cdc_enable_table N'cdc', N'taken_CT', @role_name = NULL", 22974, "cdc schema"},
		{enable + "@source_name = N'none'", 22931, "'dbo.none'"},
		{"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N' '", 22907, "@role_name"},
		{enable + "@source_name = N't', @capture_instance = N' '", 22932, "invalid"},
		{enable + "@source_name = N't', @capture_instance = N'" + strings.Repeat("n", 101) + "'", 22927, "100 characters"},
		{enable + "@source_name = N't', @capture_instance = N'TAKEN '", 22926, "'TAKEN'"},
		{enable + "@source_name = N'heap', @supports_net_changes = 1", 22939, "@supports_net_changes"},
		{enable + "@source_name = N'heap', @index_name = N'PK_t'", 22928, "'PK_t'"},
		{enable + "@source_name = N't', @index_name = N'IX_note'", 22929, "'IX_note'"},
		{enable + "@source_name = N'heap', @index_name = N'UX_heap'", 22838, "NOT NULL"}, // verified on SQL Server 2022
		{enable + "@source_name = N'long'", 22865, "14 columns"},
		{enable + "@source_name = N'meta'", 22975, "reserved column names"},
		{enable + "@source_name = N't', @captured_column_list = N'id, part, none'", 22930, "'none'"},
		{enable + "@source_name = N't', @captured_column_list = N'id, part, '", 22942, "@captured_column_list"},
		{enable + "@source_name = N't', @captured_column_list = N'id, part, ID'", 22942, "@captured_column_list"},
		{enable + "@source_name = N't', @captured_column_list = N'[id] part'", 22942, "@captured_column_list"},
		{enable + "@source_name = N't', @captured_column_list = N'id, [part'", 22965, "not properly terminated"},
		{enable + "@source_name = N't', @captured_column_list = N'id, note'", 22943, "uniquely identify"},
		{enable + "@source_name = N't', @filegroup_name = N'changes'", 22973, "'changes'"},
		{"EXEC sys.sp_cdc_disable_table N'dbo', N'none', N'all'", 22931, "'dbo.none'"},
		{"EXEC sys.sp_cdc_disable_table N'dbo', N'heap', N'all'", 22985, "'dbo.heap'"},
		{"EXEC sys.sp_cdc_disable_table N'dbo', N't', N'other'", 22960, "'other'"},
		{"EXEC sys.sp_cdc_disable_table N'dbo', N't', NULL", 22963, "'@capture_instance'"},
		{"EXEC sys.sp_cdc_help_change_data_capture N'dbo'", 22972, "@source_name"},
		{"EXEC sys.sp_cdc_help_change_data_capture N'dbo', N'none'", 22931, "'dbo.none'"},
		{"EXEC sys.sp_cdc_help_change_data_capture N'dbo', N'heap'", 22985, "'dbo.heap'"},
		{"EXEC sys.sp_cdc_get_captured_columns NULL", 22963, "'@capture_instance'"},
		{"EXEC sys.sp_cdc_get_captured_columns N'none'", 22981, "does not exist or access is denied"},
		{"EXEC sys.sp_cdc_get_ddl_history N'none'", 22981, "does not exist or access is denied"},
		{"EXEC sys.sp_cdc_cleanup_change_table N'none', NULL", 22920, "none"},
		{"EXEC sys.sp_cdc_cleanup_change_table N'taken', 0x00000000000000000001", 22964, "0x00000000000000000001"},
		{"EXEC sys.sp_cdc_cleanup_change_table N'taken', NULL, 0", 22850, "threshold"},
		{"EXEC sys.sp_cdc_cleanup_change_table NULL, NULL", 22963, "'@capture_instance'"},
	} {
		_, err := conn.Exec(tc.sql)
		t.Run(tc.sql, func(t *testing.T) { wantError(t, err, tc.number, tc.part) })
	}
	equal(t, query(t, conn, "SELECT capture_instance FROM cdc.change_tables"), []string{"taken"}) // what failed left nothing
	exec(t, conn, enable+"@source_name = N't'")
	_, err := conn.Exec(enable + "@source_name = N't', @capture_instance = N'third'")
	wantError(t, err, 22962, "'dbo.t'")
}

// Microsoft: sys.sp_cdc_enable_table (Transact-SQL); cdc.change_tables (Transact-SQL).
func TestEnableTableWithAllArguments(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL, [a,b] int NULL, [c]]d] int NULL, note nvarchar(10) NULL, CONSTRAINT PK_t PRIMARY KEY (id)); CREATE TABLE dbo.heap (id int NULL)")
	exec(t, conn, `EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = N'gate ', @capture_instance = N'two ', @supports_net_changes = 1, @index_name = N'pk_T',
		@captured_column_list = N' "a,b" , [c]]d],ID', @filegroup_name = N'PRIMARY', @allow_partition_switch = 0`)
	exec(t, conn, "EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL")
	equal(t, query(t, conn, "SELECT capture_instance, supports_net_changes, role_name, index_name, filegroup_name, partition_switch FROM cdc.change_tables ORDER BY capture_instance"),
		[]string{"dbo_heap|false|NULL|NULL|NULL|true", "two|true|gate|PK_t|PRIMARY|true"})
	equal(t, query(t, conn, "SELECT c.column_name, c.column_ordinal FROM cdc.captured_columns AS c JOIN cdc.change_tables AS t ON t.object_id = c.object_id WHERE t.capture_instance = 'two' ORDER BY c.column_ordinal"),
		[]string{"id|1", "a,b|2", "c]d|3"})
	rows := query(t, conn, "EXEC sys.sp_cdc_help_change_data_capture N'dbo', N't'")
	if len(rows) != 1 || !strings.Contains(rows[0], "|NULL|true|NULL|gate|PK_t|PRIMARY|") || !strings.HasSuffix(rows[0], "|[id]|[id], [a,b], [c]]d]") {
		t.Errorf("listing %q", rows)
	}
	_, err := tryQuery(conn, "SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_heap(0x01, 0x02, N'all')")
	wantError(t, err, 208, "fn_cdc_get_net_changes_dbo_heap")

	// gated: SELECT on the captured columns does not suffice
	login := testServer.AddLogin("gated", "Gated1!")
	least := open(t, testServer.UserDSN("gated", "Gated1!", db.Name()))
	login.Grant(db.Name(), "dbo.t", "id", "a,b", "c]d")
	_, err = tryQuery(least, "SELECT * FROM cdc.fn_cdc_get_all_changes_two(0x01, 0x02, N'all')")
	wantError(t, err, 229, "'fn_cdc_get_all_changes_two'")
	_, err = tryQuery(least, "SELECT * FROM cdc.fn_cdc_get_net_changes_two(0x01, 0x02, N'all')")
	wantError(t, err, 229, "'fn_cdc_get_net_changes_two'")
	login.JoinRole(db.Name(), "gate")
	equal(t, query(t, least, "SELECT COUNT(*) FROM cdc.fn_cdc_get_net_changes_two(sys.fn_cdc_get_min_lsn('two'), sys.fn_cdc_get_max_lsn(), N'all')"), []string{"0"})
	equal(t, query(t, least, "SELECT sys.fn_cdc_get_column_ordinal('two', 'a,b')"), []string{"2"})
}

// A procedure that a server has and that is not simulated is refused by its name; it is not "not there".
func TestProceduresOfCaptureThatAreNotThere(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "EXEC sys.sp_cdc_generate_wrapper_function @capture_instance = N'dbo_t'", err: 50001, part: "sp_cdc_generate_wrapper_function"},
		{sql: "EXEC sys.sp_cdc_vupgrade", err: 50001, part: "sp_cdc_vupgrade"},
		{sql: "EXEC sys.sp_cdc_no_such", err: 2812},
	})
}

// Microsoft: Database engine events and errors, 22909: with the last captured table the time mapping is emptied.
func TestLastTableTakesTheMappingAlong(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	exec(t, conn, "CREATE TABLE dbo.other (id int NOT NULL PRIMARY KEY); EXEC sys.sp_cdc_enable_table N'dbo', N'other', @role_name = NULL")
	last := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, nil, nil) })
	exec(t, conn, "EXEC sys.sp_cdc_disable_table N'dbo', N'other', N'all'")
	if db.MaxLSN() != last {
		t.Error("the mapping went with a table that is not the last")
	}
	exec(t, conn, "EXEC sys.sp_cdc_disable_table N'dbo', N'orders', N'dbo_orders'")
	equal(t, query(t, conn, "SELECT sys.fn_cdc_get_max_lsn(), is_cdc_enabled FROM sys.databases WHERE database_id = DB_ID()"), []string{"NULL|true"})
}

// Microsoft: sys.sp_cdc_enable_table (Transact-SQL), @index_name: the index goes before the primary key, and net changes
// go by it.
func TestNetChangesByAnotherIndex(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, code int NOT NULL, note int NULL); CREATE UNIQUE INDEX UX_code ON dbo.t (code)")
	_, err := conn.Exec("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @index_name = N'UX_code', @captured_column_list = N'id, note'")
	wantError(t, err, 22943, "@index_name")
	exec(t, conn, "EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @index_name = N'ux_code', @captured_column_list = N'note, code'")
	equal(t, query(t, conn, "SELECT t.index_name, i.column_name, t.supports_net_changes FROM cdc.change_tables AS t JOIN cdc.index_columns AS i ON i.object_id = t.object_id"), []string{"UX_code|code|true"})
	exec(t, conn, "INSERT INTO dbo.t VALUES (1, 10, 0), (2, 20, 0); UPDATE dbo.t SET note = 5 WHERE id = 1; UPDATE dbo.t SET id = 3 WHERE id = 1")
	equal(t, query(t, conn, "SELECT [__$operation], code, note FROM cdc.fn_cdc_get_net_changes_dbo_t(sys.fn_cdc_get_min_lsn('dbo_t'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY code"), []string{"2|10|5", "2|20|0"})
}

// Microsoft: KB238254 and KB302341: an update of a column of a unique or of the clustered index is a delete and an
// insert. That they have one sequence value, and command ids in their order, is KB3030352's.
func TestDeferredUpdates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, index, update, want string }{
		{"the primary key", "", "UPDATE dbo.t SET id = 2", "1|1|10|0;2|2|10|0"},
		{"a unique index", "CREATE UNIQUE INDEX x ON dbo.t (code)", "UPDATE dbo.t SET code = 11", "1|1|10|0;2|1|11|0"},
		{"a unique constraint", "ALTER TABLE dbo.t ADD CONSTRAINT x UNIQUE (code)", "UPDATE dbo.t SET code = 11, note = 1", "1|1|10|0;2|1|11|1"},
		{"an index that is not unique", "CREATE INDEX x ON dbo.t (code)", "UPDATE dbo.t SET code = 11", "3|1|10|0;4|1|11|0"},
		{"another column", "CREATE UNIQUE INDEX x ON dbo.t (code)", "UPDATE dbo.t SET note = 1", "3|1|10|0;4|1|10|1"},
		{"the key to what it was", "", "UPDATE dbo.t SET id = 1, note = 1", "3|1|10|0;4|1|10|1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			db, conn := newDatabase(t)
			exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, code int NOT NULL, note int NULL); INSERT INTO dbo.t VALUES (1, 10, 0)")
			if tc.index != "" {
				exec(t, conn, tc.index)
			}
			must(t, db.EnableTable("dbo.t", Capture{}))
			must(t, db.EnableTable("dbo.t", Capture{Name: "second"}))
			exec(t, conn, tc.update)
			for _, in := range []string{"dbo_t", "second"} {
				rows := query(t, conn, "SELECT CONCAT([__$operation], '|', id, '|', code, '|', note) FROM cdc."+in+"_CT ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]")
				if got := strings.Join(rows, ";"); got != tc.want {
					t.Errorf("%s: %q, want %q", in, got, tc.want)
				}
			}
			equal(t, query(t, conn, "SELECT COUNT(DISTINCT [__$seqval]), COUNT(*) FROM (SELECT [__$seqval] FROM cdc.dbo_t_CT UNION ALL SELECT [__$seqval] FROM cdc.second_CT) AS x"), []string{"1|4"})
		})
	}
}
