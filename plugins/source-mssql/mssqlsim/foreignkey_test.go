package mssqlsim

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// Microsoft: Primary and foreign key constraints; CREATE TABLE (Transact-SQL), FOREIGN KEY ... REFERENCES; ALTER TABLE
// (Transact-SQL), CHECK | NOCHECK CONSTRAINT; Database engine events and errors, 547 and 1753 to 1788; MSSQLSERVER error 1785.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	const (
		tables = `CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT PK_p PRIMARY KEY, u varchar(5) NOT NULL CONSTRAINT UQ_p UNIQUE, n int NULL);
			INSERT dbo.p VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);`
		child = tables + `CREATE TABLE dbo.c (id int NOT NULL PRIMARY KEY, p int NULL CONSTRAINT DF_c DEFAULT 3, note int NULL, CONSTRAINT FK_c FOREIGN KEY (p) REFERENCES dbo.p (id) %s);
			INSERT dbo.c VALUES (10, 1, 0), (11, 1, 0), (20, 2, 0), (90, NULL, 0);`
		rows = "; SELECT id, p FROM dbo.c ORDER BY id"
	)
	none := fmt.Sprintf(child, "")
	with := func(actions string) string { return fmt.Sprintf(child, actions) }
	for i, tc := range []struct{ what, setup, sql, want string }{
		// rows that reference
		{"an insert of a key that is there", none, "INSERT dbo.c VALUES (30, 3, 0); SELECT @@ROWCOUNT", "1"},
		{"an insert of one that is not", none, "INSERT dbo.c VALUES (30, 4, 0)", "error 547"},
		{"NULL references nothing", none, "INSERT dbo.c VALUES (30, NULL, 0); SELECT @@ROWCOUNT", "1"},
		{"an update to a key that is not there", none, "UPDATE dbo.c SET p = 7 WHERE id = 10", "error 547"},
		{"an update of something else", none, "UPDATE dbo.c SET note = 1; SELECT @@ROWCOUNT", "4"},
		{"all or nothing", none, "BEGIN TRY INSERT dbo.c VALUES (30, 3, 0), (31, 4, 0) END TRY BEGIN CATCH END CATCH SELECT COUNT(*) FROM dbo.c", "4"},
		{"by MERGE", none, "MERGE dbo.c USING (VALUES (50, 9)) AS s (id, p) ON c.id = s.id WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, s.p);", "error 547"},
		{"its message", none, "BEGIN TRY INSERT dbo.c VALUES (30, 4, 0) END TRY BEGIN CATCH SELECT REPLACE(ERROR_MESSAGE(), DB_NAME(), 'DB') END CATCH",
			`The INSERT statement conflicted with the FOREIGN KEY constraint "FK_c". The conflict occurred in database "DB", table "dbo.p", column 'id'.`},
		{"a key made in the same transaction", none, "BEGIN TRAN INSERT dbo.p VALUES (4, 'd', 0) INSERT dbo.c VALUES (30, 4, 0) COMMIT SELECT COUNT(*) FROM dbo.c", "5"},

		// NO ACTION
		{"a delete of a key that is referenced", none, "DELETE dbo.p WHERE id = 1", "error 547"},
		{"NO ACTION may be said", with("ON DELETE NO ACTION ON UPDATE NO ACTION"), "DELETE dbo.p WHERE id = 1", "error 547"},
		{"a delete of another", none, "DELETE dbo.p WHERE id = 3; SELECT COUNT(*) FROM dbo.p", "2"},
		{"a delete of all leaves all", none, "BEGIN TRY DELETE dbo.p END TRY BEGIN CATCH END CATCH SELECT COUNT(*) FROM dbo.p", "3"},
		{"an update of a key that is referenced", none, "UPDATE dbo.p SET id = 5 WHERE id = 1", "error 547"},
		{"an update of another column", none, "UPDATE dbo.p SET n = 5; SELECT @@ROWCOUNT", "3"},
		{"keys that change their places", none, "UPDATE dbo.p SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 3 END; SELECT u FROM dbo.p ORDER BY id", "b;a;c"},
		{"its message when a key is referenced", none, "BEGIN TRY DELETE dbo.p WHERE id = 1 END TRY BEGIN CATCH SELECT REPLACE(ERROR_MESSAGE(), DB_NAME(), 'DB') END CATCH",
			`The DELETE statement conflicted with the REFERENCE constraint "FK_c". The conflict occurred in database "DB", table "dbo.c", column 'p'.`},
		{"the batch goes on", none, "DELETE dbo.p WHERE id = 1; SELECT 1", "error 547"},

		// actions
		{"CASCADE of a delete", with("ON DELETE CASCADE"), "DELETE dbo.p WHERE id = 1" + rows, "20|2;90|NULL"},
		{"rows that were counted are the statement's own", with("ON DELETE CASCADE"), "DELETE dbo.p WHERE id = 1; SELECT @@ROWCOUNT", "1"},
		{"SET NULL of a delete", with("ON DELETE SET NULL"), "DELETE dbo.p WHERE id = 1" + rows, "10|NULL;11|NULL;20|2;90|NULL"},
		{"SET DEFAULT of a delete", with("ON DELETE SET DEFAULT"), "DELETE dbo.p WHERE id = 1" + rows, "10|3;11|3;20|2;90|NULL"},
		{"SET DEFAULT to a key that goes too", with("ON DELETE SET DEFAULT"), "DELETE dbo.p WHERE id IN (1, 3)", "error 547"},
		{"a delete is not an update", with("ON DELETE CASCADE"), "UPDATE dbo.p SET id = 5 WHERE id = 1", "error 547"},
		{"CASCADE of an update", with("ON UPDATE CASCADE"), "UPDATE dbo.p SET id = id + 10 WHERE id < 3" + rows, "10|11;11|11;20|12;90|NULL"},
		{"CASCADE of keys that change their places", with("ON UPDATE CASCADE"), "UPDATE dbo.p SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 3 END" + rows, "10|2;11|2;20|1;90|NULL"},
		{"SET NULL of an update", with("ON UPDATE SET NULL"), "UPDATE dbo.p SET id = 5 WHERE id = 1" + rows, "10|NULL;11|NULL;20|2;90|NULL"},
		{"SET DEFAULT of an update", with("ON UPDATE SET DEFAULT"), "UPDATE dbo.p SET id = 5 WHERE id = 1" + rows, "10|3;11|3;20|2;90|NULL"},
		{"what a transaction undoes", with("ON DELETE CASCADE"), "BEGIN TRAN DELETE dbo.p WHERE id = 1 ROLLBACK" + rows, "10|1;11|1;20|2;90|NULL"},
		{"to a savepoint, too", with("ON DELETE CASCADE"), "BEGIN TRAN DELETE dbo.p WHERE id = 2 SAVE TRAN s DELETE dbo.p WHERE id = 1 ROLLBACK TRAN s COMMIT" + rows, "10|1;11|1;90|NULL"},
		{"over several tables", with("ON DELETE CASCADE"), "CREATE TABLE dbo.g (id int PRIMARY KEY, c int REFERENCES dbo.c ON DELETE CASCADE); INSERT dbo.g VALUES (1, 10), (2, 20), (3, NULL); DELETE dbo.p WHERE id = 1; SELECT id FROM dbo.g ORDER BY id", "2;3"},
		{"NO ACTION behind CASCADE undoes all", with("ON DELETE CASCADE"), "CREATE TABLE dbo.g (id int PRIMARY KEY, c int REFERENCES dbo.c); INSERT dbo.g VALUES (1, 10); BEGIN TRY DELETE dbo.p WHERE id = 1 END TRY BEGIN CATCH END CATCH SELECT (SELECT COUNT(*) FROM dbo.p), (SELECT COUNT(*) FROM dbo.c)", "3|4"},
		{"in a transaction it undoes the statement alone", with("ON DELETE CASCADE"), "CREATE TABLE dbo.g (id int PRIMARY KEY, c int REFERENCES dbo.c); INSERT dbo.g VALUES (1, 10); BEGIN TRAN DELETE dbo.p WHERE id = 2 BEGIN TRY DELETE dbo.p WHERE id = 1 END TRY BEGIN CATCH END CATCH COMMIT SELECT (SELECT COUNT(*) FROM dbo.p), (SELECT COUNT(*) FROM dbo.c)", "2|3"},
		{"actions come before NO ACTION is looked at", with("ON DELETE CASCADE"), "CREATE TABLE dbo.g (id int PRIMARY KEY, p int REFERENCES dbo.p, c int REFERENCES dbo.c ON DELETE CASCADE); INSERT dbo.g VALUES (1, 1, 10); DELETE dbo.p WHERE id = 1; SELECT COUNT(*) FROM dbo.g", "0"},
		{"a CHECK of the row that an action changes", with("ON UPDATE CASCADE") + "ALTER TABLE dbo.c ADD CHECK (p < 5);", "UPDATE dbo.p SET id = 7 WHERE id = 1", "error 547"},

		// what they are made of
		{"beside its column, without FOREIGN KEY", tables, "CREATE TABLE dbo.d (p int REFERENCES dbo.p (id)); INSERT dbo.d VALUES (9)", "error 547"},
		{"beside its column, with a name", tables, "CREATE TABLE dbo.d (p int NOT NULL CONSTRAINT FK_d FOREIGN KEY REFERENCES dbo.p); SELECT name FROM sys.foreign_keys", "FK_d"},
		{"of a UNIQUE constraint", tables, "CREATE TABLE dbo.d (u varchar(5) REFERENCES dbo.p (u)); INSERT dbo.d VALUES ('A'); INSERT dbo.d VALUES ('x')", "error 547"},
		{"by the collation of the column", tables, "CREATE TABLE dbo.d (u varchar(5) REFERENCES dbo.p (u)); INSERT dbo.d VALUES ('A'); DELETE dbo.p WHERE u = 'a'", "error 547"},
		{"of a unique index", tables + "CREATE UNIQUE INDEX ix ON dbo.p (n);", "CREATE TABLE dbo.d (n int REFERENCES dbo.p (n)); INSERT dbo.d VALUES (20); DROP INDEX ix ON dbo.p", "error 3723"},
		{"of several columns", tables, "CREATE TABLE dbo.k (a int, b int, PRIMARY KEY (a, b)); INSERT dbo.k VALUES (1, 2); CREATE TABLE dbo.d (x int, y int, FOREIGN KEY (y, x) REFERENCES dbo.k (b, a)); INSERT dbo.d VALUES (1, 2), (NULL, 9); INSERT dbo.d VALUES (2, 1)", "error 547"},
		{"of itself", "CREATE TABLE dbo.s (id int PRIMARY KEY, up int NULL REFERENCES dbo.s (id));", "INSERT dbo.s VALUES (1, 1), (2, 1), (3, 4), (4, NULL); DELETE dbo.s WHERE id IN (3, 4); SELECT COUNT(*) FROM dbo.s", "2"},
		{"of itself, when it is needed", "CREATE TABLE dbo.s (id int PRIMARY KEY, up int NULL REFERENCES dbo.s);", "INSERT dbo.s VALUES (1, 1), (2, 1); DELETE dbo.s WHERE id = 1", "error 547"},
		{"of itself, with an action", "", "CREATE TABLE dbo.s (id int PRIMARY KEY, up int NULL REFERENCES dbo.s ON DELETE CASCADE)", "error 1750"},
		{"of a heap", tables, "CREATE TABLE dbo.d (p int REFERENCES dbo.p ON DELETE CASCADE); INSERT dbo.d VALUES (1), (1), (2); DELETE dbo.p WHERE id = 1; SELECT COUNT(*) FROM dbo.d", "1"},
		{"two ways to one table", tables, "CREATE TABLE dbo.d (id int PRIMARY KEY, a int REFERENCES dbo.p ON DELETE CASCADE, b int REFERENCES dbo.p ON DELETE SET NULL)", "error 1750"},
		{"two ways without an action", tables, "CREATE TABLE dbo.d (id int PRIMARY KEY, a int REFERENCES dbo.p ON DELETE CASCADE, b int REFERENCES dbo.p); SELECT COUNT(*) FROM sys.foreign_keys", "2"},
		{"a ring of actions", tables, "CREATE TABLE dbo.d (id int PRIMARY KEY REFERENCES dbo.p ON DELETE CASCADE); ALTER TABLE dbo.p ADD d int NULL REFERENCES dbo.d ON DELETE CASCADE", "error 1750"},
		{"no table of that name", "", "CREATE TABLE dbo.d (p int REFERENCES dbo.nothing)", "error 1750"},
		{"its reason", "", "BEGIN TRY EXEC ('CREATE TABLE dbo.d (p int CONSTRAINT FK_d REFERENCES dbo.nothing)') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH", "1750"},
		{"no column of that name", tables, "CREATE TABLE dbo.d (p int REFERENCES dbo.p (x))", "error 1750"},
		{"no unique key", tables, "CREATE TABLE dbo.d (p int REFERENCES dbo.p (n))", "error 1750"},
		{"another type", tables, "CREATE TABLE dbo.d (p bigint REFERENCES dbo.p)", "error 1750"},
		{"another length", tables, "CREATE TABLE dbo.d (u varchar(6) REFERENCES dbo.p (u))", "error 1750"},
		{"SET NULL of NOT NULL", tables, "CREATE TABLE dbo.d (p int NOT NULL REFERENCES dbo.p ON DELETE SET NULL)", "error 1750"},
		{"a temporary table has none", tables, "CREATE TABLE #d (p int REFERENCES dbo.p); INSERT #d VALUES (9); SELECT p FROM #d", "9"},
		{"a table variable neither", tables, "DECLARE @d TABLE (p int REFERENCES dbo.p)", "error 102"},

		// ALTER TABLE
		{"added where rows fit", none + "ALTER TABLE dbo.c DROP CONSTRAINT FK_c;", "INSERT dbo.c VALUES (30, 4, 0); DELETE dbo.c WHERE p = 4; ALTER TABLE dbo.c ADD CONSTRAINT FK_2 FOREIGN KEY (p) REFERENCES dbo.p (id); INSERT dbo.c VALUES (30, 4, 0)", "error 547"},
		{"added where they do not", none + "ALTER TABLE dbo.c DROP CONSTRAINT FK_c; INSERT dbo.c VALUES (30, 4, 0);", "ALTER TABLE dbo.c ADD FOREIGN KEY (p) REFERENCES dbo.p (id)", "error 547"},
		{"added WITH NOCHECK", none + "ALTER TABLE dbo.c DROP CONSTRAINT FK_c; INSERT dbo.c VALUES (30, 4, 0);", "ALTER TABLE dbo.c WITH NOCHECK ADD CONSTRAINT FK_2 FOREIGN KEY (p) REFERENCES dbo.p (id); SELECT is_not_trusted, is_disabled FROM sys.foreign_keys", "true|false"},
		{"a name that is taken", none, "ALTER TABLE dbo.c ADD CONSTRAINT PK_p FOREIGN KEY (p) REFERENCES dbo.p (id)", "error 1750"},
		{"switched off", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_c; INSERT dbo.c VALUES (30, 4, 0); DELETE dbo.p WHERE id = 1; SELECT is_not_trusted, is_disabled FROM sys.foreign_keys", "true|true"},
		{"switched off and on", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT ALL; INSERT dbo.c VALUES (30, 4, 0); ALTER TABLE dbo.c CHECK CONSTRAINT ALL; SELECT is_not_trusted, is_disabled FROM sys.foreign_keys", "true|false"},
		{"on again it holds", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_c; ALTER TABLE dbo.c CHECK CONSTRAINT FK_c; INSERT dbo.c VALUES (31, 4, 0)", "error 547"},
		{"on WITH CHECK", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_c; ALTER TABLE dbo.c WITH CHECK CHECK CONSTRAINT FK_c; SELECT is_not_trusted, is_disabled FROM sys.foreign_keys", "false|false"},
		{"on WITH CHECK where rows do not fit", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_c; INSERT dbo.c VALUES (30, 4, 0); ALTER TABLE dbo.c WITH CHECK CHECK CONSTRAINT FK_c", "error 547"},
		{"one that there is not", none, "ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_x", "error 4916"},
		{"a key cannot be switched off", none, "ALTER TABLE dbo.p NOCHECK CONSTRAINT PK_p", "error 4916"},
		{"CHECK constraints too", "CREATE TABLE dbo.k (n int CONSTRAINT CK_k CHECK (n > 0));", "ALTER TABLE dbo.k NOCHECK CONSTRAINT CK_k; INSERT dbo.k VALUES (-1); SELECT is_not_trusted, is_disabled FROM sys.check_constraints", "true|true"},
		{"CHECK constraints on again", "CREATE TABLE dbo.k (n int CONSTRAINT CK_k CHECK (n > 0));", "ALTER TABLE dbo.k NOCHECK CONSTRAINT CK_k; INSERT dbo.k VALUES (-1); ALTER TABLE dbo.k WITH CHECK CHECK CONSTRAINT CK_k", "error 547"},
		{"dropped", none, "ALTER TABLE dbo.c DROP CONSTRAINT FK_c; DELETE dbo.p; SELECT COUNT(*) FROM dbo.c", "4"},
		{"undone with its transaction", none, "BEGIN TRAN ALTER TABLE dbo.c DROP CONSTRAINT FK_c ROLLBACK DELETE dbo.p", "error 547"},
		{"the key that it needs", none, "ALTER TABLE dbo.p DROP CONSTRAINT PK_p", "error 3727"},
		{"the table that it needs", none, "DROP TABLE dbo.p", "error 3726"},
		{"the tables in their order", none, "DROP TABLE dbo.c, dbo.p; SELECT COUNT(*) FROM sys.tables WHERE name IN ('c', 'p')", "0"},
		{"TRUNCATE of the table that it needs", none, "TRUNCATE TABLE dbo.p", "error 4712"},
		{"TRUNCATE of its own table", none, "TRUNCATE TABLE dbo.c; SELECT COUNT(*) FROM dbo.c", "0"},
		{"its column cannot go", none, "ALTER TABLE dbo.c DROP CONSTRAINT DF_c; ALTER TABLE dbo.c DROP COLUMN p", "error 4922"},
		{"nor be another", none, "ALTER TABLE dbo.c DROP CONSTRAINT DF_c; ALTER TABLE dbo.c ALTER COLUMN p bigint", "error 4922"},
		{"a new name of its column", with("ON DELETE CASCADE"), "EXEC sp_rename 'dbo.c.p', 'q', 'COLUMN'; DELETE dbo.p WHERE id = 1; EXEC ('SELECT id, q FROM dbo.c ORDER BY id')", "20|2;90|NULL"},
		{"a new name of its own", none, "EXEC sp_rename 'FK_c', 'FK_d'; SELECT name FROM sys.foreign_keys", "FK_d"},

		// the catalog
		{"sys.foreign_keys", with("ON DELETE CASCADE ON UPDATE SET NULL"), "SELECT name, OBJECT_NAME(parent_object_id), OBJECT_NAME(referenced_object_id), key_index_id, type, delete_referential_action, delete_referential_action_desc, update_referential_action_desc, is_disabled, is_not_trusted, is_system_named FROM sys.foreign_keys",
			"FK_c|c|p|1|F |1|CASCADE|SET_NULL|false|false|false"},
		{"sys.foreign_key_columns", none, "SELECT OBJECT_NAME(constraint_object_id), constraint_column_id, OBJECT_NAME(parent_object_id), parent_column_id, OBJECT_NAME(referenced_object_id), referenced_column_id FROM sys.foreign_key_columns", "FK_c|1|c|2|p|1"},
		{"sys.objects", none, "SELECT type_desc, OBJECT_ID('dbo.FK_c') - object_id FROM sys.objects WHERE name = 'FK_c'", "FOREIGN_KEY_CONSTRAINT|0"},
		{"REFERENTIAL_CONSTRAINTS", with("ON DELETE SET DEFAULT"), "SELECT CONSTRAINT_SCHEMA, CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, MATCH_OPTION, UPDATE_RULE, DELETE_RULE FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS", "dbo|FK_c|PK_p|SIMPLE|NO ACTION|SET DEFAULT"},
		{"TABLE_CONSTRAINTS", none, "SELECT CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE CONSTRAINT_NAME = 'FK_c'", "FOREIGN KEY"},
		{"KEY_COLUMN_USAGE", none, "SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE WHERE CONSTRAINT_NAME = 'FK_c'", "c|p|1"},
		{"a name of the server's", tables, "CREATE TABLE dbo.d (p int REFERENCES dbo.p); SELECT LEFT(name, 10), is_system_named FROM sys.foreign_keys", "FK__d__p__|true"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("foreign_%d", i)
			testServer.Database(name)
			conn := open(t, testServer.DSN(name))
			if tc.setup != "" {
				exec(t, conn, tc.setup)
			}
			if got := ask(conn, tc.sql, false); got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.sql, got, tc.want)
			}
		})
	}
}

// The message of 547 names the statement; of MERGE it names MERGE, whatever that did.
func TestWhatAForeignKeySaysOfMerge(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	exec(t, conn, "CREATE TABLE dbo.p (id int PRIMARY KEY); CREATE TABLE dbo.c (id int PRIMARY KEY, p int CONSTRAINT FK_c REFERENCES dbo.p, n int CONSTRAINT CK_c CHECK (n > 0)); INSERT dbo.p VALUES (1); INSERT dbo.c VALUES (1, 1, 1)")
	for _, tc := range []struct{ statement, want string }{
		{"MERGE dbo.c USING (VALUES (2, 9)) AS s (id, p) ON c.id = s.id WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, s.p);", `The MERGE statement conflicted with the FOREIGN KEY constraint "FK_c".`},
		{"MERGE dbo.p USING (VALUES (1)) AS s (id) ON p.id = s.id WHEN MATCHED THEN DELETE;", `The MERGE statement conflicted with the REFERENCE constraint "FK_c".`},
		{"MERGE dbo.c USING (VALUES (1)) AS s (id) ON c.id = s.id WHEN MATCHED THEN UPDATE SET n = 0;", `The MERGE statement conflicted with the CHECK constraint "CK_c".`},
		{"INSERT dbo.c VALUES (2, 9, 1)", `The INSERT statement conflicted with the FOREIGN KEY constraint "FK_c".`},
		{"UPDATE dbo.c SET n = 0", `The UPDATE statement conflicted with the CHECK constraint "CK_c".`},
		{"DELETE dbo.p", `The DELETE statement conflicted with the REFERENCE constraint "FK_c".`},
	} {
		_, err := conn.Exec(tc.statement)
		wantError(t, err, 547, tc.want)
	}
}

// What a foreign key does is the same whether the referencing table has an index of its columns, and in which order, or none.
func TestForeignKeysByAnIndex(t *testing.T) {
	t.Parallel()
	for i, index := range []string{", PRIMARY KEY (id)", ", PRIMARY KEY (b, a, id)", ", PRIMARY KEY (id), UNIQUE (a, b, n)", ", PRIMARY KEY (id), UNIQUE (n, a, b)", ""} {
		name := fmt.Sprintf("foreign_by_%d", i)
		testServer.Database(name)
		conn := open(t, testServer.DSN(name))
		exec(t, conn, "CREATE TABLE dbo.p (a int, b int, PRIMARY KEY (a, b)); CREATE TABLE dbo.c (id int NOT NULL, a int NOT NULL, b int NOT NULL, n int NOT NULL, FOREIGN KEY (b, a) REFERENCES dbo.p (b, a) ON DELETE CASCADE ON UPDATE CASCADE"+index+")")
		exec(t, conn, "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 90) INSERT dbo.p SELECT i, i % 7 FROM n; INSERT dbo.c SELECT a * 10 + n.n, a, b, n.n FROM dbo.p CROSS JOIN (VALUES (1), (2), (3)) AS n (n)")
		exec(t, conn, "DELETE dbo.p WHERE a IN (5, 80); UPDATE dbo.p SET b = 100 WHERE a BETWEEN 7 AND 9")
		equal(t, query(t, conn, "SELECT COUNT(*), SUM(CASE WHEN b = 100 THEN a ELSE 0 END), SUM(CASE WHEN a IN (5, 80) THEN 1 ELSE 0 END) FROM dbo.c"), []string{"264|72|0"})
	}
}

// What a foreign key refers to is what others leave: who inserts a row waits for who deletes the key of it, and the other way
// round (Microsoft: Transaction locking and row versioning guide).
func TestForeignKeysWaitForOthers(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"READ COMMITTED", "SNAPSHOT"} {
		for _, tc := range []struct {
			what, first, second string
			commit              string // what the second answers behind COMMIT
			rollback            string // and behind ROLLBACK
		}{
			{"a key that may go", "DELETE dbo.p WHERE id = 2", "INSERT dbo.c VALUES (9, 2)", "error 547", ""},
			{"a key that may come", "INSERT dbo.p VALUES (5)", "INSERT dbo.c VALUES (9, 5)", "", "error 547"},
			{"a row that may come", "INSERT dbo.c VALUES (9, 2)", "DELETE dbo.p WHERE id = 2", "error 547", ""},
			{"a row that may go", "DELETE dbo.c WHERE id = 1", "DELETE dbo.p WHERE id = 1", "", "error 547"},
			{"a row of a heap that may come", "INSERT dbo.h VALUES (2)", "DELETE dbo.p WHERE id = 2", "error 547", ""},
		} {
			for _, end := range []string{"COMMIT", "ROLLBACK"} {
				t.Run(level+"/"+tc.what+"/"+end, func(t *testing.T) {
					t.Parallel()
					name := strings.NewReplacer("/", "_", " ", "_").Replace(t.Name())
					testServer.Database(name)
					pool := open(t, testServer.DSN(name))
					exec(t, pool, "CREATE TABLE dbo.p (id int NOT NULL PRIMARY KEY); CREATE TABLE dbo.c (id int NOT NULL PRIMARY KEY, p int NULL REFERENCES dbo.p); CREATE TABLE dbo.h (p int NULL REFERENCES dbo.p); INSERT dbo.p VALUES (1), (2); INSERT dbo.c VALUES (1, 1)")
					one, two := open(t, testServer.DSN(name)), open(t, testServer.DSN(name))
					tx, err := one.Begin()
					must(t, err)
					_, err = tx.Exec(tc.first)
					must(t, err)
					second := func(timeout string) string {
						return ask(two, "SET LOCK_TIMEOUT "+timeout+"; SET TRANSACTION ISOLATION LEVEL "+level+"; "+tc.second, false)
					}
					if got := second("0"); got != "error 1222" {
						t.Errorf("without waiting: %q", got)
					}
					done := make(chan string)
					go func() { done <- second("-1") }()
					waitsFor(t, pool, 1)
					want := tc.commit
					if end == "COMMIT" {
						must(t, tx.Commit())
					} else {
						want = tc.rollback
						must(t, tx.Rollback())
					}
					if got := <-done; got != want {
						t.Errorf("behind %s: %q, want %q", end, got, want)
					}
				})
			}
		}
	}
}

// waitsFor waits until that many requests of the database wait for another session.
func waitsFor(t *testing.T, conn *sql.DB, n int) {
	t.Helper()
	until(t, conn, "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0 AND database_id = DB_ID()", fmt.Sprint(n))
}

// A foreign key is held against rows when nobody is changing those on either side: not beside a transaction that has removed what they
// reference, or that has put rows into a table without a key (Microsoft: Transaction locking and row versioning guide, Schema locks:
// DDL waits for all who use the table). Neither is anything else of the shape of such a table changed.
func TestAForeignKeyWaitsForThoseWhoChangeItsRows(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	c := connsTo(t, s, "shop", "shop")
	admin, user := c[0], c[1]
	step := func(what string, c *sql.Conn, batch, want string) {
		t.Helper()
		if got := answer(t.Context(), c, batch); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	step("tables", admin, "SET LOCK_TIMEOUT 0; CREATE TABLE dbo.p (id int PRIMARY KEY); CREATE TABLE dbo.c (p int); INSERT dbo.p VALUES (1), (2); INSERT dbo.c VALUES (1)", "")
	const add = "ALTER TABLE dbo.c ADD CONSTRAINT FK_c FOREIGN KEY (p) REFERENCES dbo.p"
	for _, tc := range []struct{ what, change string }{
		{"the row that is referenced goes", "DELETE dbo.p WHERE id = 1"},
		{"a row that references nothing comes", "INSERT dbo.c VALUES (9)"},
	} {
		step(tc.what, user, "BEGIN TRAN; "+tc.change, "")
		step(tc.what+", meanwhile", admin, add, "1222")
		step(tc.what+" no more", user, "ROLLBACK", "")
	}
	step("made", admin, add+"; ALTER TABLE dbo.c NOCHECK CONSTRAINT FK_c", "")
	step("a change", user, "BEGIN TRAN; DELETE dbo.p WHERE id = 1", "")
	step("switched on meanwhile", admin, "ALTER TABLE dbo.c WITH CHECK CHECK CONSTRAINT ALL", "1222")
	step("no change", user, "ROLLBACK", "")
	step("switched on", admin, "ALTER TABLE dbo.c WITH CHECK CHECK CONSTRAINT ALL", "")
	step("trusted", admin, "SELECT CAST(is_not_trusted AS int) FROM sys.foreign_keys", "0")
	step("rows of the same transaction", admin, "ALTER TABLE dbo.c DROP CONSTRAINT FK_c; BEGIN TRAN; DELETE dbo.p WHERE id = 1; "+add, "50001")
	step("no rows", admin, "IF @@TRANCOUNT > 0 ROLLBACK; EXEC sys.sp_cdc_enable_db", "")
	step("a row", user, "BEGIN TRAN; INSERT dbo.c VALUES (2)", "")
	step("capture meanwhile", admin, "EXEC sys.sp_cdc_enable_table 'dbo', 'c', @role_name = NULL", "1222")
	step("a column meanwhile", admin, "ALTER TABLE dbo.c ADD n int", "1222")
}
