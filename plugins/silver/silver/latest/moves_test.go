package latest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

// Rows are written as commit.command operation value, of one key; "other" are rows
// of another key, which only tell that the source gives rows before an update.
func TestWhatBecameOfAKey(t *testing.T) {
	t.Parallel()
	const pairs = "0.1 3 x"
	for name, c := range map[string]struct {
		rows  string
		other string
		there bool // before
		want  string
		asked bool
		image bool
	}{
		"deleted":                                  {"1.1 1 a", pairs, true, "1 a", false, false},
		"updated":                                  {"1.1 3 a, 1.1 4 b", pairs, true, "4 b", false, false},
		"moved away":                               {"1.1 3 a", pairs, true, "3 a", false, false},
		"another row came before its own went":     {"1.1 4 b, 1.2 3 a", pairs, true, "4 b", true, false},
		"the same as delete and insert":            {"1.1 2 b, 1.2 1 a", pairs, true, "2 b", true, false},
		"inserted and deleted":                     {"1.1 2 a, 1.2 1 a", pairs, false, "1 a", true, false},
		"inserted, updated, deleted":               {"1.1 2 a, 1.2 3 a, 1.2 4 b, 1.3 1 b", pairs, false, "1 b", true, false},
		"deleted, inserted, deleted":               {"1.1 1 a, 1.2 2 b, 1.3 1 b", pairs, true, "1 b", false, false},
		"updated, deleted":                         {"1.1 3 a, 1.1 4 b, 1.2 1 b", pairs, true, "1 b", false, false},
		"passed on twice, then deleted":            {"1.1 4 b, 1.2 3 a, 1.3 4 c, 1.4 3 b, 1.5 1 c", pairs, true, "1 c", false, false},
		"passed on in two commits":                 {"1.1 4 b, 1.2 3 a, 2.1 4 c, 2.2 3 b", pairs, true, "4 c", true, false},
		"passed on after an insert":                {"1.1 2 a, 2.1 4 b, 2.2 3 a", pairs, false, "4 b", false, false},
		"inserted and deleted after a delete":      {"1.1 1 a, 2.1 2 b, 2.2 1 b", pairs, true, "1 b", false, false},
		"of a snapshot, then passed on":            {"1. 0 a, 2.1 4 b, 2.2 3 a", pairs, false, "4 b", false, false},
		"a source without rows before an update":   {"1.1 4 b, 1.2 1 b", "", true, "1 b", false, false},
		"an insert, an update, a delete, the same": {"1.1 2 a, 1.2 4 b, 1.3 1 b", "", false, "1 b", true, false},
		"not in the target, and another row left":  {"1.1 4 b, 1.2 3 a", pairs, false, "4 b", false, true},
		"the same row came and went":               {"1.1 2 a, 1.2 1 a", pairs, false, "1 a", true, true},
		"alike rows":                               {"1.1 4 a, 1.2 3 a", pairs, true, "4 a", true, true},
	} {
		for _, budget := range []int64{1, 1 << 30} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, budget), func(t *testing.T) {
				t.Parallel()
				alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer alloc.AssertSize(t, 0)
				asked := false
				var image []string
				if c.image {
					image = []string{"id", "value"}
				}
				r, err := latest.New(shape, latest.Options{
					Keys: []string{"id", "region"}, Order: byAll, Budget: budget, SpillDir: t.TempDir(), Allocator: alloc,
					Moves: &latest.Moves{Image: image, Exists: func(_ context.Context, keys arrow.RecordBatch) ([]bool, error) {
						asked = true
						if keys.NumRows() != 1 || keys.NumCols() != 2 || keys.Column(0).(*array.Int64).Value(0) != 1 {
							t.Errorf("asked for %v", keys)
						}
						return []bool{c.there}, nil
					}},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				list := append(changesOf(t, 1, c.rows), changesOf(t, 2, c.other)...)
				slices.Reverse(list) // their order in bronze says nothing
				for _, row := range list {
					batch := build(alloc, []change{row})
					err := r.Add(batch)
					batch.Release()
					if err != nil {
						t.Fatal(err)
					}
				}
				got := ""
				if err := r.Newest(t.Context(), func(b arrow.RecordBatch) error {
					for i := range int(b.NumRows()) {
						if b.Column(0).(*array.Int64).Value(i) == 1 {
							got += fmt.Sprintf("%d %s", b.Column(5).(*array.Int32).Value(i), b.Column(2).(*array.String).Value(i))
						}
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if got != c.want || asked != c.asked {
					t.Errorf("got %q, asked %v; want %q, %v", got, asked, c.want, c.asked)
				}
			})
		}
	}
}

func changesOf(t *testing.T, id int64, text string) []change {
	t.Helper()
	var out []change
	for row := range strings.SplitSeq(text, ", ") {
		if row == "" {
			continue
		}
		c := change{id: &id}
		at, rest, _ := strings.Cut(row, " ")
		lsn, command, _ := strings.Cut(at, ".")
		c.lsn = "0x0" + lsn
		if command != "" {
			n, seq := int32(command[0]-'0'), "0x0"+command
			c.command, c.sequence = &n, &seq
		}
		if _, err := fmt.Sscanf(rest, "%d %s", &c.op, &c.value); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}
