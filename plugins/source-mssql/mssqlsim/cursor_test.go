package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: DECLARE CURSOR (Transact-SQL), OPEN, FETCH, CLOSE, DEALLOCATE, @@FETCH_STATUS, @@CURSOR_ROWS, CURSOR_STATUS,
// Implicit cursor conversions (ODBC).
func TestCursors(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	runBatches(t, pool, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name varchar(10) NULL)", "CREATE TABLE dbo.heap (n int)",
		"CREATE PROCEDURE dbo.add_all AS DECLARE @n int, @sum int = 0; DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t; OPEN c; FETCH c INTO @n; "+
			"WHILE @@FETCH_STATUS = 0 BEGIN SET @sum = @sum + @n; FETCH c INTO @n END; SELECT @sum",
		"CREATE PROCEDURE dbo.leaves_one AS DECLARE left_open CURSOR GLOBAL FOR SELECT id FROM dbo.t; OPEN left_open")
	const (
		next  = "FETCH NEXT FROM c; "
		loop  = "FETCH c INTO @n; WHILE @@FETCH_STATUS = 0 BEGIN SET @all = CONCAT(@all, @n, ' '); %; FETCH c INTO @n END; SELECT @all"
		begin = "DECLARE @n int, @all varchar(100) = ''; "
	)
	over := func(declaration, body string) string {
		return begin + declaration + "; OPEN c; " + strings.ReplaceAll(loop, "%", body)
	}
	for _, tc := range []struct {
		name, batch string
		want        string // values of all results, or the number of an error
	}{
		{"rows one by one", "DECLARE c CURSOR FOR SELECT id, name FROM dbo.t; OPEN c; " + next + next + "FETCH c; FETCH FROM c; SELECT @@FETCH_STATUS", "1|a,2|b,3|c,-1"},
		{"how it went", "SELECT @@FETCH_STATUS; DECLARE c CURSOR FOR SELECT 1; OPEN c; " + next + "SELECT @@FETCH_STATUS, @@ROWCOUNT", "0,1,0|1"},
		{"into variables", "DECLARE @i bigint, @n varchar(3); DECLARE c CURSOR FOR SELECT id, name FROM dbo.t; OPEN c; FETCH c INTO @i, @n; SELECT @i, @n, @@ROWCOUNT", "1|a|1"},
		{"which stay as they were at the end", begin + "DECLARE c CURSOR FOR SELECT id FROM dbo.t WHERE id = 3; OPEN c; FETCH c INTO @n; FETCH c INTO @n; SELECT @n", "3"},
		{"into too few", begin + "DECLARE c CURSOR FOR SELECT id, name FROM dbo.t; OPEN c; FETCH c INTO @n", "16924"},
		{"a loop", over("DECLARE c CURSOR FAST_FORWARD FOR SELECT id FROM dbo.t ORDER BY id DESC", "SET @n = 0"), "3 2 1 "},
		{"in a procedure", "EXEC dbo.add_all; EXEC dbo.add_all", "6,6"},
		{"forward only by default", "DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; FETCH LAST FROM c", "16911"},
		{"all ways to go", "DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; OPEN c; FETCH LAST FROM c; FETCH PRIOR FROM c; FETCH FIRST FROM c; FETCH ABSOLUTE -1 FROM c; FETCH ABSOLUTE 2 FROM c; FETCH RELATIVE 1 FROM c; FETCH RELATIVE -2 FROM c; FETCH RELATIVE 0 FROM c",
			"3,2,1,3,2,3,1,1"},
		{"past both ends", "DECLARE c CURSOR SCROLL FOR SELECT id FROM dbo.t; OPEN c; FETCH ABSOLUTE 9 FROM c; SELECT @@FETCH_STATUS; FETCH PRIOR FROM c; FETCH ABSOLUTE 0 FROM c; FETCH NEXT FROM c; FETCH PRIOR FROM c; FETCH NEXT FROM c",
			"-1,3,1,1"},
		{"by a variable's number", "DECLARE @k int = 2; DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; OPEN c; FETCH ABSOLUTE @k FROM c", "2"},
		{"no number that is too large for an int", "DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; OPEN c; FETCH LAST FROM c; FETCH RELATIVE 9223372036854775807 FROM c", "8115"},
		{"no number of a dynamic one", "DECLARE c CURSOR DYNAMIC FOR SELECT id FROM dbo.t; OPEN c; FETCH ABSOLUTE 1 FROM c", "16925"},
		{"variables are those of its declaration", begin + "SET @n = 2; DECLARE c CURSOR FOR SELECT id FROM dbo.t WHERE id >= @n; SET @n = 3; OPEN c; " + next, "2"},
		{"opened twice", "DECLARE c CURSOR FOR SELECT 1; OPEN c; OPEN c", "16905"},
		{"opened again", "DECLARE c CURSOR FOR SELECT 1; OPEN c; " + next + "CLOSE c; OPEN c; " + next, "1,1"},
		{"closed", "DECLARE c CURSOR FOR SELECT 1; FETCH c", "16917"},
		{"closed twice", "DECLARE c CURSOR FOR SELECT 1; CLOSE c", "16917"},
		{"one that there is not", "OPEN c", "16916"},
		{"made twice", "DECLARE c CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 2", "16915"},
		{"made again", "DECLARE c CURSOR FOR SELECT 1; DEALLOCATE c; DECLARE c CURSOR FOR SELECT 2; OPEN c; " + next, "2"},
		{"what does not go together", "DECLARE c CURSOR STATIC FAST_FORWARD FOR SELECT 1", "1048"},
		{"of no table", "DECLARE c CURSOR FOR SELECT n FROM dbo.nothing", "208"},
		{"a local one before a global one", "DECLARE c CURSOR GLOBAL FOR SELECT 1; DECLARE c CURSOR LOCAL FOR SELECT 2; OPEN c; OPEN GLOBAL c; FETCH c; FETCH FROM GLOBAL c", "2,1"},
		{"a local one ends with its text", "EXEC('DECLARE c CURSOR LOCAL FOR SELECT 1; OPEN c'); FETCH c", "16916"},
		{"a global one does not", "EXEC('DECLARE c CURSOR FOR SELECT 1; OPEN c'); FETCH c", "1"},
		{"nor with its procedure", "EXEC dbo.leaves_one; FETCH left_open", "1"},
		{"behind calls", "DECLARE @r int; DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; EXEC dbo.add_all FETCH NEXT FROM c; EXECUTE @r = [dbo] . [add_all]\nFETCH c; IF 1 = 0 EXEC dbo.add_all; FETCH c; EXEC sp_executesql N'SELECT 9' FETCH c", "6,1,6,2,3,9"},
		{"a variable", "DECLARE @c CURSOR; SET @c = CURSOR STATIC FOR SELECT id FROM dbo.t; OPEN @c; FETCH LAST FROM @c; CLOSE @c; DEALLOCATE @c; SELECT CURSOR_STATUS('variable', '@c')", "3,-2"},
		{"a variable without one", "DECLARE @c CURSOR; OPEN @c", "16950"},
		{"two names of one", "DECLARE @c CURSOR; DECLARE c CURSOR FOR SELECT id FROM dbo.t; SET @c = c; OPEN c; FETCH @c; DEALLOCATE c; FETCH @c; DEALLOCATE @c; SELECT CURSOR_STATUS('global', 'c')", "1,2,-3"},
		{"how many rows", "DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; SELECT @@CURSOR_ROWS; OPEN c; SELECT @@CURSOR_ROWS; CLOSE c; SELECT @@CURSOR_ROWS; DECLARE d CURSOR DYNAMIC FOR SELECT id FROM dbo.t; OPEN d; SELECT @@CURSOR_ROWS", "0,3,0,-1"},
		{"how it is", "DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t WHERE id > 9; SELECT CURSOR_STATUS('global', 'c'); OPEN c; SELECT CURSOR_STATUS('global', 'c'), CURSOR_STATUS('local', 'c')", "-1,0|-3"},
		{"of a UNION, an aggregate, no table: they are copies", "DECLARE c CURSOR FOR SELECT COUNT(*) FROM dbo.t; OPEN c; DELETE dbo.t WHERE id = 3; FETCH c; SELECT @@CURSOR_ROWS", "3,1"},

		// what changes behind its back
		{"static: nothing", over("DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t", "DELETE dbo.t; SET @n = @n"), "1 2 3 "},
		{"dynamic: rows that go", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t", "DELETE dbo.t WHERE id = 2"), "1 3 "},
		{"dynamic: the row itself goes", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t", "DELETE dbo.t WHERE id = @n"), "1 2 3 "},
		{"dynamic: rows that come", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t", "IF @n < 3 INSERT dbo.t VALUES (@n + 10, 'new')"), "1 2 3 11 12 "},
		{"dynamic: rows that no longer fit", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t WHERE name <> 'done'", "UPDATE dbo.t SET name = 'done' WHERE id = @n"), "1 2 3 "},
		{"dynamic: values", "DECLARE c CURSOR FOR SELECT name FROM dbo.t; OPEN c; FETCH c; UPDATE dbo.t SET name = 'x'; FETCH c", "a,x"},
		{"dynamic: back over a row that is gone", "DECLARE c CURSOR DYNAMIC FOR SELECT id FROM dbo.t; OPEN c; FETCH c; FETCH c; DELETE dbo.t WHERE id = 2; FETCH PRIOR FROM c; FETCH NEXT FROM c", "1,2,1,3"},
		{"dynamic: undone changes", "DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; FETCH c; BEGIN TRAN; DELETE dbo.t WHERE id = 2; FETCH c; ROLLBACK; FETCH c", "1,3"},
		{"keyset: values of rows", "DECLARE c CURSOR KEYSET FOR SELECT name FROM dbo.t; OPEN c; INSERT dbo.t VALUES (0, 'new'); UPDATE dbo.t SET name = 'x' WHERE id = 1; FETCH c; SELECT @@CURSOR_ROWS", "x,3"},
		{"keyset: a row that is gone is refused", "DECLARE c CURSOR KEYSET FOR SELECT name FROM dbo.t; OPEN c; DELETE dbo.t WHERE id = 2; FETCH c", "50001"},
		{"in an order: rows behind it may change", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY name", "DELETE dbo.t WHERE id = @n"), "1 2 3 "},
		{"in an order: new rows are refused", over("DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY name", "INSERT dbo.t VALUES (9, 'z')"), "50001"},
		{"fast: rows behind it may change", over("DECLARE c CURSOR FAST_FORWARD FOR SELECT id FROM dbo.t", "UPDATE dbo.t SET name = 'x' WHERE id = @n"), "1 2 3 "},
		{"fast: rows to come may not", "DECLARE c CURSOR FAST_FORWARD FOR SELECT id, name FROM dbo.t; OPEN c; FETCH c; UPDATE dbo.t SET name = 'x'; FETCH c", "50001"},
		{"without a key: other tables may change", over("DECLARE c CURSOR FOR SELECT n FROM dbo.heap", "INSERT dbo.t VALUES (@n + 10, 'y')"), "1 2 "},
		{"without a key: its table may not", over("DECLARE c CURSOR FOR SELECT n FROM dbo.heap", "INSERT dbo.heap VALUES (3)"), "50001"},
		{"of a table variable", begin + "DECLARE @v TABLE (n int); INSERT @v VALUES (1), (2); DECLARE c CURSOR FOR SELECT n FROM @v; OPEN c; FETCH c; DELETE @v WHERE n = 2; FETCH c", "50001"},

		// refused
		{"WHERE CURRENT OF", "DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; FETCH c; DELETE dbo.t WHERE CURRENT OF c", "50001"},
		{"SCROLL_LOCKS", "DECLARE c CURSOR SCROLL_LOCKS FOR SELECT id FROM dbo.t", "50001"},
		{"CURSOR_CLOSE_ON_COMMIT", "SET CURSOR_CLOSE_ON_COMMIT ON; DECLARE c CURSOR FOR SELECT 1; OPEN c", "50001"},
		{"FOR READ ONLY of no table", "DECLARE c CURSOR FOR SELECT 1 FOR READ ONLY; OPEN c; FETCH c", "1"},
		{"FOR READ ONLY", "DECLARE c INSENSITIVE SCROLL CURSOR FOR SELECT id FROM dbo.t WHERE id > 1 FOR READ ONLY; OPEN c; FETCH LAST FROM c", "3"},
	} {
		exec(t, pool, "DELETE dbo.t; DELETE dbo.heap; INSERT dbo.t VALUES (1, 'a'), (2, 'b'), (3, 'c'); INSERT dbo.heap VALUES (1), (2)")
		batchAnswers(t, pool, tc.name, tc.batch, tc.want)
	}
}
