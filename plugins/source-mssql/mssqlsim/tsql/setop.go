package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// unionPlan is UNION, UNION ALL, EXCEPT and INTERSECT (Microsoft: Set Operators (Transact-SQL)).
type unionPlan struct {
	run    *run
	parts  []plan
	cols   []Column
	casts  [][]expr // per part and column, over the one row in cur
	cur    sqltype.Row
	row    sqltype.Row
	all    bool
	kind   string // Union, Except or Intersect
	second keySet // rows of the second part of EXCEPT and INTERSECT
	seen   keySet
	at     int
	outer  *frame
	opened bool
	// of all but UNION ALL, whose rows are sorted or hashed before the first leaves
	rows []sqltype.Row
	held hold
	out  int
}

func (b *binder) union(x *ast.BinaryQueryExpression, outer *scope) plan {
	kind := x.BinaryQueryExpressionType
	if first, ok := x.FirstQueryExpression.(*ast.BinaryQueryExpression); ok && kind == "Intersect" && first.BinaryQueryExpressionType != kind {
		unsupported("INTERSECT behind %s without parentheses", kindWords(first.BinaryQueryExpressionType)) // the parser does not take it first
	}
	if x.All && kind != "Union" {
		failf(324, "The 'ALL' version of the %s operator is not supported.", strings.ToUpper(kind))
	}
	wholeUnion(x)
	p := &unionPlan{run: b.run, all: x.All, kind: kind}
	for _, q := range []ast.QueryExpression{x.FirstQueryExpression, x.SecondQueryExpression} {
		part := b.subquery(q, outer)
		if u, ok := part.(*unionPlan); ok && u.all && p.all && kind == "Union" {
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
			p.cols[i] = b.united(kind, x.All, p.cols[i], c)
			p.cols[i].Nullable = p.cols[i].Nullable || c.Nullable && kind == "Union"
			p.cols[i].Identity, p.cols[i].Computed, p.cols[i].Base = false, false, Name{}
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

// united gives the type of a column of two queries, with its collation: UNION ALL may leave text without one, the others compare
// (Microsoft: Collation precedence, Operators and Collation; Database engine events and errors 5000 to 5999, 5335).
func (b *binder) united(kind string, all bool, x, y Column) Column {
	t := sqltype.Common(x.Type, y.Type)
	if t.Class() == sqltype.ClassString {
		v, w := x.expr(), y.expr()
		operation := strings.ToUpper(kind)
		if all {
			operation += " ALL"
		}
		l := agree(operation, v, w)
		switch {
		case all:
			l = l.settled(t, v, w)
		case v.coll == conflicting || w.coll == conflicting:
			failf(5335, "The data type %s cannot be used as an operand to the UNION, INTERSECT or EXCEPT operators because it is not comparable.", t.Kind)
		case l.rank == conflicting:
			conflict(operation, v, w)
		}
		t.Collation, x.label = l.collation, &l
	}
	x.Type = t
	return x
}

// expr is a column as an operand, of which the type and the label of its collation count.
func (c Column) expr() expr {
	e := expr{typ: c.Type}
	switch {
	case c.label != nil:
		e = e.labelled(*c.label)
	case c.Type.Collation != "":
		e.coll = implicit
	}
	return e
}

func (p *unionPlan) columns() []Column { return p.cols }

func (p *unionPlan) open(outer *frame) error {
	p.outer, p.at, p.opened = outer, 0, false
	p.row = make(sqltype.Row, len(p.cols))
	p.seen.begin(p.run)
	if p.all {
		return nil
	}
	p.held.drop(p.run)
	p.rows, p.out = nil, 0
	if p.kind == "Union" {
		return p.collect()
	}
	p.second.begin(p.run)
	p.at = 1
	for {
		row, err := p.read()
		if err != nil {
			return err
		}
		if row == nil {
			p.at = 0
			return p.collect()
		}
		p.second.add(rowKey(p.row, p.cols))
	}
}

// collect reads all rows of a plan whose rows are all different: an error of one comes before the first.
func (p *unionPlan) collect() error {
	for {
		row, err := p.compute()
		if row == nil || err != nil {
			return err
		}
		p.held.take(row.Size())
		p.rows = append(p.rows, append(sqltype.Row(nil), row...))
	}
}

func (p *unionPlan) next() (sqltype.Row, error) {
	if p.all {
		return p.compute()
	}
	if p.out == len(p.rows) {
		return nil, nil
	}
	p.out++
	return p.rows[p.out-1], nil
}

// compute gives the next row of the parts.
func (p *unionPlan) compute() (sqltype.Row, error) {
	for p.at < len(p.parts) {
		row, err := p.read()
		if err != nil {
			return nil, err
		}
		if row == nil {
			if p.at++; p.kind != "Union" {
				p.at = len(p.parts) // the second part has been read
			}
			continue
		}
		if p.all {
			return p.row, nil
		}
		k := rowKey(p.row, p.cols)
		if p.kind != "Union" && p.second.keys[string(k)] != (p.kind == "Intersect") || !p.seen.add(k) {
			continue
		}
		return p.row, p.run.err
	}
	return nil, nil
}

// read gives the next row of a part, in the types of the whole; nil at its end.
func (p *unionPlan) read() (sqltype.Row, error) {
	if !p.opened {
		if err := p.parts[p.at].open(p.outer); err != nil {
			return nil, err
		}
		p.opened = true
	}
	row, err := p.parts[p.at].next()
	if err == nil {
		err = p.run.err
	}
	if err != nil {
		return nil, err
	}
	if row == nil {
		p.close()
		return nil, nil
	}
	p.cur = row
	for i, e := range p.casts[p.at] {
		p.row[i] = e.eval(nil)
	}
	return p.row, p.run.err
}

func (p *unionPlan) close() {
	if p.opened {
		p.parts[p.at].close()
		p.opened = false
	}
}
