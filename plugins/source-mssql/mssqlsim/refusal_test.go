package mssqlsim

import "testing"

// What is refused is named as T-SQL writes it, never by a name of the parser's.
func TestRefusalsNameWordsOfTSQL(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, n int NULL)")
	const no = "refused: mssqlsim does not understand "
	answers(t, conn, []documented{
		{"INSERT of a text that is executed", "INSERT dbo.t EXEC ('SELECT 1, 2')", no + "EXECUTE of a text"},
		{"an option of a database", "ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 150", no + "ALTER DATABASE SET COMPATIBILITY_LEVEL"},
		{"a function of ODBC", "SELECT {fn SPACE(1)}", no + "the expression {fn ...}"},
		{"a pseudo column", "SELECT $IDENTITY FROM dbo.t", no + "the column reference $IDENTITY"},
		{"the grouping of all", "SELECT COUNT(*) FROM dbo.t GROUP BY ()", no + "the grouping ()"},
		{"IDENTITY()", "SELECT IDENTITY(int, 1, 1) AS k INTO dbo.u FROM dbo.t", no + "the expression IDENTITY()"},
		{"UNPIVOT", "SELECT * FROM dbo.t UNPIVOT (v FOR c IN (id, n)) AS u", no + "the table reference UNPIVOT"},
		{"a type of a user", "CREATE TYPE dbo.x FROM int", no + "the statement CREATE TYPE FROM"},
		{"a function with a statement behind it", "CREATE FUNCTION dbo.f() RETURNS int AS BEGIN RETURN 1 END SELECT 1", no + "the statement CREATE FUNCTION"},
		{"a function with a table of its own", "CREATE FUNCTION dbo.f() RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (1) RETURN END SELECT nope", no + "the statement CREATE FUNCTION"},
		{"a function that the parser does not read", "CREATE OR ALTER FUNCTION dbo.f() RETURNS int AS BEGIN RETURN END SELECT FROM", no + "the statement CREATE OR ALTER FUNCTION"},
		{"a view that the parser does not read", "/* v */ ALTER VIEW dbo.v AS SELECT FROM", no + "the statement ALTER VIEW"},
		{"a distributed transaction", "BEGIN DISTRIBUTED TRANSACTION", no + "BEGIN DISTRIBUTED TRANSACTION"},
		{"a procedure of another server", "EXEC OPENDATASOURCE('a', 'b').sp_who", no + "EXECUTE of a procedure of OPENDATASOURCE"},
		{"rows of another server", "INSERT dbo.t EXEC OPENDATASOURCE('a', 'b').sp_who", no + "EXECUTE of a procedure of OPENDATASOURCE"},
		{"a table of a path", "SELECT * FROM dbo.t FOR PATH AS q", no + "FOR PATH of a table"},
		{"a property of a variable", "DECLARE @p int; SET @p.x = 1", no + "this form of SET @p"},
		{"a variable that may not be NULL", "DECLARE @x int NOT NULL = 1", no + "NULL and NOT NULL of the variable @x"},
		{"a parameter that may not be NULL", "CREATE PROCEDURE dbo.p @a int NOT NULL AS SELECT 1", no + "NOT NULL of the parameter @a"},
		{"a schema with all that it has", "DROP SCHEMA IF EXISTS nope CASCADE", no + "DROP SCHEMA ... CASCADE"},
		{"groups of Azure Synapse", "SELECT COUNT(*) FROM dbo.t GROUP BY n WITH (DISTRIBUTED_AGG)", no + "GROUP BY ... WITH (DISTRIBUTED_AGG)"},
		{"DBCC with a named argument", "DBCC CHECKIDENT (x = 't')", no + "the argument x = of DBCC CHECKIDENT"},
		{"INTO another filegroup", "SELECT n INTO dbo.u ON other FROM dbo.t", "error 1921"},
		{"INTO the filegroup that there is", "SELECT n INTO dbo.u ON [PRIMARY] FROM dbo.t; SELECT COUNT(*) FROM dbo.u", "0"},
		// Microsoft: SELECT - FOR Clause (Transact-SQL), whose query needs neither a FROM nor names
		{"FOR XML of a constant", "SELECT 1 FOR XML PATH('')", no + "FOR XML, FOR JSON and FOR BROWSE"},
		{"FOR JSON of a constant", "SELECT 1, 2 FOR JSON PATH", no + "FOR XML, FOR JSON and FOR BROWSE"},
		{"FOR BROWSE of a constant", "SELECT 1 FOR BROWSE", no + "FOR XML, FOR JSON and FOR BROWSE"},
		{"FOR JSON of a variable behind other statements", "DECLARE @v int = 1; SELECT @v FOR JSON PATH, WITHOUT_ARRAY_WRAPPER", no + "FOR XML, FOR JSON and FOR BROWSE"},
		{"FOR XML of a subquery", "SELECT STUFF((SELECT ',' + 'x' FOR XML PATH('')), 1, 1, '')", no + "FOR XML, FOR JSON and FOR BROWSE"},
		{"FOR and a name", "SELECT 1 FOR NOPE", "error 102"},
		{"ALTER SERVER ROLE that is cut off", "ALTER SERVER ROLE sysadmin", no + "this form of ALTER ROLE and ALTER SERVER ROLE"},
	})
}
