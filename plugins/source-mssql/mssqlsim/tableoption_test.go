package mssqlsim

import "testing"

// What a definition says of a table and is seen in the catalog alone (Microsoft: CREATE TABLE (Transact-SQL), ROWGUIDCOL, NOT FOR
// REPLICATION and index options; CREATE INDEX (Transact-SQL), relational_index_option; sys.columns; sys.indexes; sys.partitions;
// sys.identity_columns; sys.check_constraints; COLUMNPROPERTY; INDEXPROPERTY; sp_help).
func TestOptionsThatTheCatalogShows(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, `CREATE TABLE dbo.o (id int IDENTITY NOT FOR REPLICATION NOT NULL, g uniqueidentifier ROWGUIDCOL NOT NULL, v int NULL CHECK NOT FOR REPLICATION (v > 0),
  CONSTRAINT pk PRIMARY KEY (id) WITH (FILLFACTOR = 50) ON [PRIMARY]) ON [PRIMARY];
CREATE TABLE dbo.p (id int IDENTITY NOT NULL, g uniqueidentifier NULL);
CREATE UNIQUE INDEX i1 ON dbo.o (v) WITH (FILLFACTOR = 70, PAD_INDEX = ON, ALLOW_ROW_LOCKS = OFF, DATA_COMPRESSION = PAGE) ON "default"`)
	const indexes = "SELECT name, fill_factor, is_padded, allow_row_locks, allow_page_locks FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.o') ORDER BY name"
	answers(t, conn, []documented{
		{"ROWGUIDCOL", "SELECT name, is_rowguidcol FROM sys.columns WHERE object_id = OBJECT_ID('dbo.o') ORDER BY column_id", "id|false;g|true;v|false"},
		{"its properties", "SELECT COLUMNPROPERTY(OBJECT_ID('dbo.o'), 'g', 'IsRowGuidCol'), COLUMNPROPERTY(OBJECT_ID('dbo.p'), 'g', 'IsRowGuidCol'), OBJECTPROPERTY(OBJECT_ID('dbo.o'), 'TableHasRowGuidCol'), OBJECTPROPERTY(OBJECT_ID('dbo.p'), 'TableHasRowGuidCol')", "1|0|1|0"},
		{"of another type", "CREATE TABLE dbo.x (a int ROWGUIDCOL)", "error 2761"},
		{"twice", "CREATE TABLE dbo.x (a uniqueidentifier ROWGUIDCOL, b uniqueidentifier ROWGUIDCOL)", "error 8196"},
		{"added", "ALTER TABLE dbo.o ADD h uniqueidentifier ROWGUIDCOL", "error 8196"},
		{"IDENTITY NOT FOR REPLICATION", "SELECT OBJECT_NAME(object_id), is_not_for_replication, COLUMNPROPERTY(object_id, name, 'IsIdNotForRepl') FROM sys.identity_columns WHERE OBJECT_NAME(object_id) IN ('o', 'p') ORDER BY 1", "o|true|1;p|false|0"},
		{"CHECK NOT FOR REPLICATION", "SELECT is_not_for_replication, OBJECTPROPERTY(object_id, 'CnstIsNotRepl') FROM sys.check_constraints", "true|1"},
		{"options of an index", indexes, "i1|70|true|false|true;pk|50|false|true|true"},
		{"their properties", "SELECT INDEXPROPERTY(OBJECT_ID('dbo.o'), 'i1', 'IndexFillFactor'), INDEXPROPERTY(OBJECT_ID('dbo.o'), 'i1', 'IsPadIndex'), INDEXPROPERTY(OBJECT_ID('dbo.o'), 'i1', 'IsRowLockDisallowed'), INDEXPROPERTY(OBJECT_ID('dbo.o'), 'i1', 'IsPageLockDisallowed')", "70|1|1|0"},
		{"compression", "SELECT index_id, data_compression, data_compression_desc FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.o') ORDER BY 1", "1|0|NONE;2|2|PAGE"},
		{"rebuilt with others", "ALTER INDEX i1 ON dbo.o REBUILD WITH (FILLFACTOR = 90, DATA_COMPRESSION = ROW); " + indexes, "i1|90|true|false|true;pk|50|false|true|true"},
		{"set", "ALTER INDEX ALL ON dbo.o SET (ALLOW_PAGE_LOCKS = OFF); " + indexes, "i1|90|true|false|false;pk|50|false|true|false"},
		{"undone", "BEGIN TRAN; ALTER INDEX i1 ON dbo.o REBUILD WITH (FILLFACTOR = 10); ROLLBACK; " + indexes, "i1|90|true|false|false;pk|50|false|true|false"},
		{"no percentage", "CREATE INDEX i2 ON dbo.o (g) WITH (FILLFACTOR = 101)", "error 129"},
		{"what is not kept", "CREATE INDEX i2 ON dbo.o (g) WITH (STATISTICS_NORECOMPUTE = ON)", "refused: mssqlsim does not understand the index option STATISTICS_NORECOMPUTE = ON"},
		{"and is not asked for", "CREATE INDEX i2 ON dbo.o (g) WITH (STATISTICS_NORECOMPUTE = OFF, SORT_IN_TEMPDB = ON, MAXDOP = 2, IGNORE_DUP_KEY = OFF); SELECT 1", "1"},
		{"hidden", "CREATE TABLE dbo.x (a int HIDDEN)", "refused: mssqlsim does not understand the options of column a"},
		{"moved", "ALTER TABLE dbo.o DROP CONSTRAINT pk WITH (MOVE TO nofg)", "refused: mssqlsim does not understand MOVE TO of ALTER TABLE DROP CONSTRAINT"},
	})
	if got := ask(conn, "EXEC sp_help 'dbo.o'", false); got == "" {
		t.Error("sp_help says nothing")
	}
}

// Tables that a server does not make (Microsoft: CREATE TABLE (Transact-SQL), ON, IDENTITY, CHECK and Limitations; Database engine
// events and errors 1000 to 1999 and 8000 to 8999).
func TestTablesThatAreNotMade(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (a int NOT NULL, b int NULL)")
	answers(t, conn, []documented{
		{"in no filegroup", "CREATE TABLE dbo.x (a int) ON nofg", "error 1921"},
		{"text in no filegroup", "CREATE TABLE dbo.x (a text) TEXTIMAGE_ON nofg", "error 1921"},
		{"an index in none", "CREATE INDEX i ON dbo.t (a) ON nofg", "error 1921"},
		{"a key in none", "CREATE TABLE dbo.x (a int CONSTRAINT k PRIMARY KEY ON nofg)", "error 1921"},
		{"in that there is", `CREATE TABLE dbo.here (a text) ON [primary] TEXTIMAGE_ON "default"; SELECT 1`, "1"},
		{"IDENTITY that allows NULL", "CREATE TABLE dbo.x (id int IDENTITY NULL)", "error 8147"},
		{"a column's CHECK of another", "CREATE TABLE dbo.x (a int CONSTRAINT c CHECK (b > 1), b int)", "error 1750"},
		{"added", "ALTER TABLE dbo.t ADD c int CHECK (b > 1)", "error 1750"},
		{"a table's CHECK of two", "CREATE TABLE dbo.two (a int, b int, CHECK (a > b)); SELECT 1", "1"},
		{"rows that fit no page", "CREATE TABLE dbo.x (a char(8000), c char(54))", "error 1701"},
		{"that just do", "CREATE TABLE dbo.fits (a char(8000), c char(53)); SELECT 1", "1"},
		{"of variable length", "CREATE TABLE dbo.long (a varchar(8000), c varchar(8000), d nvarchar(max)); SELECT 1", "1"},
		{"that get longer", "ALTER TABLE dbo.fits ADD d int", "error 1701"},
		{"no table is left", "SELECT OBJECT_ID('dbo.x')", "NULL"},
	})
}
