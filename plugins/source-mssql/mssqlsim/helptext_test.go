package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: sp_helptext, sp_helpconstraint, sp_helpfile, sp_helpdb, sp_helprole, sp_helprolemember, sp_helpuser, sp_spaceused
// (Transact-SQL).
func TestProceduresToLookAround(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	name := db.Name()
	exec(t, conn, "CREATE TABLE dbo.p (a int NOT NULL CONSTRAINT pk_p PRIMARY KEY, d AS a * 2)")
	exec(t, conn, "CREATE TABLE dbo.c (x int NULL CONSTRAINT fk_c REFERENCES dbo.p (a))")
	long := strings.Repeat("x", 300)
	exec(t, conn, "CREATE PROCEDURE dbo.q AS\r\nSELECT '"+long+"'")
	exec(t, conn, "CREATE USER helped WITHOUT LOGIN; ALTER ROLE db_datareader ADD MEMBER helped; CREATE USER alone WITHOUT LOGIN; CREATE ROLE helpers")
	line := "SELECT '" + long + "'"
	answers(t, conn, []documented{
		{"sp_helptext", "EXEC sp_helptext 'dbo.q'", "CREATE PROCEDURE dbo.q AS\r\n;" + line[:255] + ";" + line[255:]},
		{"of a computed column", "EXEC sp_helptext 'p', 'd'", "([a]*(2))"},
		{"of a table", "EXEC sp_helptext 'p'", "error 15197"},
		{"of nothing", "EXEC sp_helptext 'nope'", "error 15009"},
		{"of a system procedure", "EXEC sp_helptext 'sys.sp_help'", "refused: mssqlsim does not understand the text of the system object sys.sp_help"},
		{"of a system view", "EXEC sp_helptext 'sys.tables'", "refused: mssqlsim does not understand the text of the system object sys.tables"},
		{"sp_help of a system procedure", "EXEC sp_help 'sp_who2'", "refused: mssqlsim does not understand what is to be told of the system object sp_who2"},
		{"of another database", "EXEC sp_helptext 'master.dbo.p'", "error 15250"},
		{"of this database", "EXEC sp_helptext '" + name + ".dbo.p', 'd'", "([a]*(2))"},
		{"sp_help of another database", "EXEC sp_help 'master.dbo.p'", "error 15250"},
		{"sp_help of a temporary table elsewhere", "CREATE TABLE #k (id int); EXEC sp_help '#k'", "error 15009"},
		{"sp_helpconstraint", "EXEC sp_helpconstraint 'p'", name + ".dbo.c: fk_c"},
		{"without its name", "EXEC sp_helpconstraint 'c', 'nomsg'", "FOREIGN KEY|fk_c|No Action|No Action|Enabled|Is_For_Replication|x; | | | | | |REFERENCES " + name + ".dbo.p (a)"},
		{"sp_helpfile", "EXEC sp_helpfile", name + "|1|/var/opt/mssql/data/" + name + ".mdf|PRIMARY|8192 KB|Unlimited|65536 KB|data only;" + name + "_log|2|/var/opt/mssql/data/" + name + "_log.ldf|NULL|8192 KB|2147483648 KB|65536 KB|log only"},
		{"of another file", "EXEC sp_helpfile 'nope'", "error 15325"},
		{"sp_helpdb of nothing", "EXEC sp_helpdb 'nope'", "error 15010"},
		{"sp_helprole", "EXEC sp_helprole 'helpers'", "helpers|" + query(t, conn, "SELECT principal_id FROM sys.database_principals WHERE name = 'helpers'")[0] + "|0"},
		{"not a role", "EXEC sp_helprole 'helped'", "error 15409"},
		{"sp_spaceused", "EXEC sp_spaceused", "144 KB|16 KB|16 KB|112 KB"},
	})
	for stmt, want := range map[string]string{
		"EXEC tempdb..sp_help '#k'":         "x|nonclustered located on PRIMARY|id",
		"EXEC tempdb.dbo.sp_helpindex '#k'": "x|nonclustered located on PRIMARY|id",
	} {
		if got := ask(conn, "CREATE TABLE #k (id int IDENTITY, INDEX x (id)); "+stmt, false); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", stmt, got)
		}
	}
	for stmt, want := range map[string][]string{
		"EXEC sp_helprolemember 'db_datareader'": {"db_datareader|helped"}, "EXEC sp_helprolemember 'db_owner'": {"db_owner|dbo", "db_owner|cdc"},
		"EXEC sp_helpuser 'helped'": {"helped|db_datareader|NULL|NULL"}, "EXEC sp_helpuser 'alone'": {"alone|public|NULL|NULL"}, "EXEC sp_helpuser 'db_owner'": {"db_owner|16384|dbo|1", "db_owner|16384|cdc|5"},
	} {
		rows, err := conn.QueryContext(t.Context(), stmt)
		must(t, err)
		equal(t, cut(t, rows, want), want)
		must(t, rows.Close())
	}
	rows, err := conn.QueryContext(t.Context(), "EXEC sp_helpdb '"+name+"'")
	must(t, err)
	defer func() { _ = rows.Close() }()
	equal(t, cut(t, rows, []string{"x|y|z"}), []string{name + "|     16.00 MB|sa"})
	if !rows.NextResultSet() {
		t.Error("sp_helpdb tells nothing of the files")
	}
}

// Microsoft: sp_help (Transact-SQL): without a name it tells of all objects; their kinds are named as in the table spt_values.
func TestHelpOfADatabase(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "EXEC sys.sp_cdc_enable_db")
	exec(t, conn, "CREATE TABLE dbo.p (id int NOT NULL CONSTRAINT pk_p PRIMARY KEY); CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, a int CONSTRAINT uq UNIQUE, b int CONSTRAINT df DEFAULT 1, c int CONSTRAINT ck CHECK (c > 0), d int CONSTRAINT fk REFERENCES dbo.p)")
	exec(t, conn, "EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL, @supports_net_changes = 1")
	exec(t, conn, "CREATE PROCEDURE dbo.q AS SELECT 1")
	kinds := map[string]string{}
	for _, row := range query(t, conn, "EXEC sp_help") {
		part := strings.Split(row, "|")
		kinds[part[0]] = part[2]
		if part[2] == "" {
			t.Errorf("%s is of no kind", part[0])
		}
	}
	for name, want := range map[string]string{"t": "user table", "pk_t": "primary key cns", "uq": "unique key cns", "df": "default (maybe cns)", "ck": "check cns", "fk": "foreign key cns",
		"q": "stored procedure", "fn_cdc_get_all_changes_dbo_t": "inline function"} {
		if kinds[name] != want {
			t.Errorf("%s is %q, want %q", name, kinds[name], want)
		}
	}
}
