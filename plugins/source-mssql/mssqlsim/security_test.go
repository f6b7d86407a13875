package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// as opens a connection of a login to the database of the test.
func as(t testing.TB, login, password string) *sql.DB {
	t.Helper()
	conn := open(t, testServer.UserDSN(login, password, t.Name()))
	conn.SetMaxOpenConns(1)
	return conn
}

// Microsoft: CREATE LOGIN, ALTER LOGIN, DROP LOGIN, CREATE USER, DROP USER, CREATE ROLE, ALTER ROLE (Transact-SQL), and
// MSSQLSERVER errors 18456 and 4060.
func TestPrincipals(t *testing.T) {
	t.Parallel()
	conn := newEmpty(t)
	play(t, conn, []step{
		{sql: "CREATE LOGIN lp1 WITH PASSWORD = 'short'", err: 15116},
		{sql: "CREATE LOGIN lp1 WITH PASSWORD = 'longenough'", err: 15118},
		{sql: "CREATE LOGIN lp1 WITH PASSWORD = N'Str0ng!pass', DEFAULT_DATABASE = [TestPrincipals]; CREATE LOGIN lp2 WITH PASSWORD = 'x', CHECK_POLICY = OFF"},
		{sql: "CREATE LOGIN LP1 WITH PASSWORD = N'Str0ng!pass'", err: 15025},
		{sql: "CREATE USER u1 FOR LOGIN nope", err: 15007},
		{sql: "CREATE USER u1 FOR LOGIN lp1 WITH DEFAULT_SCHEMA = dbo; CREATE USER u2 WITHOUT LOGIN; CREATE ROLE r1; CREATE ROLE r2 AUTHORIZATION dbo"},
		{sql: "CREATE USER u1 WITHOUT LOGIN", err: 15023},
		{sql: "CREATE USER u3 FOR LOGIN lp1", err: 15063},
		{sql: "CREATE USER lp2; ALTER USER lp2 WITH NAME = u4; SELECT name, type_desc, authentication_type_desc FROM sys.database_principals WHERE name IN ('u1', 'u2', 'u4', 'lp2', 'r1', 'r2') ORDER BY principal_id",
			rows: []string{"u1|SQL_USER|INSTANCE", "u2|SQL_USER|NONE", "r1|DATABASE_ROLE|NONE", "r2|DATABASE_ROLE|NONE", "u4|SQL_USER|INSTANCE"}},
		{sql: "ALTER ROLE r1 ADD MEMBER u1; EXEC sp_addrolemember 'r2', 'r1'; ALTER ROLE db_datareader ADD MEMBER u2; SELECT USER_NAME(role_principal_id), USER_NAME(member_principal_id) FROM sys.database_role_members ORDER BY role_principal_id",
			rows: []string{"r1|u1", "r2|r1", "db_owner|dbo", "db_datareader|u2"}},
		{sql: "SELECT IS_ROLEMEMBER('r2', 'u1'), IS_ROLEMEMBER('db_datareader', 'u1'), IS_ROLEMEMBER('nope', 'u1'), IS_MEMBER('db_owner'), IS_SRVROLEMEMBER('sysadmin'), HAS_DBACCESS('TestPrincipals'), HAS_DBACCESS('nope')", rows: []string{"1|0|NULL|1|1|1|NULL"}},
		{sql: "ALTER ROLE r1 ADD MEMBER r2", err: 15413},
		{sql: "ALTER ROLE r1 ADD MEMBER nope", err: 15151, part: "Cannot add the principal 'nope'"},
		{sql: "ALTER ROLE nope ADD MEMBER u1", err: 15151},
		{sql: "DROP ROLE r1", err: 15144},
		{sql: "DROP USER dbo", err: 15150},
		{sql: "DROP USER nope", err: 15151, part: "Cannot drop the user 'nope'"},
		{sql: "DROP USER IF EXISTS nope; EXEC sp_droprolemember 'r2', 'r1'; ALTER ROLE r1 DROP MEMBER u1; ALTER ROLE r1 WITH NAME = r9; DROP ROLE r9"},
		{sql: "CREATE SCHEMA own AUTHORIZATION u2; SELECT USER_NAME(principal_id) FROM sys.schemas WHERE name = 'own'", rows: []string{"u2"}},
		{sql: "DROP USER u2", err: 15138},
		{sql: "SELECT name, is_disabled, is_policy_checked, default_database_name FROM sys.sql_logins WHERE name LIKE 'lp%' ORDER BY name", rows: []string{"lp1|false|true|TestPrincipals", "lp2|false|false|master"}},
		{sql: "SELECT SUSER_SNAME(sid), USER_NAME(), ORIGINAL_LOGIN(), SUSER_SNAME() FROM sys.database_principals WHERE name = 'u1'", rows: []string{"lp1|dbo|sa|sa"}},
	})
	user := as(t, "lp1", "Str0ng!pass")
	play(t, user, []step{
		{sql: "SELECT SUSER_SNAME(), USER_NAME(), CURRENT_USER, IS_MEMBER('db_owner'), IS_SRVROLEMEMBER('sysadmin')", rows: []string{"lp1|u1|u1|0|0"}},
		{sql: "CREATE LOGIN x WITH PASSWORD = 'Str0ng!pass'", err: 15247},
		{sql: "CREATE USER x WITHOUT LOGIN", err: 15247},
		{sql: "CREATE ROLE x", err: 262},
		{sql: "CREATE TABLE dbo.x (a int)", err: 262, part: "CREATE TABLE permission denied in database 'TestPrincipals'."},
		{sql: "CREATE SCHEMA x", err: 262},
		{sql: "CREATE DATABASE x", err: 262, part: "in database 'master'"},
		{sql: "ALTER LOGIN lp2 WITH PASSWORD = 'y'", err: 15151},
		{sql: "ALTER LOGIN lp1 WITH PASSWORD = 'An0ther!pass' OLD_PASSWORD = 'wrong'", err: 15151},
		{sql: "ALTER LOGIN lp1 WITH PASSWORD = 'An0ther!pass' OLD_PASSWORD = 'Str0ng!pass'"},
	})
	play(t, conn, []step{{sql: "DROP LOGIN lp1", err: 15434}})
	must(t, user.Close())
	for _, tc := range []struct {
		name, setup, login, password, database string
		number                                 int32
	}{
		{"the old password", "", "lp1", "Str0ng!pass", t.Name(), 18456},
		{"nobody", "", "nobody", "x", t.Name(), 18456},
		{"disabled", "ALTER LOGIN lp1 DISABLE", "lp1", "An0ther!pass", t.Name(), 18470},
		{"disabled, and wrong", "", "lp1", "x", t.Name(), 18456},
		{"a database without a user", "ALTER LOGIN lp1 ENABLE; CREATE DATABASE [other of principals]", "lp1", "An0ther!pass", "other of principals", 4060},
		{"no database", "", "lp1", "An0ther!pass", "nope of principals", 4060},
		{"a user that may not connect", "DENY CONNECT TO u1", "lp1", "An0ther!pass", t.Name(), 4060},
		{"its default database is that", "", "lp1", "An0ther!pass", "", 4064},
		{"the user is gone", "DROP USER u1", "lp1", "An0ther!pass", t.Name(), 4060},
	} {
		if tc.setup != "" {
			_, err := conn.Exec(tc.setup)
			must(t, err)
		}
		_, err := open(t, testServer.UserDSN(tc.login, tc.password, tc.database)).Conn(context.Background())
		t.Run(tc.name, func(t *testing.T) {
			var e mssql.Error
			if !errors.As(err, &e) || e.All[0].Number != tc.number || tc.number != 18470 && e.Number != 18456 {
				t.Errorf("got %v of %+v, want %d and then that the login failed", err, e.All, tc.number)
			}
		})
	}
	dropLogins(t, conn, "lp1", "lp2")
}

// Microsoft: CREATE LOGIN (Transact-SQL), DEFAULT_DATABASE: the database that a login is connected to; DEFAULT_LANGUAGE.
func TestTheDatabaseOfALogin(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	exec(t, conn, "CREATE LOGIN at_home WITH PASSWORD = 'Str0ng!pass', DEFAULT_DATABASE = ["+db.Name()+"], DEFAULT_LANGUAGE = us_english; CREATE USER at_home")
	home := open(t, testServer.UserDSN("at_home", "Str0ng!pass", ""))
	home.SetMaxOpenConns(1)
	equal(t, query(t, home, "SELECT DB_NAME()"), []string{db.Name()})
	exec(t, home, "USE master")
	equal(t, query(t, home, "SELECT DB_NAME()"), []string{db.Name()}) // the connection was reset
	must(t, home.Close())
	exec(t, conn, "ALTER LOGIN at_home WITH DEFAULT_DATABASE = master")
	away := open(t, testServer.UserDSN("at_home", "Str0ng!pass", ""))
	equal(t, query(t, away, "SELECT DB_NAME()"), []string{"master"})
	must(t, away.Close())
	for _, refused := range []string{"CREATE LOGIN old WITH PASSWORD = 'Str0ng!pass', CHECK_EXPIRATION = ON", "ALTER LOGIN at_home WITH CHECK_EXPIRATION = ON"} {
		_, err := conn.Exec(refused)
		wantError(t, err, 50001, "CHECK_EXPIRATION = ON")
	}
	exec(t, conn, "ALTER LOGIN at_home WITH CHECK_EXPIRATION = OFF")
	for _, refused := range []string{"CREATE LOGIN abroad WITH PASSWORD = 'Str0ng!pass', DEFAULT_LANGUAGE = Deutsch", "ALTER LOGIN at_home WITH DEFAULT_LANGUAGE = Deutsch"} {
		_, err := conn.Exec(refused)
		wantError(t, err, 50001, "DEFAULT_LANGUAGE = Deutsch")
	}
	dropLogins(t, conn, "at_home")
}

// dropLogins drops logins whose connections were closed: the server may not have
// noticed yet, and refuses until it has.
func dropLogins(t *testing.T, conn *sql.DB, names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := conn.Exec("DROP LOGIN " + name)
		for e := (mssql.Error{}); errors.As(err, &e) && e.Number == 15434; {
			_, err = conn.Exec("DROP LOGIN " + name)
		}
		must(t, err)
	}
}

// Microsoft: GRANT, DENY, REVOKE Object Permissions (Transact-SQL), Permissions hierarchy (Database Engine),
// Database-level roles; errors 229, 230, 262, 916, 15151.
func TestPermissionsByStatement(t *testing.T) {
	t.Parallel()
	admin := newEmpty(t)
	play(t, admin, []step{
		{sql: "CREATE LOGIN pl1 WITH PASSWORD = 'Str0ng!pass'; CREATE USER pl1 FOR LOGIN pl1; CREATE ROLE readers; CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL, secret int NULL); INSERT INTO dbo.t VALUES (1, 2, 3); CREATE DATABASE [another of permissions]"},
		{sql: "CREATE SCHEMA s"},
		{sql: "CREATE TABLE s.u (id int NOT NULL PRIMARY KEY)"},
	})
	user := as(t, "pl1", "Str0ng!pass")
	// each case is what the administrator does and then what the user may do
	for _, tc := range []struct {
		name, admin string
		user        []step
	}{
		{"nothing", "", []step{
			{sql: "SELECT id FROM dbo.t", err: 229, part: "The SELECT permission was denied on the object 't', database 'TestPermissionsByStatement', schema 'dbo'."},
			{sql: "INSERT INTO dbo.t VALUES (9, 9, 9)", err: 229, part: "The INSERT permission"},
			{sql: "UPDATE dbo.t SET a = 1", err: 229, part: "The UPDATE permission"},
			{sql: "DELETE FROM dbo.t", err: 229, part: "The DELETE permission"},
			{sql: "SELECT COUNT(*) FROM sys.tables", rows: []string{"0"}},
			{sql: "SELECT OBJECT_ID('dbo.t'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('dbo.nope', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'CONNECT')", rows: []string{"NULL|0|NULL|0|1"}},
			{sql: "USE [another of permissions]", err: 916, part: "The server principal \"pl1\" is not able to access the database \"another of permissions\""},
			{sql: "SELECT * FROM [another of permissions].dbo.x", err: 916},
			{sql: "GRANT SELECT ON dbo.t TO readers", err: 15151},
			{sql: "GRANT SELECT TO readers", err: 4613},
			{sql: "ALTER TABLE dbo.t ADD x int", err: 4902},
			{sql: "TRUNCATE TABLE dbo.t", err: 4701},
			{sql: "DROP TABLE dbo.t", err: 3701},
			{sql: "CREATE INDEX i ON dbo.t (a)", err: 1088},
			{sql: "SELECT COUNT(*) FROM sys.dm_db_partition_stats", err: 262, part: "VIEW DATABASE STATE permission denied"},
		}},
		{"columns", "GRANT SELECT (id, a) ON dbo.t TO pl1", []step{
			{sql: "SELECT id, a FROM dbo.t", rows: []string{"1|2"}},
			{sql: "SELECT * FROM dbo.t", err: 230, part: "The SELECT permission was denied on the column 'secret' of the object 't'"},
			{sql: "SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') ORDER BY column_id", rows: []string{"id", "a"}},
			{sql: "SELECT HAS_PERMS_BY_NAME('sys.tables', 'OBJECT', 'SELECT'), HAS_PERMS_BY_NAME('INFORMATION_SCHEMA.TABLES', 'OBJECT', 'ANY'), HAS_PERMS_BY_NAME('sys.nothing', 'OBJECT', 'SELECT')", rows: []string{"1|1|NULL"}},
			{sql: "SELECT HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'a', 'COLUMN'), HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT', 'secret', 'COLUMN')", rows: []string{"1|0"}},
		}},
		{"the whole object by a role", "REVOKE SELECT ON dbo.t FROM pl1; GRANT SELECT ON OBJECT::dbo.t TO readers; ALTER ROLE readers ADD MEMBER pl1", []step{
			{sql: "SELECT * FROM dbo.t", rows: []string{"1|2|3"}},
			{sql: "SELECT name FROM sys.tables", rows: []string{"t"}},
		}},
		{"DENY wins", "DENY SELECT ON dbo.t TO pl1", []step{{sql: "SELECT id FROM dbo.t", err: 229}}},
		{"but not over a column", "GRANT SELECT ON dbo.t (id) TO pl1", []step{{sql: "SELECT id FROM dbo.t", rows: []string{"1"}}, {sql: "SELECT a FROM dbo.t", err: 230}}},
		{"a denied column", "REVOKE SELECT ON dbo.t TO pl1; DENY SELECT ON dbo.t (secret) TO pl1", []step{{sql: "SELECT id, a FROM dbo.t", rows: []string{"1|2"}}, {sql: "SELECT secret FROM dbo.t", err: 230}}},
		{"a schema", "REVOKE SELECT ON dbo.t FROM pl1; REVOKE SELECT ON dbo.t FROM readers; GRANT SELECT ON SCHEMA::s TO readers", []step{{sql: "SELECT COUNT(*) FROM s.u", rows: []string{"0"}}, {sql: "SELECT COUNT(*) FROM dbo.t", err: 229}}},
		{"the database", "GRANT SELECT TO pl1", []step{{sql: "SELECT COUNT(*) FROM dbo.t", rows: []string{"1"}}}},
		{"denied in the schema", "DENY SELECT ON SCHEMA::dbo TO public", []step{{sql: "SELECT COUNT(*) FROM dbo.t", err: 229}}},
		{"a fixed role", "REVOKE SELECT ON SCHEMA::dbo TO public; REVOKE SELECT TO pl1; ALTER ROLE db_datareader ADD MEMBER pl1; ALTER ROLE db_datawriter ADD MEMBER pl1", []step{
			{sql: "INSERT INTO dbo.t VALUES (2, 2, 2); UPDATE dbo.t SET a = a + 1 WHERE id = 2; SELECT a FROM dbo.t WHERE id = 2; DELETE FROM dbo.t WHERE id = 2", rows: []string{"3"}},
			{sql: "ALTER TABLE dbo.t ADD x int", err: 4902},
		}},
		{"a role that denies", "ALTER ROLE db_denydatareader ADD MEMBER pl1", []step{
			{sql: "SELECT id FROM dbo.t", err: 229},
			{name: "to update by a condition one must read", sql: "UPDATE dbo.t SET a = 1 WHERE id = 1", err: 229, part: "The SELECT permission"},
			{name: "without one must not", sql: "UPDATE dbo.t SET a = 2"},
			{sql: "MERGE dbo.t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED THEN DELETE;", err: 229},
		}},
		{"UPDATE of a column", "ALTER ROLE db_denydatareader DROP MEMBER pl1; ALTER ROLE db_datawriter DROP MEMBER pl1; GRANT UPDATE ON dbo.t (a) TO pl1", []step{
			{sql: "UPDATE dbo.t SET a = 5 WHERE id = 1"},
			{sql: "UPDATE dbo.t SET secret = 5 WHERE id = 1", err: 230, part: "The UPDATE permission was denied on the column 'secret'"},
			{sql: "DELETE FROM dbo.t WHERE id = 1", err: 229},
		}},
		{"CONTROL of the object", "GRANT CONTROL ON dbo.t TO pl1", []step{{sql: "ALTER TABLE dbo.t ADD x int NULL; ALTER TABLE dbo.t DROP COLUMN x; GRANT SELECT ON dbo.t TO readers; CREATE INDEX i ON dbo.t (a); DROP INDEX i ON dbo.t"}}},
		{"db_ddladmin", "REVOKE CONTROL ON dbo.t FROM pl1; ALTER ROLE db_ddladmin ADD MEMBER pl1", []step{{sql: "CREATE TABLE dbo.made (a int); DROP TABLE dbo.made"}, {sql: "CREATE ROLE x", err: 262}}},
		{"VIEW DATABASE STATE", "ALTER ROLE db_ddladmin DROP MEMBER pl1; GRANT VIEW DATABASE STATE TO pl1", []step{{sql: "SELECT HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'VIEW DATABASE STATE'), COUNT(*) FROM sys.dm_db_partition_stats WHERE row_count > 0", rows: []string{"1|1"}}}},
		{"with the option to grant", "GRANT DELETE ON dbo.t TO pl1 WITH GRANT OPTION", []step{{sql: "GRANT DELETE ON dbo.t TO readers"}, {sql: "GRANT INSERT ON dbo.t TO readers", err: 15151}}},
		{"db_owner", "ALTER ROLE db_owner ADD MEMBER pl1", []step{{sql: "CREATE USER x WITHOUT LOGIN; GRANT SELECT ON dbo.t TO x; DROP USER x; DELETE FROM dbo.t; SELECT USER_NAME(), IS_MEMBER('db_owner')", rows: []string{"pl1|1"}}}},
		{"sysadmin", "ALTER SERVER ROLE sysadmin ADD MEMBER pl1", []step{{sql: "SELECT USER_NAME(), IS_SRVROLEMEMBER('sysadmin'), HAS_PERMS_BY_NAME(NULL, NULL, 'CONTROL SERVER')", rows: []string{"dbo|1|1"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.admin != "" {
				_, err := admin.Exec(tc.admin)
				must(t, err)
			}
			play(t, user, tc.user)
		})
	}
	play(t, admin, []step{
		{sql: "GRANT SELECT ON dbo.nope TO pl1", err: 15151, part: "Cannot find the object 'nope'"},
		{sql: "GRANT SELECT ON dbo.t TO nope", err: 15151, part: "Cannot find the user 'nope'"},
		{sql: "GRANT SELECT ON SCHEMA::nope TO pl1", err: 15151, part: "Cannot find the schema 'nope'"},
		{sql: "GRANT CREATE TABLE ON dbo.t TO pl1", err: 4606},
		{sql: "GRANT SELECT ON dbo.t TO dbo", err: 4624},
		{sql: "GRANT SELECT ON dbo.t TO db_owner", err: 4617},
		{sql: "GRANT VIEW SERVER STATE TO pl1", err: 4621},
		{sql: "REVOKE DELETE ON dbo.t FROM pl1", err: 4611},
		{sql: "REVOKE DELETE ON dbo.t FROM pl1 CASCADE; SELECT class_desc, OBJECT_NAME(major_id), minor_id, USER_NAME(grantee_principal_id), permission_name, state_desc FROM sys.database_permissions WHERE class = 1 ORDER BY permission_name, minor_id",
			rows: []string{"OBJECT_OR_COLUMN|t|0|readers|DELETE|GRANT", "OBJECT_OR_COLUMN|t|0|readers|SELECT|GRANT", "OBJECT_OR_COLUMN|t|2|pl1|UPDATE|GRANT"}},
		{sql: "USE master; GRANT VIEW SERVER STATE, ALTER ANY LOGIN TO pl1; SELECT p.permission_name, p.state_desc FROM sys.server_permissions AS p JOIN sys.server_principals AS l ON l.principal_id = p.grantee_principal_id WHERE l.name = 'pl1' ORDER BY 1; DROP DATABASE [another of permissions]",
			err: 4624},
	})
}

// Microsoft: EXECUTE AS (Transact-SQL), REVERT (Transact-SQL), EXECUTE (Transact-SQL) AS USER.
func TestExecuteAs(t *testing.T) {
	t.Parallel()
	admin := newEmpty(t)
	play(t, admin, []step{
		{sql: "CREATE USER a WITHOUT LOGIN; CREATE USER b WITHOUT LOGIN; CREATE TABLE dbo.t (id int NULL); GRANT SELECT ON dbo.t TO a; CREATE LOGIN ea1 WITH PASSWORD = 'Str0ng!pass'"},
		{sql: "EXECUTE AS USER = 'a'; SELECT USER_NAME(), ORIGINAL_LOGIN(); SELECT COUNT(*) FROM dbo.t", rows: []string{"a|sa", "0"}},
		{name: "it lasts beyond the batch", sql: "INSERT INTO dbo.t VALUES (1)", err: 229},
		{sql: "EXECUTE AS USER = 'b'", err: 15517},
		{sql: "USE master", err: 916},
		{sql: "REVERT; SELECT USER_NAME()", rows: []string{"dbo"}},
		{sql: "EXEC ('SELECT USER_NAME(); SELECT COUNT(*) FROM dbo.t') AS USER = 'b'", err: 229},
		{sql: "SELECT USER_NAME()", rows: []string{"dbo"}},
		{sql: "GRANT IMPERSONATE ON USER::b TO a; EXECUTE AS USER = 'a'; EXECUTE AS USER = 'b'; SELECT USER_NAME(); REVERT; SELECT USER_NAME(); REVERT; SELECT USER_NAME(); REVERT", rows: []string{"b", "a", "dbo"}},
		{sql: "EXECUTE AS USER = 'nope'", err: 15517},
		{sql: "EXECUTE AS LOGIN = 'nope'", err: 15406},
		{sql: "EXECUTE AS LOGIN = 'ea1'", err: 916},
		{sql: "CREATE USER ea1; EXECUTE AS LOGIN = 'ea1'; SELECT SUSER_SNAME(), USER_NAME(), IS_SRVROLEMEMBER('sysadmin'); REVERT", rows: []string{"ea1|ea1|0"}},
		{sql: "EXECUTE AS USER = 'a' WITH NO REVERT; REVERT; SELECT USER_NAME()", rows: []string{"a"}},
	})
	dropLogins(t, open(t, testServer.DSN("master")), "ea1")
}
