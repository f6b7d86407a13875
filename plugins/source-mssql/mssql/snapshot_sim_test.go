package mssql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// keyed makes and captures dbo.k with key columns and one row per key.
func keyed(t *testing.T, db database, columns []mssqlsim.Column, rows [][]any) plugin.SourceTable {
	t.Helper()
	var key []string
	for _, c := range columns {
		key = append(key, c.Name)
	}
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.k", Key: key, Columns: append(slices.Clone(columns), mssqlsim.Column{Name: "note", Type: "varchar(10)", Nullable: true})}))
	must(t, db.EnableTable("dbo.k", mssqlsim.Capture{}))
	if len(rows) > 0 {
		commit(t, db, func(tx writer) error {
			var errs []error
			for i, r := range rows {
				errs = append(errs, tx.Insert("dbo.k", append(slices.Clone(r), fmt.Sprint("row ", i))...))
			}
			return errors.Join(errs...)
		})
	}
	return table(written{"object": str("dbo.k")})
}

func one(values ...any) [][]any {
	var out [][]any
	for _, v := range values {
		out = append(out, []any{v})
	}
	return out
}

// snapshot opens, plans and reads a whole snapshot in parts, and returns how
// many rows each chunk has and all their lines.
func snapshot(t *testing.T, s *session, tab plugin.SourceTable, parts int, isolation string) (info plugin.SnapshotInfo, sizes []int, lines []string) {
	t.Helper()
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	chunks, err := s.PlanChunks(ctx, plugin.PlanChunksRequest{Table: tab, Keys: info.Keys, Extent: info.Extent, Parts: parts, Isolation: isolation})
	must(t, err)
	for i, c := range chunks {
		more, schema, end, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &c, Stamp: info.Stamp, Keys: info.Keys, Isolation: isolation}))
		must(t, err)
		if !schema.Equal(info.Schema) || end.Rows != int64(len(more)) || end.High.IsZero() || (end.Rows > 0) != (end.Operations[0] == end.Rows && end.Least == info.Stamp) {
			t.Errorf("chunk %d: %v, %+v", i, schema, end)
		}
		sizes, lines = append(sizes, len(more)), append(lines, more...)
	}
	return info, sizes, lines
}

func TestAWholeSnapshotInParts(t *testing.T) {
	t.Parallel()
	ci := func(name, typ string) []mssqlsim.Column { return []mssqlsim.Column{{Name: name, Type: typ}} }
	for name, tc := range map[string]struct {
		columns []mssqlsim.Column
		rows    [][]any
		parts   int
		want    string // sizes of the chunks
	}{
		"integers by arithmetic":        {ci("id", "int"), one(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 4, "2 3 2 3"},
		"one distinct key":              {ci("id", "int"), one(5), 4, "1"},
		"an empty table":                {ci("id", "int"), nil, 4, "0"},
		"one part":                      {ci("id", "int"), one(1, 2), 1, "2"},
		"negative integers":             {ci("id", "int"), one(-25, -24, -23, -22, -21, 0), 2, "5 1"},
		"all of bigint":                 {ci("id", "bigint"), one(int64(-9223372036854775808), -1, 0, int64(9223372036854775807)), 2, "2 2"},
		"texts by seeks":                {ci("code", "varchar(8)"), one("C0", "C1", "C2", "C3", "C4"), 4, "2 1 1 1"},
		"more parts than rows":          {ci("code", "nvarchar(8)"), one("a", "b", "c"), 8, "1 1 1"},
		"Greek in a Latin database":     {[]mssqlsim.Column{{Name: "code", Type: "varchar(8)", Collation: "Greek_CI_AS"}}, one("α", "β", "γ", "δ", "ε", "ζ", "η", "θ", "ι", "κ"), 3, "4 3 3"},
		"dates":                         {ci("day", "date"), one("2026-01-01", "2026-01-02", "2026-01-03", "9999-12-31"), 2, "2 2"},
		"datetime2 with seven digits":   {ci("at", "datetime2(7)"), one("2026-01-01T00:00:00.1234567", "2026-01-01T00:00:00.1234568", "2026-01-02T00:00:00", "2026-01-03T00:00:00"), 2, "2 2"},
		"datetime (report D-62)":        {ci("at", "datetime"), one("2026-01-01T00:00:00.003", "2026-01-01T00:00:00.007", "2026-01-01T00:00:00.010", "2026-01-01T00:00:00.013"), 4, "1 1 1 1"},
		"decimals":                      {ci("n", "decimal(20,10)"), one("-1.5", "0", "0.0000000001", "7"), 4, "1 1 1 1"},
		"identifiers":                   {ci("id", "uniqueidentifier"), one("6F9619FF-8B86-D011-B42D-00C04FC964FF", "00000000-0000-0000-0000-000000000001", "FFFFFFFF-0000-0000-0000-000000000000"), 3, "1 1 1"},
		"binaries":                      {ci("b", "varbinary(8)"), one([]byte{0}, []byte{0, 1}, []byte{0xff}, []byte{0xff, 0xff}), 4, "1 1 1 1"},
		"a time cannot be bound":        {ci("t", "time(3)"), one("10:00:00", "11:00:00"), 4, "2"},
		"two columns":                   {append(ci("region", "varchar(8)"), mssqlsim.Column{Name: "id", Type: "int"}), [][]any{{"n", 1}, {"n", 2}, {"n", 3}, {"n", 4}, {"s", 1}, {"s", 2}, {"s", 3}, {"s", 4}}, 4, "2 2 2 2"},
		"two columns, one leading":      {append(ci("region", "int"), mssqlsim.Column{Name: "id", Type: "int"}), [][]any{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}}, 3, "2 2 2"},
		"keys with commas":              {append(ci("a", "varchar(8)"), mssqlsim.Column{Name: "b", Type: "varchar(8)"}), [][]any{{"a", "b,c"}, {"a,b", "c"}, {"a,b", "d"}}, 3, "1 1 1"},
		"seven digits before a column":  {append(ci("at", "datetime2(7)"), mssqlsim.Column{Name: "id", Type: "int"}), [][]any{{"2026-01-01", 1}, {"2026-01-02", 1}}, 2, "2"},
		"seven digits in the last":      {append(ci("id", "int"), mssqlsim.Column{Name: "at", Type: "datetime2(7)"}), [][]any{{1, "2026-01-01"}, {1, "2026-01-02"}}, 2, "1 1"},
		"texts that differ by case":     {append(ci("region", "varchar(8)"), mssqlsim.Column{Name: "id", Type: "int"}), [][]any{{"n", 1}, {"N", 4}, {"n", 4 + 1}, {"N", 7}, {"o", 1}}, 5, "1 1 1 1 1"},
		"an offset compares by instant": {ci("at", "datetimeoffset(3)"), one("2026-01-01T00:00:00.000 +05:00", "2026-01-01T00:00:00.000 +00:00", "2025-12-31T23:00:00.000 -03:00"), 3, "1 1 1"},
		"float keys":                    {ci("f", "float"), one(-1.5, 0.1, 0.2, 1e100), 4, "1 1 1 1"},
		"money keys":                    {ci("m", "money"), one("-1.0001", "0", "922337203685477.5807"), 3, "1 1 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := wireDatabase(t)
			tab := keyed(t, db, tc.columns, tc.rows)
			s := open(t, db, nil)
			info, sizes, lines := snapshot(t, s, tab, tc.parts, "")
			if got := strings.Trim(fmt.Sprint(sizes), "[]"); got != tc.want {
				t.Errorf("chunks of %s rows, want %s; extent %s", got, tc.want, info.Extent)
			}
			slices.Sort(lines)
			if distinct := len(slices.Compact(slices.Clone(lines))); distinct != len(tc.rows) || len(lines) != distinct {
				t.Errorf("%d rows, %d of them distinct, of %d", len(lines), distinct, len(tc.rows))
			}
			for _, l := range lines {
				parts := strings.Split(l, "|")
				if parts[0] != "dbo_k" || parts[1] != info.Stamp.Text || parts[2] != "NULL" || parts[3] != "0" || parts[4] != "NULL" || parts[5] == "NULL" {
					t.Errorf("metadata of %s", l)
				}
			}
		})
	}
}

func TestAPartOfOneLeadingValueReadsOnlyItsRows(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	tab := keyed(t, db, []mssqlsim.Column{{Name: "region", Type: "varchar(8)"}, {Name: "id", Type: "int"}}, [][]any{{"n", 1}, {"n", 4}, {"N", 5}, {"N", 6}, {"n", 7}, {"o", 1}})
	s := open(t, db, nil)
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	if info.Extent != `{"kind":"keyset","max":["o",1]}` || fmt.Sprint(info.Keys) != "[region id]" {
		t.Errorf("extent %s of %v", info.Extent, info.Keys)
	}
	for _, tc := range []struct{ lo, hi, want string }{
		{`["n",4]`, `["N",7]`, "n|4 N|5 N|6"}, {`["N",4]`, `["n",7]`, "n|4 N|5 N|6"}, {"", `["n",4]`, "n|1"}, {`["N",6]`, "", "N|6 n|7 o|1"}, {`["n",7]`, `["n",7]`, ""},
	} {
		lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &plugin.Chunk{Lo: tc.lo, Hi: tc.hi}, Stamp: info.Stamp, Keys: info.Keys}))
		must(t, err)
		var got []string
		for _, l := range short(lines) {
			parts := strings.Split(l, "|")
			got = append(got, parts[1]+"|"+parts[2])
		}
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("[%s, %s): %s, want %s", tc.lo, tc.hi, s, tc.want)
		}
	}
}

// A row may be newer than its stamp, never older (reports D-45, D-46).
func TestACommitBetweenStampAndRead(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	must(t, db.CommitBeforeRead("dbo.orders", func() error { insert(t, db, 2); return nil }))
	lines, _, end, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &plugin.Chunk{Last: true}, Stamp: info.Stamp, Keys: info.Keys}))
	must(t, err)
	slices.Sort(lines)
	equal(t, short(lines), []string{"0|1|order 1|1.50", "0|2|order 2|1.50"})
	if end.High.Compare(info.Stamp) <= 0 {
		t.Errorf("the read ended at %+v, its stamp is %+v", end.High, info.Stamp)
	}
	changes, _, _ := readOn(t, s, tab, info.Stamp)
	equal(t, short(changes), []string{"2|2|order 2|1.50"})
}

func TestASnapshotOfADatabaseThatCaptureNeverWrote(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Quiet: true}))
	s := open(t, db, nil)
	p, err := s.Stamp(ctx, table())
	must(t, err)
	if p.HasCommit || p.Text == at(0).String() {
		t.Errorf("stamp %+v", p)
	}
	lines, _, end, err := read(s.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{Last: true}, Stamp: p}))
	must(t, err)
	if len(lines) != 0 || !end.High.IsZero() || end.Operations != nil {
		t.Errorf("%v, %+v", lines, end)
	}
}

func TestColumnsThatTheTableNoLongerHasReadNull(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	must(t, db.DropColumn("dbo.orders", "note"))
	_, _, lines := snapshot(t, s, table(), 1, "")
	equal(t, short(lines), []string{"0|1|NULL|1.50"})
	// Another column of the same name is not the captured one.
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "note", Type: "nvarchar(40)", Nullable: true}))
	commit(t, db, func(tx writer) error { return tx.Update("dbo.orders", map[string]any{"note": "new"}, 1) })
	_, _, lines = snapshot(t, s, table(), 1, "")
	equal(t, short(lines), []string{"0|1|NULL|1.50"})
}

func TestSnapshotKeys(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Columns: []mssqlsim.Column{{Name: "Id", Type: "int", Nullable: true}, {Name: "flag", Type: "bit", Nullable: true}, {Name: "at", Type: "time(3)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{}))
	commit(t, db, func(tx writer) error {
		return errors.Join(tx.Insert("dbo.orders", nil, true, nil), tx.Insert("dbo.orders", 1, true, nil), tx.Insert("dbo.orders", 1, true, nil), tx.Insert("dbo.orders", 9, true, nil))
	})
	s := open(t, db, nil)
	with := func(keys ...string) plugin.SourceTable {
		return table(written{"object": str("dbo.orders"), "snapshot_keys": texts(keys...)})
	}
	t.Run("a table without unique index is one chunk", func(t *testing.T) {
		info, sizes, _ := snapshot(t, s, table(), 4, "")
		if info.Extent != "" || len(info.Keys) != 0 || fmt.Sprint(sizes) != "[4]" {
			t.Errorf("%+v, %v", info, sizes)
		}
	})
	t.Run("they are spelled as captured and need not be unique", func(t *testing.T) {
		info, sizes, _ := snapshot(t, s, with("ID"), 3, "")
		if fmt.Sprint(info.Keys) != "[Id]" || fmt.Sprint(sizes) != "[3 0 1]" {
			t.Errorf("%+v, %v", info, sizes)
		}
	})
	for name, tc := range map[string]struct {
		keys []string
		path string
		says string
	}{
		"not captured":             {[]string{"id", "flog"}, "snapshot_keys[1]", "Did you mean flag?"},
		"not sorted by the server": {[]string{"flag"}, argSnapshotKeys, "flag of type bit"},
		"without bounds":           {[]string{"at"}, argSnapshotKeys, "at of type time"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: with(tc.keys...)})
			d := wantDiag(t, err, diag.KindConfiguration, plugin.CodeSnapshotKeys, tc.says)
			if d.Path.String() != tc.path {
				t.Errorf("path %s", d.Path)
			}
			// The plan knows it as well, and needs the shape all the same.
			info := inspect(t, s, with(tc.keys...)).Tables[0]
			if len(info.Diagnostics) != 1 || info.Schema == nil {
				t.Fatalf("%v, schema %v", info.Diagnostics, info.Schema)
			}
			if said := info.Diagnostics[0]; said.Severity != diag.Warning || said.Summary != d.Summary || said.Path.String() != tc.path {
				t.Errorf("inspect says %+v, the snapshot %+v", said, d)
			}
		})
	}
	t.Run("bounds on a key that has none", func(t *testing.T) {
		_, err := s.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{Lo: "1"}, Stamp: plugin.Position{Text: at(1).String()}, Keys: []string{"at"}})
		wantDiag(t, err, diag.KindConfiguration, codeKey, "cannot be read in ranges")
	})
}

func TestIsolationOfSnapshots(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1, 2, 3)
	s := open(t, db, written{"lock_timeout": str("500ms")})
	for _, level := range []string{"", "read_committed", "snapshot", "SNAPSHOT"} {
		if _, _, lines := snapshot(t, s, table(), 2, level); len(lines) != 3 {
			t.Errorf("%s: %v", level, lines)
		}
	}
	_, err := s.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{}, Stamp: plugin.Position{Text: at(1).String()}, Isolation: "uncommitted"})
	wantDiag(t, err, diag.KindConfiguration, "mssql.configuration", "uncommitted")
	db.AllowSnapshot(false)
	_, _, _, err = read(s.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{}, Stamp: plugin.Position{Text: at(1).String()}, Isolation: "snapshot"}))
	wantDiag(t, err, diag.KindConfiguration, codeIsolation, "ALLOW_SNAPSHOT_ISOLATION")
	// A plan can tell before.
	equal(t, warned(t, inspect(t, open(t, db, nil), table())), nil)
	equal(t, warned(t, inspect(t, open(t, db, written{"isolation": str("snapshot")}), table())),
		[]string{"source.snapshot_isolation : The database " + db.Name() + " does not allow snapshot isolation"})
	// The level does not stick to connections that others use (report D-53).
	if end := latest(t, s, table(), start(t, s, table(), "earliest")); !end.HasCommit {
		t.Errorf("%+v", end)
	}
}

func TestAggregates(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	tab := keyed(t, db, []mssqlsim.Column{{Name: "id", Type: "bigint"}}, one(-25, -24, -21, -1, 0, 9, 10, 11, 19, 100))
	s := open(t, db, nil)
	ask := func(tab plugin.SourceTable, req plugin.AggregateRequest) []string {
		t.Helper()
		req.Table = tab
		lines, _, _, err := read(s.Aggregate(ctx, req))
		must(t, err)
		return lines
	}
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateBounds}), []string{"-25|100"})
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateCount}), []string{"10"})
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateCount, Lo: "-1", Hi: "10"}), []string{"3"})
	// The quotient is a floor, also below zero.
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateBuckets, Width: 10}), []string{"-3|3|-70", "-1|1|-1", "0|2|9", "1|3|40", "10|1|100"})
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateBuckets, Width: 10, Lo: "0", Hi: "11"}), []string{"0|2|9", "1|1|10"})
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateTiles, Tiles: 3}), []string{"-25|4", "0|3", "11|3"})
	equal(t, ask(tab, plugin.AggregateRequest{Kind: plugin.AggregateTiles, Tiles: 20}), []string{"-25|1", "-24|1", "-21|1", "-1|1", "0|1", "9|1", "10|1", "11|1", "19|1", "100|1"})
	if _, err := s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: "median"}); !diag.Is(err, diag.KindUnsupported) {
		t.Errorf("got %v", err)
	}
	t.Run("of an empty table", func(t *testing.T) {
		db := server.Database(db.Name() + "_empty")
		must(t, db.EnableCDC())
		tab := keyed(t, db, []mssqlsim.Column{{Name: "day", Type: "date"}}, nil)
		s := open(t, db, nil)
		for kind, want := range map[plugin.AggregateKind][]string{plugin.AggregateBounds: {"NULL|NULL"}, plugin.AggregateCount: {"0"}, plugin.AggregateBuckets: nil, plugin.AggregateTiles: nil} {
			lines, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: kind, Width: 7, Tiles: 4}))
			must(t, err)
			equal(t, lines, want)
		}
		commit(t, db, func(tx writer) error {
			return errors.Join(tx.Insert("dbo.k", "1969-12-31", nil), tx.Insert("dbo.k", "1970-01-01", nil), tx.Insert("dbo.k", "1970-01-08", nil))
		})
		lines, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateBuckets, Width: 7}))
		must(t, err)
		equal(t, lines, []string{"-1|1|-1", "0|1|0", "1|1|7"})
	})
	t.Run("of a key without buckets", func(t *testing.T) {
		db := server.Database(db.Name() + "_text")
		must(t, db.EnableCDC())
		tab := keyed(t, db, []mssqlsim.Column{{Name: "code", Type: "varchar(8)"}, {Name: "n", Type: "int"}}, [][]any{{"a", 1}, {"a", 2}, {"b", 1}})
		s := open(t, db, nil)
		_, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateBuckets, Width: 7}))
		wantDiag(t, err, diag.KindUnsupported, codeKey, "tiles")
		lines, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateTiles, Tiles: 2}))
		must(t, err)
		equal(t, lines, []string{`["a",1]|2`, `["b",1]|1`})
	})
}
