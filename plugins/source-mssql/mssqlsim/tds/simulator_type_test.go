package tds_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// columnTypes are types with what COLMETADATA says of a nullable column of them, and of one that is not
// (Microsoft: [MS-TDS] Data Types): the types of fixed length have a token of their own for NOT NULL.
var columnTypes = []struct{ name, nullable, not string }{
	{"tinyint", "26/1", "30/1"}, {"smallint", "26/2", "34/2"}, {"int", "26/4", "38/4"}, {"bigint", "26/8", "7f/8"}, {"bit", "68/1", "32/1"},
	{"real", "6d/4", "3b/4"}, {"float", "6d/8", "3e/8"}, {"smallmoney", "6e/4", "7a/4"}, {"money", "6e/8", "3c/8"}, {"smalldatetime", "6f/4", "3a/4"}, {"datetime", "6f/8", "3d/8"},
	{"decimal(9, 2)", "6a/5(9,2)", ""}, {"decimal(19, 0)", "6a/9(19,0)", ""}, {"decimal(28, 28)", "6a/13(28,28)", ""}, {"decimal(38, 4)", "6a/17(38,4)", ""}, {"numeric(5, 1)", "6c/5(5,1)", ""},
	{"date", "28/0", ""}, {"time(0)", "29/0(0)", ""}, {"time(7)", "29/0(7)", ""}, {"datetime2(3)", "2a/0(3)", ""}, {"datetimeoffset(5)", "2b/0(5)", ""}, {"uniqueidentifier", "24/16", ""},
	{"char(3)", "af/3", ""}, {"varchar(8000)", "a7/8000", ""}, {"varchar(max)", "a7/65535", ""}, {"nchar(3)", "ef/6", ""}, {"nvarchar(4000)", "e7/8000", ""}, {"nvarchar(max)", "e7/65535", ""}, {"sysname", "e7/256", ""},
	{"binary(10)", "ad/10", ""}, {"varbinary(20)", "a5/20", ""}, {"varbinary(max)", "a5/65535", ""}, {"text", "23/2147483647 of [shop][dbo][t]", ""}, {"ntext", "63/2147483646 of [shop][dbo][t]", ""}, {"image", "22/2147483647 of [shop][dbo][t]", ""},
	{"xml", "f1/65535 schema=0", ""}, {"sql_variant", "62/8009", ""}, {"hierarchyid", "f0/892 shop.sys.hierarchyid", ""}, {"geography", "f0/65535 shop.sys.geography", ""}, {"geometry", "f0/65535 shop.sys.geometry", ""},
	{"varchar(5) COLLATE Greek_CI_AS", "a7/5 0804d00000", ""}, {"nchar(2) COLLATE Japanese_CI_AS", "ef/4 1104d00000", ""}, {"varchar(9) COLLATE Latin1_General_100_CI_AS_SC_UTF8", "a7/9 0904d02400", ""},
}

func TestSimulatorSendsTheTypesOfColumns(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	for _, typ := range columnTypes {
		c.run("DROP TABLE IF EXISTS dbo.t", "CREATE TABLE dbo.t (a "+typ.name+" NULL, b "+typ.name+" NOT NULL)")
		not := typ.not
		if not == "" {
			not = typ.nullable
		}
		if !assertTokens(t, c.batch("SELECT a, b FROM dbo.t"), "COLMETADATA a type="+typ.nullable+" flags=09 user=0, b type="+not+" flags=08 user=0\nDONE status=10 cmd=c1 rows=0") {
			t.Logf("%s", typ.name)
		}
	}
	c.run("CREATE TABLE dbo.k (id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, n int NULL, c AS n + 1, v rowversion NOT NULL) INSERT INTO dbo.k (n) VALUES (NULL), (5)")
	assertTokens(t, c.batch("SELECT * FROM dbo.k WHERE id < 0"), "COLMETADATA id type=38/4 flags=18 user=0, n type=26/4 flags=09 user=0, c type=26/4 flags=29 user=0, v type=ad/8 flags=08 user=80\nDONE status=10 cmd=c1 rows=0")
	// An outer join makes what comes from its other side nullable; what is computed of it is nullable, too (Microsoft: ALTER TABLE
	// computed_column_definition (Transact-SQL), on overflows), but ISNULL with a value that is not; so are counts (Microsoft: COUNT
	// (Transact-SQL), Return types).
	assertTokens(t, c.batch("SELECT k.id, o.id AS o, k.id + 1 AS s, ISNULL(k.n, 0) AS i, CASE WHEN k.id = 1 THEN 2 END AS w FROM dbo.k AS k LEFT JOIN dbo.k AS o ON o.id = k.n WHERE k.id = 2"),
		"COLMETADATA id type=38/4 flags=18 user=0, o type=26/4 flags=19 user=0, s type=26/4 flags=09 user=0, i type=38/4 flags=08 user=0, w type=26/4 flags=09 user=0\nNBCROW 2, NULL, 3, 5, NULL\nDONE status=10 cmd=c1 rows=1")
	assertTokens(t, c.batch("SELECT COUNT(*) AS c, ISNULL(COUNT(*), 0) AS i, COUNT_BIG(*) AS b, 1 + 1 AS k, -7 AS m FROM dbo.k"),
		"COLMETADATA c type=26/4 flags=09 user=0, i type=38/4 flags=08 user=0, b type=26/8 flags=09 user=0, k type=38/4 flags=08 user=0, m type=38/4 flags=08 user=0\nROW 2, 2, 2, 2, -7\nDONE status=10 cmd=c1 rows=1")
	// sp_describe_first_result_set and SELECT INTO say the same.
	const columns = "SELECT id, id + 0 AS a, -id AS m, ISNULL(id + 0, 0) AS i, COUNT(*) AS c, 2 * 3 AS k, 'a' AS t, n FROM dbo.k GROUP BY id, n"
	described := c.batch("EXEC sp_describe_first_result_set N'" + strings.ReplaceAll(columns, "'", "''") + "'")
	c.run("SELECT * INTO dbo.made FROM (" + columns + ") AS x")
	made := show7(c.batch("SELECT CAST(STRING_AGG(name + N'=' + CAST(is_nullable AS nvarchar(1)), N' ') WITHIN GROUP (ORDER BY column_id) AS nvarchar(200)) AS l FROM sys.columns WHERE object_id = OBJECT_ID(N'dbo.made')"))
	const nullable = "id=0 a=1 m=1 i=0 c=1 k=0 t=0 n=1"
	if !strings.Contains(made, "ROW \""+nullable+"\"") {
		t.Error(made)
	}
	var told []string
	for _, k := range described {
		if values := strings.Split(k.text, ", "); strings.HasSuffix(k.name, "ROW") {
			told = append(told, strings.Trim(values[2], "\"")+"="+strings.TrimPrefix(values[3], "0x0"))
		}
	}
	if got := strings.Join(told, " "); got != nullable {
		t.Errorf("sp_describe_first_result_set: %s", got)
	}
}

// What clients of old versions get in place of types that came later; counts have four bytes then, and there are no
// ENVCHANGEs of transactions and no NBCROW (Microsoft: [MS-TDS] Data Types, DONE).
func TestSimulatorSendsOldTypesToOldClients(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	loggedIn(t, addr, tds74).run("CREATE TABLE dbo.t (d date NULL, t time(3) NULL, m datetime2(0) NULL, o datetimeoffset(7) NULL, v varchar(max) NULL, n nvarchar(max) NULL, b varbinary(max) NULL, x xml NULL, h hierarchyid NULL, i int NOT NULL)",
		"INSERT INTO dbo.t VALUES ('2026-01-02', '03:04:05.678', '2026-01-02T03:04:05', '2026-01-02T03:04:05.1234567 +01:00', 'ab', N'ü', 0x0102, N'<a/>', 0x58, 7), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8)")
	moments := "d type=e7/20 flags=09 user=0, t type=e7/24 flags=09 user=0, m type=e7/38 flags=09 user=0, o type=e7/68 flags=09 user=0"
	texts := `"2026-01-02", "03:04:05.678", "2026-01-02 03:04:05", "2026-01-02 03:04:05.1234567 +01:00"`
	const nulls = "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 8"
	const of = " of [shop.dbo.t] flags=09 user=0"
	long := ", v type=23/2147483647" + of + ", n type=63/2147483646" + of + ", b type=22/2147483647" + of + ", x type=63/2147483646" + of + ", h type=22/2147483647" + of
	now := ", v type=a7/65535 flags=09 user=0, n type=e7/65535 flags=09 user=0, b type=a5/65535 flags=09 user=0, x type=f1/65535 schema=0 flags=09 user=0, h type=f0/892 shop.sys.hierarchyid flags=09 user=0"
	for _, tc := range []struct {
		version                     uint32
		moments, texts, longer, row string
	}{
		{tds71, moments, texts, long, "ROW"}, {tds72, moments, texts, now, "ROW"},
		{tds73, "d type=28/0 flags=09 user=0, t type=29/0(3) flags=09 user=0, m type=2a/0(0) flags=09 user=0, o type=2b/0(7) flags=09 user=0", "0x21490b, 0x2e8ba800, 0x252b0021490b, 0x07afa3551121490b3c00", now, "NBCROW"},
		{tds74, "d type=28/0 flags=09 user=0, t type=29/0(3) flags=09 user=0, m type=2a/0(0) flags=09 user=0, o type=2b/0(7) flags=09 user=0", "0x21490b, 0x2e8ba800, 0x252b0021490b, 0x07afa3551121490b3c00", now, "NBCROW"},
	} {
		if !assertTokens(t, loggedIn(t, addr, tc.version).batch("SELECT * FROM dbo.t ORDER BY i"), "COLMETADATA "+tc.moments+tc.longer+", i type=38/4 flags=08 user=0\nROW "+tc.texts+`, 0x6162, "ü", 0x0102, "<a/>", 0x58, 7`+"\n"+tc.row+" "+nulls+"\nDONE status=10 cmd=c1 rows=2") {
			t.Logf("version %x", tc.version)
		}
	}
}

// Columns of text, ntext and image name the table that they are of, wholly qualified and in parts, also where they come through a
// query in FROM; what no table has in it names none (Microsoft: [MS-TDS] COLMETADATA, TableName).
func TestSimulatorNamesTheTablesOfLongColumns(t *testing.T) {
	t.Parallel()
	_, addr := newSimulator(t, mssqlsim.Options{})
	loggedIn(t, addr, tds74).run("CREATE SCHEMA arch", "CREATE TABLE arch.[a.b] (id int NOT NULL PRIMARY KEY, n ntext NULL, i image NULL)", "CREATE DATABASE other", "CREATE TABLE other.dbo.o (id int NOT NULL, x text NULL)",
		"EXEC sys.sp_cdc_enable_db EXEC sys.sp_cdc_enable_table N'arch', N'a.b', @capture_instance = N'ab', @role_name = NULL")
	const (
		n    = "n type=63/2147483646"
		i    = "i type=22/2147483647"
		x    = "x type=23/2147483647"
		tail = " flags=09 user=0"
		end  = "\nDONE status=10 cmd=c1 rows=0"
	)
	for _, tc := range []struct{ sql, new, old string }{
		{"SELECT n, i FROM arch.[a.b]", n + " of [shop][arch][a.b]" + tail + ", " + i + " of [shop][arch][a.b]" + tail, n + " of [shop.arch.a.b]" + tail + ", " + i + " of [shop.arch.a.b]" + tail},
		{"SELECT b.n AS n FROM (SELECT * FROM arch.[a.b]) AS b", n + " of [shop][arch][a.b]" + tail, n + " of [shop.arch.a.b]" + tail},
		{"WITH c AS (SELECT x FROM other.dbo.o) SELECT x FROM c", x + " of [other][dbo][o]" + tail, x + " of [other.dbo.o]" + tail},
		{"SELECT n FROM cdc.ab_CT", n + " of [shop][cdc][ab_CT]" + tail, n + " of [shop.cdc.ab_CT]" + tail},
		{"SELECT CAST(x AS text) AS x FROM (SELECT NULL AS x) AS a WHERE 1 = 0", x + " of []" + tail, x + " of []" + tail},
		{"SELECT n FROM arch.[a.b] UNION ALL SELECT n FROM arch.[a.b]", n + " of []" + tail, n + " of []" + tail},
	} {
		for ver, want := range map[uint32]string{tds74: tc.new, tds72: tc.new, tds71: tc.old} {
			if !assertTokens(t, loggedIn(t, addr, ver).batch(tc.sql), "COLMETADATA "+want+end) {
				t.Logf("%s, version %x", tc.sql, ver)
			}
		}
	}
	c := loggedIn(t, addr, tds74)
	c.run("CREATE TABLE #p (x text NULL)")
	if got := show7(c.batch("SELECT x FROM #p")); !strings.Contains(got, " of [tempdb][dbo][#p") {
		t.Error(got)
	}
}

// udtParam is TYPE_INFO and value of a parameter of a CLR type: its names without a size, then the value in chunks of two bytes at
// most, behind its length or the sign that it is not known; nil is NULL.
func udtParam(name string, unknownLength bool, value []byte) []byte {
	b := []byte{0xF0}
	for _, part := range []string{"", "sys", name} {
		u := utf16le(part)
		b = append(append(b, byte(len(u)/2)), u...)
	}
	return plp(b, unknownLength, value)
}

func plp(b []byte, unknownLength bool, value []byte) []byte {
	switch {
	case value == nil:
		return binary.LittleEndian.AppendUint64(b, 1<<64-1)
	case unknownLength:
		b = binary.LittleEndian.AppendUint64(b, 1<<64-2)
	default:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(value)))
	}
	for len(value) > 0 {
		n := min(2, len(value))
		b = append(binary.LittleEndian.AppendUint32(b, uint32(n)), value[:n]...)
		value = value[n:]
	}
	return binary.LittleEndian.AppendUint32(b, 0)
}

// CLR types come in as bytes with the names of their type, and go out as they came, in rows and as output parameters, where
// TYPE_INFO has the size, too (Microsoft: [MS-TDS] CLR Instances; Partially Length-prefixed Bytes; RETURNVALUE).
func TestSimulatorTakesTypesOfTheCLR(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	point := "e6100000010c" + "0000000000004740" + "0000000000004940" // SRID 4326, version 1, valid and a point, 46 and 50
	for _, tc := range []struct{ name, size, bytes, asText, text string }{
		{"hierarchyid", "892", "5b5e", "@p.ToString()", "/1/2/3/"},
		{"hierarchyid", "892", "", "@p.ToString()", "/"},
		{"geography", "65535", point, "@p.STAsText()", "POINT (50 46)"},
		{"geometry", "65535", "00000000010c" + point[12:], "@p.STAsText()", "POINT (46 50)"},
	} {
		value, err := hex.DecodeString(tc.bytes)
		if err != nil {
			t.Fatal(err)
		}
		for _, unknown := range []bool{false, true} {
			got := c.call(rawCallByNumber(10, rawParam{v: "SELECT " + tc.asText + " AS t, @p AS p SET @q = @p"}, rawParam{v: "@p " + tc.name + ", @q " + tc.name + " OUTPUT"},
				rawParam{v: udtParam(tc.name, unknown, value)}, rawParam{v: udtParam(tc.name, false, nil), output: true}))
			text := show7(got)
			if !strings.Contains(text, ", p type=f0/"+tc.size+" shop.sys."+tc.name+" flags=09 user=0\nROW \""+tc.text+"\", 0x"+tc.bytes+"\n") || !strings.Contains(text, "\nRETURNVALUE ordinal=3 name=@q status=1 0x"+tc.bytes+"\nDONEPROC") {
				t.Errorf("%s 0x%s: %s", tc.name, tc.bytes, text)
			}
		}
		got := show7(c.call(rawCallByNumber(10, rawParam{v: "SELECT @p AS p"}, rawParam{v: "@p " + tc.name}, rawParam{v: udtParam(tc.name, false, nil)})))
		if !strings.Contains(got, " flags=09 user=0\nROW NULL\n") && !strings.Contains(got, " flags=09 user=0\nNBCROW NULL\n") {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}

// xml comes in as UTF-16 (Microsoft: [MS-TDS] XML Values), and goes out so, in rows and as an output parameter.
func TestSimulatorTakesXML(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	param := func(text string, unknown bool) rawParam {
		return rawParam{v: plp([]byte{0xF1, 0}, unknown, utf16le(text))}
	}
	for _, unknown := range []bool{false, true} {
		got := show7(c.call(rawCallByNumber(10, rawParam{v: "SELECT @p AS p, CAST(@p AS nvarchar(max)) AS t SET @q = @p"}, rawParam{v: "@p xml, @q xml OUTPUT"}, param(`<a b="ü">漢</a>`, unknown), rawParam{v: plp([]byte{0xF1, 0}, false, nil), output: true})))
		if !strings.Contains(got, "COLMETADATA p type=f1/65535 schema=0 flags=09 user=0, t type=e7/65535 flags=09 user=0\nROW \"<a b=\\\"ü\\\">漢</a>\", \"<a b=\\\"ü\\\">漢</a>\"\n") || !strings.Contains(got, "\nRETURNVALUE ordinal=3 name=@q status=1 \"<a b=\\\"ü\\\">漢</a>\"\nDONEPROC") {
			t.Error(got)
		}
	}
}

// The base type travels with a sql_variant, with its properties (Microsoft: [MS-TDS] SSVARIANT Instance).
func TestSimulatorSendsEveryBaseTypeOfAVariant(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	for _, tc := range []struct{ expression, bytes string }{
		{"CAST(200 AS tinyint)", "3000c8"}, {"CAST(-2 AS smallint)", "3400feff"}, {"7", "380007000000"}, {"CAST(7 AS bigint)", "7f000700000000000000"}, {"CAST(1 AS bit)", "320001"},
		{"CAST(1.5 AS real)", "3b000000c03f"}, {"CAST(1.5 AS float)", "3e00000000000000f83f"}, {"CAST(1.5 AS money)", "3c0000000000983a0000"}, {"CAST(1.5 AS smallmoney)", "7a00983a0000"},
		{"CAST('1900-01-02' AS datetime)", "3d000100000000000000"}, {"CAST('1900-01-02T00:01:00' AS smalldatetime)", "3a0001000100"}, {"CAST('0001-01-02' AS date)", "2800010000"}, {"CAST('00:00:01' AS time(0))", "290100010000"},
		{"CAST('0001-01-02T00:00:01' AS datetime2(0))", "2a010001000001" + "0000"}, {"CAST('0001-01-02T00:00:01 +00:00' AS datetimeoffset(0))", "2b0100010000010000" + "0000"},
		{"CAST(-1.25 AS decimal(9, 2))", "6a020902007d000000"}, {"CAST(1.5 AS numeric(20, 1))", "6c021401010f00000000000000" + "00000000"}, {"CAST('00112233-4455-6677-8899-AABBCCDDEEFF' AS uniqueidentifier)", "240033221100554477668899aabbccddeeff"},
		{"CAST('ab' AS varchar(5))", "a7070904d0003405006162"}, {"CAST('ab' AS char(3))", "af070904d00034030061" + "6220"}, {"CAST(N'a' AS nvarchar(5))", "e7070904d000340a006100"}, {"CAST(N'a' AS nchar(2))", "ef070904d0003404006100" + "2000"},
		{"CAST(0x01 AS varbinary(5))", "a50205" + "0001"}, {"CAST(0x01 AS binary(2))", "ad0202000100"},
	} {
		if !assertTokens(t, c.batch("SELECT CAST("+tc.expression+" AS sql_variant) AS v"), "COLMETADATA v type=62/8009 flags=08 user=0\nROW 0x"+tc.bytes+"\nDONE status=10 cmd=c1 rows=1") {
			t.Logf("%s", tc.expression)
		}
	}
}

// Values of (max) types go as partially length-prefixed bytes: their length, chunks, an empty chunk.
func TestSimulatorSendsLongValuesInChunks(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	got := c.batch("SELECT REPLICATE(CAST(N'ü' AS nvarchar(max)), 20000) AS n, CAST(N'' AS nvarchar(max)) AS e, CAST(NULL AS varbinary(max)) AS z")
	want := "COLMETADATA n type=e7/65535 flags=09 user=0, e type=e7/65535 flags=08 user=0, z type=a5/65535 flags=09 user=0\nNBCROW \"" + strings.Repeat("ü", 20000) + "\", \"\", NULL\nDONE status=10 cmd=c1 rows=1"
	if text := show7(got); text != want {
		t.Errorf("%d characters: %.200s", len(text), text)
	}
}

// A sql_variant comes in with its base type, too, and goes out as it came.
func TestSimulatorTakesVariantsWithTheirBaseType(t *testing.T) {
	t.Parallel()
	c := simulated(t, tds74)
	for _, tc := range []struct{ base, bytes string }{
		{"int", "380007000000"}, {"tinyint", "3000c8"}, {"bit", "320001"}, {"smallmoney", "7a00983a0000"}, {"datetime", "3d000100000000000000"}, {"date", "2800010000"}, {"time", "290100010000"}, {"datetime2", "2a0100010000010000"},
		{"decimal", "6a020902007d000000"}, {"varchar", "a7070904d0003405006162"}, {"nvarchar", "e7070904d000340a006100"}, {"binary", "ad0202000100"}, {"uniqueidentifier", "240033221100554477668899aabbccddeeff"},
	} {
		value, err := hex.DecodeString(tc.bytes)
		if err != nil {
			t.Fatal(err)
		}
		p := binary.LittleEndian.AppendUint32([]byte{0x62, 0x49, 0x1F, 0, 0}, uint32(len(value)))
		got := show7(c.call(rawCallByNumber(10, rawParam{v: "SELECT CAST(SQL_VARIANT_PROPERTY(@p, 'BaseType') AS nvarchar(30)) AS b, @p AS v"}, rawParam{v: "@p sql_variant"}, rawParam{v: append(p, value...)})))
		if !strings.Contains(got, "ROW \""+tc.base+"\", 0x"+tc.bytes+"\n") {
			t.Errorf("%s: %s", tc.base, got)
		}
	}
}
