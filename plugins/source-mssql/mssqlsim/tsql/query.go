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
	// probing waits for the subquery that is bound next; assigning: the statement assigns variables from row to row.
	probing   *probe
	assigning bool
	// changing is the table of a FROM that the statement changes, and changes what came of it.
	changing *ast.NamedTableReference
	// written is the name of the function being bound, in its own letters.
	written string
	// setting: the values of SET of an UPDATE are being bound.
	setting bool
	// joining tells that a condition of ON is bound.
	joining bool
	changes *changeTarget
	// looked is the asterisk of EXISTS, of which no column is wanted.
	looked *ast.SelectStarExpression
}

func (b *binder) query(q ast.QueryExpression, outer *scope) plan {
	switch x := q.(type) {
	case *ast.QueryParenthesisExpression:
		return b.query(x.QueryExpression, outer)
	case *ast.BinaryQueryExpression:
		b.probing = nil
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
	seen     keySet
	top      *expr
	offset   *expr
	fetch    *expr
	left     int64 // rows still to deliver; negative is no limit
	skip     int64
	percent  *keptNode // the input of TOP PERCENT
	ties     []sortKey // of TOP WITH TIES
	last     []sqltype.Value
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
	p.last = nil
	if p.top != nil && p.percent == nil {
		v := p.top.eval(&p.fr)
		switch p.left = v.Int(); {
		case p.run.err != nil:
			return p.run.err
		case v.IsNull():
			return noCount()
		case p.left < 0:
			return negativeCount()
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
		p.seen.begin(p.run)
	}
	if p.run.err != nil {
		return p.run.err
	}
	p.row = make(sqltype.Row, len(p.outs))
	if p.percent != nil {
		p.percent.segs, p.percent.full = allSegs(&p.fr), false
	}
	if err := p.input.open(&p.fr); err != nil || p.percent == nil {
		return err
	}
	return p.share()
}

func (p *selectPlan) next() (sqltype.Row, error) {
	for p.left != 0 || p.ties != nil {
		ok, err := p.input.next()
		if err != nil || !ok {
			return nil, err
		}
		if p.ties != nil && !p.tied() {
			return nil, p.run.err
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
			if !p.seen.add(rowKey(p.row, p.cols)) {
				continue
			}
			if p.run.err != nil {
				return nil, p.run.err
			}
			if p.skip > 0 {
				p.skip--
				continue
			}
		}
		if p.left > 0 || p.ties == nil {
			p.left--
		}
		return p.row, nil
	}
	return nil, nil
}

func (p *selectPlan) close() { p.input.close() }

func (b *binder) spec(q *ast.QuerySpecification, outer *scope) plan {
	if q.ForClause != nil {
		unsupported(forClause)
	}
	if q.WindowClause != nil {
		unsupported("the WINDOW clause")
	}
	if q.FromClause != nil && len(q.FromClause.TableReferences) == 0 {
		fail(nearNode(b.batch.source, q.FromClause, true))
	}
	if q.TopRowFilter != nil && q.OffsetClause != nil {
		e := sqltype.Errorf(10741, "A TOP can not be used in the same query or sub-query as a OFFSET.")
		e.State = 2
		fail(e)
	}
	p := &selectPlan{run: b.run, distinct: q.UniqueRowFilter == "Distinct"}
	grouped := q.GroupByClause != nil || q.HavingClause != nil || hasAggregate(q.SelectElements) || hasAggregate(q.OrderByClause)
	wanted := b.rowsWanted
	b.rowsWanted = wanted && !grouped && !p.distinct && q.TopRowFilter == nil && q.OffsetClause == nil && !hasWindow(q.SelectElements)
	sc := &scope{outer: outer}
	p.segs = sc
	pr := b.probing
	b.probing = nil
	var input node = &oneRow{}
	var cs []*conjunct
	if q.FromClause != nil && len(q.FromClause.TableReferences) > 0 {
		around := sc.readsAround()
		src := b.declareAll(q.FromClause, sc)
		b.rowsWanted = false // subqueries of expressions
		alone := sc.readsAround() == around
		if q.WhereClause != nil {
			cs = b.conjuncts(q.WhereClause.SearchCondition, sc)
		}
		own := cs
		if pr != nil && alone && pr.takes(q, grouped) {
			if some, ok := pr.split(b, src, cs); ok {
				own, pr.ok, pr.plan = some, true, p
			}
		}
		around = sc.readsAround()
		input = b.join(src, sc, own, 0)
		if pr != nil && pr.ok {
			pr.ok, pr.input = sc.readsAround() == around, input // conditions of ON may read the queries around
			pr.remember(cs)
		}
	} else {
		b.rowsWanted = false
		if q.WhereClause != nil {
			cs = b.conjuncts(q.WhereClause.SearchCondition, sc)
		}
	}
	defer func() { b.rowsWanted = wanted }()
	input = b.rest(input, cs)
	top := sc // the scope of the select list
	var group *groupNode
	if grouped {
		group, top = b.group(q, sc, input)
		input = group
		p.segs = top
	}
	var windows []*windowCall
	top.windows = &windows
	around := sc.readsAround()
	b.selectList(q.SelectElements, top, p)
	if group != nil {
		top.group.clause = "HAVING"
	}
	if pr != nil && pr.ok && pr.in != nil {
		pr.ok = len(p.outs) == 1 && sc.readsAround() == around && pr.compares(b, p.outs[0])
	}
	if grouped && q.HavingClause != nil {
		input = &filterNode{run: b.run, input: input, preds: []pred{b.pred(q.HavingClause.SearchCondition, top)}}
	}
	if group != nil {
		top.group.clause = "ORDER BY"
	}
	keys := b.sortKeys(q.OrderByClause, top, p)
	if p.distinct {
		p.ordersByItsList(q, keys)
		for _, c := range p.cols {
			if c.label != nil && c.label.rank == conflicting { // Microsoft: Database engine events and errors 0 to 999, 446
				failf(446, "Cannot resolve collation conflict for DISTINCT operation.")
			}
			switch c.Type.Kind {
			case sqltype.XML, sqltype.Text, sqltype.NText, sqltype.Image:
				failf(421, "The %s data type cannot be selected as DISTINCT because it is not comparable.", c.Type.Kind)
			}
		}
	}
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
		if sorted {
			input = b.checked(input, keys)
		} else {
			input = &sortNode{run: b.run, input: input, keys: keys}
		}
	}
	p.input = input
	b.limits(q, p, keys)
	return p
}

func (b *binder) limits(q *ast.QuerySpecification, p *selectPlan, keys []sortKey) {
	big := sqltype.Of(sqltype.BigInt)
	if t := q.TopRowFilter; t != nil {
		b.part(t, p, keys)
	}
	if o := q.OffsetClause; o != nil {
		if len(keys) == 0 {
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
			col.Identity, col.Computed, col.Base = c.Identity, c.Computed, c.Base
		}
		if col.Type.Kind == sqltype.Null {
			col.Type = sqltype.Of(sqltype.Null)
		}
		if e.typ.Class() == sqltype.ClassString {
			l := e.label()
			col.label = &l
		}
		p.outs = append(p.outs, e)
		p.cols = append(p.cols, col)
	}
	for _, el := range elements {
		switch x := el.(type) {
		case *ast.SelectStarExpression:
			if sc.group != nil {
				sc.group.starred(b, x, add)
				continue
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
		if len(t.unbuilt) > 0 && x != b.looked {
			t.refuse(t.unbuilt[0])
		}
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

// namedOnce finds a column of the select list by its name; -1 is none. Two of them are error 209.
func (p *selectPlan) namedOnce(name string) int {
	at := -1
	for i, c := range p.cols {
		if !sqltype.EqualName(c.Name, name) {
			continue
		}
		if at >= 0 {
			failf(209, "Ambiguous column name '%s'.", name)
		}
		at = i
	}
	return at
}

// plainOrder refuses constants and variables as what rows are ordered by (Microsoft: Database engine events and errors 0 to
// 999, 408; 1000 to 1999, 1008).
func plainOrder(x ast.ScalarExpression, at int) {
	switch x.(type) {
	case *ast.StringLiteral, *ast.NumericLiteral, *ast.RealLiteral, *ast.MoneyLiteral, *ast.BinaryLiteral, *ast.NullLiteral:
		failf(408, "A constant expression was encountered in the ORDER BY list, position %d.", at)
	case *ast.VariableReference:
		failf(1008, "The SELECT item identified by the ORDER BY number %d contains a variable as part of the expression identifying a column position. Variables are only allowed when ordering by an expression referencing a column name.", at)
	}
}

// orders refuses what has no order: xml and the old types of long values, and a column that is written twice (Microsoft: Database
// engine events and errors 0 to 999, 169, 305, 306).
func orders(keys []sortKey, list []*ast.ExpressionWithSortOrder) {
	for i, k := range keys {
		k.e.label().named("ORDER BY", i+1)
		comparable(k.e.typ)
		for j := range keys[:i] {
			if k.e.ref != nil && sameTree(list[i].Expression, list[j].Expression) {
				failf(169, "A column has been specified more than once in the order by list. Columns in the order by list must be unique.")
			}
		}
	}
}

// comparable refuses types whose values are neither compared nor sorted.
func comparable(t sqltype.Type) {
	switch t.Kind {
	case sqltype.XML:
		failf(305, "The XML data type cannot be compared or sorted, except when using the IS NULL operator.")
	case sqltype.Text, sqltype.NText, sqltype.Image:
		failf(306, "The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE operator.")
	}
}

// sortKeys binds ORDER BY: positions, names of the select list, or expressions.
func (b *binder) sortKeys(o *ast.OrderByClause, sc *scope, p *selectPlan) (keys []sortKey) {
	if o == nil {
		return nil
	}
	defer func() {
		orders(keys, o.OrderByElements)
		for i := range keys {
			keys[i].e = b.undoubted(keys[i].e, keys[i].e.typ, true)
		}
	}()
next:
	for at, el := range o.OrderByElements {
		k := sortKey{desc: el.SortOrder == "Descending"}
		if text, ok := el.Expression.(*ast.StringLiteral); ok { // the name of a column may be in quotes there, too (Microsoft: COALESCE (Transact-SQL), B)
			if i := p.namedOnce(text.Value); i >= 0 {
				k.e = p.outs[i]
				keys = append(keys, k)
				continue
			}
		}
		if len(p.cols) > 0 {
			plainOrder(el.Expression, at+1)
		}
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
				if i := p.namedOnce(x.MultiPartIdentifier.Identifiers[0].Value); i >= 0 {
					k.e = p.outs[i]
					keys = append(keys, k)
					continue next
				}
			}
		}
		k.e = b.expr(el.Expression, sc)
		keys = append(keys, k)
	}
	return keys
}
