package tds

import (
	"encoding/binary"
	"testing"
)

// Code pages by locale: Microsoft: "Windows code pages" and "Collation and Unicode support".
func TestTheCodePageFollowsTheLocale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		lcid uint32
		text string
		want string // the bytes, one per character
	}{
		{"English, 1252", 0x0409, "é€", "\xe9\x80"},
		{"none, 1252", 0, "é€", "\xe9\x80"},
		{"German, 1252", 0x0407, "ß漢", "\xdf?"},
		{"Polish, 1250", 0x0415, "ł", "\xb3"},
		{"Czech, 1250", 0x0405, "ř", "\xf8"},
		{"Russian, 1251", 0x0419, "Я", "\xdf"},
		{"Serbian in Cyrillic, 1251", 0x0C1A, "Я", "\xdf"},
		{"Greek, 1253", 0x0408, "Ω", "\xd9"},
		{"Turkish, 1254", 0x041F, "ş", "\xfe"},
		{"Hebrew, 1255", 0x040D, "א", "\xe0"},
		{"Arabic, 1256", 0x0401, "ب", "\xc8"},
		{"Lithuanian, 1257", 0x0427, "ė", "\xeb"},
		{"Vietnamese, 1258", 0x042A, "đ", "\xf0"},
		{"Thai, 874", 0x041E, "ก", "\xa1"},
		{"Japanese, 932", 0x0411, "あé", "\x82\xa0?"},
		{"Korean, 949", 0x0412, "가", "\xb0\xa1"},
		{"Chinese of the PRC, 936", 0x0804, "中", "\xd6\xd0"},
		{"Chinese of Taiwan, 950", 0x0404, "中", "\xa4\xa4"},
		{"UTF-8, binary", 0x0409 | 1<<25 | 1<<26, "é漢", "\xc3\xa9\xe6\xbc\xa2"},
		{"UTF-8", 0x0409 | 1<<26, "é漢", "\xc3\xa9\xe6\xbc\xa2"},
	} {
		var col Collation
		binary.LittleEndian.PutUint32(col[:], c.lcid)
		got := col.encode(nil, c.text)
		if string(got) != c.want {
			t.Errorf("%s: %q is % x, want % x", c.name, c.text, got, c.want)
		}
		back := col.decode(got)
		if want := []rune(c.text); []rune(back)[0] != want[0] {
			t.Errorf("%s: % x is %q", c.name, got, back)
		}
	}
}

func TestTheDefaultCollationIsTheZeroOne(t *testing.T) {
	t.Parallel()
	d := decoder{b: DefaultCollation[:]}
	if c := d.collation(); c != (Collation{}) {
		t.Errorf("% x", c)
	}
	if got := (Collation{}).append(nil); string(got) != string(DefaultCollation[:]) {
		t.Errorf("% x", got)
	}
	d = decoder{b: UTF8Collation[:]}
	if c := d.collation(); c != UTF8Collation {
		t.Errorf("% x", c)
	}
}

func TestTypesAreNamedAsInSQL(t *testing.T) {
	t.Parallel()
	for want, typ := range map[string]Type{
		"tinyint": TinyInt, "smallint": SmallInt, "int": Int, "bigint": BigInt, "bit": Bit, "real": Real, "float": Float, "money": Money, "smallmoney": SmallMoney,
		"datetime": DateTime, "smalldatetime": SmallDateTime, "date": Date, "time(3)": Time(3), "datetime2(7)": DateTime2(7), "datetimeoffset(0)": DTOffset(0),
		"uniqueidentifier": UniqueID, "xml": XML, "sql_variant": Variant, "text": Text, "ntext": NText, "image": Image, "decimal(38,5)": Decimal(38, 5), "numeric(9,0)": Numeric(9, 0),
		"binary(10)": Binary(10), "varbinary(max)": VarBinary(-1), "char(3)": Char(3), "varchar(8000)": VarChar(8000), "nchar(3)": NChar(3), "nvarchar(max)": NVarChar(-1), "nvarchar(40)": NVarChar(40),
		"hierarchyid": UDT("hierarchyid"), "null": {ID: IDNull}, "type 0x99": {ID: 0x99},
	} {
		if typ.String() != want {
			t.Errorf("%s, want %s", typ, want)
		}
		b, err := typeInfo(nil, typ, "db")
		if typ.ID == IDNull || typ.ID == 0x99 {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", typ, err)
			continue
		}
		if typ.ID == IDUDT {
			continue // a column's form differs from a parameter's
		}
		d := decoder{b: b, ver: ver74}
		if back := d.typeInfo(); d.err != nil || back != typ || len(d.b) != 0 {
			t.Errorf("%s came back as %s (%+v), %v", typ, back, back, d.err)
		}
		fixed, ok := fixedType(fixedID(typ))
		if ok != (fixedID(typ) != 0) || ok && (fixed.String() != want || !fixed.Fixed) {
			t.Errorf("%s: the fixed-length form is %s", typ, fixed)
		}
	}
}
