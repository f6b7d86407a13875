package mssqlsim

import (
	"database/sql"
	"strings"
	"testing"
)

// Microsoft: SET LANGUAGE (Transact-SQL), SET DATEFORMAT (Transact-SQL), SET DATEFIRST (Transact-SQL), DATENAME (Transact-SQL),
// @@LANGUAGE (Transact-SQL).
func TestLanguageOfASession(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	runBatches(t, pool, "CREATE TABLE dbo.days (d datetime)", "CREATE PROCEDURE dbo.in_french AS SET LANGUAGE French; SELECT @@LANGUAGE")
	for _, tc := range []struct {
		name, batch string
		want        string // values of all results, or the number of an error
	}{
		{"before", "SELECT @@LANGUAGE, @@LANGID, @@DATEFIRST", "us_english|0|7"},
		{"all that goes with it", "SET LANGUAGE Deutsch; SELECT @@LANGUAGE, @@LANGID, @@DATEFIRST", "Deutsch|1|1"},
		{"by its alias", "SET LANGUAGE 'Traditional Chinese'; SELECT @@LANGUAGE", "繁體中文"},
		{"by a variable", "DECLARE @l sysname = N'Türkçe'; SET LANGUAGE @l; SELECT DATENAME(month, '20210815')", "Ağustos"},
		{"one that there is not", "SET LANGUAGE Klingon", "2740"},
		{"names of months and days", "SET LANGUAGE Italian; SELECT DATENAME(month, '20210719'), DATENAME(weekday, '20210719'), DATENAME(year, '20210719')", "luglio|lunedì|2021"},
		{"the first day of a week", "SET DATEFIRST 3; SELECT DATEPART(weekday, '20210721'), DATEPART(weekday, '20210720'), DATENAME(weekday, '20210720'), @@DATEFIRST", "1|7|Tuesday|3"},
		{"weeks of a year", "SELECT DATEPART(week, '20220102'), DATEPART(week, '20220103'); SET DATEFIRST 1; SELECT DATEPART(week, '20220102'), DATEPART(week, '20220103')", "2|2,1|2"},
		{"no day", "SET DATEFIRST 8", "2742"},
		{"the order of a date", "SET DATEFORMAT dmy; SELECT CONVERT(varchar, CAST('2/3/2021' AS date)), CONVERT(varchar, CAST('2021-03-02' AS datetime), 112)", "2021-03-02|20210203"},
		{"no order", "SET DATEFORMAT xyz", "2741"},
		{"a text that is written", "SET LANGUAGE French; SELECT CAST(CAST('20210714 20:12' AS datetime) AS varchar)", "juil 14 2021  8:12PM"},
		{"a row that is inserted", "SET DATEFORMAT dmy; INSERT dbo.days VALUES ('2/3/2021'); SELECT MONTH(d) FROM dbo.days; DELETE dbo.days WHERE d = '2/3/2021'; SELECT @@ROWCOUNT", "3,1"},
		{"a variable", "SET DATEFORMAT dmy; DECLARE @d date = '2/3/2021', @e date; SET @e = '4/5/2021'; SELECT MONTH(@d), MONTH(@e)", "3|5"},
		{"what is no date gives NULL", "SELECT TRY_CAST('32/1/2021' AS date)", "NULL"},
		{"what may be one does not", "SET LANGUAGE French; SELECT TRY_CAST('14 Feb 2021' AS date)", "50001"},
		{"until a procedure ends", "EXEC dbo.in_french; SELECT @@LANGUAGE", "Français,us_english"},
		{"until a text ends", "EXEC sp_executesql N'SET LANGUAGE Suomi; SELECT @@LANGUAGE'; SELECT @@LANGUAGE", "Suomi,us_english"},
		{"all languages", "SELECT COUNT(*) FROM sys.syslanguages; SELECT langid, dateformat, datefirst, lcid FROM sys.syslanguages WHERE alias = 'Swedish'", "34,11|ymd|1|1053"},
	} {
		batchAnswers(t, pool, tc.name, tc.batch, tc.want)
	}
}

// batchAnswers runs a batch on a connection that nothing was done on: want are the rows of all its results, columns
// separated by "|" and rows by ",", or the number of its error.
func batchAnswers(t testing.TB, pool *sql.DB, name, batch, want string) {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	must(t, err)
	got, err := results(t, conn, batch)
	if err != nil {
		got = []string{number(err)}
	}
	if strings.Join(got, ",") != want {
		t.Errorf("%s: %v, want %s (%v)", name, got, want, err)
	}
	must(t, conn.Close()) // the pool resets it, and with it its settings and cursors
}

// results gives the rows of all results of a batch on one connection.
func results(t testing.TB, conn *sql.Conn, batch string) (all []string, err error) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), batch)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		values, pointers := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(pointers...); err != nil {
				return nil, err
			}
			var parts []string
			for _, v := range values {
				parts = append(parts, show(v))
			}
			all = append(all, strings.Join(parts, "|"))
		}
	}
	return all, rows.Err()
}

// Microsoft: DBCC USEROPTIONS (Transact-SQL).
func TestUserOptions(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	defer func() { _ = conn.Close() }()
	before, err := results(t, conn, "DBCC USEROPTIONS")
	must(t, err)
	equal(t, before, []string{"textsize|2147483647", "language|us_english", "dateformat|mdy", "datefirst|7", "lock_timeout|-1", "quoted_identifier|SET", "ansi_null_dflt_on|SET",
		"ansi_warnings|SET", "ansi_padding|SET", "ansi_nulls|SET", "concat_null_yields_null|SET", "isolation level|read committed"})
	after, err := results(t, conn, "SET TEXTSIZE 64512; SET LANGUAGE British; SET DATEFIRST 2; SET LOCK_TIMEOUT 100; SET ARITHABORT ON; SET XACT_ABORT ON; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; DBCC USEROPTIONS WITH NO_INFOMSGS")
	must(t, err)
	equal(t, after, []string{"textsize|64512", "language|British", "dateformat|dmy", "datefirst|2", "lock_timeout|100", "quoted_identifier|SET", "arithabort|SET", "ansi_null_dflt_on|SET",
		"ansi_warnings|SET", "ansi_padding|SET", "ansi_nulls|SET", "concat_null_yields_null|SET", "xact_abort|SET", "isolation level|serializable"})
}

// Microsoft: sp_databases (Transact-SQL). The server is its own: others make and drop databases while it looks.
func TestDatabasesOfAServer(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{Clock: testClock})
	must(t, err)
	t.Cleanup(server.Close)
	db := server.Database("looked_at")
	conn := open(t, server.DSN(db.Name()))
	rows := query(t, conn, "EXEC sp_databases")
	equal(t, query(t, conn, "SELECT name FROM sys.databases ORDER BY name"), firstValues(rows))
	size := func() (kb int) {
		var name string
		var remarks any
		must(t, conn.QueryRowContext(t.Context(), "DECLARE @d TABLE (n sysname, s int, r varchar(254)); INSERT @d EXEC sp_databases; SELECT n, s, r FROM @d WHERE n = DB_NAME()").Scan(&name, &kb, &remarks))
		if remarks != nil {
			t.Errorf("remarks %v", remarks)
		}
		return kb
	}
	before := size()
	runBatches(t, conn, "CREATE TABLE dbo.t (n int)", "INSERT dbo.t SELECT 1 FROM (VALUES (1), (1), (1), (1), (1), (1), (1), (1)) a (n) CROSS JOIN (VALUES (1), (1), (1), (1), (1), (1), (1), (1)) b (n)")
	if after := size(); after <= before {
		t.Errorf("%d KB, then %d KB with rows in %s", before, after, db.Name())
	}
	exec(t, conn, "CREATE LOGIN reader WITH PASSWORD = 'Secret1!'; CREATE USER reader FOR LOGIN reader")
	exec(t, conn, "EXECUTE AS LOGIN = 'reader'; DECLARE @d TABLE (n sysname, s int, r varchar(254)); INSERT @d EXEC sp_databases; IF EXISTS (SELECT 1 FROM @d) THROW 50000, 'a login without permissions sees databases', 1; REVERT")
}

func firstValues(rows []string) (out []string) {
	for _, r := range rows {
		first, _, _ := strings.Cut(r, "|")
		out = append(out, first)
	}
	return out
}
