package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// step is a batch on one connection, or several with lines GO between them, and what it answers: rows, one of its errors by
// number and a part of its text, or nothing.
type step struct {
	name string
	sql  string
	rows []string
	err  int32
	part string
}

// newEmpty makes a database that is not captured, by statement, and a single connection to it.
func newEmpty(t testing.TB) *sql.DB {
	t.Helper()
	name := strings.NewReplacer("/", "_", " ", "_", "#", "_").Replace(t.Name())
	must(t, open(t, testServer.DSN("master")).QueryRow("CREATE DATABASE ["+name+"]; SELECT 1").Scan(new(int)))
	conn := open(t, testServer.DSN(name))
	conn.SetMaxOpenConns(1)
	return conn
}

// play runs steps one after the other.
func play(t *testing.T, conn *sql.DB, steps []step) {
	t.Helper()
	c, err := conn.Conn(context.Background())
	must(t, err)
	defer func() { _ = c.Close() }()
	for i, s := range steps {
		name := s.name
		if name == "" {
			name = s.sql
		}
		var got []string
		var err error
		for _, batch := range strings.Split(s.sql, "\nGO\n") {
			var rows []string
			if rows, err = allRows(c, batch); err != nil {
				break
			}
			got = append(got, rows...)
		}
		var e mssql.Error
		switch {
		case s.err != 0 && !errors.As(err, &e):
			t.Errorf("step %d, %s: no error %d but %v %v", i+1, name, s.err, err, got)
		case s.err != 0 && !slices.ContainsFunc(e.All, func(e mssql.Error) bool { return e.Number == s.err && strings.Contains(e.Message, s.part) }):
			t.Errorf("step %d, %s: errors %+v, want %d with %q", i+1, name, e.All, s.err, s.part)
		case s.err == 0 && err != nil:
			t.Errorf("step %d, %s: %v", i+1, name, err)
		case s.err == 0 && strings.Join(got, "\n") != strings.Join(s.rows, "\n"):
			t.Errorf("step %d, %s:\ngot:\n\t%s\nwant:\n\t%s", i+1, name, strings.Join(got, "\n\t"), strings.Join(s.rows, "\n\t"))
		}
	}
}

// allRows gives the rows of all results of a batch.
func allRows(c *sql.Conn, stmt string) (out []string, err error) {
	rows, err := c.QueryContext(context.Background(), stmt)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for {
		cols, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		for rows.Next() {
			if err := rows.Scan(ptrs...); err != nil {
				return nil, err
			}
			var line []string
			for _, v := range vals {
				line = append(line, show(v))
			}
			out = append(out, strings.Join(line, "|"))
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if !rows.NextResultSet() {
			return out, rows.Err()
		}
	}
}

// Microsoft: CREATE INDEX (Transact-SQL), DROP INDEX (Transact-SQL), sys.indexes, sys.index_columns, Unique constraints
// and check constraints; numbers of Database engine events and errors.
func TestIndexes(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, a nvarchar(10) NULL, b int NULL, c int NULL CONSTRAINT uq_c UNIQUE)"},
		{sql: "CREATE UNIQUE INDEX ux ON dbo.t (a)"},
		{sql: "CREATE NONCLUSTERED INDEX ix ON dbo.t (b DESC, a) INCLUDE (c) WITH (FILLFACTOR = 80)"},
		{name: "what the catalog shows", sql: "SELECT name, index_id, type_desc, is_unique, is_primary_key, is_unique_constraint FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.t') ORDER BY index_id",
			rows: []string{"pk_t|1|CLUSTERED|true|true|false", "uq_c|2|NONCLUSTERED|true|false|true", "ux|3|NONCLUSTERED|true|false|false", "ix|4|NONCLUSTERED|false|false|false"}},
		{sql: "SELECT i.name, c.name, x.key_ordinal, x.is_descending_key, x.is_included_column FROM sys.index_columns AS x JOIN sys.indexes AS i ON i.object_id = x.object_id AND i.index_id = x.index_id JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id WHERE i.name = 'ix' ORDER BY x.index_column_id",
			rows: []string{"ix|b|1|true|false", "ix|a|2|false|false", "ix|c|0|false|true"}},
		{sql: "INSERT INTO dbo.t VALUES (1, 'x', 1, 1), (2, 'y', 2, 2), (3, NULL, 3, NULL)"},
		{name: "a unique index is CREATE INDEX's error", sql: "INSERT INTO dbo.t VALUES (4, 'X', 1, 3)", err: 2601, part: "with unique index 'ux'. The duplicate key value is (X)."},
		{name: "a unique constraint has the constraint's error", sql: "INSERT INTO dbo.t VALUES (4, 'z', 1, 2)", err: 2627, part: "Violation of UNIQUE KEY constraint 'uq_c'."},
		{name: "NULL is one value of a unique index", sql: "INSERT INTO dbo.t VALUES (4, NULL, 1, 9)", err: 2601, part: "(<NULL>)"},
		{name: "the key comes first", sql: "INSERT INTO dbo.t VALUES (1, 'x', 1, 1)", err: 2627, part: "PRIMARY KEY constraint 'pk_t'"},
		{name: "values may move among the rows of one statement", sql: "UPDATE dbo.t SET a = CASE id WHEN 1 THEN 'y' ELSE 'x' END WHERE id < 3; SELECT id, a FROM dbo.t WHERE id < 3 ORDER BY id", rows: []string{"1|y", "2|x"}},
		{name: "an update that collides leaves everything as it was", sql: "UPDATE dbo.t SET a = 'x' WHERE id = 1", err: 2601},
		{sql: "SELECT a FROM dbo.t WHERE id = 1", rows: []string{"y"}},
		{name: "a freed value can be used", sql: "DELETE FROM dbo.t WHERE id = 2; INSERT INTO dbo.t VALUES (5, 'x', 1, 2)"},
		{sql: "CREATE UNIQUE INDEX ub ON dbo.t (b)", err: 1505, part: "the object name 'dbo.t' and the index name 'ub'. The duplicate key value is (1)."},
		{sql: "CREATE INDEX ix ON dbo.t (b)", err: 1913},
		{sql: "CREATE CLUSTERED INDEX cx ON dbo.t (b)", err: 1902},
		{sql: "CREATE INDEX i2 ON dbo.t (nope)", err: 1911},
		{sql: "CREATE INDEX i2 ON dbo.nope (id)", err: 1088},
		{sql: "CREATE INDEX i2 ON dbo.t (b) WHERE b > 1", err: 50001, part: "filtered index"},
		{sql: "DROP INDEX pk_t ON dbo.t", err: 3723},
		{sql: "DROP INDEX nope ON dbo.t", err: 3701},
		{sql: "DROP INDEX IF EXISTS nope ON dbo.t; DROP INDEX ux ON dbo.t; DROP INDEX t.ix"},
		{name: "what was unique no longer is", sql: "INSERT INTO dbo.t VALUES (6, 'x', 1, 3); SELECT COUNT(*) FROM dbo.t WHERE a = 'x'", rows: []string{"2"}},
		{sql: "ALTER TABLE dbo.t DROP CONSTRAINT pk_t"},
		{name: "a heap takes its place", sql: "SELECT name, index_id, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.t') ORDER BY index_id", rows: []string{"NULL|0|HEAP", "uq_c|2|NONCLUSTERED"}},
		{sql: "INSERT INTO dbo.t VALUES (6, 'again', 1, 4)"},
		{name: "a key over rows that are not unique", sql: "ALTER TABLE dbo.t ADD CONSTRAINT pk2 PRIMARY KEY (id)", err: 1505, part: "index name 'pk2'. The duplicate key value is (6)."},
		{sql: "DELETE FROM dbo.t WHERE a = 'again'; ALTER TABLE dbo.t ADD CONSTRAINT pk2 PRIMARY KEY NONCLUSTERED (id); CREATE CLUSTERED INDEX cx ON dbo.t (b)"},
		{sql: "SELECT name, index_id, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.t') ORDER BY index_id", rows: []string{"cx|1|CLUSTERED", "uq_c|2|NONCLUSTERED", "pk2|3|NONCLUSTERED"}},
		{sql: "INSERT INTO dbo.t VALUES (1, 'q', 1, 77)", err: 2627, part: "pk2"},
		{sql: "ALTER TABLE dbo.t ADD PRIMARY KEY (id)", err: 1779},
		{sql: "ALTER TABLE dbo.t ADD CONSTRAINT pk3 PRIMARY KEY (b)", err: 8111},
	})
}

// Two transactions cannot both take one value of a unique index: the second waits, and fails when the first commits.
func TestUniqueIndexAmongTransactions(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	conn.SetMaxOpenConns(2)
	_, err := conn.Exec("CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY, a int NULL); CREATE UNIQUE INDEX ux ON dbo.u (a)")
	must(t, err)
	first, err := conn.Begin()
	must(t, err)
	_, err = first.Exec("INSERT INTO dbo.u VALUES (1, 7)")
	must(t, err)
	_, err = conn.Exec("SET LOCK_TIMEOUT 0; INSERT INTO dbo.u VALUES (2, 7)")
	wantError(t, err, 1222, "")
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec("SET LOCK_TIMEOUT -1; INSERT INTO dbo.u VALUES (2, 7)")
		done <- err
	}()
	must(t, first.Commit())
	wantError(t, <-done, 2601, "(7)")
}

// Microsoft: ALTER TABLE (Transact-SQL).
func TestAlterTable(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, n int NULL, s varchar(5) NULL); INSERT INTO dbo.t VALUES (1, 10, 'abc'), (2, NULL, NULL)"},
		{name: "NOT NULL needs a default when there are rows", sql: "ALTER TABLE dbo.t ADD a int NOT NULL", err: 4901},
		{name: "rows get the default of a NOT NULL column", sql: "ALTER TABLE dbo.t ADD a int NOT NULL CONSTRAINT df_a DEFAULT (7)\nGO\nSELECT id, a FROM dbo.t", rows: []string{"1|7", "2|7"}},
		{name: "those of one that allows NULL do not", sql: "ALTER TABLE dbo.t ADD b int NULL DEFAULT 7\nGO\nSELECT id, b FROM dbo.t", rows: []string{"1|NULL", "2|NULL"}},
		{name: "unless WITH VALUES is written", sql: "ALTER TABLE dbo.t ADD c int NULL CONSTRAINT df_c DEFAULT 8 WITH VALUES\nGO\nSELECT id, c FROM dbo.t", rows: []string{"1|8", "2|8"}},
		{name: "new rows get all of them", sql: "INSERT INTO dbo.t (id) VALUES (3); SELECT a, b, c FROM dbo.t WHERE id = 3", rows: []string{"7|7|8"}},
		{name: "several columns at once", sql: "ALTER TABLE dbo.t ADD d bigint NULL, e AS n + a PERSISTED NOT NULL", err: 515},
		{name: "all or nothing", sql: "SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') AND name IN ('d', 'e')", rows: []string{"0"}},
		{name: "a computed column has values for the rows that are there", sql: "ALTER TABLE dbo.t ADD e AS n + a\nGO\nSELECT id, e FROM dbo.t", rows: []string{"1|17", "2|NULL", "3|NULL"}},
		{sql: "UPDATE dbo.t SET n = 1 WHERE id = 2; SELECT e FROM dbo.t WHERE id = 2", rows: []string{"8"}},
		{sql: "UPDATE dbo.t SET e = 1", err: 271},
		{name: "a column that a computed one reads", sql: "ALTER TABLE dbo.t DROP COLUMN n", err: 5074},
		{sql: "ALTER TABLE dbo.t ALTER COLUMN n bigint", err: 5074},
		{sql: "ALTER TABLE dbo.t ADD f AS e + 1", err: 1759, part: "Computed column 'e'"},
		{name: "a computed column still finds its columns when another is dropped", sql: "ALTER TABLE dbo.t ADD x int NULL\nGO\nALTER TABLE dbo.t DROP COLUMN x; ALTER TABLE dbo.t DROP COLUMN s; INSERT INTO dbo.t (id, n) VALUES (4, 5); SELECT e FROM dbo.t WHERE id = 4", rows: []string{"12"}},
		{sql: "ALTER TABLE dbo.t DROP COLUMN e; ALTER TABLE dbo.t ALTER COLUMN n bigint; SELECT n FROM dbo.t WHERE id = 1", rows: []string{"10"}},
		{name: "a narrower type refuses what it does not hold", sql: "UPDATE dbo.t SET n = 300 WHERE id = 1; ALTER TABLE dbo.t ALTER COLUMN n tinyint", err: 220},
		{sql: "ALTER TABLE dbo.t ALTER COLUMN n smallint NOT NULL", err: 515},
		{sql: "UPDATE dbo.t SET n = 0 WHERE n IS NULL; ALTER TABLE dbo.t ALTER COLUMN n smallint NOT NULL; INSERT INTO dbo.t (id) VALUES (9)", err: 515},
		{name: "without NOT NULL the column allows NULL", sql: "ALTER TABLE dbo.t ALTER COLUMN n smallint; INSERT INTO dbo.t (id) VALUES (9); DELETE FROM dbo.t WHERE id = 9"},
		{sql: "ALTER TABLE dbo.t ADD s varchar(5) NULL, v varchar(max) NULL\nGO\nUPDATE dbo.t SET s = 'abcde', v = 'abcdef'"},
		{sql: "ALTER TABLE dbo.t ALTER COLUMN s varchar(3)", err: 2628},
		{sql: "ALTER TABLE dbo.t ALTER COLUMN s nvarchar(20) NULL; SELECT s FROM dbo.t WHERE id = 1", rows: []string{"abcde"}},
		{sql: "ALTER TABLE dbo.t ALTER COLUMN id bigint NOT NULL", err: 5074},
		{sql: "CREATE INDEX ix ON dbo.t (s); ALTER TABLE dbo.t ALTER COLUMN s nvarchar(30) NULL"},
		{name: "an indexed column cannot get shorter", sql: "ALTER TABLE dbo.t ALTER COLUMN s nvarchar(20) NULL", err: 5074},
		{sql: "ALTER TABLE dbo.t DROP COLUMN s", err: 5074},
		{sql: "ALTER TABLE dbo.t DROP COLUMN a", err: 5074},
		{sql: "ALTER TABLE dbo.t DROP CONSTRAINT df_a; ALTER TABLE dbo.t DROP COLUMN a"},
		{sql: "ALTER TABLE dbo.t DROP COLUMN nope", err: 4924},
		{sql: "ALTER TABLE dbo.t DROP COLUMN IF EXISTS nope"},
		{sql: "ALTER TABLE dbo.t DROP CONSTRAINT nope", err: 3728},
		{sql: "ALTER TABLE dbo.nope ADD a int", err: 4902},
		{sql: "ALTER TABLE dbo.t ADD id int", err: 2705},
		{sql: "ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (n > 0 OR n IS NULL)", err: 547},
		{name: "NOCHECK leaves the rows alone that are there", sql: "ALTER TABLE dbo.t WITH NOCHECK ADD CONSTRAINT ck CHECK (n > 0); INSERT INTO dbo.t (id, n) VALUES (20, 0)", err: 547, part: "The INSERT statement conflicted with the CHECK constraint \"ck\". The conflict occurred in database \"TestAlterTable\", table \"dbo.t\", column 'n'."},
		{name: "a condition that is unknown is fulfilled", sql: "INSERT INTO dbo.t (id, n) VALUES (21, NULL)"},
		{sql: "UPDATE dbo.t SET n = -1 WHERE id = 21", err: 547, part: "The UPDATE statement"},
		{sql: "ALTER TABLE dbo.t ADD CONSTRAINT df_n DEFAULT 3 FOR n; INSERT INTO dbo.t (id) VALUES (22); SELECT n FROM dbo.t WHERE id = 22", rows: []string{"3"}},
		{sql: "ALTER TABLE dbo.t ADD DEFAULT 3 FOR n", err: 1781},
		{sql: "ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (n > 1)", err: 2714},
		{name: "sparse", sql: "ALTER TABLE dbo.t ADD sp int SPARSE NULL\nGO\nALTER TABLE dbo.t ALTER COLUMN v ADD SPARSE; SELECT name, is_sparse FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') AND is_sparse = 1 ORDER BY name", rows: []string{"sp|true", "v|true"}},
		{sql: "CREATE TABLE dbo.sp (a int SPARSE NOT NULL)", err: 1731},
		{name: "an expression of the session is none of a row", sql: "CREATE TABLE dbo.q (a datetime NULL CHECK (a < GETDATE()))", err: 50001, part: "GETDATE"},
	})
}

// Microsoft: CREATE TABLE (Transact-SQL) IDENTITY (Property), SET IDENTITY_INSERT, SCOPE_IDENTITY, @@IDENTITY,
// IDENT_CURRENT, DBCC CHECKIDENT.
func TestIdentity(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id int IDENTITY(10,5) NOT NULL PRIMARY KEY, a int NULL UNIQUE); CREATE TABLE dbo.o (id int IDENTITY NOT NULL, a int NULL)"},
		{sql: "SELECT IDENT_CURRENT('dbo.t'), IDENT_SEED('t'), IDENT_INCR('t'), @@IDENTITY, SCOPE_IDENTITY()", rows: []string{"10|10|5|NULL|NULL"}},
		{sql: "INSERT INTO dbo.t (a) VALUES (1), (2); SELECT SCOPE_IDENTITY(), @@IDENTITY, IDENT_CURRENT('dbo.t')", rows: []string{"15|15|15"}},
		{name: "a value that was taken is not given back", sql: "INSERT INTO dbo.t (a) VALUES (2)", err: 2627},
		{sql: "INSERT INTO dbo.t (a) VALUES (3); SELECT id FROM dbo.t ORDER BY id", rows: []string{"10", "15", "25"}},
		{name: "another scope", sql: "EXEC sp_executesql N'INSERT INTO dbo.o (a) VALUES (1)'; SELECT SCOPE_IDENTITY(), @@IDENTITY", rows: []string{"25|1"}},
		{name: "of any table in the session", sql: "DECLARE @v TABLE (id int IDENTITY(5,2), v int); INSERT @v (v) VALUES (1), (1); SELECT SCOPE_IDENTITY(), @@IDENTITY; UPDATE @v SET v = 2; DELETE @v; SELECT SCOPE_IDENTITY()", rows: []string{"7|7", "7"}},
		{name: "of a temporary table, which is one of tempdb", sql: "CREATE TABLE #q (id int IDENTITY(5,2), v int); SELECT IDENT_CURRENT('tempdb..#q'); INSERT #q (v) VALUES (1), (2); SELECT IDENT_CURRENT('tempdb..#q'), IDENT_SEED('tempdb.dbo.#q'), IDENT_INCR('[tempdb]..[#q]'), SCOPE_IDENTITY(), IDENT_CURRENT('tempdb..#nope'); DROP TABLE #q; SELECT IDENT_CURRENT('tempdb..#q')", rows: []string{"5", "7|5|2|7|NULL", "NULL"}},
		{name: "of a table of another database", sql: "SELECT IDENT_CURRENT('TestIdentity.dbo.t'), IDENT_CURRENT('TestIdentity..t'), IDENT_CURRENT('tempdb.dbo.t'), IDENT_CURRENT('nope.dbo.t')\nGO\nUSE tempdb\nGO\nSELECT IDENT_CURRENT('TestIdentity.dbo.t'), IDENT_CURRENT('dbo.t')\nGO\nUSE TestIdentity", rows: []string{"25|25|NULL|NULL", "25|NULL"}},
		{sql: "INSERT INTO dbo.t (id, a) VALUES (1, 9)", err: 544},
		{sql: "SET IDENTITY_INSERT dbo.t ON; INSERT INTO dbo.t (id, a) VALUES (100, 9)"},
		{sql: "SET IDENTITY_INSERT dbo.o ON", err: 8107, part: "TestIdentity.dbo.t"},
		{sql: "INSERT INTO dbo.t (a) VALUES (10)", err: 545},
		{sql: "SET IDENTITY_INSERT dbo.t OFF; INSERT INTO dbo.t (a) VALUES (10); SELECT SCOPE_IDENTITY()", rows: []string{"105"}},
		{sql: "CREATE TABLE dbo.p (a int NULL)"},
		{sql: "SET IDENTITY_INSERT dbo.p ON", err: 8106},
		{sql: "UPDATE dbo.t SET id = 1", err: 8102},
		{sql: "DBCC CHECKIDENT ('dbo.t', RESEED, 200); INSERT INTO dbo.t (a) VALUES (11); SELECT SCOPE_IDENTITY()", rows: []string{"205"}},
		{name: "TRUNCATE starts over", sql: "TRUNCATE TABLE dbo.t; INSERT INTO dbo.t (a) VALUES (1); SELECT SCOPE_IDENTITY()", rows: []string{"10"}},
		{name: "overflow", sql: "CREATE TABLE dbo.y (id tinyint IDENTITY(255,1), a int); INSERT INTO dbo.y (a) VALUES (1); INSERT INTO dbo.y (a) VALUES (2)", err: 8115, part: "IDENTITY to data type tinyint"},
		{sql: "CREATE TABLE dbo.z (id int IDENTITY, j int IDENTITY)", err: 2744},
		{sql: "CREATE TABLE dbo.z (id varchar(9) IDENTITY)", err: 2749},
		{name: "an identity column for rows that are there", sql: "INSERT INTO dbo.p VALUES (1), (2); ALTER TABLE dbo.p ADD id int IDENTITY(5,1)\nGO\nSELECT id FROM dbo.p ORDER BY id", rows: []string{"5", "6"}},
		{name: "defaults are evaluated by each statement, NEWID by each row", sql: "CREATE TABLE dbo.d (id int IDENTITY, g uniqueidentifier NOT NULL DEFAULT NEWID(), at datetime2 NOT NULL DEFAULT SYSUTCDATETIME(), who sysname NOT NULL DEFAULT SUSER_SNAME()); INSERT INTO dbo.d DEFAULT VALUES; INSERT INTO dbo.d (who) VALUES (N'x'), (DEFAULT); SELECT COUNT(DISTINCT g), COUNT(DISTINCT who) FROM dbo.d", rows: []string{"3|2"}},
	})
}

// Microsoft: MERGE (Transact-SQL), OUTPUT clause (Transact-SQL).
func TestMergeAndOutput(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "CREATE TABLE dbo.t (id int IDENTITY NOT NULL PRIMARY KEY, k int NOT NULL, v varchar(10) NULL DEFAULT 'd'); CREATE TABLE dbo.s (k int NOT NULL, v varchar(10) NULL); INSERT INTO dbo.t (k, v) VALUES (1, 'one'), (2, 'two'), (3, 'three'); INSERT INTO dbo.s VALUES (2, 'TWO'), (3, NULL), (4, 'four')"},
		{name: "all kinds of WHEN", sql: "MERGE INTO dbo.t WITH (HOLDLOCK) AS t USING dbo.s AS s ON t.k = s.k WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY TARGET THEN INSERT (k, v) VALUES (s.k, s.v) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = DEFAULT OUTPUT $action, inserted.id, deleted.v AS was, inserted.v, s.k; SELECT @@ROWCOUNT",
			rows: []string{"UPDATE|2|two|TWO|2", "DELETE|NULL|three|NULL|3", "INSERT|4|NULL|four|4", "UPDATE|1|one|d|NULL", "4"}},
		{sql: "SELECT id, k, v FROM dbo.t ORDER BY id", rows: []string{"1|1|d", "2|2|TWO", "4|4|four"}},
		{name: "VALUES as the source, and OUTPUT INTO", sql: "DECLARE @o TABLE (act nvarchar(10), id int); MERGE dbo.t USING (VALUES (4, 'f'), (5, 'g')) AS s (k, v) ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k) OUTPUT $action, inserted.id INTO @o (act, id); SELECT act, id FROM @o ORDER BY id", rows: []string{"UPDATE|4", "INSERT|5"}},
		{sql: "SELECT v FROM dbo.t WHERE k >= 4 ORDER BY k", rows: []string{"f", "d"}},
		{name: "a row of the target twice", sql: "MERGE dbo.t USING (VALUES (4), (4)) AS s (k) ON t.k = s.k WHEN MATCHED THEN DELETE;", err: 8672},
		{sql: "SELECT COUNT(*) FROM dbo.t", rows: []string{"4"}},
		{name: "the key is found by seeking", sql: "MERGE dbo.t AS t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE OUTPUT deleted.*;", rows: []string{"1|1|d"}},
		{sql: "MERGE dbo.t USING dbo.s ON t.k = s.k WHEN MATCHED THEN INSERT (k) VALUES (1);", err: 10711},
		{sql: "INSERT INTO dbo.t (k) OUTPUT inserted.id, inserted.v VALUES (8), (9)", rows: []string{"6|d", "7|d"}},
		{sql: "UPDATE dbo.t SET v = 'u' OUTPUT deleted.v, inserted.v WHERE k = 9", rows: []string{"d|u"}},
		{sql: "DECLARE @d TABLE (id int PRIMARY KEY); DELETE FROM dbo.t OUTPUT deleted.id INTO @d OUTPUT deleted.k WHERE k >= 8; SELECT id FROM @d ORDER BY id", rows: []string{"8", "9", "6", "7"}},
		{name: "an INSERT has no deleted rows", sql: "INSERT INTO dbo.t (k) OUTPUT deleted.id VALUES (1)", err: 4104},
		{name: "INSERT of a SELECT", sql: "INSERT INTO dbo.t (k, v) SELECT k * 10, v FROM dbo.s WHERE v IS NOT NULL; SELECT k, v FROM dbo.t WHERE k > 10 ORDER BY k", rows: []string{"20|TWO", "40|four"}},
		{name: "keys of table variables", sql: "DECLARE @u TABLE (a int PRIMARY KEY, b AS a * 2); INSERT INTO @u (a) VALUES (1); SELECT b FROM @u; INSERT INTO @u (a) VALUES (1)", err: 2627},
	})
}

// Microsoft: sp_rename, ALTER SCHEMA, DROP SCHEMA, TRUNCATE TABLE; what CDC forbids: Known issues and errors with CDC.
func TestShapeOfCapturedTables(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	conn.SetMaxOpenConns(1)
	play(t, conn, []step{
		{sql: "CREATE SCHEMA sales"},
		{sql: "CREATE TABLE dbo.c (id int NOT NULL CONSTRAINT pk_c PRIMARY KEY, a int NULL, b int NULL)"},
		{sql: "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'c', @role_name = NULL, @captured_column_list = N'id, a'"},
		{sql: "TRUNCATE TABLE dbo.c", err: 4711},
		{name: "a captured column cannot be renamed", sql: "EXEC sp_rename 'dbo.c.a', 'aa', 'COLUMN'", err: 4928},
		{name: "another one can, and nothing is recorded", sql: "EXEC sp_rename 'dbo.c.b', 'bb', 'COLUMN'\nGO\nSELECT bb FROM dbo.c; EXEC sys.sp_cdc_get_ddl_history 'dbo_c'"},
		{name: "the key that tells rows apart stays", sql: "ALTER TABLE dbo.c DROP CONSTRAINT pk_c", err: 22979},
		{sql: "CREATE INDEX ix ON dbo.c (a); EXEC sp_rename N'dbo.c.ix', N'ix2', N'INDEX'; SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.c') AND index_id > 1", rows: []string{"ix2"}},
		{sql: "ALTER TABLE dbo.c ADD d int NULL; ALTER TABLE dbo.c ADD CONSTRAINT ck CHECK (d > 0);\nALTER TABLE dbo.c ALTER COLUMN bb bigint NULL"},
		{name: "ALTER TABLE is recorded as it was written", sql: "SELECT ddl_command, required_column_update FROM cdc.ddl_history ORDER BY ddl_lsn", rows: []string{"ALTER TABLE dbo.c ADD d int NULL|false", "ALTER TABLE dbo.c ADD CONSTRAINT ck CHECK (d > 0)|false", "ALTER TABLE dbo.c ALTER COLUMN bb bigint NULL|false"}},
		{sql: "EXEC sp_rename 'dbo.c', 'renamed'; SELECT capture_instance, OBJECT_NAME(source_object_id) FROM cdc.change_tables", rows: []string{"dbo_c|renamed"}},
		{sql: "ALTER SCHEMA sales TRANSFER dbo.renamed; SELECT SCHEMA_NAME(schema_id) FROM sys.tables WHERE name = 'renamed'", rows: []string{"sales"}},
		{sql: "DROP SCHEMA sales", err: 3729},
		{sql: "ALTER SCHEMA nope TRANSFER sales.renamed", err: 15151},
		{sql: "EXEC sp_rename 'dbo.nope', 'x'", err: 15225},
		{sql: "DROP TABLE sales.renamed; DROP SCHEMA sales; SELECT COUNT(*) FROM sys.schemas WHERE name = 'sales'", rows: []string{"0"}},
		{sql: "DROP SCHEMA sales", err: 15151},
		{sql: "DROP SCHEMA IF EXISTS sales"},
		{sql: "CREATE SCHEMA again; SELECT SCHEMA_NAME(SCHEMA_ID('again'))", rows: []string{"again"}},
	})
	if n := db.MaxLSN(); n == (LSN{}) {
		t.Error("nothing was captured")
	}
}

// A server tells the reason and then that the statement failed.
func TestTwoErrors(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	_, err := conn.Exec("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL); CREATE INDEX ix ON dbo.t (a)")
	must(t, err)
	for sql, want := range map[string][2]int32{
		"ALTER TABLE dbo.t DROP COLUMN a":                     {5074, 4922},
		"ALTER TABLE dbo.t DROP CONSTRAINT nope":              {3728, 3727},
		"ALTER TABLE dbo.t ADD CONSTRAINT p PRIMARY KEY (id)": {1779, 1750},
		"CREATE TABLE dbo.n (id int NULL PRIMARY KEY)":        {8111, 1750},
	} {
		_, err := conn.Exec(sql)
		var e mssql.Error
		if !errors.As(err, &e) || len(e.All) != 2 || e.All[0].Number != want[0] || e.All[1].Number != want[1] {
			t.Errorf("%s: %v, want errors %v", sql, err, want)
		}
	}
}

// Changes of shape and of permissions are part of a transaction (Microsoft: Transaction locking and row versioning guide);
// others wait for them.
func TestShapeInTransactions(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	play(t, conn, []step{
		{sql: "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk PRIMARY KEY, a int NULL); INSERT INTO dbo.t VALUES (1, 1)"},
		{name: "all of it is undone", sql: "BEGIN TRAN; CREATE TABLE dbo.n (id int IDENTITY NOT NULL); INSERT INTO dbo.n DEFAULT VALUES; ALTER TABLE dbo.t ADD b int NOT NULL DEFAULT 7; CREATE UNIQUE INDEX ux ON dbo.t (a); EXEC sp_rename 'dbo.t', 'u'; SELECT id, a, b FROM dbo.u; CREATE USER x WITHOUT LOGIN; GRANT SELECT ON dbo.u TO x; ROLLBACK", rows: []string{"1|1|7"}},
		{sql: "SELECT * FROM dbo.t; SELECT OBJECT_ID('dbo.n'), USER_ID('x'); SELECT COUNT(*) FROM sys.indexes WHERE name = 'ux'; SELECT COUNT(*) FROM sys.database_permissions WHERE class = 1", rows: []string{"1|1", "NULL|NULL", "0", "0"}},
		{sql: "INSERT INTO dbo.t VALUES (2, 1); DELETE FROM dbo.t WHERE id = 2"},
		{name: "back to a savepoint", sql: "BEGIN TRAN; CREATE TABLE dbo.n (id int NOT NULL); SAVE TRAN s; DROP TABLE dbo.t; TRUNCATE TABLE dbo.n; INSERT INTO dbo.n VALUES (1); ROLLBACK TRAN s; INSERT INTO dbo.n VALUES (2); COMMIT; SELECT id FROM dbo.n; SELECT id FROM dbo.t", rows: []string{"2", "1"}},
		{name: "a schema", sql: "BEGIN TRAN; DROP TABLE dbo.n; COMMIT; SELECT OBJECT_ID('dbo.n')", rows: []string{"NULL"}},
		{sql: "BEGIN TRAN; INSERT INTO dbo.t VALUES (3, 3); ALTER TABLE dbo.t ADD c int NULL", err: 50001, part: "after its rows"},
		{sql: "IF @@TRANCOUNT > 0 ROLLBACK; BEGIN TRAN; SAVE TRAN s; INSERT INTO dbo.t VALUES (3, 3); ROLLBACK TRAN s; ALTER TABLE dbo.t ADD c int NULL; EXEC ('INSERT INTO dbo.t VALUES (3, 3, 4); SELECT * FROM dbo.t'); ROLLBACK; EXEC ('SELECT * FROM dbo.t')", rows: []string{"1|1|NULL", "3|3|4", "1|1"}},
		{sql: "IF @@TRANCOUNT > 0 ROLLBACK"},
		{sql: "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; ALTER TABLE dbo.t ADD c int NULL", err: 3964},
		{sql: "IF @@TRANCOUNT > 0 ROLLBACK; SET TRANSACTION ISOLATION LEVEL READ COMMITTED"},
		{name: "as clients do that do not commit by themselves", sql: "SET IMPLICIT_TRANSACTIONS ON; CREATE TABLE dbo.i (id int NOT NULL); INSERT INTO dbo.i VALUES (1); SELECT @@TRANCOUNT; ROLLBACK; SET IMPLICIT_TRANSACTIONS OFF; SELECT OBJECT_ID('dbo.i')", rows: []string{"1", "NULL"}},
		{name: "BEGIN TRANSACTION begins a second one (Microsoft: SET IMPLICIT_TRANSACTIONS (Transact-SQL), Test C)", sql: "SET IMPLICIT_TRANSACTIONS ON; BEGIN TRANSACTION; INSERT INTO dbo.t VALUES (31, 1); SELECT @@TRANCOUNT; COMMIT; SELECT @@TRANCOUNT; ROLLBACK; SET IMPLICIT_TRANSACTIONS OFF; SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM dbo.t WHERE id = 31)", rows: []string{"2", "1", "0|0"}},
	})
	conn.SetMaxOpenConns(2)
	first, err := conn.Begin()
	must(t, err)
	_, err = first.Exec("CREATE TABLE dbo.w (id int NOT NULL)")
	must(t, err)
	_, err = conn.Exec("SET LOCK_TIMEOUT 0; SELECT COUNT(*) FROM dbo.t")
	wantError(t, err, 1222, "")
	done := make(chan []string, 1)
	go func() {
		rows, _ := tryQuery(conn, "SET LOCK_TIMEOUT -1; SELECT COUNT(*) FROM dbo.w")
		done <- rows
	}()
	must(t, first.Commit())
	equal(t, <-done, []string{"0"})
}

// A change of shape waits for those who write the table, as long as LOCK_TIMEOUT says.
func TestShapeWaitsForWriters(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	conn.SetMaxOpenConns(2)
	_, err := conn.Exec("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)")
	must(t, err)
	first, err := conn.Begin()
	must(t, err)
	_, err = first.Exec("INSERT INTO dbo.t VALUES (1)")
	must(t, err)
	_, err = conn.Exec("SET LOCK_TIMEOUT 0; ALTER TABLE dbo.t ADD a int NOT NULL DEFAULT 4")
	wantError(t, err, 1222, "")
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec("SET LOCK_TIMEOUT -1; ALTER TABLE dbo.t ADD a int NOT NULL DEFAULT 4")
		done <- err
	}()
	must(t, first.Commit())
	must(t, <-done)
	equal(t, query(t, conn, "SELECT id, a FROM dbo.t"), []string{"1|4"})
}

// DDL of a captured table is part of its transaction: in the history with the commit's LSN, or not at all.
func TestShapeOfCapturedTablesInTransactions(t *testing.T) {
	t.Parallel()
	play(t, newEmpty(t), []step{
		{sql: "EXEC sys.sp_cdc_enable_db; CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk PRIMARY KEY, a int NULL, b int NULL); EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL"},
		{sql: "BEGIN TRAN; ALTER TABLE dbo.t ADD c int NULL; ALTER TABLE dbo.t DROP COLUMN b; CREATE INDEX ix ON dbo.t (a); INSERT INTO dbo.t VALUES (1, 1, 1); ROLLBACK"},
		{sql: "INSERT INTO dbo.t VALUES (2, 2, 2); SELECT COUNT(*) FROM cdc.ddl_history; SELECT id, a, b FROM cdc.dbo_t_CT", rows: []string{"0", "2|2|2"}},
		{name: "back to a savepoint", sql: "BEGIN TRAN; ALTER TABLE dbo.t ADD c int NULL; SAVE TRAN s; ALTER TABLE dbo.t ALTER COLUMN a bigint NULL; ROLLBACK TRAN s; COMMIT"},
		{sql: "SELECT ddl_command FROM cdc.ddl_history; SELECT max_length FROM sys.columns WHERE object_id = OBJECT_ID('cdc.dbo_t_CT') AND name = 'a'",
			rows: []string{"ALTER TABLE dbo.t ADD c int NULL", "4"}},
		{sql: "BEGIN TRAN; ALTER TABLE dbo.t DROP COLUMN b; ALTER TABLE dbo.t ALTER COLUMN a bigint NULL; UPDATE dbo.t SET a = 5000000000, c = 1; COMMIT"},
		{sql: "SELECT [__$operation], id, a, b FROM cdc.dbo_t_CT WHERE [__$start_lsn] = (SELECT MAX(ddl_lsn) FROM cdc.ddl_history); SELECT COUNT(*), COUNT(DISTINCT ddl_lsn) FROM cdc.ddl_history",
			rows: []string{"3|2|2|NULL", "4|2|5000000000|NULL", "3|2"}},
		{sql: "BEGIN TRAN; EXEC sp_rename 'dbo.t', 'u'", err: 50001, part: "of a captured table"},
		{sql: "DROP TABLE dbo.t", err: 50001},
		{sql: "ROLLBACK; SELECT COUNT(*) FROM dbo.t", rows: []string{"1"}},
	})
}
