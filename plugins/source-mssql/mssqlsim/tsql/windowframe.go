package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// bound is one end of a window frame, in the order in which they lie in a partition.
type bound int

const (
	unboundedPreceding bound = iota
	preceding
	currentRow
	following
	unboundedFollowing
)

var bounds = map[string]bound{"UnboundedPreceding": unboundedPreceding, "ValuePreceding": preceding, "CurrentRow": currentRow,
	"ValueFollowing": following, "UnboundedFollowing": unboundedFollowing}

// windowFrame is the part of a partition that a function sees from one row (Microsoft: SELECT - OVER clause (Transact-SQL)).
type windowFrame struct {
	rows       bool // else the current row is all rows that have its order
	from, to   bound
	back, fore int64 // rows of from and to
}

// whole tells whether the frame is all of a partition.
func (w windowFrame) whole() bool { return w.from == unboundedPreceding && w.to == unboundedFollowing }

// framed are the functions that see a frame.
func framed(name string) bool {
	return aggregateNames[name] || name == "FIRST_VALUE" || name == "LAST_VALUE"
}

// frameOf binds ROWS or RANGE. Without them a frame is the whole partition, or with an order all rows up to those that have
// the order of the current row.
func (b *binder) frameOf(name string, c *ast.WindowFrameClause, ordered bool) windowFrame {
	switch {
	case c == nil && ordered:
		return windowFrame{from: unboundedPreceding, to: currentRow}
	case c == nil:
		return windowFrame{from: unboundedPreceding, to: unboundedFollowing}
	case !framed(name):
		failf(10752, "The function '%s' may not have a window frame.", name)
	case !ordered:
		failf(10756, "Window frame with ROWS or RANGE must have an ORDER BY clause.")
	}
	w := windowFrame{rows: c.WindowFrameType == "Rows", to: currentRow}
	end := func(d *ast.WindowDelimiter) (bound, int64) {
		k, ok := bounds[d.WindowDelimiterType]
		if !ok {
			unsupported("the window frame %s", kindWords(d.WindowDelimiterType))
		}
		if d.OffsetValue == nil {
			return k, 0
		}
		if !w.rows {
			failf(4194, "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame delimiters.")
		}
		lit, ok := d.OffsetValue.(*ast.IntegerLiteral)
		if !ok { // an unsigned integer literal is all that may stand there
			fail(incomplete())
		}
		return k, min(b.valueOf(lit, sqltype.Of(sqltype.BigInt)).Int(), 1<<40) // more than there are rows
	}
	w.from, w.back = end(c.Top)
	if c.Bottom != nil {
		w.to, w.fore = end(c.Bottom)
	}
	if w.from > w.to || w.from == unboundedFollowing || w.to == unboundedPreceding {
		failf(4193, "'%s' is not a valid window frame and cannot be used with the OVER clause.", strings.ToUpper(c.WindowFrameType))
	}
	return w
}

// span gives the rows [lo, hi) of a partition of count rows that row k sees; first and last are those of its order.
func (w windowFrame) span(k, count, first, last int64) (lo, hi int64) {
	if w.rows {
		first, last = k, k
	}
	switch w.from {
	case preceding:
		lo = k - w.back
	case currentRow:
		lo = first
	case following:
		lo = min(k+w.back, count)
	}
	switch w.to {
	case preceding:
		hi = k - w.fore + 1
	case currentRow:
		hi = last + 1
	case following:
		hi = min(k+w.fore, count-1) + 1
	case unboundedFollowing:
		hi = count
	}
	return max(lo, 0), max(min(hi, count), 0)
}

// frames computes a function of frames for a partition; at gives the row of a place in it.
func (n *windowNode) frames(c *windowCall, count int64, part []member, at func(int64) int) error {
	var acc accumulator
	done := int64(0) // rows in acc, of a frame that only grows
	grows := c.frame.from == unboundedPreceding
	first, last := int64(0), int64(-1)
	for k := range count {
		if part != nil && k > last {
			for first, last = k, k; last+1 < count && sameKeys(part[k].keys, part[last+1].keys, c.order); last++ {
			}
		}
		lo, hi := c.frame.span(k, count, first, last)
		var v sqltype.Value
		switch {
		case c.agg == nil:
			if lo < hi {
				place := lo
				if c.name == "LAST_VALUE" {
					place = hi - 1
				}
				n.saver.restore(n.f, n.rows[at(place)])
				v = c.arg.eval(n.f)
			}
		default:
			if !grows {
				acc, done = accumulator{}, lo
			}
			for ; done < hi; done++ {
				if err := n.run.tick(); err != nil {
					return err
				}
				n.saver.restore(n.f, n.rows[at(done)])
				if err := c.agg.add(&n.saver.hold, &acc, n.f); err != nil {
					return err
				}
			}
			var err error
			if v, err = c.agg.result(&acc); err != nil {
				return err
			}
		}
		n.vals[at(k)*len(n.calls)+c.at] = v
	}
	return nil
}
