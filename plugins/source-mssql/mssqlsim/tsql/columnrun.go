package tsql

// columnRun are columns that stand side by side both in a segment of the frame and in the row of a select list. A read
// of a wide table copies them at once: an evaluation of each would be most of what the row costs.
type columnRun struct {
	out int // the first in the select list
	seg int
	pos int // the first in the segment
	n   int
}

// columnRuns gives the columns of a select list, in runs that are as long as can be, and the places of the expressions
// that have to be evaluated. Columns of outer queries are among the latter.
func columnRuns(outs []expr) (runs []columnRun, rest []int) {
	for i, e := range outs {
		if e.ref == nil || e.depth != 0 {
			rest = append(rest, i)
			continue
		}
		seg, pos := e.ref.idx, e.ref.use(e.ord)
		if k := len(runs) - 1; k >= 0 {
			if last := &runs[k]; last.seg == seg && last.out+last.n == i && last.pos+last.n == pos {
				last.n++
				continue
			}
		}
		runs = append(runs, columnRun{out: i, seg: seg, pos: pos, n: 1})
	}
	return runs, rest
}
