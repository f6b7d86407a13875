package collation

import (
	"fmt"
	"testing"
)

// Microsoft: Windows Collation Name (Transact-SQL), SQL Server Collation Name (Transact-SQL), COLLATIONPROPERTY (Transact-SQL),
// [MS-TDS] Collation Rule Definition, [MS-LCID].
func TestCollationsByName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		page           Page
		lcid           uint32
		version, style int
		wire           string
	}{
		{"SQL_Latin1_General_CP1_CI_AS", 1252, 0x0409, 0, 196609, "0904d00034"},
		{"SQL_Latin1_General_CP1_CS_AS", 1252, 0x0409, 0, 196608, "0904c00033"},
		{"SQL_Latin1_General_CP1250_CI_AS", 1250, 0x0409, 0, 196609, "0904d00052"},
		{"SQL_Latin1_General_CP1251_CS_AS", 1251, 0x0409, 0, 196608, "0904c00069"},
		{"SQL_Latin1_General_CP1253_CI_AI", 1253, 0x0409, 0, 196611, "0904f0007c"},
		{"SQL_Latin1_General_CP1254_CI_AS", 1254, 0x041F, 0, 196609, "1f04d00082"},
		{"SQL_Latin1_General_CP1255_CI_AS", 1255, 0x0409, 0, 196609, "0904d0008a"},
		{"SQL_Latin1_General_CP1256_CI_AS", 1256, 0x0409, 0, 196609, "0904d00092"},
		{"SQL_Latin1_General_CP1257_CI_AS", 1257, 0x0409, 0, 196609, "0904d0009a"},
		{"SQL_Croatian_CP1250_CI_AS", 1250, 0x041A, 0, 196609, "1a04d0005c"},
		{"SQL_Latin1_General_CP437_BIN", 437, 0x0409, 0, 0, "090400011e"},
		{"SQL_Scandinavian_Pref_CP850_CI_AS", 850, 0x040B, 0, 196609, "0b04d0003a"},
		{"Latin1_General_CI_AS", 1252, 0x0409, 0, 196609, "0904d00000"},
		{"Latin1_General_CS_AS_KS_WS", 1252, 0x0409, 0, 0, "0904000000"},
		{"Latin1_General_BIN", 1252, 0x0409, 0, 0, "0904000100"},
		{"Latin1_General_100_BIN2", 1252, 0x0409, 2, 0, "0904002200"},
		{"Latin1_General_100_CI_AS_SC_UTF8", 65001, 0x0409, 2, 196609, "0904d02400"},
		{"Latin1_General_100_BIN2_UTF8", 65001, 0x0409, 2, 0, "0904002600"},
		{"Macedonian_FYROM_90_CI_AS", 1251, 0x042F, 1, 196609, "2f04d01000"},
		{"Serbian_Latin_100_CI_AS", 1250, 0x081A, 2, 196609, "1a08d02000"},
		{"Serbian_Cyrillic_100_CI_AS", 1251, 0x0C1A, 2, 196609, "1a0cd02000"},
		{"Bosnian_Cyrillic_100_CI_AS", 1251, 0x201A, 2, 196609, "1a20d02000"},
		{"Kazakh_90_CI_AS", 1251, 0x043F, 1, 196609, "3f04d01000"},
		{"Uzbek_Latin_90_CI_AS", 1254, 0x0443, 1, 196609, "4304d01000"},
		{"Azeri_Cyrillic_100_CI_AS", 1251, 0x082C, 2, 196609, "2c08d02000"},
		{"Danish_Norwegian_CI_AS", 1252, 0x0406, 0, 196609, "0604d00000"},
		{"German_PhoneBook_CI_AS", 1252, 0x10407, 0, 196609, "0704d10000"},
		{"Japanese_XJIS_140_CI_AS", 932, 0x0411, 3, 196609, "1104d03000"},
		{"Indic_General_100_CI_AS", Unicode, 0x0439, 2, 196609, "3904d02000"},
	} {
		c, ok := Find(tc.name)
		if !ok {
			t.Errorf("%s is unknown", tc.name)
			continue
		}
		if w := fmt.Sprintf("%x", c.Bytes()); c.Page != tc.page || c.LCID != tc.lcid || int(c.Version) != tc.version || c.Style() != tc.style || w != tc.wire {
			t.Errorf("%s: page %d, locale %x, version %d, style %d, wire %s", tc.name, c.Page, c.LCID, c.Version, c.Style(), w)
		}
		if p := PageOf(c.Bytes()); c.Page != Unicode && p != c.Page {
			t.Errorf("%s: its bytes mean page %d", tc.name, p)
		}
	}
}

// A client reads text with the code page that the five bytes mean: it must be that of the collation, for each of them.
func TestTheBytesOfEveryCollationMeanItsCodePage(t *testing.T) {
	t.Parallel()
	count := 0
	for c := range All() {
		count++
		if p := PageOf(c.Bytes()); c.Page != Unicode && p != c.Page {
			t.Errorf("%s: %d, not %d", c.Name, p, c.Page)
		}
		if c.LCID == 0 {
			t.Errorf("%s has no locale", c.Name)
		}
	}
	if count != 5508 { // of SQL Server 2019 and 2022
		t.Errorf("%d collations", count)
	}
}

func TestNamesOfCollations(t *testing.T) {
	t.Parallel()
	if c, ok := Find("latin1_general_cs_as"); !ok || c.Name != "Latin1_General_CS_AS" {
		t.Error("names have no case")
	}
	for _, name := range []string{"", "foo", "Greek", "Greek_CI", "Greek_90_CI_AS", "Greek_CI_AS_SC", "Greek_100_CI_AS_UTF8", "SQL_Latin1_General_CP1252_CI_AS", "Latin1_General_BIN_CI"} {
		if _, ok := Find(name); ok {
			t.Errorf("%s is none", name)
		}
	}
	for name, want := range map[string]bool{"Lithuanian_Classic_CI_AS": true, "SQL_AltDiction_CP1253_CS_AS": true, "Macedonian_BIN": true, "Macedonian_Foo": false, "foo": false} {
		if Hidden(name) != want {
			t.Errorf("%s is hidden: %v", name, !want)
		}
	}
}

// Microsoft: sys.fn_helpcollations (Transact-SQL).
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"SQL_Latin1_General_CP1_CI_AS":     "Latin1-General, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data, SQL Server Sort Order 52 on Code Page 1252 for non-Unicode Data",
		"Latin1_General_BIN":               "Latin1-General, binary sort",
		"Latin1_General_100_CS_AS_KS_WS":   "Latin1-General-100, case-sensitive, accent-sensitive, kanatype-sensitive, width-sensitive",
		"Latin1_General_100_CI_AS_SC_UTF8": "Latin1-General-100, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive, supplementary characters, UTF8",
		"Japanese_XJIS_140_CI_AS_VSS":      "Japanese-XJIS-140, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive, supplementary characters, variation selector sensitive",
	} {
		if c, ok := Find(name); !ok || c.Description() != want {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// Microsoft: Collation and Unicode Support: what a code page lacks is lost; char (Transact-SQL): lengths are bytes.
func TestWhatACodePageKeeps(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		page       Page
		text, kept string
		bytes      int
		cut        string // to three bytes
	}{
		{1252, "é€", "é€", 2, "é€"}, {1252, "ab漢", "ab?", 3, "ab漢"}, {1252, "😀x", "??x", 3, "😀x"}, {1250, "řé", "řé", 2, "řé"}, {1251, "éЯ", "eЯ", 2, "éЯ"},
		// Similar characters (the best fit tables of the pages).
		{1252, "āłŁıΩ漢", "alLiO?", 6, "āłŁ"}, {1252, "Ａ\u3000─′√→", "A -'v?", 6, "Ａ\u3000─"}, {1250, "ñĀ", "nA", 2, "ñĀ"}, {1253, "éΩ", "eΩ", 2, "éΩ"}, {1257, "éñ", "é?", 2, "éñ"}, {1255, "éא", "?א", 2, "éא"}, {437, "š漢", "s?", 2, "š漢"}, {437, "é", "é", 1, "é"},
		{932, "あé漢", "あ?漢", 5, "あé"}, {932, "ｱx", "ｱx", 2, "ｱx"}, {936, "中a文", "中a文", 5, "中a"}, {949, "가나", "가나", 4, "가"}, {950, "中文", "中文", 4, "中"},
		{UTF8, "é漢😀", "é漢😀", 9, "é"}, {1253, "", "", 0, ""},
	} {
		if got := tc.page.Keep(tc.text); got != tc.kept {
			t.Errorf("%d: %q is kept as %q", tc.page, tc.text, got)
		}
		if got := tc.page.Len(tc.text); got != tc.bytes || len(tc.page.Append(nil, tc.text)) != got {
			t.Errorf("%d: %q has %d bytes", tc.page, tc.text, got)
		}
		if got := tc.page.Cut(tc.text, 3); got != tc.cut {
			t.Errorf("%d: %q is cut to %q", tc.page, tc.text, got)
		}
	}
}
