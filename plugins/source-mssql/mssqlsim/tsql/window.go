package tsql

import (
	"slices"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// windowCall is one function with OVER.
type windowCall struct {
	name  string
	at    int // place in the window segment
	arg   expr
	by    *expr // rows between LAG or LEAD and theirs; one without it
	other *expr // what LAG and LEAD give where there is no such row
	tiles int64
	parts []expr
	order []sortKey
	same  bool // the order is that of constants: all rows have the same
	agg   *aggregate
	frame windowFrame
}

// window binds a function with OVER; its values come to lie in the segment after the tables.
func (b *binder) window(name string, e *ast.FunctionCall, sc *scope) expr {
	if sc == nil || sc.windows == nil {
		failf(4108, "Windowed functions can only appear in the SELECT or ORDER BY clauses.")
	}
	if e.OverClause.WindowName != nil {
		unsupported("named windows")
	}
	if e.UniqueRowFilter == "Distinct" {
		failf(10759, "Use of DISTINCT is not allowed with the OVER clause.")
	}
	if name == "STRING_AGG" && b.sess.Release() >= 2017 { // no windowing function (Microsoft: STRING_AGG)
		unsupported("STRING_AGG with OVER")
	}
	calls := sc.windows
	w := &windowCall{name: name, at: len(*calls)}
	sc.windows = nil // no window function inside another
	w.parts = b.exprs(e.OverClause.Partitions, sc)
	for _, p := range w.parts {
		if p.coll == conflicting {
			unsupported("text without a collation in OVER")
		}
	}
	w.order = b.windowOrder(e.OverClause.OrderByClause, sc)
	w.same = constants(e.OverClause.OrderByClause)
	w.frame = b.frameOf(name, e.OverClause.WindowFrameClause, len(w.order) > 0)
	typ, null := sqltype.Of(sqltype.BigInt), false
	need := func(least, most int) {
		switch n := len(e.Parameters); {
		case n >= least && n <= most:
		case least == most:
			failf(174, "The %s function requires %d argument(s).", lower(name), least)
		default:
			failf(189, "The %s function requires %d to %d arguments.", lower(name), least, most)
		}
		if len(w.order) == 0 && !aggregateNames[name] {
			failf(4112, "The function '%s' must have an OVER clause with ORDER BY.", name)
		}
	}
	switch name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK":
		need(0, 0)
	case "PERCENT_RANK", "CUME_DIST":
		need(0, 0)
		typ = sqltype.Of(sqltype.Float)
	case "NTILE":
		need(1, 1)
		if w.tiles = b.value(e.Parameters[0]).Int(); w.tiles < 1 {
			failf(4116, "The function 'ntile' takes only a positive int or bigint expression as its input.")
		}
	case "LAG", "LEAD":
		need(1, 3)
		w.arg = b.expr(e.Parameters[0], sc)
		if len(e.Parameters) > 1 {
			by := b.cast(b.expr(e.Parameters[1], sc), sqltype.Of(sqltype.BigInt), 0)
			w.by = &by
		}
		if len(e.Parameters) > 2 {
			other := b.cast(b.expr(e.Parameters[2], sc), w.arg.typ, 0)
			w.other = &other
		}
		typ, null = w.arg.typ, true
	case "FIRST_VALUE", "LAST_VALUE":
		need(1, 1)
		w.arg = b.expr(e.Parameters[0], sc)
		typ, null = w.arg.typ, true
	default:
		if !aggregateNames[name] || name == "STRING_AGG" {
			if since, known := unbuilt(name); known && since <= b.sess.Release() {
				unsupported("the window function %s", name)
			}
			if _, known := functionNamed(name); known || name == "STRING_AGG" {
				failf(4113, "The function '%s' is not a valid windowing function, and cannot be used with the OVER clause.", ident(e.FunctionName))
			}
			failf(195, "'%s' is not a recognized built-in function name.", ident(e.FunctionName))
		}
		need(1, 1)
		w.agg = &aggregate{name: name, warned: &b.warned}
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
	}
	*calls = append(*calls, w)
	sc.windows = calls
	seg := len(sc.tables)
	return expr{typ: typ, null: null, eval: func(f *frame) sqltype.Value { return f.seg[seg][w.at] }}
}

// windowOrder binds the ORDER BY of a window, where no number stands for a column and no constant for an order.
func (b *binder) windowOrder(o *ast.OrderByClause, sc *scope) []sortKey {
	if o != nil {
		for _, el := range o.OrderByElements {
			switch el.Expression.(type) {
			case *ast.IntegerLiteral:
				failf(5308, "Windowed functions, aggregates and NEXT VALUE FOR functions do not support integer indices as ORDER BY clause expressions.")
			case *ast.StringLiteral, *ast.NumericLiteral, *ast.NullLiteral:
				failf(5309, "Windowed functions, aggregates and NEXT VALUE FOR functions do not support constants as ORDER BY clause expressions.")
			}
		}
	}
	return b.sortKeys(o, sc, &selectPlan{})
}

// constants tells whether rows are ordered by constants alone, whose computation cannot fail: literals, variables, and subqueries of one
// of them.
func constants(o *ast.OrderByClause) bool {
	return o != nil && !slices.ContainsFunc(o.OrderByElements, func(el *ast.ExpressionWithSortOrder) bool { return !plainConstant(el.Expression) })
}

func plainConstant(x ast.ScalarExpression) bool {
	switch e := x.(type) {
	case *ast.IntegerLiteral, *ast.StringLiteral, *ast.NumericLiteral, *ast.NullLiteral, *ast.VariableReference, *ast.GlobalVariableExpression:
		return true
	case *ast.ParenthesisExpression:
		return plainConstant(e.Expression)
	case *ast.ScalarSubquery:
		q, ok := e.QueryExpression.(*ast.QuerySpecification)
		if !ok || len(q.SelectElements) != 1 || q.FromClause != nil || q.WhereClause != nil || q.GroupByClause != nil || q.HavingClause != nil || q.TopRowFilter != nil || q.OffsetClause != nil {
			return false
		}
		el, ok := q.SelectElements[0].(*ast.SelectScalarExpression)
		return ok && plainConstant(el.Expression)
	}
	return false
}

// windowNode reads its whole input, computes the functions, and delivers the rows in the order they came; where they need not be kept
// it passes them on.
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

// passes tells whether the rows need not be kept: the functions are of a row's number, and rows come in their order; or of how many rows
// there are besides, and the scan below knows.
func (n *windowNode) passes() bool {
	counted := false
	for _, call := range n.calls {
		if call.name != "ROW_NUMBER" && call.name != "NTILE" || !n.inOrder(call) {
			return false
		}
		counted = counted || call.name == "NTILE"
	}
	if !counted {
		return true
	}
	s, ok := n.input.(*scanNode)
	if !ok {
		return false
	}
	c, ok := s.cur.(CountedCursor)
	if ok {
		n.count = int64(c.Len())
	}
	return ok
}

func (n *windowNode) open(f *frame) error {
	n.f, n.at, n.rows, n.vals = f, 0, nil, nil
	n.saver.begin(n.run, slices.DeleteFunc(allSegs(f), func(i int) bool { return i == n.seg }))
	if err := n.input.open(f); err != nil {
		return err
	}
	if n.pass = n.passes(); n.pass {
		n.vals = make([]sqltype.Value, len(n.calls))
		return n.run.err
	}
	if err := n.run.rest(n.input, func() error {
		n.rows = append(n.rows, n.saver.save(f))
		n.saver.take(32 * len(n.calls))
		return nil
	}); err != nil {
		return err
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
	if len(c.parts) > 0 || len(c.order) == 0 || c.same {
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
	if n.inOrder(c) && !c.ties() {
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

// ties tells whether a function sees which rows have the same order.
func (c *windowCall) ties() bool {
	switch c.name {
	case "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST":
		return true
	}
	return framed(c.name) && !c.frame.rows && !c.frame.whole()
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
	if framed(c.name) {
		return n.frames(c, count, part, at)
	}
	rank, dense := int64(0), int64(0)
	for k := range count {
		var v sqltype.Value
		switch c.name {
		case "ROW_NUMBER":
			v = sqltype.FromInt(k + 1)
		case "RANK", "DENSE_RANK", "PERCENT_RANK":
			if k == 0 || !sameKeys(part[k-1].keys, part[k].keys, c.order) {
				rank, dense = k+1, dense+1
			}
			v = sqltype.FromInt(rank)
			switch {
			case c.name == "DENSE_RANK":
				v = sqltype.FromInt(dense)
			case c.name == "PERCENT_RANK":
				v = sqltype.FromFloat(float64(rank-1) / float64(max(count-1, 1)))
			}
		case "CUME_DIST":
			if k >= rank { // rank is how many rows there are up to the last of this order
				for rank = k + 1; rank < count && sameKeys(part[k].keys, part[rank].keys, c.order); rank++ {
				}
			}
			v = sqltype.FromFloat(float64(rank) / float64(count))
		case "NTILE":
			v = sqltype.FromInt(c.tile(k, count))
		case "LAG", "LEAD":
			j, err := n.distant(c, k, at(k))
			if err != nil {
				return err
			}
			switch {
			case j >= 0 && j < count:
				n.saver.restore(n.f, n.rows[at(j)])
				v = c.arg.eval(n.f)
			case c.other != nil:
				n.saver.restore(n.f, n.rows[at(k)])
				v = c.other.eval(n.f)
			}
		}
		n.vals[at(k)*len(n.calls)+c.at] = v
	}
	return nil
}

// distant gives the place that LAG or LEAD of place k reads (Microsoft: LAG (Transact-SQL), LEAD (Transact-SQL)).
func (n *windowNode) distant(c *windowCall, k int64, row int) (int64, error) {
	by := int64(1)
	if c.by != nil {
		n.saver.restore(n.f, n.rows[row])
		v := c.by.eval(n.f)
		switch {
		case n.run.err != nil:
			return 0, n.run.err
		case v.IsNull():
			return 0, sqltype.Unsupported("NULL as the offset of %s", c.name)
		case v.Int() < 0:
			return 0, sqltype.Errorf(8730, "Offset parameter for Lag and Lead functions cannot be a negative value.")
		}
		by = min(v.Int(), int64(len(n.rows)))
	}
	if c.name == "LAG" {
		by = -by
	}
	return k + by, nil
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
