package mssql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// chunked opens a snapshot and plans chunks of so many rows; it returns how
// many rows each has and all their lines.
func chunked(t *testing.T, s *session, tab plugin.SourceTable, rows int64) (chunks []plugin.Chunk, sizes []int, lines []string) {
	t.Helper()
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	chunks, err = s.PlanChunks(ctx, plugin.PlanChunksRequest{Table: tab, Keys: info.Keys, Extent: info.Extent, ChunkRows: rows})
	must(t, err)
	for _, c := range chunks {
		more, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &c, Stamp: info.Stamp, Keys: info.Keys}))
		must(t, err)
		sizes, lines = append(sizes, len(more)), append(lines, more...)
	}
	return chunks, sizes, lines
}

func integers(from, to, step int) (out []any) {
	for i := from; i <= to; i += step {
		out = append(out, i)
	}
	return out
}

func TestChunksOfSoManyRows(t *testing.T) {
	t.Parallel()
	ci := func(name, typ string) []mssqlsim.Column { return []mssqlsim.Column{{Name: name, Type: typ}} }
	var texts [][]any
	for i := range 10 {
		texts = append(texts, []any{fmt.Sprint("C", i)})
	}
	far := append(integers(0, 999, 1), integers(10000, 500000, 10000)...)
	for name, tc := range map[string]struct {
		columns []mssqlsim.Column
		rows    [][]any
		chunk   int64
		want    string
		end     string // upper bound of the last chunk
	}{
		"a far sentinel joins its neighbours": {ci("id", "bigint"), one(append(far, int64(9223372036854775798))...), 100, "98 98 98 98 98 98 98 98 98 98 71", "9223372036854775799"},
		"the greatest bigint":                 {ci("id", "bigint"), one(1, 2, int64(9223372036854775807)), 2, "2 1", "9223372036854775808"},
		"all of bigint":                       {ci("id", "bigint"), one(int64(-9223372036854775808), 0, int64(9223372036854775807)), 1, "1 1 1", "9223372036854775808"},
		"more than the table has":             {ci("id", "int"), one(1, 2, 3), 100, "3", "4"},
		"negative keys":                       {ci("id", "int"), one(-5, -4, -3, -2, -1, 0), 2, "2 2 2", "1"},
		"an empty table":                      {ci("id", "int"), nil, 2, "0", ""},
		"texts":                               {ci("code", "varchar(8)"), texts, 4, "4 4 2", ""},
		"one microsecond holds two":           {ci("at", "datetime2(7)"), one("2026-01-01T00:00:00.1234561", "2026-01-01T00:00:00.1234562", "2026-01-01T00:00:00.1234563", "2026-01-02"), 1, "4", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := wireDatabase(t)
			tab := keyed(t, db, tc.columns, tc.rows)
			s := open(t, db, nil)
			chunks, sizes, lines := chunked(t, s, tab, tc.chunk)
			if got := strings.Trim(fmt.Sprint(sizes), "[]"); got != tc.want || chunks[len(chunks)-1].Hi != tc.end {
				t.Errorf("chunks of %s rows that end at %q, want %s and %q", got, chunks[len(chunks)-1].Hi, tc.want, tc.end)
			}
			slices.Sort(lines)
			if distinct := len(slices.Compact(slices.Clone(lines))); distinct != len(tc.rows) || len(lines) != distinct {
				t.Errorf("%d rows, %d of them distinct, of %d", len(lines), distinct, len(tc.rows))
			}
		})
	}
}

// A value is never split, and a value that many rows hold ends (report D-64).
func TestChunksOnAKeyThatIsNotUnique(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Columns: []mssqlsim.Column{{Name: "n", Type: "int"}, {Name: "code", Type: "varchar(8)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{}))
	commit(t, db, func(tx writer) error {
		for i := range 12 {
			if err := tx.Insert("dbo.orders", i, "same"); err != nil {
				return err
			}
		}
		for i, code := range []any{nil, nil, nil, "a", "z", "z"} {
			if err := tx.Insert("dbo.orders", 100+i, code); err != nil {
				return err
			}
		}
		return nil
	})
	s := open(t, db, nil)
	tab := table(written{"object": str("dbo.orders"), "snapshot_keys": texts("code")})
	_, sizes, lines := chunked(t, s, tab, 2)
	slices.Sort(lines)
	if distinct := len(slices.Compact(slices.Clone(lines))); len(lines) != 18 || distinct != 18 {
		t.Errorf("%d rows, %d distinct, in chunks of %v", len(lines), distinct, sizes)
	}
	// Twelve rows of one value stay together, with what is left behind them.
	if fmt.Sprint(sizes) != "[4 14]" {
		t.Errorf("chunks of %v rows", sizes)
	}
}

// What is inserted above the greatest key belongs to the stream; below the
// smallest it is in the first chunk too.
func TestRowsInsertedAfterTheOpen(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 10, 20, 30)
	s := open(t, db, nil)
	tab := table()
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	insert(t, db, 5, 40)
	chunks, err := s.PlanChunks(ctx, plugin.PlanChunksRequest{Table: tab, Keys: info.Keys, Extent: info.Extent, ChunkRows: 100})
	must(t, err)
	if len(chunks) != 1 || !chunks[0].Last {
		t.Fatalf("%+v", chunks)
	}
	lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Chunk: &chunks[0], Stamp: info.Stamp, Keys: info.Keys}))
	must(t, err)
	slices.Sort(lines)
	equal(t, short(lines), []string{"0|10|order 10|1.50", "0|20|order 20|1.50", "0|30|order 30|1.50", "0|5|order 5|1.50"})
}
