package mssqlsim

import "testing"

// A name of SERVERPROPERTY's page is answered or refused, never NULL as if it were none.
func TestServerProperties(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		// Microsoft: SERVERPROPERTY (Transact-SQL)
		{"edition", "SELECT SERVERPROPERTY('Edition'), SERVERPROPERTY('EditionID'), SERVERPROPERTY('EngineEdition')", "Developer Edition (64-bit)|-2117995310|3"},
		{"parts of the version", "SELECT PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), 4), SERVERPROPERTY('ProductMajorVersion'), SERVERPROPERTY('ProductMinorVersion'), SERVERPROPERTY('ProductBuild')", "16|16|0|4195"},
		{"what is not there", "SELECT CAST(SERVERPROPERTY('IsFullTextInstalled') AS int), CAST(SERVERPROPERTY('IsSingleUser') AS int), CAST(SERVERPROPERTY('IsLocalDB') AS int), CAST(SERVERPROPERTY('FilestreamConfiguredLevel') AS int)", "0|0|0|0"},
		{"licenses", "SELECT SERVERPROPERTY('LicenseType'), SERVERPROPERTY('NumLicenses')", "DISABLED|NULL"},
		{"default instance", "SELECT SERVERPROPERTY('InstanceName'), SERVERPROPERTY('MachineName')", "NULL|MSSQLSIM"},
		{"no property", "SELECT SERVERPROPERTY('NoSuchProperty')", "NULL"},
		{"without an answer", "SELECT SERVERPROPERTY('InstanceDefaultDataPath')", "refused: mssqlsim does not understand SERVERPROPERTY of InstanceDefaultDataPath"},
	})
}

// Functions in FROM that have no schema.
func TestGlobalFunctions(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		// Microsoft: STRING_SPLIT (Transact-SQL)
		{"STRING_SPLIT", "SELECT value FROM STRING_SPLIT('Lorem ipsum dolor sit amet.', ' ')", "Lorem;ipsum;dolor;sit;amet."},
		{"empty parts", "SELECT COUNT(*) FROM STRING_SPLIT(',a,,b', ',') WHERE value = ''", "2"},
		{"an empty text", "SELECT COUNT(*) FROM STRING_SPLIT('', ',')", "1"},
		{"NULL", "SELECT COUNT(*) FROM STRING_SPLIT(CAST(NULL AS varchar(10)), ',')", "0"},
		{"type of the text", "SELECT value FROM STRING_SPLIT(CAST('a' AS varchar(20)), ',')", "~varchar(20) a"},
		{"type of a Unicode separator", "SELECT value FROM STRING_SPLIT(CAST('a' AS varchar(20)), N',')", "~nvarchar(20) a"},
		{"ordinal", "SELECT value, ordinal FROM STRING_SPLIT('b,a', ',', 1) ORDER BY value", "a|2;b|1"},
		{"no ordinal", "SELECT * FROM STRING_SPLIT('b', ',', 0)", "b"},
		{"ordinal that is not wanted", "SELECT ordinal FROM STRING_SPLIT('b', ',')", "error 207"},
		{"applied", "SELECT x.id, s.value FROM (VALUES (1, 'a,b'), (2, 'c'), (3, NULL)) AS x (id, list) CROSS APPLY STRING_SPLIT(x.list, ',') AS s ORDER BY 1, 2", "1|a;1|b;2|c"},
		{"not applied", "SELECT * FROM (VALUES ('a,b')) AS x (list), STRING_SPLIT(x.list, ',') AS s", "error 4104"},
		{"of the row around a query", "SELECT x.list, (SELECT COUNT(*) FROM STRING_SPLIT(x.list, ',')) FROM (VALUES ('a,b'), ('c')) AS x (list) ORDER BY 1", "a,b|2;c|1"},
		{"in a condition", "SELECT 1 WHERE 2 IN (SELECT CAST(value AS int) FROM STRING_SPLIT('1,2', ','))", "1"},
		{"a long separator", "SELECT value FROM STRING_SPLIT('a', 'ab')", "error 214"},
		{"GENERATE_SERIES is not built", "SELECT value FROM GENERATE_SERIES(1, 3)", "refused: mssqlsim does not understand the function GENERATE_SERIES in FROM"},
		{"OPENJSON is not built", "SELECT * FROM OPENJSON('[1]')", "refused: mssqlsim does not understand the function OPENJSON"},
	})
}
