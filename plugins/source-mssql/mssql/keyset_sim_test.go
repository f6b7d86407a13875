package mssql

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// shared makes and captures dbo.k without a unique index and with one row
// per key, which a last column n numbers. Its snapshots are cut on all other
// columns.
func shared(db database, columns []mssqlsim.Column, keys [][]any) (plugin.SourceTable, error) {
	const name = "dbo.k"
	var names []string
	var all []mssqlsim.Column
	for _, c := range columns {
		c.Nullable = true
		names, all = append(names, c.Name), append(all, c)
	}
	if err := db.CreateTable(mssqlsim.Table{Name: name, Columns: append(all, mssqlsim.Column{Name: "n", Type: "int"})}); err != nil {
		return plugin.SourceTable{}, err
	}
	if err := db.EnableTable(name, mssqlsim.Capture{}); err != nil {
		return plugin.SourceTable{}, err
	}
	now.Advance(time.Second)
	_, err := write(db, func(tx writer) error {
		var errs []error
		for i, k := range keys {
			errs = append(errs, tx.Insert(name, append(slices.Clone(k), i)...))
		}
		return errors.Join(errs...)
	})
	return table(written{"object": str(name), "snapshot_keys": texts(names...)}), err
}

// cutSnapshot opens a snapshot, plans it in parts or in chunks of rows, and reads the
// chunks: each is the last column of its rows.
func cutSnapshot(s *session, tab plugin.SourceTable, parts int, rows int64) ([][]string, error) {
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	if err != nil {
		return nil, err
	}
	chunks, err := s.PlanChunks(ctx, plugin.PlanChunksRequest{Table: tab, Keys: info.Keys, Extent: info.Extent, Parts: parts, ChunkRows: rows})
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, c := range chunks {
		lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &c, Stamp: info.Stamp, Keys: info.Keys}))
		if err != nil {
			return nil, err
		}
		for i, l := range lines {
			lines[i] = l[strings.LastIndexByte(l, '|')+1:]
		}
		out = append(out, lines)
	}
	return out, nil
}

// onceEach is how many rows each chunk has; an error when not every one of n rows
// came once.
func onceEach(chunks [][]string, n int) (string, error) {
	var out []string
	times := map[string]int{}
	for _, c := range chunks {
		out = append(out, fmt.Sprint(len(c)))
		for _, row := range c {
			times[row]++
		}
	}
	text := strings.Join(out, " ")
	for row, k := range times {
		if k > 1 {
			return text, fmt.Errorf("the row %s came %d times in chunks of %s rows", row, k, text)
		}
	}
	if len(times) != n {
		return text, fmt.Errorf("%d of %d rows came in chunks of %s rows", len(times), n, text)
	}
	return text, nil
}

// repeat is n keys of one value.
func repeat(n int, key ...any) (out [][]any) {
	for range n {
		out = append(out, key)
	}
	return out
}

// ticks are n moments, 100 ns apart.
func ticks(n int) (out [][]any) {
	for i := range n {
		out = append(out, []any{fmt.Sprintf("2026-01-01T00:00:00.%07d", 1234500+i)})
	}
	return out
}

// A snapshot key need not be unique, and several keys of datetime2(7) read as
// one: a bound that does not move is sought further on, and costs parallelism,
// never a row.
func TestABoundThatDoesNotMove(t *testing.T) {
	t.Parallel()
	type columns = []mssqlsim.Column
	status := columns{{Name: "status", Type: "varchar(10)"}}
	pair := columns{{Name: "a", Type: "varchar(10)"}, {Name: "b", Type: "int"}}
	for name, tc := range map[string]struct {
		columns     columns
		keys        [][]any
		parts, rows string // sizes in four parts, and in chunks of a quarter
	}{
		"most rows have one value":          {status, slices.Concat(repeat(4, "closed"), repeat(30, "open"), one("p", "q", "r", "s", "t", "u")), "4 36", "4 36"},
		"the first value is that of most":   {status, slices.Concat(repeat(30, "open"), one("p", "q", "r", "s", "t", "u", "v", "w", "x", "y")), "40", "40"},
		"every row has one value":           {status, repeat(40, "open"), "40", "40"},
		"most rows are NULL":                {status, slices.Concat(repeat(12, nil), one("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l")), "12 6 6", "12 6 6"},
		"every row is NULL":                 {status, repeat(8, nil), "8", "8"},
		"a few NULLs":                       {status, slices.Concat(repeat(3, nil), one("a", "b", "c", "d", "e")), "4 2 2", "4 2 2"},
		"values that differ in case":        {status, one("open", "OPEN", "Open", "oPEN", "open", "OPEN", "z", "Z"), "8", "8"},
		"a value in two cases, then others": {status, one("a", "A", "a", "b", "c", "d", "e", "f"), "4 2 2", "4 2 2"},
		"20 keys of one microsecond":        {columns{{Name: "at", Type: "datetime2(7)"}}, ticks(20), "10 10", "20"},
		"40 keys of four microseconds":      {columns{{Name: "at", Type: "datetime2(7)"}}, ticks(40), "10 10 10 10", "10 10 20"},
		"an offset in one microsecond":      {columns{{Name: "at", Type: "datetimeoffset(7)"}}, one("2026-01-01T00:00:00.1234561 +00:00", "2026-01-01T01:00:00.1234562 +01:00", "2026-01-01T00:00:00.1234563 +00:00", "2026-01-02T00:00:00.0000000 +00:00", "2026-01-03T00:00:00.0000000 +00:00"), "4 1", "5"},
		"a first column that is constant":   {pair, [][]any{{"x", 1}, {"x", 2}, {"X", 3}, {"x", 4}, {"X", 5}, {"x", 6}, {"x", 7}, {"x", 8}}, "2 2 2 2", "2 2 2 2"},
		"a second column that is constant":  {pair, [][]any{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}, "1 1 1 1", "1 1 2"},
		"NULLs in the second column":        {pair, slices.Concat(repeat(6, "x", nil), [][]any{{"x", 1}, {"y", nil}}), "8", "8"},
		"NULLs in the first column":         {pair, slices.Concat(repeat(5, nil, 1), [][]any{{nil, 2}, {"a", nil}, {"b", 1}}), "8", "8"},
		"NULLs in both columns":             {pair, slices.Concat(repeat(3, nil, nil), repeat(2, nil, 7), repeat(3, "a", nil)), "3 2 3", "3 5"},
		"nothing but NULLs in two columns":  {pair, repeat(8, nil, nil), "8", "8"},
		"the first and the last day":        {columns{{Name: "day", Type: "date"}}, slices.Concat(repeat(4, "0001-01-01"), repeat(4, "9999-12-31")), "4 4", "8"},
		"empty texts":                       {status, slices.Concat(repeat(6, ""), one("a", "b")), "8", "8"},
		"the ends of bigint in two columns": {columns{{Name: "a", Type: "bigint"}, {Name: "b", Type: "bigint"}}, slices.Concat(repeat(4, int64(math.MinInt64), int64(math.MaxInt64)), repeat(4, int64(math.MaxInt64), int64(math.MaxInt64))), "4 4", "8"},
		"the ends of bigint":                {columns{{Name: "a", Type: "bigint"}}, slices.Concat(repeat(4, int64(math.MinInt64)), repeat(4, nil), repeat(4, int64(math.MaxInt64))), "8 0 0 4", "8 4"},
		"the ends of a float":               {columns{{Name: "f", Type: "float"}}, slices.Concat(repeat(4, -math.MaxFloat64), repeat(4, math.MaxFloat64)), "4 4", "8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := wireDatabase(t)
			tab, err := shared(db, tc.columns, tc.keys)
			must(t, err)
			s := open(t, db, nil)
			for _, by := range []struct {
				parts int
				rows  int64
				want  string
			}{{4, 0, tc.parts}, {0, int64(len(tc.keys)) / 4, tc.rows}} {
				chunks, err := cutSnapshot(s, tab, by.parts, by.rows)
				if err != nil {
					t.Errorf("%d parts or chunks of %d rows: %v", by.parts, by.rows, err)
					continue
				}
				if got, err := onceEach(chunks, len(tc.keys)); err != nil || got != by.want {
					t.Errorf("%d parts or chunks of %d rows: chunks of %s rows, want %s; %v", by.parts, by.rows, got, by.want, err)
				}
			}
		})
	}
}

// The primary key itself, whose keys are as many as the rows, may have more
// keys in a microsecond than a part has rows.
func TestAPrimaryKeyWithManyKeysInAMicrosecond(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	tab := keyed(t, db, []mssqlsim.Column{{Name: "at", Type: "datetime2(7)"}}, ticks(20))
	_, sizes, lines := snapshot(t, open(t, db, nil), tab, 8, "")
	slices.Sort(lines)
	if fmt.Sprint(sizes) != "[10 10]" || len(lines) != 20 || len(slices.Compact(lines)) != 20 {
		t.Errorf("chunks of %v rows, %d rows", sizes, len(lines))
	}
}

// The driver reads what it cannot decode, half of a pair of UTF-16 or a byte
// that the code page does not have, as U+FFFD. As the greatest key that could
// end the last chunk below rows that were there. The simulator knows its order
// by code points alone.
func TestAGreatestKeyThatDoesNotReadBack(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	tab, err := shared(db, []mssqlsim.Column{{Name: "code", Type: "nvarchar(8)", Collation: "Latin1_General_BIN2"}}, one("a", "b", "c", "d", "e", "z\uFFFD"))
	must(t, err)
	s := open(t, db, nil)
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	if info.Extent != "" {
		t.Errorf("extent %s", info.Extent)
	}
	for _, by := range [][2]int{{3, 0}, {0, 2}} {
		chunks, err := cutSnapshot(s, tab, by[0], int64(by[1]))
		must(t, err)
		if got, err := onceEach(chunks, 6); err != nil || got != "6" {
			t.Errorf("chunks of %s rows: %v", got, err)
		}
	}
}

// Each tile begins above the one before it, or a check that reads them one by
// one would read the rows of a repeated value, or of NULL, twice.
func TestTilesOfAKeyThatRepeats(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	tab, err := shared(db, []mssqlsim.Column{{Name: "status", Type: "varchar(10)"}}, slices.Concat(repeat(4, nil), repeat(7, "open"), one("z")))
	must(t, err)
	lines, _, _, err := read(open(t, db, nil).Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateTiles, Tiles: 6}))
	must(t, err)
	equal(t, lines, []string{`null|4`, `"open"|8`})
}

// A stand-in sorts elsewhere than the key that it stands for: as a bound it
// would make ranges overlap or leave rows out, so the tile before goes on.
func TestTilesOfAKeyThatDoesNotReadBack(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	tab, err := shared(db, []mssqlsim.Column{{Name: "code", Type: "nvarchar(8)", Collation: "Latin1_General_BIN2"}}, one("a\uFFFD", "b", "b\uFFFD", "c", "d", "z\uFFFD"))
	must(t, err)
	s := open(t, db, nil)
	for tiles, want := range map[int][]string{
		6: {`null|1`, `"b"|2`, `"c"|1`, `"d"|2`},
		3: {`null|4`, `"d"|2`}, // the second would begin at the bad one
		1: {`null|6`},
	} {
		lines, _, _, err := read(s.Aggregate(ctx, plugin.AggregateRequest{Table: tab, Kind: plugin.AggregateTiles, Tiles: tiles}))
		must(t, err)
		equal(t, lines, want)
	}
}

// The chunks of any key are the table: each row comes once, no value is in two
// chunks, and there are no more chunks than asked for or than rows.
func TestTheChunksOfAnyKeyAreTheTable(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		typ    string
		values []any
	}{
		{"varchar(8)", []any{nil, "", "a", "A", "b", "n", "N", "zz", "~"}},
		{"int", []any{nil, int64(math.MinInt32), int64(-1), int64(0), int64(1), int64(math.MaxInt32)}},
		{"decimal(20,10)", []any{nil, "-1.5", "0", "0.0000000001", "9999999999.9999999999"}},
		{"date", []any{nil, "0001-01-01", "2026-01-01", "9999-12-31"}},
		// Only the last column of a key can have seven digits.
		{"datetime2(7)", []any{nil, "0001-01-01T00:00:00", "2026-01-01T00:00:00.1234561", "2026-01-01T00:00:00.1234562", "2026-01-01T00:00:00.1234569", "2026-01-01T00:00:00.1234570", "9999-12-31T23:59:59.9999999"}},
	}
	name, databases := t.Name(), 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "columns")
		var columns []mssqlsim.Column
		var values [][]any
		for i := range n {
			usable := kinds[:len(kinds)-1]
			if i == n-1 {
				usable = kinds
			}
			k := rapid.IntRange(0, len(usable)-1).Draw(t, "type")
			columns = append(columns, mssqlsim.Column{Name: fmt.Sprint("k", i), Type: usable[k].typ})
			values = append(values, usable[k].values)
		}
		var keys [][]any
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			var key []any
			for _, v := range values {
				key = append(key, rapid.SampledFrom(v).Draw(t, "value"))
			}
			keys = append(keys, key)
		}
		databases++
		db := server.Database(fmt.Sprint(name, databases))
		if err := db.EnableCDC(); err != nil {
			t.Fatal(err)
		}
		tab, err := shared(db, columns, keys)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := newPlugin(nil, slog.DiscardHandler).OpenSource(ctx, plugin.OpenRequest{Component: Type, Address: "source.shop",
			Config: object(connectionSchema().EmptyValue(), written{"url": str(dsn(db))})})
		if err != nil {
			t.Fatal(err)
		}
		s := opened.(*session)
		defer s.Close()
		parts, rows := rapid.IntRange(2, 9).Draw(t, "parts"), int64(0)
		if rapid.Bool().Draw(t, "by rows") {
			parts, rows = 0, int64(rapid.IntRange(1, 9).Draw(t, "chunk rows"))
		}
		chunks, err := cutSnapshot(s, tab, parts, rows)
		if err != nil {
			t.Fatal(err)
		}
		text, err := onceEach(chunks, len(keys))
		if err != nil {
			t.Fatal(err)
		}
		if most := max(1, parts, len(keys)); rows > 0 && len(chunks) > most || rows == 0 && len(chunks) > parts {
			t.Fatalf("chunks of %s rows, of %d rows in %d parts", text, len(keys), parts)
		}
		in := map[string]int{}
		for i, c := range chunks {
			for _, row := range c {
				var at int
				if _, err := fmt.Sscan(row, &at); err != nil {
					t.Fatal(err)
				}
				key := strings.ToLower(fmt.Sprintf("%#v", keys[at]))
				if was, ok := in[key]; ok && was != i {
					t.Fatalf("the key %s is in the chunks %d and %d, of %s rows", key, was, i, text)
				}
				in[key] = i
			}
			// The key after so many rows is in the next chunk, so two have more.
			if integer := n == 1 && columns[0].Type == "int"; i < len(chunks)-1 && !integer && (len(c) == 0 || int64(len(c)+len(chunks[i+1])) <= rows) {
				t.Fatalf("chunk %d is too small: %s rows", i, text)
			}
		}
	})
}
