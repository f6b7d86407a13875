package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
	fake "github.com/pipectl/pipectl/core/plugin/memory"
)

// chunked is a complete chunked snapshot of three chunks as records and bronze
// show it.
type chunked struct {
	records  []plugin.ChunkRow
	bronze   []fake.Row
	complete bool
	closed   string // another completed snapshot, when not ""
}

func newChunked() *chunked {
	c := &chunked{complete: true}
	for i, b := range [][2]string{{"", "10"}, {"10", "20"}, {"20", "31"}} {
		c.records = append(c.records, plugin.ChunkRow{Index: int32(i), Stamp: lsnOf(100 + i), Rows: 10, Lo: b[0], Hi: b[1], Last: i == 2})
		for id := i * 10; id < i*10+10; id++ {
			c.bronze = append(c.bronze, c.row(id, i))
		}
	}
	return c
}

func (*chunked) row(id, chunk int) fake.Row {
	return fake.Row{"id": int64(id), "_start_lsn": lsnOf(100 + chunk), "_operation": int64(0), "_snapshot": lsnOf(100), "_chunk": int64(chunk)}
}

func TestRecordsOfAChunkedSnapshot(t *testing.T) {
	t.Parallel()
	drop := func(index int32) func(*chunked) {
		return func(c *chunked) {
			c.records = slices.DeleteFunc(c.records, func(r plugin.ChunkRow) bool { return r.Index == index })
		}
	}
	for name, c := range map[string]struct {
		change func(*chunked)
		want   []string
	}{
		"right":                                      {func(*chunked) {}, nil},
		"bounds that only look unlike":               {func(c *chunked) { c.records[1].Lo = " 10 " }, nil},
		"a wave being written":                       {func(c *chunked) { c.complete = false; drop(2)(c) }, nil},
		"an older snapshot's rows":                   {func(c *chunked) { r := c.row(1, 0); r["_snapshot"] = lsnOf(50); c.bronze = append(c.bronze, r) }, nil},
		"an index is missing":                        {func(c *chunked) { c.complete = false; drop(1)(c) }, []string{"CHUNK_TILING chunk 1"}},
		"an index is there twice":                    {func(c *chunked) { c.records = append(c.records, c.records[1]) }, []string{"CHUNK_TILING chunk 1"}},
		"the first one is not open":                  {func(c *chunked) { c.records[0].Lo = "0" }, []string{"CHUNK_TILING chunk 0"}},
		"a gap":                                      {func(c *chunked) { c.records[1].Lo = "11" }, []string{"CHUNK_TILING chunk 1"}},
		"an overlap":                                 {func(c *chunked) { c.records[1].Hi = "21" }, []string{"CHUNK_TILING chunk 2"}},
		"one after the last":                         {func(c *chunked) { c.records[1].Last = true }, []string{"CHUNK_TILING chunk 2"}},
		"complete without a last":                    {func(c *chunked) { c.records[2].Last = false }, []string{"CHUNK_TILING chunk 2"}},
		"open without a last":                        {func(c *chunked) { c.complete = false; c.records[2].Last = false }, nil},
		"rows are missing in bronze":                 {func(c *chunked) { c.bronze = c.bronze[1:] }, []string{"CHUNK_ROWS chunk 0"}},
		"rows too many":                              {func(c *chunked) { c.bronze = append(c.bronze, c.row(3, 1)) }, []string{"CHUNK_ROWS chunk 1"}},
		"recorded below the snapshot":                {func(c *chunked) { c.records[2].Stamp = lsnOf(99) }, []string{"CHUNK_STAMP chunk 2"}},
		"a row below the snapshot":                   {func(c *chunked) { c.bronze[0]["_start_lsn"] = lsnOf(99) }, []string{"CHUNK_STAMP chunk 0"}},
		"complete with a row of no one":              {func(c *chunked) { c.bronze = append(c.bronze, c.row(40, 3)) }, []string{"CHUNK_TILING chunk 3", "CHUNK_ROWS chunk 3"}},
		"complete, an index is missing":              {drop(1), []string{"CHUNK_TILING chunk 1", "CHUNK_ROWS chunk 1"}},
		"a newer snapshot tells nothing of this one": {func(c *chunked) { c.complete = false; c.closed = lsnOf(200); c.records[2].Last = false }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newChunked()
			c.change(s)
			w := orders()
			w.commit()
			w.apply(t)
			w.put(t, bronzeName, w.bronzeSchema(), plugin.WriteAppend, s.bronze)
			view := w.ledger.Views[silverName]
			view.Open = &plugin.OpenSnapshot{Snapshot: lsnOf(100), Keys: w.key}
			view.Snapshot = s.closed
			if s.complete {
				view.Snapshot = lsnOf(100)
			}
			w.ledger.Views[silverName] = view
			w.ledger.ChunkRows = map[string][]plugin.ChunkRow{lsnOf(100): s.records}
			got := w.check(t, settings{"report": reportName})
			var found []string
			for _, f := range got.findings {
				found = append(found, f.Kind+" "+strings.Join(strings.Fields(f.Detail)[:2], " "))
			}
			for i := range found {
				found[i] = strings.TrimSuffix(found[i], ":")
			}
			slices.Sort(found)
			slices.Sort(c.want)
			if !slices.Equal(found, c.want) {
				t.Errorf("found %v, want %v", found, c.want)
			}
			if (got.Outcome == plugin.Equal) != (len(c.want) == 0) {
				t.Errorf("outcome %s", got.Outcome)
			}
			reported := slices.DeleteFunc(w.lake.Rows(reportName), func(r map[string]any) bool { return r["failure_type"] == nil })
			for _, r := range reported {
				if r["source_lsn"] != nil || !strings.HasPrefix(r["detail"].(string), fmt.Sprintf(`{"snapshot":"%s","chunk":`, lsnOf(100))) {
					t.Errorf("report row %v", r)
				}
			}
			if n := len(reported); n != len(c.want) {
				t.Errorf("%d report rows, want %d", n, len(c.want))
			}
		})
	}
}
