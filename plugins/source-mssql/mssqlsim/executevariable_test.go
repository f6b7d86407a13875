package mssqlsim

import "testing"

// Microsoft: EXECUTE (Transact-SQL), @module_name_var and @return_status; sp_executesql (Transact-SQL), Return code values.
func TestExecuteOfAVariable(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE PROCEDURE dbo.q @a int, @b int = 5 OUTPUT AS SET @b = @a * 2; SELECT @a AS a, @b AS b; RETURN 7")
	exec(t, conn, "CREATE PROCEDURE dbo.calls @p sysname AS EXEC @p 8")
	const no = "refused: mssqlsim does not understand "
	answers(t, conn, []documented{
		{"a name", "DECLARE @p sysname = N'q'; EXEC @p 4", "4|8"},
		{"a name of two parts, in brackets", "DECLARE @p varchar(20) = '[dbo].[q]'; EXECUTE @p @a = 3", "3|6"},
		{"a status and an output", "DECLARE @p sysname = N'dbo.q', @r int, @o int; EXEC @r = @p 3, @o OUTPUT; SELECT @r, @o", "7|6"},
		{"the value is a variable of the same name", "DECLARE @p sysname = N'q', @a int = 2; EXEC @p @a = @a", "2|4"},
		{"a parameter", "EXEC dbo.calls 'q'", "8|16"},
		{"another statement behind it", "DECLARE @p sysname = N'q'; EXEC @p 5 SELECT 9", "9"},
		{"FETCH behind it", "DECLARE @p sysname = N'q', @v int; DECLARE c CURSOR FOR SELECT 3; OPEN c; EXEC @p 1 FETCH NEXT FROM c INTO @v; SELECT @v", "3"},
		{"a procedure of the server", "DECLARE @p sysname = N'sys.sp_executesql', @r int; EXEC @r = @p N'SELECT @x', N'@x int', 3; SELECT @r", "0"},
		{"nothing of that name", "DECLARE @p sysname = N'dbo.nope'; EXEC @p", "error 2812"},
		{"not declared", "EXEC @p 1", "error 137"},
		{"no name", "DECLARE @p sysname; EXEC @p", no + "EXECUTE of the variable @p, which holds no name"},
		{"no text", "DECLARE @p int = 5; EXEC @p", no + "EXECUTE of the variable @p, which is no text"},
		{"of another server", "DECLARE @p sysname = N'a.b.c.d'; EXEC @p", no + "EXECUTE of the name a.b.c.d"},
		{"rows for INSERT", "DECLARE @p sysname = N'q'; DECLARE @t TABLE (a int, b int); INSERT INTO @t EXEC @p 1", no + "INSERT of what the procedure q gives"},
	})
}

// Microsoft: THROW (Transact-SQL); CREATE PROCEDURE (Transact-SQL), syntax: BEGIN and END may be left out.
func TestThrowBehindAsOfAProcedure(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, head := range []string{"CREATE PROCEDURE dbo.p", "ALTER PROC dbo.p", "CREATE OR ALTER PROCEDURE dbo.p", "ALTER PROCEDURE dbo.p @a AS int = 1", "ALTER PROCEDURE dbo.p WITH RECOMPILE"} {
		exec(t, conn, head+" AS THROW 51000, 'x', 1")
		answers(t, conn, []documented{{head, "EXEC dbo.p", "error 51000"}})
	}
	answers(t, conn, []documented{
		{"without a number", "CREATE PROCEDURE dbo.q AS THROW", "error 10704"},
		{"a column of that name", "SELECT 1 AS throw", "1"},
	})
}
