package mssqlsim

import "testing"

// Microsoft: SQL Server Collation Name (Transact-SQL): the name says the code page; Windows Collation Name (Transact-SQL): the locale
// does. What goes out in another page comes in as other characters.
func TestTextGoesOutInTheCodePageOfItsCollation(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for collation, text := range map[string]string{
		"SQL_Latin1_General_CP1250_CI_AS": "cześć", "SQL_Latin1_General_CP1251_CS_AS": "Привет", "SQL_Latin1_General_CP1253_CI_AI": "Ωμέγα", "SQL_Latin1_General_CP1254_CI_AS": "ışğ",
		"SQL_Latin1_General_CP1255_CI_AS": "שלום", "SQL_Latin1_General_CP1256_CI_AS": "سلام", "SQL_Latin1_General_CP1257_CI_AS": "ačiū", "SQL_Latin1_General_CP437_CI_AS": "é█Ω",
		"SQL_Latin1_General_CP850_BIN": "é█Á", "SQL_Croatian_CP1250_CI_AS": "đačić", "SQL_Ukrainian_CP1251_CI_AS": "Україна", "SQL_Lithuanian_CP1257_CS_AS": "ė", "SQL_EBCDIC037_CP1_CS_AS": "é",
		"Macedonian_FYROM_90_CI_AS": "Ѓорѓи", "Serbian_Latin_100_CI_AS": "Đorđe", "Serbian_Cyrillic_100_CI_AS": "Ђорђе", "Bosnian_Latin_100_CI_AS": "čšž", "Bosnian_Cyrillic_100_CI_AS": "Ћ",
		"Kazakh_90_CI_AS": "Ќ", "Uzbek_Latin_90_CI_AS": "ş", "Tatar_100_BIN2": "Ж", "Azeri_Cyrillic_100_CI_AS": "Ж", "Turkmen_100_CI_AS": "ž", "Uighur_100_CI_AS": "پ", "Dari_100_CI_AS": "پ",
		"Japanese_XJIS_140_CI_AS": "日本", "Korean_Wansung_CS_AS": "가", "Chinese_Traditional_Pinyin_100_CI_AS": "中", "Georgian_Modern_Sort_CI_AS": "é",
		"greek_ci_as": "Ω",
	} {
		equal(t, query(t, conn, "SELECT CAST(N'"+text+"' COLLATE "+collation+" AS varchar(40))"), []string{text})
	}
}

// Microsoft: Database Engine errors 448, 459; Collation and Unicode Support: Unicode-only collations.
func TestCollationsThatCannotBe(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, tc := range []struct {
		sql    string
		number int32
		part   string
	}{
		{"SELECT N'a' COLLATE Greek_CI_FOO", 448, "Greek_CI_FOO"}, {"SELECT N'a' COLLATE Foo_CI_AS", 448, "Foo_CI_AS"}, {"SELECT N'a' COLLATE Lithuanian_Classic_CI_AS", 50001, "Lithuanian_Classic_CI_AS"},
		{"CREATE TABLE dbo.nowhere (a varchar(5) COLLATE Foo_BIN)", 448, "Foo_BIN"}, {"CREATE TABLE dbo.nowhere (a varchar(5) COLLATE Khmer_100_CI_AS)", 459, "Khmer_100_CI_AS"},
		{"SELECT 'a' COLLATE Indic_General_100_CI_AS", 459, "Indic_General_100_CI_AS"}, {"SELECT CAST(N'a' COLLATE Indic_General_100_CI_AS AS varchar(5))", 459, "Indic_General_100_CI_AS"},
	} {
		_, err := tryQuery(conn, tc.sql)
		wantError(t, err, tc.number, tc.part)
	}
	equal(t, query(t, conn, "SELECT N'ខ្មែរ' COLLATE Khmer_100_CI_AS"), []string{"ខ្មែរ"})
	equal(t, query(t, conn, "SELECT CASE WHEN 'a' COLLATE latin1_general_cs_as = 'A' THEN 1 ELSE 0 END"), []string{"0"}) // names have no case
}

// Microsoft: char and varchar (Transact-SQL): n is bytes, a conversion to another code page loses characters; nchar and nvarchar
// (Transact-SQL): a constant without N is in the code page of the database; LEN, DATALENGTH (Transact-SQL).
func TestWhatACodePageLacksIsLostWhereTextIsConverted(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for _, tc := range []struct{ what, sql, want string }{
		{"a constant without N", "SELECT CASE WHEN '漢' = '?' THEN 1 ELSE 0 END, CASE WHEN N'漢' = '?' THEN 1 ELSE 0 END", "1|0"},
		{"a conversion", "SELECT CASE WHEN CAST(N'a漢' AS varchar(5)) = 'a?' THEN 1 ELSE 0 END, LEN(CAST(N'😀' AS varchar(5)))", "1|2"},
		{"a conversion to Unicode comes too late", "SELECT CAST(CAST(N'ł' AS varchar(5)) AS nvarchar(5)), CAST(CAST(N'ł' COLLATE Polish_CI_AS AS varchar(5)) AS nvarchar(5))", "l|ł"},
		{"COLLATE of text that is not Unicode", "SELECT 'Ωé' COLLATE Greek_CI_AS, CAST('é' COLLATE Cyrillic_General_CI_AS AS nvarchar(5)), 'é' COLLATE French_CI_AS", "Oe|e|é"},
		{"bytes of two-byte pages", "SELECT DATALENGTH(CAST(N'日本a' COLLATE Japanese_CI_AS AS varchar(20))), LEN(CAST(N'日本a ' COLLATE Japanese_CI_AS AS varchar(20))), DATALENGTH(CAST(N'日本' COLLATE Japanese_CI_AS AS char(8)))", "5|3|8"},
		{"bytes of UTF-8", "SELECT DATALENGTH(CAST(N'é漢😀' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(20))), LEN(CAST(N'é漢😀' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(20)))", "9|3"},
		{"CAST cuts whole characters", "SELECT CAST(N'日本' COLLATE Japanese_CI_AS AS varchar(3)), DATALENGTH(CAST(N'漢字' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(5)))", "日|3"},
		{"LEN of supplementary characters", "SELECT LEN(N'😀'), LEN(N'😀' COLLATE Latin1_General_100_CI_AS_SC)", "2|1"},
		{"bytes and back", "SELECT CAST(CAST(N'Ω' COLLATE Greek_CI_AS AS varchar(5)) AS varbinary(5)), CAST(CAST(0x81E9 AS varchar(5)) AS varbinary(5)), ASCII(CAST(N'Ω' COLLATE Greek_CI_AS AS varchar(5)))", "0xD9|0x81E9|217"},
	} {
		if got := query(t, conn, tc.sql); len(got) != 1 || got[0] != tc.want {
			t.Errorf("%s: %s, want %s", tc.what, got, tc.want)
		}
	}
	exec(t, conn, "CREATE TABLE dbo.kept (id int NOT NULL PRIMARY KEY, d varchar(4), g varchar(4) COLLATE Greek_CI_AS, j varchar(4) COLLATE Japanese_CI_AS, u varchar(4) COLLATE Latin1_General_100_CI_AS_SC_UTF8, n nvarchar(4))")
	exec(t, conn, "INSERT INTO dbo.kept VALUES (1, N'ab漢', N'Ω漢', N'日本', N'漢', N'漢字')")
	equal(t, query(t, conn, "SELECT CAST(d AS nvarchar(4)), CAST(g AS nvarchar(4)), CAST(j AS nvarchar(4)), n, DATALENGTH(d), DATALENGTH(g), DATALENGTH(j), DATALENGTH(u), DATALENGTH(n) FROM dbo.kept WHERE d = 'ab?' AND g LIKE N'_?'"), []string{"ab?|Ω?|日本|漢字|3|2|4|3|4"})
	for _, set := range []string{"j = N'日本a'", "u = N'漢字'", "d = N'abcd漢'"} {
		_, err := conn.ExecContext(t.Context(), "UPDATE dbo.kept SET "+set)
		wantError(t, err, 2628, "column '"+set[:1]+"'")
	}
}

// Microsoft: COLLATIONPROPERTY (Transact-SQL), sys.fn_helpcollations (Transact-SQL).
func TestPropertiesOfCollations(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT COLLATIONPROPERTY('Traditional_Spanish_CS_AS_KS_WS', 'CodePage'), COLLATIONPROPERTY('German_PhoneBook_100_CI_AI', 'lcid'), COLLATIONPROPERTY('Greek_CI_AS', 'ComparisonStyle'), COLLATIONPROPERTY('Greek_100_CI_AS', 'Version'), COLLATIONPROPERTY('Greek_BIN', 'what'), COLLATIONPROPERTY('foo', 'CodePage'), CAST(COLLATIONPROPERTY('Greek_BIN2', 'LCID') AS binary(4))"),
		[]string{"1252|66567|196609|2|NULL|NULL|0x00000408"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM fn_helpcollations()"), []string{"5508"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM fn_helpcollations() AS a WHERE NOT EXISTS (SELECT * FROM fn_helpcollations() AS b WHERE b.name = a.name AND b.description = a.description)"), []string{"0"}) // thirty million pairs
	equal(t, query(t, conn, "SELECT name, description FROM sys.fn_helpcollations() WHERE name LIKE 'SQL[_]Polish%CI%'"), []string{"SQL_Polish_CP1250_CI_AS|Polish, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data, SQL Server Sort Order 88 on Code Page 1250 for non-Unicode Data"})
}

// Text is compared by the rules of its language where they are known, and refused where they are not (Microsoft: Windows Collation Name
// (Transact-SQL), Collation designators; Collation and Unicode support, Supplementary characters; [MS-UCODEREF]).
func TestTextWhoseOrderIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.w (k nvarchar(20) NOT NULL PRIMARY KEY, cz nvarchar(20) COLLATE Czech_CI_AS, sv varchar(20) COLLATE Finnish_Swedish_100_CI_AI, tr nvarchar(20) COLLATE Turkish_CI_AS)")
	exec(t, conn, "INSERT INTO dbo.w VALUES (N'Zürich', N'čas', 'gåta', N'Iğdır'), (N'Århus', N'ahoj', 'gata', N'izmir'), (N'Ørsted', N'chata', 'a', N'ırmak')")
	equal(t, query(t, conn, "SELECT k FROM dbo.w ORDER BY k"), []string{"Århus", "Ørsted", "Zürich"})
	equal(t, query(t, conn, "SELECT COUNT(*) FROM dbo.w WHERE k = N'ZÜRICH' OR cz = N'ČAS' OR tr = N'IRMAK'"), []string{"2"})
	equal(t, query(t, conn, "SELECT k FROM (VALUES (N'co-op'), (N'cop'), (N'coop'), (N'Straße'), (N'STRASSE'), (N'_x'), (N'1')) AS v (k) ORDER BY k, LEN(k)"), []string{"_x", "1", "coop", "co-op", "cop", "Straße", "STRASSE"})
	equal(t, query(t, conn, "SELECT COUNT(DISTINCT k) FROM (VALUES (N'Straße'), (N'STRASSE'), (N'straße')) AS v (k)"), []string{"1"})
	equal(t, query(t, conn, "SELECT CASE WHEN N'Ольга' > N'Елена' THEN 1 ELSE 0 END, CASE WHEN N'中' = N'中' THEN 1 ELSE 0 END, CASE WHEN N'中' = N'丸' THEN 1 ELSE 0 END, CASE WHEN N'😀' = N'😀' COLLATE Latin1_General_100_CI_AS THEN 1 ELSE 0 END"), []string{"1|1|0|1"})
	equal(t, query(t, conn, "SELECT k FROM dbo.w ORDER BY k COLLATE Latin1_General_BIN2"), []string{"Zürich", "Århus", "Ørsted"})
	for _, tc := range []struct{ sql, part string }{
		{"SELECT cz FROM dbo.w ORDER BY cz", "Czech_CI_AS"},
		{"SELECT cz FROM dbo.w WHERE cz < N'd'", "Czech_CI_AS"},
		{"SELECT MAX(cz) FROM dbo.w", "Czech_CI_AS"},
		{"SELECT COUNT(*) FROM dbo.w WHERE sv = 'gata'", "\"å\", in the collation Finnish_Swedish_100_CI_AI"},
		{"SELECT ROW_NUMBER() OVER (ORDER BY tr) FROM dbo.w", "\"ğ\", in the collation Turkish_CI_AS"},
		{"SELECT k FROM dbo.w WHERE k > N'中'", "the order of text that has \"中\""},
		{"SELECT k FROM (VALUES (N'あ'), (N'い')) AS v (k) ORDER BY k", "the order of text that has \"あ\""},
		{"SELECT k FROM dbo.w WHERE k = N'😀'", "whether text is equal that has \"😀\", in the collation SQL_Latin1_General_CP1_CI_AS"},
		{"SELECT 1 WHERE N'aa' < N'b' COLLATE Danish_Norwegian_CI_AS", "\"aa\""},
		{"SELECT k FROM dbo.w ORDER BY k COLLATE SQL_EBCDIC037_CP1_CS_AS", "SQL_EBCDIC037_CP1_CS_AS"},
	} {
		_, err := tryQuery(conn, tc.sql)
		wantError(t, err, 50001, tc.part)
	}
	exec(t, conn, "INSERT INTO dbo.w (k) VALUES (N'中')")
	_, err := tryQuery(conn, "SELECT k FROM dbo.w ORDER BY k")
	wantError(t, err, 50001, "中")
}
