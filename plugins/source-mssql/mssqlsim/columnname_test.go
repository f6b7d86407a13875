package mssqlsim

import "testing"

// Microsoft: Reserved Keywords (Transact-SQL): other words are names without delimiters.
func TestColumnsMayBeCalledByUnreservedWords(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, type char(1), message varchar(20), login sysname, password varchar(9), language int, job int, delay int, try int, catch int, throw int, certificate int, time time(0), period int)")
	exec(t, conn, "INSERT INTO dbo.t (id, type, message, login, password, language, job, delay, try, catch, throw, certificate, time, period) VALUES (1, 'P', 'a message, time', 'l', 'p', 1, 2, 3, 4, 5, 6, 7, '10:11:12', 8)")
	equal(t, query(t, conn, "SELECT message, login, password, language, job FROM dbo.t WHERE type='P'"), []string{"a message, time|l|p|1|2"})
	equal(t, query(t, conn, "SELECT id FROM dbo.t WHERE type ='P' AND type<>'Q' AND(type='P')"), []string{"1"})
	exec(t, conn, "UPDATE dbo.t SET message = 'new', delay += 1, throw = 9 WHERE certificate = 7 AND period=8")
	equal(t, query(t, conn, "SELECT t.message, t.delay, try + catch AS try, CASE WHEN throw = 9 THEN job ELSE throw END, CONVERT(varchar(8), time) AS time FROM dbo.t AS t ORDER BY login"), []string{"new|4|9|2|10:11:12"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM sys.objects WHERE type='U' AND name='t'"), []string{"1"})
}

// Microsoft: MERGE (Transact-SQL), Remarks: the statement requires a semicolon; Reserved Keywords (Transact-SQL): MERGE is
// no alias.
func TestMergeIsReservedAndEndsWithASemicolon(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.q (id int NOT NULL PRIMARY KEY, n int)")
	const merge = "MERGE q t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = n + 1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 0)"
	for _, before := range []string{"SELECT * FROM q\n", "BEGIN TRANSACTION\n" + merge + "; COMMIT\n", "BEGIN TRANSACTION; ROLLBACK\n", "BEGIN TRANSACTION ROLLBACK TRANSACTION\n", "SELECT 1\n", "IF 1 = 1 ",
		"DECLARE @n int = 1 SET @n = 2\n", "IF 1 = 2 SELECT 1 ELSE ", "BEGIN TRY ", "SELECT * FROM q WITH (NOLOCK)\n", "SELECT CASE WHEN 1 = 1 THEN 2 END\n", "UPDATE q SET n = n\n", "WITH c AS (SELECT 1 AS one) "} {
		sql := before + merge + ";"
		if before == "BEGIN TRY " {
			sql += " END TRY BEGIN CATCH THROW; END CATCH"
		}
		exec(t, conn, sql)
	}
	equal(t, query(t, conn, "SELECT n FROM q"), []string{"13"})
	exec(t, conn, "CREATE PROCEDURE dbo.p AS "+merge+"; SELECT n FROM q\n"+merge+";")
	exec(t, conn, "EXEC dbo.p")
	exec(t, conn, "IF 1 = 2\n"+merge+";")
	equal(t, query(t, conn, "SELECT n FROM q"), []string{"15"})
	for _, sql := range []string{merge, merge + " SELECT 1", merge + "\n" + merge + ";", "BEGIN " + merge + " END"} {
		_, err := conn.ExecContext(t.Context(), sql)
		wantError(t, err, 10713, "semi-colon")
	}
}
