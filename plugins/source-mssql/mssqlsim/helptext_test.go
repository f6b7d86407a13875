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
		{"sp_helpconstraint", "EXEC sp_helpconstraint 'p'", name + ".dbo.c: fk_c"},
		{"without its name", "EXEC sp_helpconstraint 'c', 'nomsg'", "FOREIGN KEY|fk_c|No Action|No Action|Enabled|Is_For_Replication|x; | | | | | |REFERENCES " + name + ".dbo.p (a)"},
		{"sp_helpfile", "EXEC sp_helpfile", name + "|1|/var/opt/mssql/data/" + name + ".mdf|PRIMARY|8192 KB|Unlimited|65536 KB|data only;" + name + "_log|2|/var/opt/mssql/data/" + name + "_log.ldf|NULL|8192 KB|2147483648 KB|65536 KB|log only"},
		{"of another file", "EXEC sp_helpfile 'nope'", "error 15325"},
		{"sp_helpdb of nothing", "EXEC sp_helpdb 'nope'", "error 15010"},
		{"sp_helprole", "EXEC sp_helprole 'helpers'", "helpers|" + query(t, conn, "SELECT principal_id FROM sys.database_principals WHERE name = 'helpers'")[0] + "|0"},
		{"not a role", "EXEC sp_helprole 'helped'", "error 15409"},
		{"sp_spaceused", "EXEC sp_spaceused", "144 KB|16 KB|16 KB|112 KB"},
	})
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
