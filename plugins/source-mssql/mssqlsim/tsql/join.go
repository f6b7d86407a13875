package tsql

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"

// loopJoin opens its right side again for each row of the left; a scan on the right then seeks.
type loopJoin struct {
	run         *run
	left, right node
	preds       []pred
	outer       bool
	rightRefs   []*tableRef
	f           *frame
	inLeft      bool // a left row is there
	opened      bool // the right side is open
	hit         bool
}

func (n *loopJoin) open(f *frame) error {
	n.f, n.inLeft, n.opened = f, false, false
	return n.left.open(f)
}

func (n *loopJoin) next() (bool, error) {
	for {
		if !n.inLeft {
			ok, err := n.left.next()
			if err != nil || !ok {
				return false, err
			}
			n.inLeft, n.hit, n.opened = true, false, false
			if s, isScan := n.right.(*scanNode); isScan && s.same(n.f) {
				n.inLeft = false // one row only
				n.f.seg[s.ref.idx] = s.hit
				if n.match() {
					return true, n.run.err
				}
				if n.outer {
					n.setNulls()
					return true, n.run.err
				}
				continue
			}
			if err := n.right.open(n.f); err != nil {
				return false, err
			}
			n.opened = true
			if s, isScan := n.right.(*scanNode); isScan {
				s.hit = nil
			}
		}
		if err := n.run.tick(); err != nil {
			return false, err
		}
		ok, err := n.right.next()
		if err != nil {
			return false, err
		}
		if !ok {
			n.right.close()
			n.inLeft, n.opened = false, false
			if n.outer && !n.hit {
				n.setNulls()
				return true, n.run.err
			}
			continue
		}
		if n.match() {
			n.hit = true
			return true, n.run.err
		}
		if n.run.err != nil {
			return false, n.run.err
		}
	}
}

func (n *loopJoin) match() bool {
	for _, p := range n.preds {
		if p(n.f) != yes {
			return false
		}
	}
	return true
}

func (n *loopJoin) setNulls() { setNulls(n.f, n.rightRefs) }

func setNulls(f *frame, refs []*tableRef) {
	for _, t := range refs {
		w := len(t.cols)
		if t.pruned {
			w = len(t.want)
		}
		f.seg[t.idx] = make(sqltype.Row, w)
	}
}

func (n *loopJoin) close() {
	n.left.close()
	if n.opened {
		n.right.close()
		n.opened = false
	}
}

// hashJoin finds the right rows of a left row by the values of an equality.
type hashJoin struct {
	run         *run
	left, right node
	keys        joinKeys
	preds       []pred
	outer       bool
	rightRefs   []*tableRef
	f           *frame
	saver       saver
	index       map[string][][]sqltype.Row
	cand        [][]sqltype.Row
	at          int
	hit, inLeft bool
}

func (n *hashJoin) open(f *frame) error {
	n.f, n.inLeft = f, false
	n.index = map[string][][]sqltype.Row{}
	n.saver.segs = nil
	for _, t := range n.rightRefs {
		n.saver.segs = append(n.saver.segs, t.idx)
	}
	if err := n.right.open(f); err != nil {
		return err
	}
	defer n.right.close()
	for {
		ok, err := n.right.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if k, ok := n.keys.of(n.keys.right, f); ok {
			n.index[string(k)] = append(n.index[string(k)], n.saver.save(f))
		}
	}
	if n.run.err != nil {
		return n.run.err
	}
	return n.left.open(f)
}

func (n *hashJoin) next() (bool, error) {
	for {
		if !n.inLeft {
			ok, err := n.left.next()
			if err != nil || !ok {
				return false, err
			}
			n.inLeft, n.hit, n.at, n.cand = true, false, 0, nil
			if k, ok := n.keys.of(n.keys.left, n.f); ok {
				n.cand = n.index[string(k)]
			}
		}
	candidates:
		for n.at < len(n.cand) {
			if err := n.run.tick(); err != nil {
				return false, err
			}
			n.saver.restore(n.f, n.cand[n.at])
			n.at++
			for _, p := range n.preds {
				if p(n.f) != yes {
					continue candidates
				}
			}
			n.hit = true
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
}

func (n *hashJoin) close() { n.left.close() }
