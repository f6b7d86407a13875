package cdc

import (
	"slices"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// Columns side by side are copied together; nothing of one row may stay in the next.
func TestAnImageOlderThanAColumnHasNULLThereWhateverTheRowBefore(t *testing.T) {
	t.Parallel()
	n := sqltype.FromInt
	long, short := sqltype.Row{n(0), n(1), n(2), n(3), n(4)}, sqltype.Row{n(0), n(1), n(2)}
	for _, x := range []struct {
		name        string
		places      []int
		long, short sqltype.Row
	}{
		{"a run over the end", []int{placeOp, 1, 2, 3, 4, placeCmd}, sqltype.Row{n(4), n(1), n(2), n(3), n(4), n(7)}, sqltype.Row{n(4), n(1), n(2), {}, {}, n(7)}},
		{"a run behind the end", []int{3, 4}, sqltype.Row{n(3), n(4)}, sqltype.Row{{}, {}}},
		{"columns that are no neighbours", []int{4, 1, 3, 2}, sqltype.Row{n(4), n(1), n(3), n(2)}, sqltype.Row{{}, n(1), {}, n(2)}},
		{"a column twice", []int{1, 1, placeNull}, sqltype.Row{n(1), n(1), {}}, sqltype.Row{n(1), n(1), {}}},
	} {
		c := changes([]change{{image: long, op: opAfter, cmd: 7}, {image: short, op: opAfter, cmd: 7}}, false, x.places)
		for _, want := range []sqltype.Row{x.long, x.short} {
			got, err := c.Next()
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v (%v), want %v", x.name, got, err, want)
			}
		}
		if row, err := c.Next(); row != nil || err != nil {
			t.Errorf("%s: %v (%v) after the last row", x.name, row, err)
		}
	}
}
