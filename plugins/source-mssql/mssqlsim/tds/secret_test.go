package tds

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every place where a statement has a password (Microsoft: CREATE LOGIN, ALTER LOGIN, CREATE CREDENTIAL, CREATE SYMMETRIC KEY, ALTER
// SERVICE MASTER KEY, BACKUP, OPENDATASOURCE, OPENROWSET, ENCRYPTBYPASSPHRASE; sp_addlogin, sp_password and their like). A star at the
// end stands for what is hidden since nobody knows where the password ends.
func TestPasswordsOfStatementsAreHidden(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ sql, shown string }{
		{"CREATE LOGIN a WITH PASSWORD = '5ecret', CHECK_POLICY = OFF", "CREATE LOGIN a WITH PASSWORD = '***', CHECK_POLICY = OFF"},
		{"CREATE LOGIN a WITH PASSWORD=N'5ecret' MUST_CHANGE", "CREATE LOGIN a WITH PASSWORD='***' MUST_CHANGE"},
		{"CREATE LOGIN a WITH PASSWORD = 0x5ec2e7 HASHED", "CREATE LOGIN a WITH PASSWORD = '***' HASHED"},
		{"CREATE LOGIN a WITH PASSWORD /* of 'a' */ = -- this\n '5ecret'", "CREATE LOGIN a WITH PASSWORD /* of 'a' */ = -- this\n '***'"},
		{"CREATE LOGIN [password] WITH [PASSWORD] = '5ecret'", "CREATE LOGIN [password] WITH [PASSWORD] = '***'"},
		{"ALTER LOGIN a WITH PASSWORD = '5ecret1' OLD_PASSWORD = '5ecret2'", "ALTER LOGIN a WITH PASSWORD = '***' OLD_PASSWORD = '***'"},
		{"ALTER LOGIN a WITH PASSWORD '5ecret'", "ALTER LOGIN a WITH PASSWORD '***'"},
		{"CREATE LOGIN a WITH PASSWORD = '5ecret''5ecret", "CREATE LOGIN a WITH PASSWORD = '***'"},
		{"CREATE CREDENTIAL c WITH IDENTITY = 'SHARED ACCESS SIGNATURE', SECRET = '5ecret'", "CREATE CREDENTIAL c WITH IDENTITY = 'SHARED ACCESS SIGNATURE', SECRET = '***'"},
		{"CREATE SYMMETRIC KEY k WITH KEY_SOURCE = '5ecret', IDENTITY_VALUE = '5ecret'", "CREATE SYMMETRIC KEY k WITH KEY_SOURCE = '***', IDENTITY_VALUE = '***'"},
		{"CREATE MASTER KEY ENCRYPTION BY PASSWORD = '5ecret'", "CREATE MASTER KEY ENCRYPTION BY PASSWORD = '***'"},
		{"ALTER SERVICE MASTER KEY WITH OLD_ACCOUNT = 'a', NEW_PASSWORD = '5ecret'", "ALTER SERVICE MASTER KEY WITH OLD_ACCOUNT = 'a', NEW_PASSWORD = '***'"},
		{"BACKUP DATABASE d TO DISK = 'x' WITH MEDIAPASSWORD = '5ecret'", "BACKUP DATABASE d TO DISK = 'x' WITH MEDIAPASSWORD = '***'"},
		{"DECLARE @password nvarchar(20) = N'5ecret'; SELECT 'b'", "DECLARE @password nvarchar(20) = '***'; SELECT 'b'"},
		{"SET @pwd = '5ecret' + N'5ecret'", "SET @pwd = '***' + '***'"},
		{"EXEC sp_addlogin 'a', N'5ecret', 'shop'", "EXEC sp_addlogin '***', '***', '***'"},
		{"EXEC sp_password 0x5ec2e7, '5ecret', 'a'", "EXEC sp_password '***', '***', '***'"},
		{"EXEC sys.[sp_addlinkedsrvlogin] 's', 'false', NULL, 'u', '5ecret'", "EXEC sys.[sp_addlinkedsrvlogin] '***', '***', NULL, '***', '***'"},
		{"SELECT ENCRYPTBYPASSPHRASE('5ecret', 'text')", "SELECT ENCRYPTBYPASSPHRASE('***', '***')"},
		{"EXEC ('ALTER LOGIN a WITH PASSWORD = ''5ecret'''); SELECT '5ecret'", "EXEC ('ALTER LOGIN a WITH PASSWORD = ''***'''*"},
		{"EXEC ('ALTER LOGIN a WITH PASSWORD = ''it's 5ecret''')", "EXEC ('ALTER LOGIN a WITH PASSWORD = ''***'*"},
		{"EXEC ('EXEC (''ALTER LOGIN a WITH PASSWORD = ''''5ecret'''''')')", "EXEC ('EXEC (''ALTER LOGIN a WITH PASSWORD = ''''***''''*"},
		{"EXEC sp_executesql N'CREATE LOGIN a WITH PASSWORD /* */ = 0x5ec2e7 HASHED', N''", "EXEC sp_executesql N'CREATE LOGIN a WITH PASSWORD /* */ = ''***'' HASHED', N''"},
		{"EXEC ('CREATE LOGIN a WITH PASSWORD = ''' + '5ecret' + '''')", "EXEC ('CREATE LOGIN a WITH PASSWORD = *"},
		{"EXEC ('CREATE LOGIN a WITH PASSWORD = ' + '''5ecret''')", "EXEC ('CREATE LOGIN a WITH PASSWORD = *"},
		{"SELECT * FROM OPENDATASOURCE('SQLNCLI', 'Data Source=s;Password=5ecret;User ID=u').d.dbo.t", "SELECT * FROM OPENDATASOURCE('SQLNCLI', 'Data Source=s;Password=***;User ID=u').d.dbo.t"},
		{"SELECT * FROM OPENROWSET('SQLNCLI', 'Server=s;PWD=5ecret', 'SELECT 1')", "SELECT * FROM OPENROWSET('SQLNCLI', 'Server=s;PWD=***', 'SELECT 1')"},
	} {
		got := hide(tc.sql)
		if low := strings.ToLower(got); strings.Contains(low, "5ec") {
			t.Errorf("%s\n  is shown as %s", tc.sql, got)
		}
		if start, cut := strings.CutSuffix(tc.shown, "*"); cut && !strings.HasPrefix(got, start) || !cut && got != tc.shown {
			t.Errorf("%s\n  is shown as %s\n  and not as  %s", tc.sql, got, tc.shown)
		}
	}
	for _, sql := range []string{
		"SELECT 'it''s', N'x', [a'b], \"c'd\", 0x12 /* ' */ -- '\nFROM dbo.t WHERE a = 'b'", "SELECT name FROM sys.sql_logins WHERE is_policy_checked = 1", "SELECT 'unclosed", "SELECT 1 /* open",
		"UPDATE dbo.users SET password = @p1 WHERE id = 'a'", "SELECT password, 'x' FROM dbo.users WHERE name = 'b'", "SELECT N'漢' AS [n]", "EXEC ('SELECT ''a'', ''it''''s''')",
	} {
		if got := hide(sql); got != sql {
			t.Errorf("%s\n  is shown as %s", sql, got)
		}
	}
}

// A call shows no value that is a password: by the name of the procedure or of the parameter, or by the text that has a parameter in
// the place of one.
func TestPasswordsOfCallsAreHidden(t *testing.T) {
	t.Parallel()
	text := func(name, v string) Param { return Param{Name: name, Type: NVarChar(100), Value: v} }
	for what, c := range map[string]rpcCall{
		"a procedure":                      {proc: "master.dbo.sp_addlogin", params: []Param{text("", "a"), text("", "5ecret")}},
		"bytes":                            {proc: "sp_setapprole", params: []Param{text("", "a"), {Type: VarBinary(8), Value: []byte("5ecret")}}},
		"the name of a parameter":          {proc: "dbo.p", params: []Param{text("@OldPassword", "5ecret")}},
		"a text":                           {proc: "sp_executesql", params: []Param{text("", "CREATE LOGIN a WITH PASSWORD = '5ecret'")}},
		"a text in a variant":              {proc: "sp_executesql", params: []Param{{Type: Variant, Value: Typed{NVarChar(100), "CREATE LOGIN a WITH PASSWORD = '5ecret'"}}}},
		"a parameter of a text":            {proc: "sp_executesql", params: []Param{text("", "EXEC sp_addlogin @a, @b"), text("", "@a sysname, @b sysname"), text("@a", "x"), text("@b", "5ecret")}},
		"a parameter in place of one":      {proc: "sp_executesql", params: []Param{text("", "UPDATE u SET password = @b"), text("", "@b sysname"), text("@b", "5ecret")}},
		"a text that a procedure executes": {proc: "sp_prepexec", params: []Param{{Type: Int}, text("", ""), text("", "EXEC ('ALTER LOGIN a WITH PASSWORD = ''5ecret''')")}},
	} {
		if got := strings.Join(c.shown(), ", "); strings.Contains(got, "5ecret") || strings.Contains(got, "0x356563726574") {
			t.Errorf("%s: %s", what, got)
		}
		if !c.secretive() {
			t.Errorf("%s: its errors are shown", what)
		}
	}
	plain := rpcCall{proc: "dbo.p", params: []Param{text("@a", "b"), {Name: "@n", Type: Int, Value: int64(7)}}}
	if got := strings.Join(plain.shown(), ", "); got != `@a nvarchar(100) = "b", @n int = 7` || plain.secretive() {
		t.Error(got)
	}
}

// The signs that spare a text the search are in all that the search finds.
func TestWhateverIsSecretHasASign(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]pattern{"calls": secretCall, "words": secretWord} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := rapid.StringMatching(p.expression.String())
			rapid.Check(t, func(t *rapid.T) {
				if text := secret.Draw(t, "text"); !p.in(text) {
					t.Errorf("%q is not found", text)
				}
			})
		})
	}
}
