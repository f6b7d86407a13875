package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// typesName is the table with a column of every type.
const typesName = "dbo.types"

// variants is how many sets of values each type has: an ordinary one, the low and the high end of its range, an odd
// one, and NULL.
const variants = 5

// typed is a column and its values: plain, low, high, odd. The fifth is NULL.
type typed struct {
	name, sql string
	values    [variants - 1]any
}

func values(plain, low, high, odd any) [variants - 1]any {
	return [variants - 1]any{plain, low, high, odd}
}

// typedColumns has every type that the source plugin maps ("Microsoft: Data types (Transact-SQL)" for the ranges; what
// CDC may not capture, such as sql_variant, is an error of the source). NaN and infinities do not exist in SQL Server.
var typedColumns = []typed{
	{"c_bit", "bit", values(true, false, true, false)},
	{"c_tinyint", "tinyint", values(7, 0, 255, 128)},
	{"c_smallint", "smallint", values(7, math.MinInt16, math.MaxInt16, -1)},
	{"c_int", "int", values(7, math.MinInt32, math.MaxInt32, -1)},
	{"c_bigint", "bigint", values(7, int64(math.MinInt64), int64(math.MaxInt64), -1)},
	{"c_real", "real", values(1.5, -math.MaxFloat32, math.MaxFloat32, math.Copysign(0, -1))},
	{"c_float", "float", values(0.1, -math.MaxFloat64, math.MaxFloat64, math.Copysign(0, -1))},
	{"c_decimal_38_10", "decimal(38,10)", values("1.5", "-9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999", "0.0000000001")},
	{"c_decimal_38_0", "decimal(38,0)", values("15", "-"+strings.Repeat("9", 38), strings.Repeat("9", 38), "0")},
	{"c_numeric_9_2", "numeric(9,2)", values("12.34", "-9999999.99", "9999999.99", "-0.01")},
	{"c_decimal_18_4", "decimal(18,4)", values("12.3456", "-99999999999999.9999", "99999999999999.9999", "0.0001")},
	{"c_money", "money", values("12.34", "-922337203685477.5808", "922337203685477.5807", "-0.0001")},
	{"c_smallmoney", "smallmoney", values("12.34", "-214748.3648", "214748.3647", "0")},
	{"c_date", "date", values("2026-02-28", "0001-01-01", "9999-12-31", "1582-10-10")},
	{"c_datetime", "datetime", values("2026-02-28T13:14:15.997", "1753-01-01T00:00:00.000", "9999-12-31T23:59:59.997", "1969-12-31T23:59:59.993")},
	{"c_smalldatetime", "smalldatetime", values("2026-02-28T13:14:00", "1900-01-01T00:00:00", "2079-06-06T23:59:00", "1969-12-31T23:59:00")},
	{"c_datetime2_7", "datetime2(7)", values("2026-02-28T13:14:15.1234567", "0001-01-01T00:00:00.0000000", "9999-12-31T23:59:59.9999999", "1582-10-10T00:00:00.0000009")},
	{"c_datetime2_3", "datetime2(3)", values("2026-02-28T13:14:15.123", "0001-01-01T00:00:00.001", "9999-12-31T23:59:59.999", "1969-12-31T23:59:59.999")},
	{"c_datetime2_0", "datetime2(0)", values("2026-02-28T13:14:15", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "1970-01-01T00:00:00")},
	{"c_datetimeoffset", "datetimeoffset(7)", values("2026-02-28T13:14:15.1234567 -03:00", "0001-01-01T00:00:00.0000000 +00:00", "9999-12-31T23:59:59.9999999 +00:00", "1969-12-31T23:59:59.9999999 +14:00")},
	{"c_time_7", "time(7)", values("13:14:15.1234567", "00:00:00.0000000", "23:59:59.9999999", "00:00:00.0000001")},
	{"c_time_0", "time(0)", values("13:14:15", "00:00:00", "23:59:59", "12:00:00")},
	{"c_char", "char(6)", values("ab", "", "zzzzzz", "café")},
	{"c_varchar", "varchar(40)", values("plain", "", strings.Repeat("z", 40), "it's \"quoted\" \\ back\r\n\ttab")},
	{"c_varchar_max", "varchar(max)", values("plain", "", strings.Repeat("long ", 20_000), " edges ")},
	{"c_nchar", "nchar(4)", values("é", "", "日本語!", "🙂")},
	// Surrogate pairs, a combining mark, the highest code point, and a text whose first 32 characters end inside none of them.
	{"c_nvarchar", "nvarchar(80)", values("日本 🙂", "", strings.Repeat("\U0010FFFF", 40), strings.Repeat("a", 31)+"🙂🙂e\u0301")},
	{"c_nvarchar_max", "nvarchar(max)", values("Łódź", "", strings.Repeat("🙂é", 20_000), "\u0001 control")},
	{"c_text", "text", values("old text", "", strings.Repeat("t", 9000), "x")},
	{"c_ntext", "ntext", values("old ntext é", "", strings.Repeat("ß", 9000), "x")},
	{"c_xml", "xml", values("<a>é</a>", "<a/>", "<a>"+strings.Repeat("<b>🙂</b>", 2000)+"</a>", "<a x=\"1\">&amp;</a>")},
	{"c_uniqueidentifier", "uniqueidentifier", values("6f9619ff-8b86-d011-b42d-00c04fc964ff", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00112233-4455-6677-8899-aabbccddeeff")},
	{"c_binary", "binary(4)", values([]byte{1, 2, 3, 4}, []byte{0, 0, 0, 0}, []byte{255, 255, 255, 255}, []byte{0, 10, 0, 13})},
	{"c_varbinary", "varbinary(16)", values([]byte{1, 2}, []byte{}, []byte(strings.Repeat("\xff", 16)), []byte{0})},
	{"c_varbinary_max", "varbinary(max)", values([]byte("bytes"), []byte{}, []byte(strings.Repeat("\x00\xff", 20_000)), []byte{0xc3, 0x28})},
	{"c_image", "image", values([]byte{8, 9}, []byte{}, []byte(strings.Repeat("i", 9000)), []byte{0})},
	// The server gives a rowversion its value.
	{"c_rowversion", "rowversion", values(nil, nil, nil, nil)},
}

// typesTable is dbo.types.
type typesTable struct {
	db    *mssqlsim.Database
	round int
	next  int
}

// row has the values of one variant for a key; variant -1 takes another one in each column.
func (t *typesTable) row(key, variant int) []any {
	row := []any{key}
	for i, c := range typedColumns {
		v := variant
		if v < 0 {
			v = (key + i) % variants
		}
		if v == variants-1 {
			row = append(row, nil)
			continue
		}
		row = append(row, c.values[v])
	}
	return row
}

// newTypesTable makes the table with a row for each variant and 100 mixed ones, and captures it.
func newTypesTable(ctx context.Context, db *mssqlsim.Database) (*typesTable, error) {
	columns := []mssqlsim.Column{{Name: "id", Type: "int"}}
	for _, c := range typedColumns {
		columns = append(columns, mssqlsim.Column{Name: c.name, Type: c.sql, Nullable: c.sql != "rowversion"})
	}
	if err := db.CreateTable(mssqlsim.Table{Name: typesName, Key: []string{"id"}, Columns: columns}); err != nil {
		return nil, err
	}
	t := &typesTable{db: db}
	_, err := db.Tx(ctx, func(tx *mssqlsim.Tx) error {
		for ; t.next < variants+100; t.next++ {
			variant := t.next
			if variant >= variants {
				variant = -1
			}
			if err := tx.Insert(typesName, t.row(t.next, variant)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("filling %s: %w", typesName, err)
	}
	return t, db.EnableTable(typesName, mssqlsim.Capture{})
}

// change is one transaction of several statements. New rows have every variant, so that each is read from the change
// table, too; of the mixed rows one each is changed in all columns, removed, and moved to another key.
func (t *typesTable) change(ctx context.Context) error {
	mixed := variants + 3*t.round
	t.round++
	_, err := t.db.Tx(ctx, func(tx *mssqlsim.Tx) error {
		for variant := range variants {
			if err := tx.Insert(typesName, t.row(t.next, variant)...); err != nil {
				return err
			}
			t.next++
		}
		set := map[string]any{}
		for i, v := range t.row(mixed+1, -1)[1:] {
			if typedColumns[i].sql != "rowversion" {
				set[typedColumns[i].name] = v
			}
		}
		if err := tx.Update(typesName, set, mixed); err != nil {
			return err
		}
		if err := tx.Delete(typesName, mixed+1); err != nil {
			return err
		}
		t.next++
		return tx.Update(typesName, map[string]any{"id": t.next - 1}, mixed+2)
	})
	if err != nil {
		return fmt.Errorf("changing %s: %w", typesName, err)
	}
	return nil
}
