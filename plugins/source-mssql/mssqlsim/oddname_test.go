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
