package mssql

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// Every type through the driver and the wire, from a change table and from
// the table itself: one decoder for both (report D-68).
func TestEveryTypeReadsBackExactly(t *testing.T) {
	t.Parallel()
	zoned := time.Date(2026, 9, 28, 13, 50, 1, 123456700, time.FixedZone("", -3*3600))
	for i, tc := range []struct {
		typ   string
		value any
		want  string
	}{
		{"bit", true, "true"}, {"tinyint", 200, "200"}, {"smallint", -32768, "-32768"}, {"int", 2147483647, "2147483647"},
		{"bigint", int64(-9223372036854775808), "-9223372036854775808"}, {"real", 1.5, "1.5"}, {"float", 0.1, "0.1"},
		{"decimal(38,10)", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789"},
		{"numeric(9,2)", "-0.01", "-0.01"}, {"decimal(20,10)", "0", "0.0000000000"},
		{"money", "922337203685477.5807", "922337203685477.5807"}, {"money", "-922337203685477.5808", "-922337203685477.5808"}, {"smallmoney", "-214748.3648", "-214748.3648"},
		{"date", "0001-01-01", "0001-01-01"}, {"date", "9999-12-31", "9999-12-31"},
		{"datetime", "2026-09-28T14:03:12.117", "2026-09-28T14:03:12.117000"}, {"datetime", "1753-01-01T00:00:00.003", "1753-01-01T00:00:00.003000"},
		{"smalldatetime", "2026-09-28T14:03:00", "2026-09-28T14:03:00.000000"},
		// The seventh digit is cut, not rounded, also before 1970 (report F-97).
		{"datetime2(7)", "2026-09-28T14:03:12.1234567", "2026-09-28T14:03:12.123456"}, {"datetime2(7)", "1969-12-31T23:59:59.9999999", "1969-12-31T23:59:59.999999"},
		{"datetime2(7)", "9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.999999"}, {"datetime2(3)", "0001-01-01T00:00:00.001", "0001-01-01T00:00:00.001000"},
		{"datetimeoffset(7)", zoned, "2026-09-28T16:50:01.123456"}, {"datetimeoffset(7)", "2026-09-28T02:00:00.0000000 +05:30", "2026-09-27T20:30:00.000000"},
		{"datetimeoffset(7)", "0001-01-10T00:00:00.0000000 +01:00", "0001-01-09T23:00:00.000000"}, // report F-84
		{"time(7)", "13:50:01.1234567", "13:50:01.123456700"}, {"time(0)", "13:50:01", "13:50:01.000000000"},
		{"char(5)", "ab", "ab   "}, {"varchar(20)", "café €", "café €"}, {"varchar(max)", strings.Repeat("x", 100_000), strings.Repeat("x", 100_000)},
		{"nchar(3)", "é", "é  "}, {"nvarchar(40)", "日本 🙂 ", "日本 🙂 "}, {"nvarchar(max)", strings.Repeat("é", 70_000), strings.Repeat("é", 70_000)},
		{"text", "old text", "old text"}, {"ntext", "old ntext é", "old ntext é"}, {"xml", "<a>é</a>", "<a>é</a>"},
		{"uniqueidentifier", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"binary(4)", []byte{1, 2}, "01020000"}, {"varbinary(8)", []byte{0xff, 0}, "ff00"}, {"varbinary(max)", []byte{7}, "07"}, {"image", []byte{8, 9}, "0809"},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tc.typ), func(t *testing.T) {
			t.Parallel()
			db := wireDatabase(t)
			must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.v", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "v", Type: tc.typ, Nullable: true}}}))
			must(t, db.EnableTable("dbo.v", mssqlsim.Capture{}))
			commit(t, db, func(tx writer) error {
				return errors.Join(tx.Insert("dbo.v", 1, tc.value), tx.Insert("dbo.v", 2, nil))
			})
			s := open(t, db, nil)
			tab := table(written{"object": str("dbo.v")})
			from := start(t, s, tab, "earliest")
			b := plan(t, s, tab, from, latest(t, s, tab, from))
			lines, _ := readRanges(t, s, tab, b)
			equal(t, short(lines), []string{"2|1|" + tc.want, "2|2|NULL"})
			info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
			must(t, err)
			lines, _, _, err = read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &plugin.Chunk{Last: true}, Stamp: info.Stamp, Keys: info.Keys}))
			must(t, err)
			equal(t, short(lines), []string{"0|1|" + tc.want, "0|2|NULL"})
		})
	}
}

func TestATypeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.v", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "what", Type: "sql_variant", Nullable: true}}}))
	must(t, db.EnableTable("dbo.v", mssqlsim.Capture{}))
	s := open(t, db, nil)
	tab := table(written{"object": str("dbo.v")})
	r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}})
	must(t, err)
	info := r.Tables[0]
	d := wantDiag(t, info.Diagnostics.Err(), diag.KindConfiguration, codeColumnType, "dbo_v.what", "sql_variant", "drop = true")
	if info.Schema != nil || d.Path.String() != "columns.what" {
		t.Errorf("schema %v, path %s", info.Schema, d.Path)
	}
	tab.Columns = []plugin.ColumnRule{{Name: "what", Drop: true}}
	r, err = open(t, db, nil).Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}})
	must(t, err)
	if r.Tables[0].Diagnostics.HasErrors() || r.Tables[0].Schema == nil {
		t.Errorf("%+v", r.Tables[0])
	}
}

// What change data capture leaves out of images (Microsoft: cdc.
// <capture_instance>_CT; report F-92, F-94).
func TestImagesThatCDCDoesNotStore(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.v", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "n", Type: "int"}, {Name: "big", Type: "nvarchar(max)", Nullable: true}, {Name: "old", Type: "text", Nullable: true}}}))
	must(t, db.EnableTable("dbo.v", mssqlsim.Capture{}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.v", 1, 1, "big", "old") })
	commit(t, db, func(tx writer) error { return tx.Update("dbo.v", map[string]any{"n": 2}, 1) })
	commit(t, db, func(tx writer) error { return tx.Delete("dbo.v", 1) })
	s := open(t, db, nil)
	tab := table(written{"object": str("dbo.v")})
	from := start(t, s, tab, "earliest")
	lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, latest(t, s, tab, from)))
	equal(t, short(lines), []string{"2|1|1|big|old", "3|1|1|NULL|NULL", "4|1|2|big|old", "1|1|2|big|NULL"})
}

// Names with brackets, dots and dollars (report H-122).
func TestNamesThatNeedQuotes(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.a$b c", Key: []string{"the id"}, Columns: []mssqlsim.Column{{Name: "the id", Type: "int"}, {Name: "x]y", Type: "int"}, {Name: "a.b'c", Type: "int"}, {Name: "$", Type: "int"}}}))
	must(t, db.EnableTable("dbo.a$b c", mssqlsim.Capture{Name: "dbo_Café $1"}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.a$b c", 1, 2, 3, 4) })
	s := open(t, db, nil)
	for _, args := range []written{{"object": str("[dbo].[a$b c]")}, {"capture_instance": str("DBO_CAFÉ $1")}} {
		tab := table(args)
		tab.Address += fmt.Sprint(len(args["object"].GoString()))
		from := start(t, s, tab, "earliest")
		lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, latest(t, s, tab, from)))
		equal(t, short(lines), []string{"2|1|2|3|4"})
		info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
		must(t, err)
		lines, _, _, err = read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &plugin.Chunk{Last: true}, Stamp: info.Stamp, Keys: info.Keys}))
		must(t, err)
		equal(t, short(lines), []string{"0|1|2|3|4"})
	}
}
