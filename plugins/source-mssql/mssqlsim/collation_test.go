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
