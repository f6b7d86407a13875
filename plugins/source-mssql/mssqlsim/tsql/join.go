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

func (n *loopJoin) match() bool { return holds(n.preds, n.f) }

// holds tells whether all predicates are true of the rows of a frame.
func holds(preds []pred, f *frame) bool {
	for _, p := range preds {
		if p(f) != yes {
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
