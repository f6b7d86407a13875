package tsql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// source is a table reference after its names are declared and before its plan is made.
type source struct {
	ref     *tableRef
	refs    []*tableRef // all below it
	mask    uint64
	leaf    node
	kind    string // "", inner, left, apply, outerapply
	left    *source
	right   *source
	on      ast.BooleanExpression
	lateral bool // reads the rows before it
}

// declareAll is declare of the tables of a FROM, of which all pairs are joined.
func (b *binder) declareAll(from *ast.FromClause, sc *scope) (src *source) {
	for _, ref := range from.TableReferences {
		s := b.declare(ref, sc, false)
		if src == nil {
			src = s
		} else {
			src = joined("inner", src, s, nil)
		}
	}
	return src
}

// forPath tells whether a table is one of a SHORTEST_PATH (Microsoft: SHORTEST_PATH (Transact-SQL)).
func forPath(ref ast.TableReference) bool {
	switch x := ref.(type) {
	case *ast.NamedTableReference:
		return x.ForPath
	case *ast.VariableTableReference:
		return x.ForPath
	case *ast.QueryDerivedTable:
		return x.ForPath
	case *ast.InlineDerivedTable:
		return x.ForPath
	case *ast.SchemaObjectFunctionTableReference:
		return x.ForPath
	case *ast.GlobalFunctionTableReference:
		return x.ForPath
	case *ast.JoinParenthesisTableReference:
		return x.ForPath
	}
	return false
}

// declare makes the names of a table reference known to the scope.
func (b *binder) declare(ref ast.TableReference, sc *scope, applied bool) *source {
	leaf := func(t *tableRef, n node) *source {
		sc.expose(t, ref)
		return &source{ref: t, refs: []*tableRef{t}, mask: 1 << t.idx, leaf: n, lateral: applied}
	}
	if forPath(ref) {
		unsupported("FOR PATH of a table")
	}
	switch x := ref.(type) {
	case *ast.NamedTableReference:
		return b.declareNamed(x, sc, leaf)
	case *ast.VariableTableReference:
		tv := b.tables[strings.ToLower(x.Variable.Name)]
		if tv == nil {
			failf(1087, "Must declare the table variable \"%s\".", x.Variable.Name)
		}
		alias := ident(x.Alias)
		if alias == "" {
			alias = x.Variable.Name
		}
		t := sc.add(alias, "", tv.Columns(), true)
		return leaf(t, &scanNode{run: b.run, rel: tv, ref: t})
	case *ast.QueryDerivedTable:
		if ident(x.Alias) == "" {
			fail(nearNode(b.batch.source, x, true))
		}
		outer := sc.outer
		if applied {
			outer = sc
		}
		p := b.subquery(x.QueryExpression, outer)
		t := sc.add(ident(x.Alias), "", renamed(p.columns(), x.Columns, ident(x.Alias)), false)
		return leaf(t, &derivedNode{plan: p, ref: t, applied: applied})
	case *ast.InlineDerivedTable:
		return b.declareValues(x, sc, leaf)
	case *ast.SchemaObjectFunctionTableReference:
		fn, err := b.sess.TableFunction(objectName(x.SchemaObject))
		if err != nil {
			fail(err)
		}
		if n := objectName(x.SchemaObject); fn == nil {
			if n.Schema == "" && rowsetsOf2025[lower(n.Object)] && b.sess.Release() >= 2025 {
				unsupported("the function %s in FROM", strings.ToUpper(n.Object))
			}
			failf(208, "Invalid object name '%s'.", n)
		}
		if len(x.Parameters) != len(fn.Params) {
			failf(313, "An insufficient number of arguments were supplied for the procedure or function %s.", objectName(x.SchemaObject))
		}
		args := b.exprs(x.Parameters, argumentScope(sc, applied))
		for i := range args {
			args[i] = b.cast(args[i], fn.Params[i], 0)
		}
		alias := ident(x.Alias)
		if alias == "" {
			alias = ident(x.SchemaObject.BaseIdentifier)
		}
		t := sc.add(alias, "", renamed(fn.Columns, x.Columns, alias), false)
		return leaf(t, &functionNode{run: b.run, fn: fn, args: args, ref: t})
	case *ast.GlobalFunctionTableReference:
		return b.globalFunction(x, b.exprs(x.Parameters, argumentScope(sc, applied)), sc, leaf)
	case *ast.OpenJsonTableReference:
		unsupported("the function OPENJSON")
	case *ast.JoinParenthesisTableReference:
		return b.declare(x.Join, sc, applied)
	case *ast.QualifiedJoin:
		l, r := b.declare(x.FirstTableReference, sc, applied), b.declare(x.SecondTableReference, sc, applied)
		kind := map[string]string{"Inner": "inner", "LeftOuter": "left", "RightOuter": "left", "FullOuter": "full"}[x.QualifiedJoinType]
		if kind == "" {
			unsupported("the join %s", kindWords(x.QualifiedJoinType))
		}
		if x.QualifiedJoinType == "RightOuter" {
			l, r = r, l
		}
		if kind == "full" {
			if b.changing != nil {
				unsupported("FULL JOIN in the FROM of a change")
			}
			l.mayLack()
		}
		if kind != "inner" {
			r.mayLack()
		}
		return joined(kind, l, r, x.SearchCondition)
	case *ast.UnqualifiedJoin:
		l := b.declare(x.FirstTableReference, sc, applied)
		switch x.UnqualifiedJoinType {
		case "CrossJoin":
			return joined("inner", l, b.declare(x.SecondTableReference, sc, applied), nil)
		case "CrossApply":
			return joined("apply", l, b.declare(x.SecondTableReference, sc, true), nil)
		case "OuterApply":
			r := b.declare(x.SecondTableReference, sc, true)
			r.mayLack()
			return joined("outerapply", l, r, nil)
		}
		unsupported("the join %s", kindWords(x.UnqualifiedJoinType))
	}
	unsupported("the table reference %s", cmp.Or(elsewhere[nodeName(ref)], nodeName(ref)))
	return nil
}

// mayLack makes the columns of the side of an outer join nullable that may have no row.
func (s *source) mayLack() {
	for _, t := range s.refs {
		t.cols = slices.Clone(t.cols)
		for i := range t.cols {
			t.cols[i].Nullable = true
		}
	}
}

func joined(kind string, l, r *source, on ast.BooleanExpression) *source {
	return &source{kind: kind, left: l, right: r, on: on, refs: append(append([]*tableRef{}, l.refs...), r.refs...), mask: l.mask | r.mask}
}

func (b *binder) declareNamed(x *ast.NamedTableReference, sc *scope, leaf func(*tableRef, node) *source) *source {
	if x.TemporalClause != nil || x.TableSampleClause != nil {
		unsupported("FOR SYSTEM_TIME and TABLESAMPLE")
	}
	hint := lockHint(x.TableHints, false)
	n := objectName(x.SchemaObject)
	alias := ident(x.Alias)
	if alias == "" {
		alias = n.Object
	}
	if r := b.working[strings.ToLower(n.Object)]; r != nil && n.Schema == "" {
		return leaf(r.reference(sc, alias))
	}
	if e := b.expression(n); e != nil {
		if x == b.changing {
			return leaf(b.changedThrough(e, sc, alias))
		}
		leave := e.enter()
		p := e.plan()
		leave()
		t := sc.add(alias, n.Schema, renamed(p.columns(), e.columns, alias), false)
		return leaf(t, &derivedNode{plan: p, ref: t})
	}
	rel, err := b.sess.Relation(n)
	if err != nil {
		fail(err)
	}
	if rel == nil {
		failf(208, "Invalid object name '%s'.", n)
	}
	b.guard(rel, "SELECT", nil)
	rel = hinted(rel, hint)
	t := sc.add(alias, n.Schema, rel.Columns(), true)
	if u, ok := rel.(Unfinished); ok {
		t.unbuilt = u.Unbuilt()
	}
	scan := &scanNode{run: b.run, rel: rel, ref: t, rows: b.rowsWanted}
	if x == b.changing {
		w, ok := rel.(Writable)
		if !ok {
			unsupported("a change of %s", n)
		}
		b.changes = &changeTarget{ref: t, scan: scan, table: w, name: n}
		b.changes.whole()
	}
	return leaf(t, scan)
}

// cte binds a common table expression.
func (b *binder) cte(c *ast.CommonTableExpression) plan {
	key := strings.ToLower(c.ExpressionName.Value)
	delete(b.ctes, key)
	defer func() { b.ctes[key] = c }()
	if r := b.recursive(c); r != nil {
		return r
	}
	return b.subquery(c.QueryExpression, nil)
}

func (b *binder) declareValues(x *ast.InlineDerivedTable, sc *scope, leaf func(*tableRef, node) *source) *source {
	n := &valuesNode{run: b.run}
	var cols []Column
	var labels []label
	for i, rv := range x.RowValues {
		row := b.exprs(rv.ColumnValues, sc)
		if i == 0 {
			listed(len(row), len(x.Columns), ident(x.Alias))
			for j, e := range row {
				cols, labels = append(cols, Column{Name: x.Columns[j].Value, Type: e.typ, Nullable: true}), append(labels, e.label())
			}
		}
		if len(row) != len(cols) {
			failf(10709, "The number of columns for each row in a table value constructor must be the same.")
		}
		for j, e := range row {
			l := agree("VALUES", expr{typ: cols[j].Type}.labelled(labels[j]), e)
			if l.rank == conflicting {
				unsupported("VALUES whose rows have text of collations that do not agree")
			}
			if cols[j].Type = sqltype.Common(cols[j].Type, e.typ); cols[j].Type.Class() == sqltype.ClassString {
				cols[j].Type.Collation, labels[j] = l.collation, l
			}
		}
		n.rows = append(n.rows, row)
	}
	for _, row := range n.rows {
		for j := range row {
			row[j] = b.cast(row[j], cols[j].Type, 0)
		}
	}
	n.ref = sc.add(ident(x.Alias), "", cols, false)
	return leaf(n.ref, n)
}

// listed asks for as many columns as a list names.
func listed(columns, names int, alias string) {
	switch {
	case columns > names:
		failf(8158, "'%s' has more columns than were specified in the column list.", alias)
	case columns < names:
		failf(8159, "'%s' has fewer columns than were specified in the column list.", alias)
	}
}

func renamed(cols []Column, names []*ast.Identifier, alias string) []Column {
	out := append([]Column(nil), cols...)
	if len(names) > 0 {
		listed(len(out), len(names), alias)
		for i := range out {
			out[i].Name = names[i].Value
		}
	}
	seen := make(map[string]bool, len(out))
	for i := range out {
		name := lower(out[i].Name)
		if name == "" {
			failf(8155, "No column name was specified for column %d of '%s'.", i+1, alias)
		}
		if seen[name] {
			failf(8156, "The column '%s' was specified multiple times for '%s'.", out[i].Name, alias)
		}
		seen[name] = true
	}
	return out
}

// join makes the plan of a source. cs are conditions that may be used as soon as their tables are there; avail are
// the tables bound before this one.
func (b *binder) join(s *source, sc *scope, cs []*conjunct, avail uint64) node {
	if s.leaf != nil {
		n := s.leaf
		if scan, ok := n.(*scanNode); ok {
			scan.seek(cs, avail)
		}
		return b.filtered(n, cs, s.mask)
	}
	var on []*conjunct
	if s.on != nil {
		b.joining = true
		on = b.conjuncts(s.on, sc)
		b.joining = false
	}
	if s.kind == "full" {
		return b.full(s, sc, on, avail)
	}
	outer := s.kind == "left" || s.kind == "outerapply"
	both := append(append([]*conjunct{}, cs...), on...)
	left, right := both, both
	if outer {
		left, right = cs, on
	}
	l := b.join(s.left, sc, left, avail)
	if !outer {
		r := b.join(s.right, sc, right, avail|s.left.mask)
		n := b.pair(s, l, r, both, avail|s.left.mask, false)
		return b.rest(b.filtered(n, both, s.mask), on)
	}
	r := b.join(s.right, sc, on, avail|s.left.mask)
	return b.pair(s, l, r, on, avail|s.left.mask, true)
}

// pair chooses how two sides meet.
func (b *binder) pair(s *source, l, r node, cs []*conjunct, leftMask uint64, outer bool) node {
	var preds []pred
	if outer {
		preds = left(cs)
	}
	if seeking(r, leftMask) || s.right.lateral {
		return &loopJoin{run: b.run, left: l, right: r, preds: preds, outer: outer, rightRefs: s.right.refs}
	}
	if k := s.equalities(cs); len(k.left) > 0 {
		return &hashJoin{run: b.run, left: l, right: r, preds: preds, outer: outer, rightRefs: s.right.refs, keys: k}
	}
	kept := &keptNode{run: b.run, input: r}
	for _, t := range s.right.refs {
		kept.segs = append(kept.segs, t.idx)
	}
	return &loopJoin{run: b.run, left: l, right: kept, preds: preds, outer: outer, rightRefs: s.right.refs}
}

// seeking tells whether a right side looks rows up by values of the left.
func seeking(n node, left uint64) bool {
	s := leading(n)
	if s == nil {
		return false
	}
	for _, list := range [][]searchArg{s.prefix, s.low, s.high} {
		for _, a := range list {
			if a.deps&left != 0 {
				return true
			}
		}
	}
	return false
}

// rest applies the conditions that were not applied yet, those that read no table too.
func (b *binder) rest(n node, cs []*conjunct) node {
	if preds := left(cs); preds != nil {
		return &filterNode{run: b.run, input: n, preds: preds}
	}
	return n
}

// left gives the conditions that were not applied yet; they count as applied.
func left(cs []*conjunct) (preds []pred) {
	for _, c := range cs {
		if !c.done {
			c.done = true
			preds = append(preds, c.p)
		}
	}
	return preds
}

// filtered applies the conditions that read nothing but the tables of the mask.
func (b *binder) filtered(n node, cs []*conjunct, mask uint64) node {
	var preds []pred
	for _, c := range cs {
		if !c.done && c.deps&^mask == 0 && c.deps != 0 {
			c.done = true
			preds = append(preds, c.p)
		}
	}
	if preds == nil {
		return n
	}
	return &filterNode{run: b.run, input: n, preds: preds}
}

// elsewhere are the table references that read what is not in the server (Microsoft: Rowset functions (Transact-SQL)), by their
// names in the language.
var elsewhere = map[string]string{"OpenRowsetTableReference": "OPENROWSET", "BulkOpenRowset": "OPENROWSET", "OpenQueryTableReference": "OPENQUERY",
	"AdHocTableReference": "OPENDATASOURCE", "OpenXmlTableReference": "OPENXML"}
