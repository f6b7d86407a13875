package tsql

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// hashJoin keeps the rows of its right side, found by the values of equalities where there are some. An outer one delivers
// left rows without a pair too, a full one also, behind all others, the right rows without one (Microsoft: FROM clause plus
// JOIN, APPLY, PIVOT (Transact-SQL)).
type hashJoin struct {
	run         *run
	left, right node
	keys        joinKeys
	preds       []pred
	outer, full bool
	leftRefs    []*tableRef // of a full one
	rightRefs   []*tableRef
	f           *frame
	saver       saver
	rows        [][]sqltype.Row
	paired      []bool // of a full one
	index       map[string][]int
	cand        []int
	at          int
	hit, inLeft bool
	over        bool // the left side is at its end; at is then a place in rows
}

// joinKeys are the equalities between the columns of two sides.
type joinKeys struct {
	left, right []expr
	types       []sqltype.Type
	buf         []byte
}

// of gives the bytes of a key; a NULL in it matches nothing.
func (k *joinKeys) of(es []expr, f *frame) ([]byte, bool) {
	k.buf = k.buf[:0]
	for i, e := range es {
		v := e.eval(f)
		if v.IsNull() {
			return nil, false
		}
		k.buf = v.AppendKey(k.buf, k.types[i])
	}
	return k.buf, true
}

// equalities finds the conditions that give a column of the right side by a value of the left one.
func (s *source) equalities(cs []*conjunct) (k joinKeys) {
	for _, c := range cs {
		for _, a := range c.args {
			if a.op != "=" || s.right.mask&(1<<a.ref.idx) == 0 || a.deps == 0 || a.deps&^s.left.mask != 0 {
				continue
			}
			col := a.ref.cols[a.ord]
			if a.val.typ.Class() != col.Type.Class() {
				continue
			}
			seg, pos := a.ref.idx, a.ref.use(a.ord)
			k.left = append(k.left, a.val)
			k.right = append(k.right, expr{typ: col.Type, eval: func(f *frame) sqltype.Value { return f.seg[seg][pos] }})
			k.types = append(k.types, a.typ)
			break
		}
	}
	return k
}

// full plans a FULL JOIN. No condition may keep a row away from it: those of ON choose pairs, all others come later.
func (b *binder) full(s *source, sc *scope, on []*conjunct, avail uint64) node {
	n := &hashJoin{run: b.run, left: b.join(s.left, sc, nil, avail), right: b.join(s.right, sc, nil, avail), outer: true, full: true, leftRefs: s.left.refs, rightRefs: s.right.refs}
	n.preds = left(on)
	n.keys = s.equalities(on)
	return n
}

func (n *hashJoin) open(f *frame) error {
	n.f, n.inLeft, n.over, n.at, n.rows = f, false, false, 0, nil
	n.index = map[string][]int{}
	n.saver.of(n.run, n.rightRefs)
	err := n.run.drain(n.right, f, func() error {
		k, ok := n.keys.of(n.keys.right, f)
		if ok {
			of := n.index[string(k)]
			if of == nil {
				n.saver.take(mapEntry + len(k))
			}
			n.saver.take(placeSize)
			n.index[string(k)] = append(of, len(n.rows))
		}
		if ok || n.full {
			n.rows = append(n.rows, n.saver.save(f))
		}
		return n.run.err
	})
	if err != nil {
		return err
	}
	if n.full {
		n.paired = make([]bool, len(n.rows))
	}
	return n.left.open(f)
}

func (n *hashJoin) next() (bool, error) {
	for !n.over {
		if !n.inLeft {
			ok, err := n.left.next()
			if err != nil {
				return false, err
			}
			if !ok {
				n.over, n.at = true, 0
				break
			}
			n.inLeft, n.hit, n.at, n.cand = true, false, 0, nil
			if k, ok := n.keys.of(n.keys.left, n.f); ok {
				n.cand = n.index[string(k)]
			}
		}
		for n.at < len(n.cand) {
			if err := n.run.tick(); err != nil {
				return false, err
			}
			i := n.cand[n.at]
			n.at++
			n.saver.restore(n.f, n.rows[i])
			if !holds(n.preds, n.f) {
				continue
			}
			if n.hit = true; n.full {
				n.paired[i] = true
			}
			return true, n.run.err
		}
		n.inLeft = false
		if n.run.err != nil {
			return false, n.run.err
		}
		if n.outer && !n.hit {
			setNulls(n.f, n.rightRefs)
			return true, nil
		}
	}
	for n.full && n.at < len(n.rows) {
		i := n.at
		n.at++
		if !n.paired[i] {
			setNulls(n.f, n.leftRefs)
			n.saver.restore(n.f, n.rows[i])
			return true, nil
		}
	}
	return false, nil
}

func (n *hashJoin) close() { n.left.close() }
