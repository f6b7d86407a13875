package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// conjunct is one condition of a WHERE or ON, split at AND.
type conjunct struct {
	p    pred
	deps uint64 // segments it reads
	args []searchArg
	seek int  // how many of args a scan must seek with to settle the whole condition; 0 when none can
	done bool // applied somewhere below
	// around: it reads rows of the queries around. An equality has two sides.
	around, equality bool
	sides            [2]side
}

// searchArg is a condition of the form "column op value" that a scan can seek with.
type searchArg struct {
	ref  *tableRef
	ord  int
	op   string // =, <, <=, >, >=, null
	val  expr
	typ  sqltype.Type // in which they are compared
	deps uint64
	of   *conjunct
}

// conjuncts binds a condition piece by piece.
func (b *binder) conjuncts(x ast.BooleanExpression, sc *scope) []*conjunct {
	switch e := x.(type) {
	case *ast.BooleanParenthesisExpression:
		return b.conjuncts(e.Expression, sc)
	case *ast.BooleanBinaryExpression:
		if e.BinaryExpressionType == "And" {
			return append(b.conjuncts(e.FirstExpression, sc), b.conjuncts(e.SecondExpression, sc)...)
		}
	}
	c := &conjunct{}
	before := sc.readsAround()
	c.deps = b.tracked(sc, func() { c.p = b.pred(x, sc) })
	c.around = sc.readsAround() != before
	switch e := x.(type) {
	case *ast.BooleanComparisonExpression:
		if b.looseNull(e) {
			break
		}
		c.args, c.seek = b.searchArgs(e.ComparisonType, e.FirstExpression, e.SecondExpression, sc, c), 1
	case *ast.BooleanTernaryExpression:
		if e.TernaryExpressionType == "Between" {
			c.args = append(b.searchArgs("GreaterThanOrEqualTo", e.FirstExpression, e.SecondExpression, sc, c),
				b.searchArgs("LessThanOrEqualTo", e.FirstExpression, e.ThirdExpression, sc, c)...)
			c.seek = 2
		}
	case *ast.BooleanIsNullExpression:
		if v := b.expr(e.Expression, sc); !e.IsNot && v.ref != nil && v.depth == 0 {
			c.args = []searchArg{{ref: v.ref, ord: v.ord, op: "null"}}
		}
	}
	for i := range c.args {
		c.args[i].of = c
	}
	return []*conjunct{c}
}

// tracked runs fn and tells which segments of sc the expressions bound in it read.
func (b *binder) tracked(sc *scope, fn func()) uint64 {
	before := sc.touched
	sc.touched = 0
	fn()
	deps := sc.touched
	sc.touched = before | deps
	return deps
}

var seekOps = map[string][2]string{"Equals": {"=", "="}, "LessThan": {"<", ">"}, "LessThanOrEqualTo": {"<=", ">="}, "GreaterThan": {">", "<"},
	"GreaterThanOrEqualTo": {">=", "<="}}

func (b *binder) searchArgs(op string, x, y ast.ScalarExpression, sc *scope, c *conjunct) (out []searchArg) {
	ops, ok := seekOps[op]
	if !ok {
		return nil
	}
	bound := func(x ast.ScalarExpression) (s side) {
		before := sc.readsAround()
		s.deps = b.tracked(sc, func() { s.e = b.expr(x, sc) })
		s.around = sc.readsAround() != before
		return s
	}
	left, right := bound(x), bound(y)
	if op == "Equals" {
		c.equality, c.sides = true, [2]side{left, right}
	}
	v, w, dv, dw := left.e, right.e, left.deps, right.deps
	add := func(col, val expr, deps uint64, op string) {
		if col.ref == nil || col.depth != 0 || deps&(1<<col.ref.idx) != 0 {
			return
		}
		t := sqltype.Common(col.typ, val.typ)
		whole := col.typ.Class() == sqltype.ClassInt && t.Class() == sqltype.ClassDecimal
		if t.Class() != col.typ.Class() && !whole || t.Kind == sqltype.DateTimeOffset && col.typ.Kind != t.Kind {
			return
		}
		if t.Class() == sqltype.ClassString {
			t.Collation = agree("", col, val).collation // a conflict was refused where the condition was bound
		}
		if val.typ.Class() != t.Class() {
			val = b.cast(val, t, 0)
		}
		val = b.undoubted(val, t, op != "=")
		out = append(out, searchArg{ref: col.ref, ord: col.ord, op: op, val: val, typ: t, deps: deps})
	}
	add(v, w, dw, ops[0])
	add(w, v, dv, ops[1])
	return out
}

// scanNode reads a relation, along its first order when conditions allow a seek.
type scanNode struct {
	run     *run
	rel     Relation
	ref     *tableRef
	prefix  []searchArg
	low     []searchArg
	high    []searchArg
	reverse bool
	rows    bool
	write   bool
	// unique: the prefix names at most one row
	unique bool
	key    []sqltype.Value
	hit    sqltype.Row
	f      *frame
	cur    Cursor
}

// seek chooses what conditions the scan uses; avail are the segments bound before it.
func (n *scanNode) seek(cs []*conjunct, avail uint64) {
	orders, unique := n.rel.Orders()
	if len(orders) == 0 {
		return
	}
	find := func(ord int, ops ...string) (out []searchArg) {
		for _, c := range cs {
			for _, a := range c.args {
				if a.ref != n.ref || a.ord != ord || a.deps&^avail != 0 || a.op != "null" && !sameOrder(a.typ, n.ref.cols[ord].Type) {
					continue
				}
				for _, op := range ops {
					if a.op == op {
						out = append(out, a)
					}
				}
			}
		}
		return out
	}
	for _, ord := range orders[0] {
		if eq := find(ord, "=", "null"); len(eq) > 0 {
			n.prefix = append(n.prefix, eq[0])
			continue
		}
		n.low, n.high = find(ord, ">", ">="), find(ord, "<", "<=")
		break
	}
	n.unique = unique && len(n.prefix) == len(orders[0])
	n.settle()
}

// sameOrder tells whether values of a column are in the order in which a comparison has them.
func sameOrder(compared, column sqltype.Type) bool {
	return compared.Class() != sqltype.ClassString || sameCollation(compared, column)
}

// settle takes the conditions off that the scan alone makes true for every row.
func (n *scanNode) settle() {
	rel, ok := n.rel.(ExactRelation)
	if !ok {
		return
	}
	used := map[*conjunct]int{}
	for _, list := range [][]searchArg{n.prefix, n.low, n.high} {
		for _, a := range list {
			if a.of.seek > 0 && rel.Exact(a.ord) && a.val.typ.Class() == n.ref.cols[a.ord].Type.Class() {
				used[a.of]++
			}
		}
	}
	for c, k := range used {
		c.done = c.done || k == c.seek
	}
}

// seekValue evaluates the value of a condition; never is set when no row can satisfy it, any when every row can.
func (n *scanNode) seekValue(a searchArg, f *frame) (v sqltype.Value, never, any bool) {
	v = a.val.eval(f)
	if v.IsNull() {
		return v, true, false
	}
	if n.ref.cols[a.ord].Type.Class() != sqltype.ClassInt || a.val.typ.Class() != sqltype.ClassDecimal {
		return v, false, false
	}
	// an integer column against a decimal
	d, small := v.Small()
	if small && v.Scale() == 0 {
		return sqltype.FromInt(d), false, false
	}
	if small {
		return v, false, true
	}
	positive := v.Big().Sign() > 0
	switch a.op {
	case "=":
		return v, true, false
	case "<", "<=":
		return v, !positive, positive
	}
	return v, positive, !positive
}

func (n *scanNode) open(f *frame) error {
	n.f = f
	req := ScanRequest{Columns: n.ref.want, Reverse: n.reverse, Rows: n.rows, Write: n.write}
	key := n.key[:0]
	for _, a := range n.prefix {
		if a.op == "null" {
			key = append(key, sqltype.Value{})
			continue
		}
		v, never, any := n.seekValue(a, f)
		if never {
			n.cur = (&Rows{}).Cursor()
			return n.run.err
		}
		if any {
			break
		}
		key = append(key, v)
	}
	req.Prefix = key
	bound := func(args []searchArg, op string, tighter func(c int) bool) (b *Bound, never bool) {
		if len(key) < len(n.prefix) {
			return nil, false
		}
		for _, a := range args {
			v, no, any := n.seekValue(a, f)
			if no {
				return nil, true
			}
			if any {
				continue
			}
			c := 0
			if b != nil {
				c = sqltype.Compare(v, b.Value, n.ref.cols[a.ord].Type)
			}
			if b == nil || tighter(c) || c == 0 && a.op == op {
				b = &Bound{Value: v, Inclusive: a.op != op}
			}
		}
		return b, false
	}
	var none bool
	if req.Low, none = bound(n.low, ">", func(c int) bool { return c > 0 }); none {
		n.cur = (&Rows{}).Cursor()
		return n.run.err
	}
	if req.High, none = bound(n.high, "<", func(c int) bool { return c < 0 }); none {
		n.cur = (&Rows{}).Cursor()
		return n.run.err
	}
	if n.run.err != nil {
		return n.run.err
	}
	n.key = key
	cur, err := n.rel.Scan(n.run.ctx, req)
	n.cur = cur
	return err
}

// same tells that the scan would deliver the row it delivered last: it is a lookup of one row by the same key.
func (n *scanNode) same(f *frame) bool {
	if !n.unique || n.hit == nil || len(n.key) != len(n.prefix) {
		return false
	}
	for i := range n.prefix {
		a := &n.prefix[i]
		v := sqltype.Value{}
		if a.op != "null" {
			v = a.val.eval(f)
		}
		if v != n.key[i] {
			return false
		}
	}
	return true
}

func (n *scanNode) next() (bool, error) {
	if err := n.run.tick(); err != nil {
		return false, err
	}
	row, err := n.cur.Next()
	if row == nil || err != nil {
		return false, err
	}
	n.hit = row
	n.f.seg[n.ref.idx] = row
	return true, nil
}

func (n *scanNode) close() {
	if n.cur != nil {
		n.cur.Close()
		n.cur = nil
	}
}

// leading gives the scan whose order a node's rows keep.
func leading(n node) *scanNode {
	switch x := n.(type) {
	case *scanNode:
		return x
	case *filterNode:
		return leading(x.input)
	case *loopJoin:
		return leading(x.left)
	case *hashJoin:
		if !x.full {
			return leading(x.left)
		}
	case *windowNode:
		return leading(x.input)
	}
	return nil
}

// sortedBy tells whether the scan can deliver its rows in the order of the columns, and whether descending.
func (n *scanNode) sortedBy(cols []sortKey) (ok, descending bool) {
	orders, unique := n.rel.Orders()
	fixed := func(ord int) bool {
		for _, a := range n.prefix {
			if a.ord == ord {
				return true
			}
		}
		return false
	}
	for k, order := range orders {
		at, ok, desc, first := 0, true, false, true
		for _, c := range cols {
			if c.e.ref == n.ref && c.e.depth == 0 && fixed(c.e.ord) {
				continue
			}
			for at < len(order) && fixed(order[at]) {
				at++
			}
			if at == len(order) && unique && k == 0 {
				break // the key is complete: nothing left to order
			}
			if at == len(order) || c.e.ref != n.ref || c.e.depth != 0 || c.e.ord != order[at] || !first && c.desc != desc {
				ok = false
				break
			}
			desc, first = c.desc, false
			at++
		}
		if ok {
			return true, desc
		}
	}
	return false, false
}
