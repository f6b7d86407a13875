package mssqlsim

import (
	"strconv"
	"strings"
	"testing"
)

// Microsoft: SET ARITHABORT (Transact-SQL), SET ARITHIGNORE (Transact-SQL), SET ANSI_WARNINGS (Transact-SQL), SET ANSI_NULLS
// (Transact-SQL), SET ROWCOUNT (Transact-SQL), SET TEXTSIZE (Transact-SQL), SET ANSI_NULL_DFLT_ON (Transact-SQL), SET
// ANSI_NULL_DFLT_OFF (Transact-SQL), SET ANSI_DEFAULTS (Transact-SQL), SET CONTEXT_INFO (Transact-SQL), SET
// QUERY_GOVERNOR_COST_LIMIT (Transact-SQL), SET FORCEPLAN (Transact-SQL).
func TestSetOptionsDoWhatTheirPagesSay(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	exec(t, pool, "CREATE TABLE dbo.t (a tinyint NULL, s varchar(3) NULL, n tinyint NOT NULL DEFAULT 0)")
	const loose = "SET ARITHABORT OFF; SET ANSI_WARNINGS OFF; "
	for _, tc := range []struct{ what, batch, want string }{
		{"ARITHABORT: without both NULL", loose + "SELECT 1 / 0, CAST(256 AS tinyint), 2147483647 + 1, -CAST(-2147483648 AS int)", "NULL|NULL|NULL|NULL"},
		{"ARITHABORT: a column that is NULL says that it may be", loose + "SELECT 1 / (a - a), ISNULL(1 / (a - a), 7) FROM (VALUES (1), (2)) v (a)", "NULL|7 NULL|7"},
		{"ARITHABORT: the condition of IF is FALSE", loose + "IF 1 / 0 = 1 OR 1 = 1 SELECT 1 ELSE SELECT 2", "2"},
		{"ARITHABORT: INSERT puts NULL", loose + "INSERT INTO dbo.t (a) VALUES (1 / 0), (300); SELECT a FROM dbo.t", "NULL NULL"},
		{"ARITHABORT: but not where none is allowed", loose + "INSERT INTO dbo.t (n) VALUES (1 / 0)", "515"},
		{"ARITHABORT: a variable", loose + "DECLARE @n tinyint = 1; SET @n = 256; SELECT @n", "NULL"},
		{"with ARITHABORT alone the batch ends", "SET ANSI_WARNINGS OFF; SET ARITHABORT ON; SELECT 1 / 0; SELECT 2", "8134"},
		{"with ARITHABORT alone the transaction ends", "SET ANSI_WARNINGS OFF; SET ARITHABORT ON; BEGIN TRAN; SELECT 1 / 0", "8134"},
		{"ANSI_WARNINGS: ARITHABORT is on, whatever it is set to", "SET ARITHABORT OFF; SELECT 1 / 0; SELECT 2", "8134"},
		{"ANSI_WARNINGS: text is cut to its column", "SET ANSI_WARNINGS OFF; INSERT INTO dbo.t (s) VALUES ('abcdef'); SELECT s FROM dbo.t", "abc"},
		{"ANSI_WARNINGS: text is an error", "INSERT INTO dbo.t (s) VALUES ('abcdef')", "2628"},
		{"ANSI_WARNINGS: blanks at the end are left out", "INSERT INTO dbo.t (s) VALUES ('ab     '); SELECT '[' + s + ']' FROM dbo.t", "[ab ]"},
		{"not of a function: refused", loose + "SELECT POWER(2, 40)", "50001"},
		{"not of an aggregate: refused", loose + "SELECT SUM(a) FROM (VALUES (2147483647), (1)) v (a)", "50001"},
		{"ANSI_NULLS: NULL = NULL", "SET ANSI_NULLS OFF; IF NULL = NULL SELECT 1 ELSE SELECT 0", "1"},
		{"ANSI_NULLS: 1 = NULL", "SET ANSI_NULLS OFF; IF NOT 1 = NULL SELECT 1 ELSE SELECT 0", "1"},
		{"ANSI_NULLS: NULL <> NULL", "SET ANSI_NULLS OFF; IF NOT NULL <> NULL SELECT 1 ELSE SELECT 0", "1"},
		{"ANSI_NULLS: 1 <> NULL", "SET ANSI_NULLS OFF; IF 1 <> NULL SELECT 1 ELSE SELECT 0", "1"},
		{"ANSI_NULLS: 1 > NULL", "SET ANSI_NULLS OFF; IF 1 > NULL OR NOT 1 > NULL SELECT 1 ELSE SELECT 0", "0"},
		{"ANSI_NULLS: a column and a variable", "SET ANSI_NULLS OFF; DECLARE @n int; SELECT a FROM (VALUES (NULL), (0), (1)) v (a) WHERE a = @n; SELECT a FROM (VALUES (NULL), (0), (1)) v (a) WHERE a <> @n", "NULL 0 1"},
		{"ANSI_NULLS: a variable that is not NULL", "SET ANSI_NULLS OFF; DECLARE @n int = 1; SELECT a FROM (VALUES (NULL), (0), (1)) v (a) WHERE a <> @n", "0"},
		{"ANSI_NULLS: two columns are not compared so", "SET ANSI_NULLS OFF; SELECT v.a FROM (VALUES (NULL), (1)) v (a) JOIN (VALUES (NULL), (1)) w (b) ON a = b", "1"},
		{"ANSI_NULLS: on", "DECLARE @n int; IF @n = NULL OR @n <> NULL SELECT 1 ELSE SELECT 0", "0"},
		{"ANSI_NULLS: what keeps it is refused", "SET ANSI_NULLS OFF; EXEC ('CREATE PROCEDURE dbo.p AS SELECT 1')", "50001"},
		{"ANSI_NULLS: IN is refused", "SET ANSI_NULLS OFF; SELECT 1 WHERE 1 IN (NULL)", "50001"},
		{"ROWCOUNT: SELECT", "SET ROWCOUNT 2; SELECT a FROM (VALUES (3), (2), (1)) v (a) ORDER BY a; SET ROWCOUNT 0; SELECT COUNT(*) FROM (VALUES (3), (2), (1)) v (a)", "1 2 3"},
		{"ROWCOUNT: TOP when it is less", "SET ROWCOUNT 2; SELECT TOP (1) a FROM (VALUES (3), (2)) v (a) ORDER BY a", "2"},
		{"ROWCOUNT: a subquery is whole", "SET ROWCOUNT 1; SELECT (SELECT COUNT(*) FROM (VALUES (3), (2), (1)) v (a))", "3"},
		{"ROWCOUNT: changes", "INSERT INTO dbo.t (a) VALUES (1), (2), (3); SET ROWCOUNT 2; UPDATE dbo.t SET a = 9; SELECT @@ROWCOUNT; DELETE FROM dbo.t; SELECT @@ROWCOUNT; INSERT INTO dbo.t (a) SELECT a FROM (VALUES (1), (2), (3)) v (a); SELECT @@ROWCOUNT", "2 2 2"},
		{"ROWCOUNT: of a procedure", "SET ROWCOUNT 0; EXEC ('SET ROWCOUNT 1; SELECT a FROM (VALUES (1), (1)) v (a)'); SELECT a FROM (VALUES (2), (2)) v (a)", "1 2 2"},
		{"ROWCOUNT: MERGE is refused", "SET ROWCOUNT 1; MERGE dbo.t AS t USING (SELECT 1 AS a) AS s ON t.a = s.a WHEN MATCHED THEN DELETE;", "50001"},
		{"TEXTSIZE", "SET TEXTSIZE 4; SELECT CAST('abcdefg' AS varchar(max)), CAST(N'abcdefg' AS nvarchar(max)), CAST(0x0102030405 AS varbinary(max)), CAST('abcdefg' AS varchar(10)), @@TEXTSIZE", "abcd|ab|0x01020304|abcdefg|4"},
		{"TEXTSIZE 0 is 4 KB", "SET TEXTSIZE 0; SELECT DATALENGTH(REPLICATE(CAST('a' AS varchar(max)), 5000)), @@TEXTSIZE", "5000|4096"},
		{"ANSI_NULL_DFLT_ON OFF", "SET ANSI_NULL_DFLT_ON OFF; CREATE TABLE #t (a int); INSERT INTO #t VALUES (NULL)", "515"},
		{"ANSI_NULL_DFLT_OFF ON", "SET ANSI_NULL_DFLT_OFF ON; CREATE TABLE #t (a int, b int NULL); INSERT INTO #t (b) VALUES (NULL)", "515"},
		{"ANSI_NULL_DFLT_ON", "SET ANSI_NULL_DFLT_OFF ON; SET ANSI_NULL_DFLT_ON ON; CREATE TABLE #t (a int); INSERT INTO #t VALUES (NULL); SELECT a FROM #t", "NULL"},
		{"one of the two", "SET ANSI_NULL_DFLT_OFF ON; SELECT 3072 & @@OPTIONS; SET ANSI_NULL_DFLT_ON ON; SELECT 3072 & @@OPTIONS", "2048 1024"},
		{"ANSI_DEFAULTS", "SET ANSI_DEFAULTS ON; SELECT @@OPTIONS; IF @@TRANCOUNT > 0 ROLLBACK; SET IMPLICIT_TRANSACTIONS OFF", "5438"},
		{"CONTEXT_INFO", "SELECT CONTEXT_INFO(); SET CONTEXT_INFO 0x1256698456; EXEC ('SET CONTEXT_INFO 0x77'); SELECT CONTEXT_INFO()", "NULL 0x77"},
		{"a limit of 0 is none", "SET QUERY_GOVERNOR_COST_LIMIT 0; SELECT 1", "1"},
		{"FORCEPLAN changes no data", "SET FORCEPLAN ON; SELECT 1", "1"},
	} {
		conn, err := pool.Conn(t.Context())
		must(t, err)
		got, err := results(t, conn, tc.batch)
		if n, isNumber := numberOf(tc.want); isNumber && err != nil {
			wantError(t, err, n, "")
		} else if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, %v, want %s", tc.what, got, err, tc.want)
		}
		open, err := results(t, conn, "SELECT @@TRANCOUNT")
		must(t, err)
		equal(t, open, []string{"0"})
		_, err = results(t, conn, "SET ROWCOUNT 0; SET IMPLICIT_TRANSACTIONS OFF; SET ANSI_WARNINGS ON; DELETE FROM dbo.t")
		must(t, err)
		must(t, conn.Close()) // the pool resets it
	}
}

// Options of which a server gives other results, plans or statistics, are refused; drivers and tools set them off.
func TestSetOptionsThatAreNotBuiltAreRefused(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, o := range []string{"ANSI_PADDING OFF", "CONCAT_NULL_YIELDS_NULL OFF", "QUOTED_IDENTIFIER OFF", "ANSI_DEFAULTS OFF", "NUMERIC_ROUNDABORT ON", "NO_BROWSETABLE ON", "FMTONLY ON", "NOEXEC ON", "PARSEONLY ON",
		"SHOWPLAN_ALL ON", "SHOWPLAN_TEXT ON", "SHOWPLAN_XML ON", "STATISTICS IO ON", "STATISTICS TIME ON", "STATISTICS XML ON", "STATISTICS PROFILE ON", "OFFSETS SELECT ON", "FIPS_FLAGGER 'FULL'", "REMOTE_PROC_TRANSACTIONS ON",
		"QUERY_GOVERNOR_COST_LIMIT 5", "ERRLVL 1", "ANSI_NULLS, QUOTED_IDENTIFIER OFF"} {
		_, err := tryQuery(conn, "SET "+o)
		wantError(t, err, 50001, "mssqlsim does not understand")
	}
	for _, o := range []string{"ANSI_PADDING ON", "CONCAT_NULL_YIELDS_NULL ON", "QUOTED_IDENTIFIER ON", "NUMERIC_ROUNDABORT OFF", "NO_BROWSETABLE OFF", "FMTONLY OFF", "NOEXEC OFF", "PARSEONLY OFF", "SHOWPLAN_ALL OFF",
		"STATISTICS IO OFF", "STATISTICS TIME, XML OFF", "FIPS_FLAGGER OFF"} {
		exec(t, conn, "SET "+o)
	}
	equal(t, query(t, conn, "SET ANSI_NULLS OFF; SELECT 32 & @@OPTIONS"), []string{"0"})
}

// Microsoft: SESSIONPROPERTY (Transact-SQL), @@OPTIONS (Transact-SQL), DBCC USEROPTIONS (Transact-SQL), sys.dm_exec_sessions
// (Transact-SQL): they tell of the same options. Create indexed views, Required SET options: what a driver begins with.
func TestWhatTellsOfOptionsAgrees(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	defer func() { _ = conn.Close() }()
	const tell = `; SELECT @@OPTIONS, SESSIONPROPERTY('ARITHABORT'), SESSIONPROPERTY('ansi_nulls'), SESSIONPROPERTY('ANSI_WARNINGS'), SESSIONPROPERTY('ARITHIGNORE');
SELECT arithabort, ansi_nulls, ansi_warnings, text_size, date_first, deadlock_priority, lock_timeout FROM sys.dm_exec_sessions WHERE session_id = @@SPID`
	got, err := results(t, conn, "SELECT 1"+tell)
	must(t, err)
	equal(t, got, []string{"1", "5432|0|1|1|NULL", "false|true|true|2147483647|7|0|-1"})
	got, err = results(t, conn, "SET ARITHABORT ON; SET ANSI_NULLS, ANSI_WARNINGS OFF; SET TEXTSIZE 9; SET DATEFIRST 1; SET DEADLOCK_PRIORITY HIGH; SET LOCK_TIMEOUT 5"+tell)
	must(t, err)
	equal(t, got, []string{"5456|1|0|0|NULL", "true|false|false|9|1|5|5"})
	id, err := results(t, conn, "SELECT @@SPID")
	must(t, err)
	got, err = results(t, conn, "SELECT 1; DBCC USEROPTIONS")
	must(t, err)
	if s := strings.Join(got, " "); !strings.Contains(s, "arithabort|SET") || strings.Contains(s, "ansi_nulls") || strings.Contains(s, "ansi_warnings") {
		t.Errorf("%s", s)
	}
	other := query(t, pool, "SELECT date_first, ansi_nulls, status FROM sys.dm_exec_sessions WHERE session_id = "+id[0])
	equal(t, other, []string{"1|false|sleeping"})
}

// Microsoft: ALTER DATABASE SCOPED CONFIGURATION (Transact-SQL), VERBOSE_TRUNCATION_WARNINGS: error 2628 comes with SQL Server
// 2019 (compatibility level 150), 8152 is the one before.
func TestTextThatIsTooLongByRelease(t *testing.T) {
	t.Parallel()
	for version, want := range map[Version]int32{V2016: 8152, V2017: 8152, V2019: 2628, V2022: 2628, Azure: 2628} {
		s, err := Start(t.Context(), Options{Version: version})
		must(t, err)
		s.Database("shop")
		conn := open(t, s.DSN("shop"))
		exec(t, conn, "CREATE SCHEMA app")
		exec(t, conn, "CREATE TABLE app.T (Name nvarchar(3))")
		text := "String or binary data would be truncated."
		if want == 2628 {
			text = "String or binary data would be truncated in table 'shop.app.T', column 'Name'. Truncated value: 'Zoë'."
		}
		for _, stmt := range []string{"INSERT INTO APP.t (name) VALUES (N'Zoëlle')", "INSERT INTO app.T SELECT N'Zoëlle'", "MERGE app.T AS t USING (SELECT 1 AS a) AS s ON 1 = 0 WHEN NOT MATCHED THEN INSERT VALUES (N'Zoëlle');"} {
			_, err := tryQuery(conn, stmt)
			wantError(t, err, want, text)
		}
		s.Close()
	}
}

// Microsoft: HOST_NAME (Transact-SQL), APP_NAME (Transact-SQL), HOST_ID (Transact-SQL), sys.dm_exec_sessions (Transact-SQL),
// ORIGINAL_LOGIN (Transact-SQL): what the client said of itself at its login.
func TestWhoTheClientSaysItIs(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	defer s.Close()
	s.Database("shop")
	conn := open(t, s.DSN("shop")+"&app+name=stock&workstation+id=till7")
	equal(t, query(t, conn, "SELECT HOST_NAME(), APP_NAME(), ORIGINAL_LOGIN()"), []string{"till7|stock|sa"})
	equal(t, query(t, conn, "SELECT host_name, program_name, original_login_name FROM sys.dm_exec_sessions WHERE session_id = @@SPID AND CAST(host_process_id AS char(10)) = HOST_ID()"), []string{"till7|stock|sa"})
}

// numberOf reads the number of an error; texts of results are none.
func numberOf(s string) (int32, bool) {
	switch n, err := strconv.ParseInt(s, 10, 32); {
	case err != nil, n < 500:
		return 0, false
	default:
		return int32(n), true
	}
}
