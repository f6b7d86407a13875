package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: Database identifiers, Rules for delimited identifiers: a dot may
// stand in the name of a schema and of a table.
func TestDotsInNames(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE SCHEMA [s.x]")
	exec(t, conn, "CREATE TABLE dbo.p (id int NOT NULL PRIMARY KEY)") // names of keys are those of a schema
	exec(t, conn, "CREATE TABLE [s.x].[q.z] (id int NOT NULL PRIMARY KEY, n int NULL); CREATE TABLE [s.x].p (id int NOT NULL PRIMARY KEY)")
	exec(t, conn, "EXEC sys.sp_cdc_enable_table @source_schema = N's.x', @source_name = N'q.z', @role_name = NULL, @capture_instance = N'one'")
	exec(t, conn, "EXEC sys.sp_cdc_enable_table @source_schema = N's.x', @source_name = N'p', @role_name = NULL")
	exec(t, conn, "INSERT INTO [s.x].[q.z] VALUES (1, 2); UPDATE [s.x].[q.z] SET n = 3; ALTER TABLE [s.x].[q.z] ADD more int NULL")
	equal(t, query(t, conn, "SELECT [__$operation], id, n FROM cdc.one_CT ORDER BY [__$seqval], [__$operation]"), []string{"2|1|2", "3|1|2", "4|1|3"})
	equal(t, query(t, conn, "SELECT capture_instance FROM cdc.change_tables ORDER BY capture_instance"), []string{"one", "s.x_p"})
	exec(t, conn, "EXEC sys.sp_cdc_disable_table @source_schema = N's.x', @source_name = N'q.z', @capture_instance = N'one'")
	exec(t, conn, "DROP TABLE [s.x].[q.z]")
	_, err := tryQuery(conn, "EXEC sys.sp_cdc_enable_table @source_schema = N's.x', @source_name = N'q.z', @role_name = NULL")
	wantError(t, err, 22931, "s.x.q.z")
}

// Microsoft: sysname is nvarchar(128): a constraint without a name gets one of no
// more, whatever its table is called.
func TestTheKeyOfALongNameHasAName(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, end := range []string{"a", "b"} {
		name := strings.Repeat("n", 127) + end
		exec(t, conn, "CREATE TABLE dbo.["+name+"] (id int NOT NULL PRIMARY KEY)")
		exec(t, conn, "EXEC sys.sp_cdc_enable_table N'dbo', N'"+name+"', N'"+end+"', @role_name = NULL")
	}
	if rows := query(t, conn, "EXEC sys.sp_cdc_help_change_data_capture"); len(rows) != 2 {
		t.Errorf("listed %q", rows)
	}
	for _, row := range query(t, conn, "SELECT name FROM sys.key_constraints") {
		if !strings.HasPrefix(row, "PK__nnnnnnnn") || len(row) > 128 {
			t.Errorf("a key is called %q", row)
		}
	}
}

// Microsoft: CREATE TABLE (Transact-SQL): if constraint_name is not supplied, a system-generated name is assigned to the
// constraint. Microsoft: sys.key_constraints (Transact-SQL), is_system_named.
func TestConstraintsWithoutANameGetOne(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.customers (id int NOT NULL PRIMARY KEY, mail varchar(20) UNIQUE, age int DEFAULT 1 CHECK (age > 0))")
	exec(t, conn, "CREATE TABLE dbo.others (id int NOT NULL CONSTRAINT PK_o PRIMARY KEY, mail varchar(20) CONSTRAINT UQ_o UNIQUE, age int CONSTRAINT DF_o DEFAULT 1 CONSTRAINT CK_o CHECK (age > 0))")
	exec(t, conn, "EXEC sp_rename N'dbo.customers', N'clients'")
	got := query(t, conn, `SELECT LEFT(name, 15), is_system_named FROM sys.key_constraints
UNION ALL SELECT LEFT(name, 15), is_system_named FROM sys.default_constraints
UNION ALL SELECT LEFT(name, 15), is_system_named FROM sys.check_constraints ORDER BY 1`)
	equal(t, got, []string{"CK__customers__|true", "CK_o|false", "DF__customers__|true", "DF_o|false", "PK__customers__|true", "PK_o|false", "UQ__customers__|true", "UQ_o|false"})
}
