package tsql

import (
	"strconv"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// binder turns the tree of one statement into plans. It lives as long as the statement.
type binder struct {
	*run
	ctes map[string]*ast.CommonTableExpression
	// working are the recursive expressions of which a member is being bound.
	working map[string]*recursion
	tables  map[string]*tableVar
	// rowsWanted: what is being bound delivers rows of tables, not something computed over them.
	rowsWanted bool
	// declarations is a text of declarations that is read apart from the batch.
	declarations string
}

func (b *binder) query(q ast.QueryExpression, outer *scope) plan {
	switch x := q.(type) {
	case *ast.QueryParenthesisExpression:
		return b.query(x.QueryExpression, outer)
	case *ast.BinaryQueryExpression:
		return b.union(x, outer)
	case *ast.QuerySpecification:
		return b.spec(x, outer)
	}
	unsupported("the query %s", nodeName(q))
	return nil
}

// selectPlan is one SELECT.
type selectPlan struct {
	run      *run
	fr       frame
	segs     *scope
	input    node
	outs     []expr
	cols     []Column
	row      sqltype.Row
	copied   []columnRun // of outs, those that are columns of the frame
	computed []int       // the others
	distinct bool
	seen     map[string]bool
	top      *expr
	offset   *expr
	fetch    *expr
	left     int64 // rows still to deliver; negative is no limit
	skip     int64
}

func (p *selectPlan) columns() []Column { return p.cols }

func (p *selectPlan) open(outer *frame) error {
	n := len(p.segs.tables) + 1 // one more for window functions
	if len(p.fr.seg) != n {
		p.fr.seg = make([]sqltype.Row, n)
	}
	p.fr.outer = outer
	if p.copied == nil && p.computed == nil {
		p.copied, p.computed = columnRuns(p.outs)
	}
	p.left, p.skip = -1, 0
	if p.top != nil {
		v := p.top.eval(&p.fr)
		if p.left = v.Int(); p.run.err == nil && (v.IsNull() || p.left < 0) {
			return sqltype.Errorf(1060, "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.")
		}
	}
	if p.offset != nil {
		p.skip = p.offset.eval(&p.fr).Int()
		if p.skip < 0 {
			return sqltype.Errorf(10742, "The offset specified in a OFFSET clause may not be negative.")
		}
	}
	if p.fetch != nil {
		p.left = p.fetch.eval(&p.fr).Int()
		if p.left < 1 {
			return sqltype.Errorf(10744, "The number of rows provided for a FETCH clause must be greater then zero.")
		}
	}
	if p.distinct {
		p.seen = map[string]bool{}
	}
	if p.run.err != nil {
		return p.run.err
	}
	p.row = make(sqltype.Row, len(p.outs))
	return p.input.open(&p.fr)
}

func (p *selectPlan) next() (sqltype.Row, error) {
	for p.left != 0 {
		ok, err := p.input.next()
		if err != nil || !ok {
			return nil, err
		}
		if p.skip > 0 && !p.distinct {
			p.skip--
			continue
		}
		for _, c := range p.copied {
			copy(p.row[c.out:c.out+c.n], p.fr.seg[c.seg][c.pos:c.pos+c.n])
		}
		for _, i := range p.computed {
			p.row[i] = p.outs[i].eval(&p.fr)
		}
		if p.run.err != nil {
			return nil, p.run.err
		}
		if p.distinct {
			var k []byte
			for i, v := range p.row {
				k = v.AppendKey(k, p.cols[i].Type)
			}
			if p.seen[string(k)] {
				continue
			}
			p.seen[string(k)] = true
			if p.skip > 0 {
				p.skip--
				continue
			}
		}
		p.left--
		return p.row, nil
	}
	return nil, nil
}

func (p *selectPlan) close() { p.input.close() }

func (b *binder) spec(q *ast.QuerySpecification, outer *scope) plan {
	if q.ForClause != nil {
		unsupported("FOR XML, FOR JSON and FOR BROWSE")
	}
	if q.WindowClause != nil {
		unsupported("the WINDOW clause")
	}
	p := &selectPlan{run: b.run, distinct: q.UniqueRowFilter == "Distinct"}
	grouped := q.GroupByClause != nil || q.HavingClause != nil || hasAggregate(q.SelectElements) || hasAggregate(q.OrderByClause)
	wanted := b.rowsWanted
	b.rowsWanted = wanted && !grouped && !p.distinct && q.TopRowFilter == nil && q.OffsetClause == nil && !hasWindow(q.SelectElements)
	sc := &scope{outer: outer}
	p.segs = sc
	var input node = &oneRow{}
	var cs []*conjunct
	if q.FromClause != nil && len(q.FromClause.TableReferences) > 0 {
		var src *source
		for _, ref := range q.FromClause.TableReferences {
			s := b.declare(ref, sc, false)
			if src == nil {
				src = s
			} else {
				src = joined("inner", src, s, nil)
			}
		}
		b.rowsWanted = false // subqueries of expressions
		if q.WhereClause != nil {
			cs = b.conjuncts(q.WhereClause.SearchCondition, sc)
		}
		input = b.join(src, sc, cs, 0)
	} else {
		b.rowsWanted = false
		if q.WhereClause != nil {
			cs = b.conjuncts(q.WhereClause.SearchCondition, sc)
		}
	}
	defer func() { b.rowsWanted = wanted }()
	var rest []pred
	for _, c := range cs {
		if !c.done {
			rest = append(rest, c.p)
		}
	}
	if rest != nil {
		input = &filterNode{run: b.run, input: input, preds: rest}
	}
	top := sc // the scope of the select list
	var group *groupNode
	if grouped {
		group, top = b.group(q, sc, input)
		input = group
		p.segs = top
	}
	var windows []*windowCall
	top.windows = &windows
	b.selectList(q.SelectElements, top, p)
	if grouped && q.HavingClause != nil {
		input = &filterNode{run: b.run, input: input, preds: []pred{b.pred(q.HavingClause.SearchCondition, top)}}
	}
	keys := b.sortKeys(q.OrderByClause, top, p)
	top.windows = nil
	if group != nil {
		group.minMax()
	}
	if len(windows) > 0 {
		input = &windowNode{run: b.run, input: input, calls: windows, seg: len(p.segs.tables)}
	}
	if len(keys) > 0 {
		sorted := false
		if s := leading(input); s != nil {
			sorted, s.reverse = s.sortedBy(keys)
		}
		if !sorted {
			input = &sortNode{run: b.run, input: input, keys: keys}
		}
	}
	p.input = input
	b.limits(q, p, len(keys) > 0)
	return p
}

func (b *binder) limits(q *ast.QuerySpecification, p *selectPlan, ordered bool) {
	big := sqltype.Of(sqltype.BigInt)
	if t := q.TopRowFilter; t != nil {
		if t.Percent || t.WithTies {
			unsupported("TOP PERCENT and WITH TIES")
		}
		e := b.cast(b.expr(t.Expression, nil), big, 0)
		p.top = &e
	}
	if o := q.OffsetClause; o != nil {
		if !ordered {
			failf(102, "Incorrect syntax near 'OFFSET'.")
		}
		e := b.cast(b.expr(o.OffsetExpression, nil), big, 0)
		p.offset = &e
		if o.FetchExpression != nil {
			f := b.cast(b.expr(o.FetchExpression, nil), big, 0)
			p.fetch = &f
		}
	}
}

func (b *binder) selectList(elements []ast.SelectElement, sc *scope, p *selectPlan) {
	add := func(e expr, name string) {
		col := Column{Name: name, Type: e.typ, Nullable: e.null}
		if e.ref != nil {
			c := e.ref.cols[e.ord]
			col.Identity, col.Computed = c.Identity, c.Computed
		}
		if col.Type.Kind == sqltype.Null {
			col.Type = sqltype.Of(sqltype.Null)
		}
		p.outs = append(p.outs, e)
		p.cols = append(p.cols, col)
	}
	for _, el := range elements {
		switch x := el.(type) {
		case *ast.SelectStarExpression:
			if sc.group != nil {
				failf(8120, "Column '*' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.")
			}
			b.star(x, sc, add)
		case *ast.SelectScalarExpression:
			name := ""
			if x.ColumnName != nil {
				name = x.ColumnName.Value
				if x.ColumnName.Identifier != nil {
					name = x.ColumnName.Identifier.Value
				}
			} else if c, ok := x.Expression.(*ast.ColumnReferenceExpression); ok && c.MultiPartIdentifier != nil {
				ids := c.MultiPartIdentifier.Identifiers
				name = ids[len(ids)-1].Value
			} else if ok && c.ColumnType == "PseudoColumnAction" {
				name = "$action"
			}
			add(b.expr(x.Expression, sc), name)
		default:
			unsupported("the select element %s", nodeName(el))
		}
	}
}

func (b *binder) star(x *ast.SelectStarExpression, sc *scope, add func(expr, string)) {
	alias := ""
	if x.Qualifier != nil {
		alias = x.Qualifier.Identifiers[len(x.Qualifier.Identifiers)-1].Value
	}
	found := false
	for _, t := range sc.tables {
		if alias != "" && !sqltype.EqualName(t.alias, alias) {
			continue
		}
		found = true
		for ord, c := range t.cols {
			sc.touched |= 1 << t.idx
			seg, pos := t.idx, t.use(ord)
			e := t.expr(ord, 0)
			e.eval = func(f *frame) sqltype.Value { return f.seg[seg][pos] }
			add(e, c.Name)
		}
	}
	if !found {
		if alias == "" {
			failf(263, "Must specify table to select from.")
		}
		failf(107, "The column prefix '%s' does not match with a table name or alias name used in the query.", alias)
	}
}

// sortKeys binds ORDER BY: positions, names of the select list, or expressions.
func (b *binder) sortKeys(o *ast.OrderByClause, sc *scope, p *selectPlan) (keys []sortKey) {
	if o == nil {
		return nil
	}
next:
	for _, el := range o.OrderByElements {
		k := sortKey{desc: el.SortOrder == "Descending"}
		switch x := el.Expression.(type) {
		case *ast.IntegerLiteral:
			n, _ := strconv.Atoi(x.Value)
			if n < 1 || n > len(p.cols) {
				failf(108, "The ORDER BY position number %d is out of range of the number of items in the select list.", n)
			}
			k.e = p.outs[n-1]
			keys = append(keys, k)
			continue next
		case *ast.ColumnReferenceExpression:
			if x.MultiPartIdentifier != nil && len(x.MultiPartIdentifier.Identifiers) == 1 {
				for i, c := range p.cols {
					if sqltype.EqualName(c.Name, x.MultiPartIdentifier.Identifiers[0].Value) {
						k.e = p.outs[i]
						keys = append(keys, k)
						continue next
					}
				}
			}
		}
		k.e = b.expr(el.Expression, sc)
		keys = append(keys, k)
	}
	return keys
}

// unionPlan is UNION and UNION ALL.
type unionPlan struct {
	run    *run
	parts  []plan
	cols   []Column
	casts  [][]expr // per part and column, over the one row in cur
	cur    sqltype.Row
	row    sqltype.Row
	all    bool
	seen   map[string]bool
	at     int
	outer  *frame
	opened bool
}

func (b *binder) union(x *ast.BinaryQueryExpression, outer *scope) plan {
	if x.BinaryQueryExpressionType != "Union" {
		unsupported("%s", x.BinaryQueryExpressionType)
	}
	wholeUnion(x)
	p := &unionPlan{run: b.run, all: x.All}
	for _, q := range []ast.QueryExpression{x.FirstQueryExpression, x.SecondQueryExpression} {
		part := b.subquery(q, outer)
		if u, ok := part.(*unionPlan); ok && u.all && p.all {
			p.parts = append(p.parts, u.parts...) // one flat list
		} else {
			p.parts = append(p.parts, part)
		}
	}
	p.cols = append([]Column(nil), p.parts[0].columns()...)
	for _, part := range p.parts[1:] {
		if len(part.columns()) != len(p.cols) {
			failf(205, "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.")
		}
		for i, c := range part.columns() {
			p.cols[i].Type = sqltype.Common(p.cols[i].Type, c.Type)
			p.cols[i].Nullable = p.cols[i].Nullable || c.Nullable
		}
	}
	for _, part := range p.parts {
		var casts []expr
		for i, c := range part.columns() {
			e := expr{typ: c.Type, null: c.Nullable, eval: func(*frame) sqltype.Value { return p.cur[i] }}
			casts = append(casts, b.given(e, p.cols[i].Type))
		}
		p.casts = append(p.casts, casts)
	}
	if x.OrderByClause == nil {
		return p
	}
	sc := &scope{outer: outer}
	ref := sc.add("", "", p.cols, false)
	sel := &selectPlan{run: b.run, segs: sc, cols: p.cols}
	for i, c := range p.cols {
		sel.outs = append(sel.outs, expr{typ: c.Type, null: c.Nullable, eval: func(f *frame) sqltype.Value { return f.seg[0][i] }})
	}
	sel.input = &sortNode{run: b.run, input: &derivedNode{plan: p, ref: ref}, keys: b.sortKeys(x.OrderByClause, sc, sel)}
	return sel
}

func (p *unionPlan) columns() []Column { return p.cols }

func (p *unionPlan) open(outer *frame) error {
	p.outer, p.at, p.opened = outer, 0, false
	p.row = make(sqltype.Row, len(p.cols))
	if !p.all {
		p.seen = map[string]bool{}
	}
	return nil
}

func (p *unionPlan) next() (sqltype.Row, error) {
	for p.at < len(p.parts) {
		if !p.opened {
			if err := p.parts[p.at].open(p.outer); err != nil {
				return nil, err
			}
			p.opened = true
		}
		row, err := p.parts[p.at].next()
		if err != nil {
			return nil, err
		}
		if row == nil {
			p.close()
			p.at++
			continue
		}
		p.cur = row
		for i, e := range p.casts[p.at] {
			p.row[i] = e.eval(nil)
		}
		if p.run.err != nil {
			return nil, p.run.err
		}
		if !p.all {
			var k []byte
			for i, v := range p.row {
				k = v.AppendKey(k, p.cols[i].Type)
			}
			if p.seen[string(k)] {
				continue
			}
			p.seen[string(k)] = true
		}
		return p.row, nil
	}
	return nil, nil
}

func (p *unionPlan) close() {
	if p.opened {
		p.parts[p.at].close()
		p.opened = false
	}
}
