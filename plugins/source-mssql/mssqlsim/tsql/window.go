package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// windowCall is one function with OVER.
type windowCall struct {
	name  string
	at    int // place in the window segment
	arg   expr
	by    int64
	tiles int64
	parts []expr
	order []sortKey
	agg   *aggregate
}

// window binds a function with OVER; its values come to lie in the segment after the tables.
func (b *binder) window(name string, e *ast.FunctionCall, sc *scope) expr {
	if sc == nil || sc.windows == nil {
		failf(4108, "Windowed functions can only appear in the SELECT or ORDER BY clauses.")
	}
	if e.OverClause.WindowName != nil || e.OverClause.WindowFrameClause != nil {
		unsupported("named windows and window frames")
	}
	calls := sc.windows
	w := &windowCall{name: name, at: len(*calls), by: 1}
	sc.windows = nil // no window function inside another
	w.parts = b.exprs(e.OverClause.Partitions, sc)
	w.order = b.sortKeys(e.OverClause.OrderByClause, sc, &selectPlan{})
	typ, null := sqltype.Of(sqltype.BigInt), false
	need := func(n int) {
		if len(e.Parameters) < n {
			failf(174, "The %s function requires %d argument(s).", strings.ToLower(name), n)
		}
		if len(w.order) == 0 {
			failf(4112, "The function '%s' must have an OVER clause with ORDER BY.", name)
		}
	}
	switch name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK":
		need(0)
	case "NTILE":
		need(1)
		if w.tiles = b.value(e.Parameters[0]).Int(); w.tiles < 1 {
			failf(5349, "The %s function requires a positive integer argument.", "NTILE")
		}
	case "LAG", "LEAD":
		need(1)
		w.arg = b.expr(e.Parameters[0], sc)
		if len(e.Parameters) > 1 {
			w.by = b.value(e.Parameters[1]).Int()
		}
		if len(e.Parameters) > 2 {
			unsupported("a default of %s", name)
		}
		if name == "LAG" {
			w.by = -w.by
		}
		typ, null = w.arg.typ, true
	case "COUNT", "COUNT_BIG", "SUM", "MIN", "MAX", "AVG":
		if len(w.order) > 0 {
			unsupported("%s over an ordered window", name)
		}
		w.agg = &aggregate{name: name}
		if c, ok := e.Parameters[0].(*ast.ColumnReferenceExpression); ok && c.ColumnType == "Wildcard" {
			w.agg.star = true
		} else {
			w.agg.arg = b.expr(e.Parameters[0], sc)
			w.agg.arg = w.agg.bind(b)
		}
		switch name {
		case "COUNT":
			w.agg.typ = sqltype.Of(sqltype.Int)
		case "COUNT_BIG":
			w.agg.typ = sqltype.Of(sqltype.BigInt)
		}
		typ, null = w.agg.typ, true
	default:
		unsupported("the window function %s", name)
	}
	*calls = append(*calls, w)
	sc.windows = calls
	seg := len(sc.tables)
	return expr{typ: typ, null: null, eval: func(f *frame) sqltype.Value { return f.seg[seg][w.at] }}
}

// windowNode reads its whole input, computes the functions, and delivers the rows in the order they came.
type windowNode struct {
	run   *run
	input node
	calls []*windowCall
	seg   int
	saver saver
	rows  [][]sqltype.Row
	vals  []sqltype.Value // of the calls, row after row
	f     *frame
	at    int
	// count is how many rows there are when the input is not read but passed on; see passes.
	count int64
	pass  bool
}

// passes tells whether the rows need not be kept: the functions are of a row's number and of how many there are, and
// the scan below delivers them in order and knows how many.
func (n *windowNode) passes() bool {
	s, ok := n.input.(*scanNode)
	if !ok {
		return false
	}
	c, ok := s.cur.(CountedCursor)
	if !ok {
		return false
	}
	for _, call := range n.calls {
		if call.name != "ROW_NUMBER" && call.name != "NTILE" || !n.inOrder(call) {
			return false
		}
	}
	n.count = int64(c.Len())
	return true
}

func (n *windowNode) open(f *frame) error {
	n.f, n.at, n.rows, n.vals = f, 0, nil, nil
	n.saver.segs = nil
	for i := range f.seg {
		if i != n.seg {
			n.saver.segs = append(n.saver.segs, i)
		}
	}
	if err := n.input.open(f); err != nil {
		return err
	}
	if n.pass = n.passes(); n.pass {
		n.vals = make([]sqltype.Value, len(n.calls))
		return n.run.err
	}
	defer n.input.close()
	for {
		ok, err := n.input.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		n.rows = append(n.rows, n.saver.save(f))
		if len(n.rows)%4096 == 0 && n.run.ctx.Err() != nil {
			return n.run.ctx.Err()
		}
	}
	n.vals = make([]sqltype.Value, len(n.rows)*len(n.calls))
	for _, c := range n.calls {
		if err := n.compute(c); err != nil {
			return err
		}
	}
	return n.run.err
}

// member is a row of a partition: its number, and its values of the window's order.
type member struct {
	row  int
	keys []sqltype.Value
}

// inOrder tells whether all rows are one partition of a function and come in its order.
func (n *windowNode) inOrder(c *windowCall) bool {
	if len(c.parts) > 0 || len(c.order) == 0 {
		return len(c.parts) == 0
	}
	s := leading(n.input)
	if s == nil {
		return false
	}
	ordered, desc := s.sortedBy(c.order)
	return ordered && desc == s.reverse
}

func (n *windowNode) compute(c *windowCall) error {
	if n.inOrder(c) && c.name != "RANK" && c.name != "DENSE_RANK" {
		return n.fill(c, len(n.rows), nil)
	}
	parts := map[string][]member{}
	var names []string
	var buf []byte
	for i, rows := range n.rows {
		n.saver.restore(n.f, rows)
		buf = buf[:0]
		for _, p := range c.parts {
			buf = p.eval(n.f).AppendKey(buf, p.typ)
		}
		m := member{row: i}
		for _, k := range c.order {
			m.keys = append(m.keys, k.e.eval(n.f))
		}
		if _, ok := parts[string(buf)]; !ok {
			names = append(names, string(buf))
		}
		parts[string(buf)] = append(parts[string(buf)], m)
	}
	for _, name := range names {
		part := parts[name]
		sortMembers(part, c.order)
		if err := n.fill(c, len(part), part); err != nil {
			return err
		}
	}
	return nil
}

func sortMembers(part []member, keys []sortKey) {
	rows := make([]sorted, len(part))
	for i, m := range part {
		rows[i] = sorted{keys: m.keys, rows: []sqltype.Row{{sqltype.FromInt(int64(m.row))}}}
	}
	sortRows(rows, keys)
	for i, r := range rows {
		part[i] = member{row: int(r.rows[0][0].Int()), keys: r.keys}
	}
}

// fill computes a function for a partition of so many rows; without members it is all rows as they came.
func (n *windowNode) fill(c *windowCall, rows int, part []member) error {
	count := int64(rows)
	at := func(i int64) int {
		if part == nil {
			return int(i)
		}
		return part[i].row
	}
	var total sqltype.Value
	if c.agg != nil {
		var acc accumulator
		for i := range count {
			n.saver.restore(n.f, n.rows[at(i)])
			if err := c.agg.add(&acc, n.f); err != nil {
				return err
			}
		}
		var err error
		if total, err = c.agg.result(&acc); err != nil {
			return err
		}
	}
	rank, dense := int64(0), int64(0)
	for k := range count {
		v := total
		switch c.name {
		case "ROW_NUMBER":
			v = sqltype.FromInt(k + 1)
		case "RANK", "DENSE_RANK":
			if k == 0 || !sameKeys(part[k-1].keys, part[k].keys, c.order) {
				rank, dense = k+1, dense+1
			}
			v = sqltype.FromInt(rank)
			if c.name == "DENSE_RANK" {
				v = sqltype.FromInt(dense)
			}
		case "NTILE":
			v = sqltype.FromInt(c.tile(k, count))
		case "LAG", "LEAD":
			if j := k + c.by; j >= 0 && j < count {
				n.saver.restore(n.f, n.rows[at(j)])
				v = c.arg.eval(n.f)
			}
		}
		n.vals[at(k)*len(n.calls)+c.at] = v
	}
	return nil
}

// tile is the tile of row k of so many; the first tiles hold one row more ("Microsoft: NTILE (Transact-SQL)").
func (c *windowCall) tile(k, count int64) int64 {
	size, extra := count/c.tiles, count%c.tiles
	if k < extra*(size+1) {
		return k/(size+1) + 1
	}
	return extra + (k-extra*(size+1))/max(size, 1) + 1
}

func sameKeys(a, b []sqltype.Value, keys []sortKey) bool {
	for i, k := range keys {
		if sqltype.Compare(a[i], b[i], k.e.typ) != 0 {
			return false
		}
	}
	return true
}

func (n *windowNode) next() (bool, error) {
	if n.pass {
		ok, err := n.input.next()
		if err != nil || !ok {
			return false, err
		}
		for i, c := range n.calls {
			v := int64(n.at) + 1
			if c.name == "NTILE" {
				v = c.tile(int64(n.at), n.count)
			}
			n.vals[i] = sqltype.FromInt(v)
		}
		n.f.seg[n.seg] = n.vals
		n.at++
		return true, nil
	}
	if n.at >= len(n.rows) {
		return false, nil
	}
	n.saver.restore(n.f, n.rows[n.at])
	n.f.seg[n.seg] = n.vals[n.at*len(n.calls) : (n.at+1)*len(n.calls)]
	n.at++
	return true, nil
}

func (n *windowNode) close() {
	if n.pass {
		n.input.close()
	}
}
