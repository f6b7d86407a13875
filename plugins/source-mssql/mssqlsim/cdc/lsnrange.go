package cdc

import (
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// lsnRange cuts n entries in LSN order to the range of a request whose first column is the LSN. near is where the range
// is likely to begin.
func lsnRange(req tsql.ScanRequest, n, near int, entry func(int) *Entry) (from, to int) {
	typ := sqltype.Bin(sqltype.VarBinary, 10)
	first := func(near int, v sqltype.Value, after bool) int {
		return searchNear(n, near, func(i int) bool {
			c := sqltype.Compare(entry(i).value, v, typ)
			return c > 0 || c == 0 && !after
		})
	}
	from, to = 0, n
	if len(req.Prefix) > 0 {
		from = first(near, req.Prefix[0], false)
		return from, first(from, req.Prefix[0], true)
	}
	if req.Low != nil {
		from = first(near, req.Low.Value, !req.Low.Inclusive)
	}
	if req.High != nil {
		to = first(from, req.High.Value, req.High.Inclusive)
	}
	return from, max(from, to)
}

// searchNear is sort.Search for an index that is likely to be near: it goes from there in steps that double, and halves
// only what the last of them passed over.
func searchNear(n, near int, f func(int) bool) int {
	low, high := 0, n // f is false below low, and true from high on
	if near < n && !f(near) {
		low = near + 1
		for step := 0; low+step < high; step = 2*step + 1 {
			if i := low + step; f(i) {
				high = i
			} else {
				low = i + 1
			}
		}
	} else {
		high = min(near, n)
		for step := 1; low < high; step *= 2 {
			i := max(high-step, 0)
			if !f(i) {
				low = i + 1
				break
			}
			high = i
		}
	}
	return low + sort.Search(high-low, func(i int) bool { return f(low + i) })
}
