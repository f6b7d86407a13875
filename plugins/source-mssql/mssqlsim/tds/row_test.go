package tds_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

func TestARowThatDoesNotFitIsAnErrorThatNamesTheColumnAndIsNotSent(t *testing.T) {
	t.Parallel()
	col := func(t tds.Type) []tds.Column { return []tds.Column{{Name: "c", Type: t}} }
	for _, x := range []struct {
		name string
		cols []tds.Column
		row  func(*tds.Results) error
		want string
	}{
		{"NULL in a NOT NULL column", col(tds.Int), func(w *tds.Results) error { return w.Row(nil) }, `column 1 "c": NULL`},
		{"text in int", col(tds.Int), func(w *tds.Results) error { return w.Row("x") }, `column 1 "c": string does not fit int`},
		{"300 in tinyint", col(tds.TinyInt), func(w *tds.Results) error { return w.Row(int64(300)) }, "300 is out of the range of tinyint"},
		{"-1 in tinyint", col(tds.TinyInt), typed(func(r *tds.RowWriter) { r.Int64(-1) }), "-1 is out of the range of tinyint"},
		{"40000 in smallint", col(tds.SmallInt), typed(func(r *tds.RowWriter) { r.Int64(40000) }), "out of the range of smallint"},
		{"2^31 in int", col(tds.Int), typed(func(r *tds.RowWriter) { r.Int64(1 << 31) }), "out of the range of int"},
		{"1e300 in real", col(tds.Real), typed(func(r *tds.RowWriter) { r.Float64(1e300) }), "out of the range of real"},
		{"NaN", col(tds.Float), typed(func(r *tds.RowWriter) { r.Float64(math.NaN()) }), "does not exist in float"},
		{"ten digits in decimal(9,2)", col(tds.Decimal(9, 2)), typed(func(r *tds.RowWriter) { r.Decimal64(1_000_000_000) }), "more than 9 digits"},
		{"39 digits in decimal(38,0)", col(tds.Decimal(38, 0)), typed(func(r *tds.RowWriter) { r.Decimal128(math.MaxInt64, 0) }), "more than 38 digits"},
		{"a digit too many", col(tds.Decimal(9, 2)), func(w *tds.Results) error { return w.Row(dec(t, "1234", 3)) }, "more digits after the point"},
		{"too much money", col(tds.SmallMoney), typed(func(r *tds.RowWriter) { r.Decimal64(1 << 31) }), "too large for smallmoney"},
		{"six characters in nvarchar(5)", col(tds.NVarChar(5)), typed(func(r *tds.RowWriter) { r.Text("abcdef") }), "12 bytes do not fit nvarchar(5)"},
		{"11 bytes in binary(10)", col(tds.Binary(10)), typed(func(r *tds.RowWriter) { r.Bytes(make([]byte, 11)) }), "11 bytes do not fit binary(10)"},
		{"half a code unit", col(tds.NVarChar(5)), typed(func(r *tds.RowWriter) { r.UTF16([]byte{1}) }), "1 bytes of UTF-16"},
		{"the year 10000", col(tds.DateTime2(7)), typed(func(r *tds.RowWriter) { r.DateTime2(tds.TicksOf(latest) + 1) }), "outside the years 1 to 9999"},
		{"the year 1752 in datetime", col(tds.DateTime), func(w *tds.Results) error { return w.Row(time.Date(1752, 12, 31, 0, 0, 0, 0, time.UTC)) }, "outside datetime"},
		{"an offset of 15 hours", col(tds.DTOffset(0)), typed(func(r *tds.RowWriter) { r.DateTimeOffset(tds.TicksOf(moment), 900) }), "14 hours"},
		{"a moment without offset in datetimeoffset", col(tds.DTOffset(0)), typed(func(r *tds.RowWriter) { r.DateTime2(0) }), "does not fit datetimeoffset(0)"},
		{"a bit in int", col(tds.Int), typed(func(r *tds.RowWriter) { r.Bool(true) }), "a bit does not fit int"},
		{"a GUID in binary", col(tds.Binary(16)), typed(func(r *tds.RowWriter) { r.GUID(guid) }), "a GUID does not fit"},
		{"too few values", append(col(tds.Int), col(tds.Int)...), func(w *tds.Results) error { return w.Row(int64(1)) }, "a row of 1 values for 2 columns"},
		{"too many values", col(tds.Int), func(w *tds.Results) error { return w.Row(int64(1), int64(2)) }, "a row of more than 1 values"},
		{"an int column of no width", col(tds.Type{ID: tds.IDIntN, Size: 3}), func(w *tds.Results) error { return w.Row(int64(1)) }, "out of the range"},
		{"a type that cannot be sent", col(tds.Type{ID: 0x99}), func(*tds.Results) error { return nil }, "type 0x99 cannot be sent"},
		{"a text sql_variant of no base type", col(tds.Variant), func(w *tds.Results) error { return w.Row(tds.Typed{Type: tds.Text, Value: "x"}) }, "text does not fit sql_variant"},
	} {
		h := &canned{}
		h.exec = func(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) (bool, error) {
			w.Columns(x.cols)
			return true, x.row(w)
		}
		db := open(t, serve(t, &tds.Server{Handler: h}), "encrypt=disable")
		rows, err := db.Query("select x")
		n := 0
		if err == nil {
			for rows.Next() {
				n++
			}
			err = rows.Err()
			rows.Close()
		}
		if n != 0 || err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %d rows, %v", x.name, n, err)
		}
	}
}

// typed writes a row of one value by the typed path.
func typed(f func(*tds.RowWriter)) func(*tds.Results) error {
	return func(w *tds.Results) error {
		row := w.RowWriter()
		f(row)
		return row.End()
	}
}

func TestARowAfterABadOneIsSent(t *testing.T) {
	t.Parallel()
	h := &canned{}
	h.exec = func(_ context.Context, _ *tds.Session, _ tds.Request, w *tds.Results) (bool, error) {
		w.Columns([]tds.Column{{Name: "a", Type: tds.Int}, {Name: "t", Type: tds.NVarChar(5), Nullable: true}})
		if err := w.Row(int64(1), int64(2)); err == nil {
			t.Error("no error")
		}
		return true, w.Row(int64(1), "x")
	}
	assertTokens(t, loggedIn(t, serve(t, &tds.Server{Handler: h}), tds74).batch("x"), `
		COLMETADATA a type=38/4 flags=08 user=0, t type=e7/10 flags=09 user=0
		ROW 1, "x"
		DONE status=10 cmd=c1 rows=1`)
}

// The typed path must send what the generic one sends; go-mssqldb's reading of that is tested by TestEveryType.
func TestTypedAndGenericPathSendTheSameBytes(t *testing.T) {
	t.Parallel()
	cols := []tds.Column{
		{Name: "i", Type: tds.SmallInt, Nullable: true}, {Name: "b", Type: tds.Bit}, {Name: "f", Type: tds.Float}, {Name: "d", Type: tds.Decimal(38, 4)}, {Name: "m", Type: tds.Money},
		{Name: "g", Type: tds.UniqueID}, {Name: "dt", Type: tds.Date}, {Name: "tm", Type: tds.Time(3)}, {Name: "d2", Type: tds.DateTime2(5)}, {Name: "dd", Type: tds.DateTime}, {Name: "sd", Type: tds.SmallDateTime},
		{Name: "o", Type: tds.DTOffset(7)}, {Name: "bin", Type: tds.VarBinary(-1)}, {Name: "vc", Type: tds.VarChar(20)}, {Name: "nv", Type: tds.NVarChar(20)}, {Name: "u", Type: tds.NVarChar(-1)}, {Name: "v", Type: tds.Variant, Nullable: true}, {Name: "n", Type: tds.XML, Nullable: true},
	}
	h := &canned{}
	h.exec = func(_ context.Context, _ *tds.Session, q tds.Request, w *tds.Results) (bool, error) {
		w.Columns(cols)
		if strings.HasPrefix(q.SQL, "generic") {
			return true, w.Row(int64(-7), true, 2.5, dec(t, "-123456789012345678901234", 4), dec(t, "-5", 4), guid, moment, moment, moment, moment, moment, offset, []byte{1, 2}, "é", "é😀", "ab", "v", nil)
		}
		at := tds.TicksOf(moment)
		r := w.RowWriter()
		r.Int64(-7)
		r.Bool(true)
		r.Float64(2.5)
		r.Decimal128(-6693, 7269072992350064654) // -123456789012345678901234
		r.Decimal64(-5)
		r.GUID(guid)
		r.DateTime2(at)
		r.DateTime2(at % (24 * 3600 * 10_000_000)) // the time of day
		r.DateTime2(at)
		r.DateTime2(at)
		r.DateTime2(at)
		r.DateTimeOffset(tds.TicksOf(offset), 330)
		r.Bytes([]byte{1, 2})
		r.UTF8([]byte("é"))
		r.Text("é😀")
		r.UTF16([]byte{'a', 0, 'b', 0})
		r.Value("v")
		r.Null()
		return true, r.End()
	}
	addr := serve(t, &tds.Server{Handler: h})
	c := &rawConn{Conn: rawLogin(t, addr), t: t, version: tds74}
	c.send(rawBatch("generic"))
	want := c.reply().data
	c.send(rawBatch("typed"))
	if got := c.reply().data; string(got) != string(want) {
		t.Errorf("typed\n% x\ngeneric\n% x", got, want)
	}
}
