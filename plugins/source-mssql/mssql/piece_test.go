package mssql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
)

func prev(l lsn.LSN) (lsn.LSN, error) { return l.Prev() }

func number(l lsn.LSN) int { return int(l.Int().Int64()) }

func TestABatchIsCutAtTheStartOfANewerInstance(t *testing.T) {
	t.Parallel()
	two := []captured{holds("a", 1, 10), holds("b", 2, 50)}
	for name, tc := range map[string]struct {
		instances []captured
		from, to  int
		want      string
	}{
		"one instance":              {two[:1], 20, 90, "a[20,90]"},
		"below the start":           {two, 20, 40, "a[20,40]"},
		"ends just below the start": {two, 20, 49, "a[20,49]"},
		"ends at the start":         {two, 20, 50, "a[20,49] b[50,50]"},
		"across the start":          {two, 20, 90, "a[20,49] b[50,90]"},
		"starts just below it":      {two, 49, 90, "a[49,49] b[50,90]"},
		"starts at the start":       {two, 50, 90, "b[50,90]"},
		"starts above it":           {two, 60, 90, "b[60,90]"},
		"the start is not known":    {[]captured{holds("a", 1, 10), holds("b", 2, 0)}, 20, 90, "a[20,90]"},
		"three instances":           {[]captured{holds("a", 1, 10), holds("b", 2, 50), holds("c", 3, 70)}, 20, 90, "a[20,49] b[50,69] c[70,90]"},
		"two of one start":          {[]captured{holds("a", 1, 50), holds("b", 2, 50)}, 20, 90, "a[20,49] b[50,90]"},
		"three, the middle empty":   {[]captured{holds("a", 1, 10), holds("b", 2, 50), holds("c", 3, 50)}, 20, 90, "a[20,49] c[50,90]"},
		"the oldest has no start":   {[]captured{holds("a", 1, 0), holds("b", 2, 50)}, 20, 60, "a[20,49] b[50,60]"},
	} {
		got, err := pieces(tc.instances, at(tc.from), at(tc.to), prev)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, p := range got {
			text = append(text, fmt.Sprintf("%s[%d,%d]", p.name, number(p.from), number(p.to)))
		}
		if s := strings.Join(text, " "); s != tc.want {
			t.Errorf("%s: %s, want %s", name, s, tc.want)
		}
	}
}

func TestPiecesTileTheBatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 4).Draw(t, "starts")
		slices.Sort(starts)
		var instances []captured
		for i, s := range starts {
			instances = append(instances, holds(fmt.Sprint("i", i), i+1, s))
		}
		from := rapid.IntRange(1, 45).Draw(t, "from")
		to := rapid.IntRange(from, 50).Draw(t, "to")
		got, err := pieces(instances, at(from), at(to), prev)
		if err != nil {
			t.Fatal(err)
		}
		next := from
		for _, p := range got {
			if number(p.from) != next || p.to.Less(p.from) {
				t.Fatalf("piece [%d,%d] where %d is next", number(p.from), number(p.to), next)
			}
			next = number(p.to) + 1
		}
		if next != to+1 {
			t.Fatalf("the pieces end at %d, not at %d", next-1, to)
		}
	})
}

func TestSplittingAPiece(t *testing.T) {
	t.Parallel()
	tiles := func(spec ...int) []tile { // bound, rows
		var out []tile
		for i := 0; i < len(spec); i += 2 {
			out = append(out, tile{bound: at(spec[i]), next: at(spec[i] + 1), rows: int64(spec[i+1])})
		}
		return out
	}
	for name, tc := range map[string]struct {
		from, to int
		tiles    []tile
		min      int64
		want     string
	}{
		"eight small commits and a large one": {1, 20, tiles(8, 8, 9, 8), 1, "1-8 9-20"},
		"no rows":                             {1, 20, nil, 50000, "1-20"},
		"60,000 rows":                         {1, 160, tiles(10, 3750, 20, 3750, 30, 3750, 40, 3750, 50, 3750, 60, 3750, 70, 3750, 80, 3750, 90, 3750, 100, 3750, 110, 3750, 120, 3750, 130, 3750, 140, 3750, 150, 3750, 160, 3750), 50000, "1-160"},
		"150,000 rows":                        {1, 160, tiles(10, 9375, 20, 9375, 30, 9375, 40, 9375, 50, 9375, 60, 9375, 70, 9375, 80, 9375, 90, 9375, 100, 9375, 110, 9375, 120, 9375, 130, 9375, 140, 9375, 150, 9375, 160, 9375), 50000, "1-60 61-160"},
		"two tiles of one commit":             {1, 20, tiles(5, 10, 5, 10, 9, 10), 10, "1-5 6-20"},
		"a bound at the end":                  {1, 20, tiles(10, 10, 20, 10), 10, "1-10 11-20"},
		"a short tail":                        {1, 20, tiles(10, 10, 15, 3), 10, "1-20"},
		"a tail that is long enough":          {1, 20, tiles(10, 10, 15, 12), 10, "1-10 11-20"},
	} {
		var text []string
		for _, r := range ranges(at(tc.from), at(tc.to), tc.tiles, tc.min) {
			text = append(text, fmt.Sprintf("%d-%d", number(r[0]), number(r[1])))
		}
		if s := strings.Join(text, " "); s != tc.want {
			t.Errorf("%s: %s, want %s", name, s, tc.want)
		}
	}
}

func TestRangesAreContiguousAndLarge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		to := rapid.IntRange(1, 100).Draw(t, "to")
		bounds := rapid.SliceOf(rapid.IntRange(1, to)).Draw(t, "bounds")
		slices.Sort(bounds)
		var tiles []tile
		total := int64(0)
		for _, b := range bounds {
			n := int64(rapid.IntRange(1, 30).Draw(t, "rows"))
			tiles = append(tiles, tile{at(b), at(b + 1), n})
			total += n
		}
		const least = 40
		got := ranges(at(1), at(to), tiles, least)
		next := 1
		for _, r := range got {
			if number(r[0]) != next || r[1].Less(r[0]) {
				t.Fatalf("range [%d,%d] where %d is next", number(r[0]), number(r[1]), next)
			}
			next = number(r[1]) + 1
		}
		if next != to+1 {
			t.Fatalf("the ranges end at %d, not at %d", next-1, to)
		}
		if int64(len(got)-1) > total/least {
			t.Fatalf("%d ranges of %d rows", len(got), total)
		}
	})
}

func TestARangeCarriesAllAndIsCheckedAgain(t *testing.T) {
	t.Parallel()
	commit := int64(5)
	good := rangeSpec{Format: rangeFormat, Instance: "dbo_orders", From: at(1).String(), To: at(9).String(), CommandID: true, Zone: "Eastern Standard Time", Last: true,
		StartCommit: &commit, Columns: []rangeColumn{{Name: "id", Type: "int", Source: "ID"}, {Name: "gone", Type: "decimal(9,2)"}}}
	data, err := good.encode()
	if err != nil {
		t.Fatal(err)
	}
	again, from, to, err := decodeRange(data)
	if err != nil || from != at(1) || to != at(9) || fmt.Sprint(again.Columns) != fmt.Sprint(good.Columns) || *again.StartCommit != 5 {
		t.Fatalf("%+v, %v", again, err)
	}
	for name, spoil := range map[string]func(*rangeSpec){
		"format":   func(r *rangeSpec) { r.Format = 2 },
		"instance": func(r *rangeSpec) { r.Instance = "x]" },
		"zone":     func(r *rangeSpec) { r.Zone = "UTC'; DROP TABLE t; --" },
		"inverted": func(r *rangeSpec) { r.From, r.To = r.To, r.From },
		"lsn":      func(r *rangeSpec) { r.From = "latest" },
	} {
		bad := good
		spoil(&bad)
		data, err := bad.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := decodeRange(data); err == nil {
			t.Errorf("a range with another %s is read", name)
		}
	}
	if _, _, _, err := decodeRange([]byte("{")); err == nil {
		t.Error("half a range is read")
	}
}
