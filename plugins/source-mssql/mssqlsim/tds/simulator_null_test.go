package tds_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// A row goes as NBCROW where that is shorter: to clients of TDS 7.3.B and later, when its NULLs take more bytes than a bit for
// each column. It may change from row to row (Microsoft: [MS-TDS] NBCROW; Data Type Details: a NULL has 1, 2, 4 or 8 bytes).
func TestSimulatorSendsRowsWithNullsCompressed(t *testing.T) {
	t.Parallel()
	const (
		tds73a = 0x730A0003 // brought the types of date and time, and not yet NBCROW
		ints   = "CREATE TABLE dbo.i (id int NOT NULL, a int NULL, b int NULL, c int NULL, d int NULL, e int NULL, f int NULL, g int NULL, h int NULL)"
	)
	_, addr := newSimulator(t, mssqlsim.Options{})
	loggedIn(t, addr, tds74).run(ints, "INSERT INTO dbo.i VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9), (2, NULL, 3, 4, 5, 6, 7, 8, NULL), (3, NULL, NULL, 4, 5, 6, 7, 8, NULL), (4, 2, 3, 4, 5, 6, 7, NULL, 9)")
	for _, tc := range []struct {
		what, sql         string
		compressed, plain string // the bytes of the rows with NBCROW, and to clients that do not know it
	}{
		{"no NULL", "SELECT 1 AS a, 'b' AS b", "d1 01000000 0100 62", ""},
		{"a NULL of one byte saves nothing", "SELECT CAST(NULL AS int) AS a, 5 AS b", "d1 00 05000000", ""},
		{"two of them do", "SELECT CAST(NULL AS int) AS a, 5 AS b, CAST(NULL AS decimal(5, 1)) AS c", "d2 05 05000000", "d1 00 05000000 00"},
		{"a NULL of two bytes", "SELECT 5 AS a, CAST(NULL AS nvarchar(5)) AS b", "d2 02 05000000", "d1 05000000 ffff"},
		{"a NULL of four bytes", "SELECT 5 AS a, CAST(NULL AS sql_variant) AS b", "d2 02 05000000", "d1 05000000 00000000"},
		{"a NULL of eight bytes", "SELECT 5 AS a, CAST(NULL AS varbinary(max)) AS b, 6 AS c", "d2 02 05000000 06000000", "d1 05000000 ffffffffffffffff 06000000"},
		{"nothing but NULLs", "SELECT CAST(NULL AS xml) AS a, CAST(NULL AS date) AS b", "d2 03", "d1 ffffffffffffffff 00"},
		{"nine columns: one row as the other", "SELECT * FROM dbo.i ORDER BY id",
			"d1 01000000 0402000000 0403000000 0404000000 0405000000 0406000000 0407000000 0408000000 0409000000" +
				"d1 02000000 00 0403000000 0404000000 0405000000 0406000000 0407000000 0408000000 00" +
				"d2 0601 03000000 0404000000 0405000000 0406000000 0407000000 0408000000" +
				"d1 04000000 0402000000 0403000000 0404000000 0405000000 0406000000 0407000000 00 0409000000",
			"d1 01000000 0402000000 0403000000 0404000000 0405000000 0406000000 0407000000 0408000000 0409000000" +
				"d1 02000000 00 0403000000 0404000000 0405000000 0406000000 0407000000 0408000000 00" +
				"d1 03000000 00 00 0404000000 0405000000 0406000000 0407000000 0408000000 00" +
				"d1 04000000 0402000000 0403000000 0404000000 0405000000 0406000000 0407000000 00 0409000000"},
	} {
		if tc.plain == "" {
			tc.plain = tc.compressed
		}
		for version, want := range map[uint32]string{tds72: tc.plain, tds73a: tc.plain, tds73: tc.compressed, tds74: tc.compressed} {
			var rows []byte
			for _, k := range loggedIn(t, addr, version).batch(tc.sql) {
				if strings.HasSuffix(k.name, "ROW") {
					rows = append(rows, k.raw...)
				}
			}
			if version < tds73a {
				want = strings.ReplaceAll(want, "d1 ffffffffffffffff 00", "d1 ffffffffffffffff ffff") // date is nvarchar there
			}
			if b, err := hex.DecodeString(strings.ReplaceAll(want, " ", "")); err != nil || string(rows) != string(b) {
				t.Errorf("%s, version %x: %x, want %s (%v)", tc.what, version, rows, want, err)
			}
		}
	}
}
