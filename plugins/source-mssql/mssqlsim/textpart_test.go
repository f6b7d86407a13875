package mssqlsim

import "testing"

// Windows' comparison finds ß where ss is looked for and œ where oe is; SQL Server collations and binary ones compare character by
// character (Stack Overflow: Why does 'œ' match 'oe' in an NVarchar but not in a Varchar; Microsoft: Collation and Unicode support;
// [MS-UCODEREF] Windows Sorting Weight Table, EXPANSION). What comes of it in a search is refused, unless the letters do not matter.
func TestSearchesForCharactersThatCountAsTwo(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	const refused = "50001"
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	for _, tc := range []struct{ sql, want string }{
		{"SELECT REPLACE(N'Chloe', N'œ', N'o')", refused},
		{"SELECT REPLACE('Chloe' COLLATE Latin1_General_CI_AS, 'œ', 'o')", refused},
		{"SELECT REPLACE('Chloe', 'œ', 'o')", "Chloe"},
		{"SELECT REPLACE(N'Chloe' COLLATE Latin1_General_BIN2, N'œ', N'o')", "Chloe"},
		{"SELECT REPLACE(N'Straße', N'ss', N'X')", refused},
		{"SELECT REPLACE(N'Straße', N'e', N'X')", "StraßX"},
		{"SELECT CHARINDEX(N'ss', N'Straße')", refused},
		{"SELECT CHARINDEX(N'ss', 'Straße')", refused},
		{"SELECT CHARINDEX('ss', 'Straße')", "0"},
		{"SELECT CHARINDEX(N'E', N'Straße')", "6"},
		{"SELECT CHARINDEX(N'ﬁ', N'fi')", refused},
		{"SELECT CHARINDEX(N'e', N'e' + NCHAR(769))", refused},
		{"SELECT PATINDEX(N'%ss%', N'Straße')", refused},
		{"SELECT PATINDEX(N'%e%', N'Straße')", "6"},
		{"SELECT PATINDEX(N'Stra_e', N'Straße')", refused},
		{"SELECT CASE WHEN N'Straße' LIKE N'Strasse' THEN 1 ELSE 0 END", refused},
		{"SELECT CASE WHEN N'Strasse' LIKE N'Stra[ß]e' THEN 1 ELSE 0 END", refused},
		{"SELECT CASE WHEN N'Köln' LIKE N'K_LN' THEN 1 ELSE 0 END", "1"},
		{"SELECT TRIM(N's' FROM N'ßa')", refused},
		{"SELECT TRANSLATE(N'ßa', N's', N'x')", refused},
		{"SELECT COUNT(*) FROM STRING_SPLIT(N'aßb', N's')", refused},
		{"SELECT COUNT(*) FROM STRING_SPLIT(N'aßb', N'b')", "2"},
		{"SELECT COUNT(*) FROM STRING_SPLIT(N'aéb' COLLATE Latin1_General_CI_AI, N'e')", refused},
		{"SELECT CASE WHEN N'ﬁ' = N'fi' THEN 1 ELSE 0 END", refused},
		{"SELECT CHARINDEX(N'Ａ', N'xa')", "2"},                                 // the width does not count
		{"SELECT CHARINDEX(N'Ａ', N'xa' COLLATE Latin1_General_CI_AS_WS)", "0"}, // but here
		{"SELECT REPLACE(N'カ', N'か', N'x')", "x"},
	} {
		if got := answer(t.Context(), c, tc.sql); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.sql, got, tc.want)
		}
	}
}

// In Turkish and Azeri İ is the capital of i, and I that of ı (Qingsong Yao: Introduce the Turkish I issue; Microsoft: UPPER, LOWER
// (Transact-SQL), COLLATE (Transact-SQL)), and LIKE finds no I where i is looked for.
func TestTheTwoLettersOfTurkish(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	c, err := conn.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	for _, tc := range []struct{ sql, want string }{
		{"SELECT UPPER(N'iısß' COLLATE Turkish_CI_AS)", "İISß"},
		{"SELECT LOWER(N'IİS' COLLATE Turkish_CI_AS)", "ıis"},
		{"SELECT UPPER(N'i' COLLATE Azeri_Latin_100_CI_AS)", "İ"},
		{"SELECT UPPER(N'i' COLLATE Azeri_Cyrillic_100_CI_AS)", "I"},
		{"SELECT UPPER(N'i' COLLATE SQL_Latin1_General_CP1254_CI_AS)", "50001"},
		{"SELECT UPPER(N'a' COLLATE SQL_Latin1_General_CP1254_CI_AS)", "A"},
		{"SELECT LOWER(N'I' COLLATE Turkish_BIN2)", "50001"},
		{"SELECT UPPER(N'ı')", "50001"},
		{"SELECT LOWER(N'İ')", "50001"},
		{"SELECT UPPER(N'iéß')", "IÉß"},
		{"SELECT LOWER('IÉ')", "ié"},
		{"SELECT CASE WHEN N'AIr' LIKE N'ai%' COLLATE Turkish_CI_AI THEN 1 ELSE 0 END", "0"},
		{"SELECT CASE WHEN N'AIr' LIKE N'aı%' COLLATE Turkish_CI_AI THEN 1 ELSE 0 END", "1"},
		{"SELECT CASE WHEN N'aİr' LIKE N'ai%' COLLATE Turkish_CI_AI THEN 1 ELSE 0 END", "1"},
		{"SELECT CHARINDEX(N'i', N'AIİ' COLLATE Turkish_CI_AI)", "3"},
		{"SELECT REPLACE(N'Ii' COLLATE Turkish_CI_AS, N'ı', N'x')", "xi"},
	} {
		if got := answer(t.Context(), c, tc.sql); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.sql, got, tc.want)
		}
	}
}
