package tsql

import (
	"math"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// grouping is the scope of a grouped query's select list: group keys and aggregates.
type grouping struct {
	base *scope
	asts []ast.ScalarExpression
	keys []expr
	node *groupNode
	// clause is what is being bound behind the select list.
	clause string
}

// key finds an expression among the GROUP BY expressions.
func (g *grouping) key(b *binder, x ast.ScalarExpression) (expr, bool) {
	for i, a := range g.asts {
		if !sameTree(a, x) {
			c, ok := x.(*ast.ColumnReferenceExpression)
			if !ok || g.keys[i].ref == nil || c.MultiPartIdentifier == nil {
				continue
			}
			if t, ord := g.base.find(c); t != g.keys[i].ref || ord != g.keys[i].ord {
				continue
			}
		}
		return expr{typ: g.keys[i].typ, null: g.keys[i].null, coll: g.keys[i].coll, eval: func(f *frame) sqltype.Value { return f.seg[0][i] }}, true
	}
	return expr{}, false
}

// column refuses columns that are neither grouped nor aggregated.
func (g *grouping) column(b *binder, c *ast.ColumnReferenceExpression) (expr, bool) {
	if e, ok := g.key(b, c); ok {
		return e, true
	}
	if t, ord := g.base.find(c); t != nil {
		g.refuse(t, ord)
	}
	return expr{}, false
}

// refuse is the error of a column that is neither grouped nor aggregated.
func (g *grouping) refuse(t *tableRef, ord int) {
	name := t.cols[ord].Name
	switch table := t.exposed.Name.String(); {
	case table != "":
		name = table + "." + name
	case t.alias != "":
		name = t.alias + "." + name
	}
	const why = "because it is not contained in either an aggregate function or the GROUP BY clause."
	switch g.clause {
	case "HAVING":
		failf(8121, "Column '%s' is invalid in the HAVING clause %s", name, why)
	case "ORDER BY":
		failf(8127, "Column \"%s\" is invalid in the ORDER BY clause %s", name, why)
	}
	failf(8120, "Column '%s' is invalid in the select list %s", name, why)
}

// starred is a star among groups: all of its columns must be grouped.
func (g *grouping) starred(b *binder, x *ast.SelectStarExpression, add func(expr, string)) {
	b.star(x, g.base, func(e expr, name string) {
		for i, k := range g.keys {
			if k.ref == e.ref && k.ord == e.ord {
				add(expr{typ: k.typ, null: k.null, eval: func(f *frame) sqltype.Value { return f.seg[0][i] }}, name)
				return
			}
		}
		g.refuse(e.ref, e.ord)
	})
}

var aggregateNames = map[string]bool{"COUNT": true, "COUNT_BIG": true, "SUM": true, "MIN": true, "MAX": true, "AVG": true,
	"STDEV": true, "STDEVP": true, "VAR": true, "VARP": true, "STRING_AGG": true}

func (b *binder) group(q *ast.QuerySpecification, base *scope, input node) (*groupNode, *scope) {
	n := &groupNode{run: b.run, input: input, base: base}
	g := &grouping{base: base, node: n}
	if q.GroupByClause != nil {
		if q.GroupByClause.All || q.GroupByClause.GroupByOption != "" && q.GroupByClause.GroupByOption != "None" {
			unsupported("GROUP BY ALL, CUBE and ROLLUP")
		}
		for _, s := range q.GroupByClause.GroupingSpecifications {
			x, ok := s.(*ast.ExpressionGroupingSpecification)
			if !ok {
				unsupported("the grouping %s", nodeName(s))
			}
			if x.DistributedAggregation {
				unsupported("GROUP BY ... WITH (DISTRIBUTED_AGG)")
			}
			switch {
			case hasAggregate(x.Expression), hasSubquery(x.Expression):
				failf(144, "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.")
			case len(columnNames(x.Expression)) == 0:
				failf(164, "Each GROUP BY expression must contain at least one column that is not an outer reference.")
			}
			g.asts = append(g.asts, x.Expression)
			g.keys = append(g.keys, b.expr(x.Expression, base))
			last := &g.keys[len(g.keys)-1]
			last.label().named("GROUP BY", len(g.keys)+1)
			comparable(last.typ)
			*last = b.undoubted(*last, last.typ, false)
		}
	}
	n.keys = g.keys
	top := &scope{outer: base.outer, group: g}
	top.tables = []*tableRef{{alias: "\x00group"}} // the segment of the group's row; no name finds it
	return n, top
}

// aggregate binds COUNT, SUM, MIN, MAX or AVG.
func (b *binder) aggregate(name string, e *ast.FunctionCall, sc *scope) expr {
	if sc == nil || sc.group == nil {
		if b.setting {
			failf(157, "An aggregate may not appear in the set list of an UPDATE statement.")
		}
		if b.joining {
			failf(1015, "An aggregate cannot appear in an ON clause unless it is in a subquery contained in a HAVING clause or select list, and the column being aggregated is an outer reference.")
		}
		failf(147, "An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.")
	}
	if name == "STRING_AGG" {
		a := b.stringAgg(e, sc.group.base)
		return sc.group.add(a)
	}
	if len(e.Parameters) != 1 {
		failf(174, "The %s function requires 1 argument(s).", strings.ToLower(name))
	}
	g := sc.group
	if hasAggregate(e.Parameters[0]) || hasSubquery(e.Parameters[0]) {
		failf(130, "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.")
	}
	a := &aggregate{name: name, distinct: e.UniqueRowFilter == "Distinct", warned: &b.warned}
	if c, ok := e.Parameters[0].(*ast.ColumnReferenceExpression); ok && c.ColumnType == "Wildcard" {
		if name != "COUNT" && name != "COUNT_BIG" || a.distinct {
			fail(nearNode(b.batch.source, c, false))
		}
		a.star = true
	} else {
		a.arg = b.expr(e.Parameters[0], g.base)
		if a.distinct && a.arg.coll == conflicting {
			failf(446, "Cannot resolve collation conflict for DISTINCT operation.")
		}
		a.arg = a.bind(b)
	}
	switch name {
	case "COUNT":
		a.typ = sqltype.Of(sqltype.Int)
	case "COUNT_BIG":
		a.typ = sqltype.Of(sqltype.BigInt)
	}
	return g.add(a)
}

// add gives an aggregate its place in the group's row.
func (g *grouping) add(a *aggregate) expr {
	at := len(g.keys) + len(g.node.aggs)
	g.node.aggs = append(g.node.aggs, a)
	e := expr{typ: a.typ, null: true, eval: func(f *frame) sqltype.Value { return f.seg[0][at] }}
	if a.typ.Class() == sqltype.ClassString {
		e.coll = a.arg.coll
	}
	return e
}

// aggregate is one aggregate function of a query.
type aggregate struct {
	name     string
	star     bool
	distinct bool
	arg      expr
	typ      sqltype.Type
	cmp      func(a, b *sqltype.Value) int
	v        sqltype.Value // of the row in hand; here, so that a row costs no memory
	warned   *warnings     // of its statement; nil where NULL is left out without a word
	// of STRING_AGG
	separator string
	order     []sortKey
}

// bind settles the type of SUM, AVG, MIN and MAX ("Microsoft: SUM (Transact-SQL)", "AVG (Transact-SQL)").
func (a *aggregate) bind(b *binder) expr {
	t := a.arg.typ
	switch a.name {
	case "MIN", "MAX":
		if t.Class() == sqltype.ClassBit || t.Class() == sqltype.ClassOther || t.LOB() && t.Len != sqltype.Max {
			failf(8117, "Operand data type %s is invalid for %s operator.", t.Kind, strings.ToLower(a.name))
		}
		a.arg.label().needed(lower(a.name))
		a.typ, a.cmp = t, sqltype.Comparer(t)
		return b.undoubted(a.arg, t, true)
	case "STDEV", "STDEVP", "VAR", "VARP":
		if c := t.Class(); c != sqltype.ClassInt && c != sqltype.ClassDecimal && c != sqltype.ClassFloat {
			failf(8117, "Operand data type %s is invalid for %s operator.", t.Kind, strings.ToLower(a.name))
		}
		a.typ = sqltype.Of(sqltype.Float)
		return b.cast(a.arg, a.typ, 0)
	case "SUM", "AVG":
		switch {
		case t.Kind == sqltype.BigInt:
		case t.Class() == sqltype.ClassInt:
			t = sqltype.Of(sqltype.Int)
		case t.Kind == sqltype.Money || t.Kind == sqltype.SmallMoney:
			t = sqltype.Of(sqltype.Money)
		case t.Class() == sqltype.ClassDecimal:
			t = sqltype.Dec(38, t.Scale)
		case t.Class() == sqltype.ClassFloat:
			t = sqltype.Of(sqltype.Float)
		default:
			failf(8117, "Operand data type %s is invalid for %s operator.", t.Kind, strings.ToLower(a.name))
		}
		a.typ = t
		if a.name == "AVG" && (t.Kind == sqltype.Decimal || t.Kind == sqltype.Numeric) {
			a.typ.Scale = max(6, t.Scale)
		}
		if a.arg.typ.Class() == sqltype.ClassFloat {
			return b.cast(a.arg, t, 0)
		}
	}
	return a.arg
}

// accumulatorSize is about how many bytes one takes.
const accumulatorSize = 96

type accumulator struct {
	n    int64
	mean float64 // of STDEV and VAR, and the sum of the squares of what differs from it
	m2   float64
	v    sqltype.Value
	seen map[string]bool
	kept []sorted // of STRING_AGG
}

func (a *aggregate) add(h *hold, acc *accumulator, f *frame) error {
	if a.star {
		acc.n++
		return nil
	}
	a.v = a.arg.eval(f)
	if a.v.IsNull() {
		if a.warned != nil {
			a.warned.eliminated = true
		}
		return nil
	}
	if a.distinct {
		k := string(a.v.AppendKey(nil, a.arg.typ))
		if acc.seen[k] {
			return nil
		}
		if acc.seen == nil {
			acc.seen = map[string]bool{}
		}
		acc.seen[k] = true
		h.take(mapEntry + len(k))
	}
	acc.n++
	switch a.name {
	case "STRING_AGG":
		a.keep(h, acc, f)
	case "STDEV", "STDEVP", "VAR", "VARP":
		x := a.v.Float()
		d := x - acc.mean
		acc.mean += d / float64(acc.n)
		acc.m2 += d * (x - acc.mean)
	case "MIN", "MAX":
		if acc.n == 1 {
			acc.v = a.v
			break
		}
		if c := a.cmp(&a.v, &acc.v); a.name == "MIN" && c < 0 || a.name == "MAX" && c > 0 {
			acc.v = a.v
		}
	case "SUM", "AVG":
		if acc.n == 1 {
			acc.v = a.v
			break
		}
		t := a.typ
		if t.Kind == sqltype.Decimal {
			t.Scale = a.arg.typ.Scale
		}
		w, err := sqltype.Arith(sqltype.Add, acc.v, a.v, t)
		if err != nil {
			return err
		}
		acc.v = w
	}
	return nil
}

func (a *aggregate) result(acc *accumulator) (sqltype.Value, error) {
	switch a.name {
	case "COUNT":
		if acc.n > 1<<31-1 {
			return sqltype.Value{}, sqltype.Errorf(8115, "Arithmetic overflow error converting expression to data type int.")
		}
		return sqltype.FromInt(acc.n), nil
	case "COUNT_BIG":
		return sqltype.FromInt(acc.n), nil
	case "STRING_AGG":
		return a.strung(acc)
	case "STDEV", "STDEVP", "VAR", "VARP": // of a sample, or of all with P (Microsoft: STDEV, STDEVP, VAR, VARP)
		n := float64(acc.n)
		if !strings.HasSuffix(a.name, "P") {
			n--
		}
		if n <= 0 {
			return sqltype.Value{}, nil
		}
		v := acc.m2 / n
		if strings.HasPrefix(a.name, "STDEV") {
			v = math.Sqrt(v)
		}
		return sqltype.FromFloat(v), nil
	case "AVG":
		if acc.n == 0 {
			return sqltype.Value{}, nil
		}
		n := sqltype.FromInt(acc.n)
		if a.typ.Class() == sqltype.ClassFloat {
			n = sqltype.FromFloat(float64(acc.n))
		}
		return sqltype.Arith(sqltype.Div, acc.v, n, a.typ)
	}
	return acc.v, nil
}

// groupNode makes groups of its input's rows. It works on a frame of its own; the frame it fills holds the group.
type groupNode struct {
	run    *run
	input  node
	base   *scope
	keys   []expr
	aggs   []*aggregate
	rows   frame
	out    *frame
	groups []*groupState
	hold   hold
	at     int
	// first: one row is enough, the scan delivers the smallest or largest first
	first bool
}

type groupState struct {
	keys []sqltype.Value
	accs []accumulator
}

// minMax recognises MIN or MAX of the column the scan is ordered by, which is one seek.
func (n *groupNode) minMax() {
	if len(n.keys) > 0 || len(n.aggs) != 1 || n.aggs[0].name != "MIN" && n.aggs[0].name != "MAX" || n.aggs[0].arg.ref == nil {
		return
	}
	key := sortKey{e: n.aggs[0].arg, desc: n.aggs[0].name == "MAX"}
	if s := leading(n.input); s != nil && key.e.depth == 0 {
		n.first, s.reverse = s.sortedBy([]sortKey{key})
	}
}

func (n *groupNode) open(out *frame) error {
	n.out, n.at, n.groups = out, 0, nil
	n.hold.drop(n.run)
	if len(n.rows.seg) != len(n.base.tables)+1 {
		n.rows.seg = make([]sqltype.Row, len(n.base.tables)+1)
	}
	n.rows.outer = out.outer
	if err := n.input.open(&n.rows); err != nil {
		return err
	}
	defer n.input.close()
	var whole *groupState
	index := map[string]*groupState{}
	var buf []byte
	if len(n.keys) == 0 {
		whole = &groupState{accs: make([]accumulator, len(n.aggs))}
		n.groups = []*groupState{whole}
	}
	for rows := 0; ; rows++ {
		ok, err := n.input.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		g := whole
		if g == nil {
			buf = buf[:0]
			for _, k := range n.keys {
				buf = k.eval(&n.rows).AppendKey(buf, k.typ)
			}
			if g = index[string(buf)]; g == nil {
				g = &groupState{accs: make([]accumulator, len(n.aggs))}
				for _, k := range n.keys {
					g.keys = append(g.keys, k.eval(&n.rows))
				}
				index[string(buf)] = g
				n.hold.take(mapEntry + len(buf) + sqltype.Row(g.keys).Size() + len(g.accs)*accumulatorSize)
				n.groups = append(n.groups, g)
			}
		}
		for i, a := range n.aggs {
			if err := a.add(&n.hold, &g.accs[i], &n.rows); err != nil {
				return err
			}
		}
		if n.run.err != nil {
			return n.run.err
		}
		if n.first && g.accs[0].n > 0 {
			break
		}
		if rows%4096 == 4095 && n.run.ctx.Err() != nil {
			return n.run.ctx.Err()
		}
	}
	return n.run.err
}

func (n *groupNode) next() (bool, error) {
	if n.at >= len(n.groups) {
		return false, nil
	}
	g := n.groups[n.at]
	n.at++
	row := append(make(sqltype.Row, 0, len(g.keys)+len(g.accs)), g.keys...)
	for i, a := range n.aggs {
		v, err := a.result(&g.accs[i])
		if err != nil {
			return false, err
		}
		row = append(row, v)
	}
	n.out.seg[0] = row
	return true, nil
}

func (n *groupNode) close() {}
