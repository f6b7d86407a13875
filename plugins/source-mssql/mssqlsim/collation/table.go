package collation

// designator is what a Windows collation begins with: its locale, its code page, and the versions that there are of it.
type designator struct {
	name     string
	lcid     uint32
	page     Page
	versions versions
}

// versions are as names have them: 0 for none, 90, 100, 140.
type versions []int

// designators are those of SQL Server 2022 (Microsoft: Windows Collation Name (Transact-SQL), Collation and Unicode Support: Windows
// collations, Server-level collations: the LCID of SQL Server; [MS-LCID]). Unicode is the page of those for nchar and nvarchar alone.
var designators = []designator{
	{"Albanian", 0x041C, 1250, versions{0, 100}}, {"Arabic", 0x0401, 1256, versions{0, 100}}, {"Assamese", 0x044D, Unicode, versions{100}},
	{"Azeri_Cyrillic", 0x082C, 1251, versions{100}}, {"Azeri_Latin", 0x042C, 1254, versions{100}}, {"Bashkir", 0x046D, 1251, versions{100}},
	{"Bengali", 0x0445, Unicode, versions{100}}, {"Bosnian_Cyrillic", 0x201A, 1251, versions{100}}, {"Bosnian_Latin", 0x141A, 1250, versions{100}},
	{"Breton", 0x047E, 1252, versions{100}}, {"Chinese_Hong_Kong_Stroke", 0x0C04, 950, versions{90}}, {"Chinese_PRC", 0x0804, 936, versions{0, 90}},
	{"Chinese_PRC_Stroke", 0x20804, 936, versions{0, 90}}, {"Chinese_Simplified_Pinyin", 0x0804, 936, versions{100}},
	{"Chinese_Simplified_Stroke_Order", 0x20804, 936, versions{100}}, {"Chinese_Taiwan_Bopomofo", 0x30404, 950, versions{0, 90}},
	{"Chinese_Taiwan_Stroke", 0x0404, 950, versions{0, 90}}, {"Chinese_Traditional_Bopomofo", 0x30404, 950, versions{100}},
	{"Chinese_Traditional_Pinyin", 0x1404, 950, versions{100}}, {"Chinese_Traditional_Stroke_Count", 0x0404, 950, versions{100}},
	{"Chinese_Traditional_Stroke_Order", 0x21404, 950, versions{100}}, {"Corsican", 0x0483, 1252, versions{100}}, {"Croatian", 0x041A, 1250, versions{0, 100}},
	{"Cyrillic_General", 0x0419, 1251, versions{0, 100}}, {"Czech", 0x0405, 1250, versions{0, 100}}, {"Danish_Greenlandic", 0x0406, 1252, versions{100}},
	{"Danish_Norwegian", 0x0406, 1252, versions{0}}, {"Dari", 0x048C, 1256, versions{100}}, {"Divehi", 0x0465, Unicode, versions{90, 100}},
	{"Estonian", 0x0425, 1257, versions{0, 100}}, {"Finnish_Swedish", 0x040B, 1252, versions{0, 100}}, {"French", 0x040C, 1252, versions{0, 100}},
	{"Frisian", 0x0462, 1252, versions{100}}, {"Georgian_Modern_Sort", 0x10437, 1252, versions{0, 100}}, {"German_PhoneBook", 0x10407, 1252, versions{0, 100}},
	{"Greek", 0x0408, 1253, versions{0, 100}}, {"Hebrew", 0x040D, 1255, versions{0, 100}}, {"Hungarian", 0x040E, 1250, versions{0, 100}},
	{"Hungarian_Technical", 0x1040E, 1250, versions{0, 100}}, {"Icelandic", 0x040F, 1252, versions{0, 100}}, {"Indic_General", 0x0439, Unicode, versions{90, 100}},
	{"Japanese", 0x0411, 932, versions{0, 90}}, {"Japanese_Bushu_Kakusu", 0x40411, 932, versions{100, 140}}, {"Japanese_Unicode", 0x10411, 932, versions{0}},
	{"Japanese_XJIS", 0x0411, 932, versions{100, 140}}, {"Kazakh", 0x043F, 1251, versions{90, 100}}, {"Khmer", 0x0453, Unicode, versions{100}},
	{"Korean", 0x0412, 949, versions{90, 100}}, {"Korean_Wansung", 0x0412, 949, versions{0}}, {"Lao", 0x0454, Unicode, versions{100}},
	{"Latin1_General", 0x0409, 1252, versions{0, 100}}, {"Latvian", 0x0426, 1257, versions{0, 100}}, {"Lithuanian", 0x0427, 1257, versions{0, 100}},
	{"Macedonian_FYROM", 0x042F, 1251, versions{90, 100}}, {"Maltese", 0x043A, Unicode, versions{100}}, {"Maori", 0x0481, Unicode, versions{100}},
	{"Mapudungan", 0x047A, 1252, versions{100}}, {"Modern_Spanish", 0x0C0A, 1252, versions{0, 100}}, {"Mohawk", 0x047C, 1252, versions{100}},
	{"Nepali", 0x0461, Unicode, versions{100}}, {"Norwegian", 0x0414, 1252, versions{100}}, {"Pashto", 0x0463, Unicode, versions{100}}, {"Persian", 0x0429, 1256, versions{100}},
	{"Polish", 0x0415, 1250, versions{0, 100}}, {"Romanian", 0x0418, 1250, versions{0, 100}}, {"Romansh", 0x0417, 1252, versions{100}},
	{"Sami_Norway", 0x043B, 1252, versions{100}}, {"Sami_Sweden_Finland", 0x083B, 1252, versions{100}}, {"Serbian_Cyrillic", 0x0C1A, 1251, versions{100}},
	{"Serbian_Latin", 0x081A, 1250, versions{100}}, {"Slovak", 0x041B, 1250, versions{0, 100}}, {"Slovenian", 0x0424, 1250, versions{0, 100}},
	{"Syriac", 0x045A, Unicode, versions{90, 100}}, {"Tamazight", 0x085F, 1252, versions{100}}, {"Tatar", 0x0444, 1251, versions{90, 100}}, {"Thai", 0x041E, 874, versions{0, 100}},
	{"Tibetan", 0x0451, Unicode, versions{100}}, {"Traditional_Spanish", 0x040A, 1252, versions{0, 100}}, {"Turkish", 0x041F, 1254, versions{0, 100}},
	{"Turkmen", 0x0442, 1250, versions{100}}, {"Uighur", 0x0480, 1256, versions{100}}, {"Ukrainian", 0x0422, 1251, versions{0, 100}},
	{"Upper_Sorbian", 0x042E, 1252, versions{100}}, {"Urdu", 0x0420, 1256, versions{100}}, {"Uzbek_Latin", 0x0443, 1254, versions{90, 100}},
	{"Vietnamese", 0x042A, 1258, versions{0, 100}}, {"Welsh", 0x0452, 1252, versions{100}}, {"Yakut", 0x0485, 1251, versions{100}},
}

// sqlCollation is a collation of the time before Windows collations, with the Windows collation that Unicode is compared by.
type sqlCollation struct {
	name    string
	page    Page
	windows string
	sortID  uint8
}

// sqlCollations are those that fn_helpcollations shows (Microsoft: SQL Server Collation Name (Transact-SQL), sort order ID).
var sqlCollations = []sqlCollation{
	{"SQL_1xCompat_CP850_CI_AS", 850, "Latin1_General", 49}, {"SQL_AltDiction_CP850_CI_AI", 850, "Latin1_General", 57},
	{"SQL_AltDiction_CP850_CI_AS", 850, "Latin1_General", 61}, {"SQL_AltDiction_CP850_CS_AS", 850, "Latin1_General", 55},
	{"SQL_AltDiction_Pref_CP850_CI_AS", 850, "Latin1_General", 56}, {"SQL_AltDiction2_CP1253_CS_AS", 1253, "Latin1_General", 122},
	{"SQL_Croatian_CP1250_CI_AS", 1250, "Croatian", 92}, {"SQL_Croatian_CP1250_CS_AS", 1250, "Croatian", 91}, {"SQL_Czech_CP1250_CI_AS", 1250, "Czech", 84},
	{"SQL_Czech_CP1250_CS_AS", 1250, "Czech", 83}, {"SQL_Danish_Pref_CP1_CI_AS", 1252, "Danish_Norwegian", 183}, {"SQL_EBCDIC037_CP1_CS_AS", 1252, "Latin1_General", 210},
	{"SQL_EBCDIC1141_CP1_CS_AS", 1252, "German_PhoneBook", 219}, {"SQL_EBCDIC273_CP1_CS_AS", 1252, "German_PhoneBook", 211},
	{"SQL_EBCDIC277_2_CP1_CS_AS", 1252, "Danish_Norwegian", 218}, {"SQL_EBCDIC277_CP1_CS_AS", 1252, "Danish_Norwegian", 212},
	{"SQL_EBCDIC278_CP1_CS_AS", 1252, "Finnish_Swedish", 213}, {"SQL_EBCDIC280_CP1_CS_AS", 1252, "Latin1_General", 214},
	{"SQL_EBCDIC284_CP1_CS_AS", 1252, "Modern_Spanish", 215}, {"SQL_EBCDIC285_CP1_CS_AS", 1252, "Latin1_General", 216}, {"SQL_EBCDIC297_CP1_CS_AS", 1252, "French", 217},
	{"SQL_Estonian_CP1257_CI_AS", 1257, "Estonian", 156}, {"SQL_Estonian_CP1257_CS_AS", 1257, "Estonian", 155}, {"SQL_Hungarian_CP1250_CI_AS", 1250, "Hungarian", 86},
	{"SQL_Hungarian_CP1250_CS_AS", 1250, "Hungarian", 85}, {"SQL_Icelandic_Pref_CP1_CI_AS", 1252, "Icelandic", 186},
	{"SQL_Latin1_General_CP1_CI_AI", 1252, "Latin1_General", 54}, {"SQL_Latin1_General_CP1_CI_AS", 1252, "Latin1_General", 52},
	{"SQL_Latin1_General_CP1_CS_AS", 1252, "Latin1_General", 51}, {"SQL_Latin1_General_CP1250_CI_AS", 1250, "Latin1_General", 82},
	{"SQL_Latin1_General_CP1250_CS_AS", 1250, "Latin1_General", 81}, {"SQL_Latin1_General_CP1251_CI_AS", 1251, "Latin1_General", 106},
	{"SQL_Latin1_General_CP1251_CS_AS", 1251, "Latin1_General", 105}, {"SQL_Latin1_General_CP1253_CI_AI", 1253, "Latin1_General", 124},
	{"SQL_Latin1_General_CP1253_CI_AS", 1253, "Latin1_General", 114}, {"SQL_Latin1_General_CP1253_CS_AS", 1253, "Latin1_General", 113},
	{"SQL_Latin1_General_CP1254_CI_AS", 1254, "Turkish", 130}, {"SQL_Latin1_General_CP1254_CS_AS", 1254, "Turkish", 129},
	{"SQL_Latin1_General_CP1255_CI_AS", 1255, "Latin1_General", 138}, {"SQL_Latin1_General_CP1255_CS_AS", 1255, "Latin1_General", 137},
	{"SQL_Latin1_General_CP1256_CI_AS", 1256, "Latin1_General", 146}, {"SQL_Latin1_General_CP1256_CS_AS", 1256, "Latin1_General", 145},
	{"SQL_Latin1_General_CP1257_CI_AS", 1257, "Latin1_General", 154}, {"SQL_Latin1_General_CP1257_CS_AS", 1257, "Latin1_General", 153},
	{"SQL_Latin1_General_CP437_BIN", 437, "Latin1_General", 30}, {"SQL_Latin1_General_CP437_BIN2", 437, "Latin1_General", 30},
	{"SQL_Latin1_General_CP437_CI_AI", 437, "Latin1_General", 34}, {"SQL_Latin1_General_CP437_CI_AS", 437, "Latin1_General", 32},
	{"SQL_Latin1_General_CP437_CS_AS", 437, "Latin1_General", 31}, {"SQL_Latin1_General_CP850_BIN", 850, "Latin1_General", 40},
	{"SQL_Latin1_General_CP850_BIN2", 850, "Latin1_General", 40}, {"SQL_Latin1_General_CP850_CI_AI", 850, "Latin1_General", 44},
	{"SQL_Latin1_General_CP850_CI_AS", 850, "Latin1_General", 42}, {"SQL_Latin1_General_CP850_CS_AS", 850, "Latin1_General", 41},
	{"SQL_Latin1_General_Pref_CP1_CI_AS", 1252, "Latin1_General", 53}, {"SQL_Latin1_General_Pref_CP437_CI_AS", 437, "Latin1_General", 33},
	{"SQL_Latin1_General_Pref_CP850_CI_AS", 850, "Latin1_General", 43}, {"SQL_Latvian_CP1257_CI_AS", 1257, "Latvian", 158},
	{"SQL_Latvian_CP1257_CS_AS", 1257, "Latvian", 157}, {"SQL_Lithuanian_CP1257_CI_AS", 1257, "Lithuanian", 160}, {"SQL_Lithuanian_CP1257_CS_AS", 1257, "Lithuanian", 159},
	{"SQL_MixDiction_CP1253_CS_AS", 1253, "Latin1_General", 120}, {"SQL_Polish_CP1250_CI_AS", 1250, "Polish", 88}, {"SQL_Polish_CP1250_CS_AS", 1250, "Polish", 87},
	{"SQL_Romanian_CP1250_CI_AS", 1250, "Romanian", 90}, {"SQL_Romanian_CP1250_CS_AS", 1250, "Romanian", 89}, {"SQL_Scandinavian_CP850_CI_AS", 850, "Finnish_Swedish", 60},
	{"SQL_Scandinavian_CP850_CS_AS", 850, "Finnish_Swedish", 59}, {"SQL_Scandinavian_Pref_CP850_CI_AS", 850, "Finnish_Swedish", 58},
	{"SQL_Slovak_CP1250_CI_AS", 1250, "Slovak", 94}, {"SQL_Slovak_CP1250_CS_AS", 1250, "Slovak", 93}, {"SQL_Slovenian_CP1250_CI_AS", 1250, "Slovenian", 96},
	{"SQL_Slovenian_CP1250_CS_AS", 1250, "Slovenian", 95}, {"SQL_SwedishPhone_Pref_CP1_CI_AS", 1252, "Finnish_Swedish", 184},
	{"SQL_SwedishStd_Pref_CP1_CI_AS", 1252, "Finnish_Swedish", 185}, {"SQL_Ukrainian_CP1251_CI_AS", 1251, "Ukrainian", 108},
	{"SQL_Ukrainian_CP1251_CS_AS", 1251, "Ukrainian", 107},
}

// hidden are collations that exist but are shown nowhere (Microsoft: Deprecated Database Engine features). What their code page
// or their order is, is not documented.
var hidden = []string{"Korean_Wansung_Unicode", "Lithuanian_Classic", "SQL_AltDiction_CP1253_CS_AS", "Hindi", "Macedonian"}
