package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// probe answers EXISTS and IN for each row of the query around without reading the rows of the subquery again: what of them does
// not depend on the query around is read once, and found by the equalities that do. (A server does so with a semi join; the
// truth values are those of Microsoft: EXISTS (Transact-SQL), IN (Transact-SQL).)
type probe struct {
	run   *run
	plan  *selectPlan
	input node        // of the subquery, without the conditions on rows around
	keys  joinKeys    // left: of the rows around, right: of the subquery's
	used  []*conjunct // the conditions that keys stand for
	rest  []pred      // the other conditions
	in    *probedItem // of IN
	ok    bool        // the subquery is of this kind

	read  bool
	saver saver
	rows  [][]sqltype.Row
	match map[string][]int // by keys, for IN with the item behind them
	nulls map[string][]int // of IN, rows whose item is NULL
	all   map[string][]int // of IN with a value that may be NULL
}

// probedItem is the comparison of IN.
type probedItem struct {
	value expr // of a row around
	item  expr // of a row of the subquery
	typ   sqltype.Type
}

// side is one side of an equality: which tables of its query it reads, and whether it reads those of the queries around.
type side struct {
	e      expr
	deps   uint64
	around bool
}

// probed binds the subquery of EXISTS, or of IN with its value.
func (b *binder) probed(q ast.QueryExpression, sc *scope, value *expr) (plan, *probe) {
	pr := &probe{run: b.run}
	if value != nil {
		pr.in = &probedItem{value: *value}
	}
	if !b.assigning && len(b.working) == 0 { // variables and the rows of a recursion change from row to row
		b.probing = pr
	}
	p := b.subquery(q, sc)
	b.probing = nil
	return p, pr
}

// readsAround counts the columns of the queries around a scope that were bound so far.
func (s *scope) readsAround() (n int) {
	for o := s.outer; o != nil; o = o.outer {
		n += o.reads
	}
	return n
}

// takes tells whether a query can be probed, as far as its clauses say.
func (pr *probe) takes(q *ast.QuerySpecification, grouped bool) bool {
	return !grouped && q.TopRowFilter == nil && q.OffsetClause == nil && !hasWindow(q.SelectElements)
}

// split divides the conditions of the subquery. It gives those that do not depend on the queries around, which the plan of the rows
// may use; nil when there is nothing to find rows by, or a scan finds them by its order.
func (pr *probe) split(b *binder, src *source, cs []*conjunct) (own []*conjunct, ok bool) {
	for _, c := range cs {
		if !c.around {
			own = append(own, c)
			continue
		}
		inner, outer := c.sides[0], c.sides[1]
		if inner.around {
			inner, outer = outer, inner
		}
		if !c.equality || inner.around || inner.deps == 0 || outer.deps != 0 {
			continue
		}
		x, y, t := b.comparable("equal to", inner.e, outer.e)
		if !hashable(t) {
			continue
		}
		if src.ordered(inner.e) {
			return nil, false
		}
		pr.keys.right, pr.keys.left, pr.keys.types = append(pr.keys.right, x), append(pr.keys.left, y), append(pr.keys.types, t)
		pr.used = append(pr.used, c)
	}
	return own, len(pr.used) > 0 || pr.in != nil
}

// remember notes the conditions that neither the plan of the rows nor the keys have settled.
func (pr *probe) remember(cs []*conjunct) {
	settled := map[*conjunct]bool{}
	for _, c := range pr.used {
		settled[c] = true
	}
	for _, c := range cs {
		if !c.done && !settled[c] {
			pr.rest = append(pr.rest, c.p)
		}
	}
}

// hashable tells whether values of a type are equal when their keys are.
func hashable(t sqltype.Type) bool {
	switch t.Class() {
	case sqltype.ClassInt, sqltype.ClassBit, sqltype.ClassFloat, sqltype.ClassDecimal, sqltype.ClassTime, sqltype.ClassGUID, sqltype.ClassString:
		return true
	}
	return t.Kind == sqltype.Binary || t.Kind == sqltype.VarBinary
}

// ordered tells whether an expression is the column by which a table is ordered first, so that a scan finds its values.
func (s *source) ordered(e expr) bool {
	if s.leaf == nil {
		return s.left.ordered(e) || s.right.ordered(e)
	}
	scan, ok := s.leaf.(*scanNode)
	if !ok || e.ref != s.ref || e.depth != 0 {
		return false
	}
	orders, _ := scan.rel.Orders()
	return len(orders) > 0 && len(orders[0]) > 0 && orders[0][0] == e.ord
}

// compares binds the comparison of IN.
func (pr *probe) compares(b *binder, item expr) bool {
	x, y, t := b.comparable("equal to", pr.in.value, item)
	pr.in.value, pr.in.item, pr.in.typ = x, y, t
	return hashable(t)
}

// collect reads the rows of the subquery.
func (pr *probe) collect() error {
	f := &pr.plan.fr
	f.seg = make([]sqltype.Row, len(pr.plan.segs.tables)+1)
	pr.match, pr.nulls, pr.all = map[string][]int{}, map[string][]int{}, map[string][]int{}
	pr.saver.of(pr.run, pr.plan.segs.tables)
	put := func(m map[string][]int, key []byte, row int) {
		if row < 0 && m[string(key)] != nil { // that there is one is all that counts
			return
		}
		pr.saver.take(mapEntry + len(key))
		m[string(key)] = append(m[string(key)], row)
	}
	return pr.run.drain(pr.input, f, func() error {
		key, ok := pr.keys.of(pr.keys.right, f)
		if !ok {
			return nil
		}
		row := -1
		if len(pr.rest) > 0 {
			row = len(pr.rows)
			pr.rows = append(pr.rows, pr.saver.save(f))
		}
		if pr.in == nil {
			put(pr.match, key, row)
			return pr.run.err
		}
		if pr.in.value.null {
			put(pr.all, key, row)
		}
		if v := pr.in.item.eval(f); v.IsNull() {
			put(pr.nulls, key, row)
		} else {
			put(pr.match, v.AppendKey(key, pr.in.typ), row)
		}
		return pr.run.err
	})
}

// test is the predicate for a row around.
func (pr *probe) test(around *frame) tri {
	if pr.run.err != nil {
		return no
	}
	f := &pr.plan.fr
	f.outer = around
	if !pr.read {
		pr.read = true
		if err := pr.collect(); err != nil {
			pr.run.fail(err)
			return no
		}
	}
	key, ok := pr.keys.of(pr.keys.left, f)
	switch {
	case !ok:
		return no
	case pr.in == nil:
		return truth(pr.any(pr.match[string(key)], f))
	}
	v := pr.in.value.eval(around)
	switch {
	case v.IsNull():
		if pr.any(pr.all[string(key)], f) {
			return unknown
		}
		return no
	case pr.any(pr.match[string(v.AppendKey(key[:len(key):len(key)], pr.in.typ))], f):
		return yes
	case pr.any(pr.nulls[string(key)], f):
		return unknown
	}
	return no
}

// any tells whether one of the rows satisfies the other conditions, too.
func (pr *probe) any(rows []int, f *frame) bool {
	if len(pr.rest) == 0 {
		return len(rows) > 0
	}
next:
	for _, i := range rows {
		if err := pr.run.tick(); err != nil {
			pr.run.fail(err)
			return false
		}
		pr.saver.restore(f, pr.rows[i])
		for _, p := range pr.rest {
			if p(f) != yes {
				continue next
			}
		}
		return true
	}
	return false
}
