package cdc

import (
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// tree is a B-tree of rows in key order. A clone costs nothing and shares all nodes; whoever writes copies the nodes on
// its way first, so that a reader's version never changes under it.
type tree struct {
	root *treeNode
	cmp  func(a, b sqltype.Row) int
	own  *owner
	n    int
	// sides are the same rows in the order of the unique indexes, in each of which rows have a place of their own
	sides []*tree
}

// owner marks the nodes a tree may change in place. It has a size, so that no two owners share an address.
type owner struct{ _ byte }

type treeNode struct {
	own   *owner
	items []sqltype.Row
	kids  []*treeNode
}

const maxItems = 63

func newTree(cmp func(a, b sqltype.Row) int) *tree {
	own := &owner{}
	return &tree{root: &treeNode{own: own}, cmp: cmp, own: own}
}

// clone gives a tree with the same rows that may be changed. The tree it is made from must not change any more.
func (t *tree) clone() *tree {
	c := *t
	c.own = &owner{}
	if t.sides != nil {
		c.sides = make([]*tree, len(t.sides))
		for i, s := range t.sides {
			c.sides[i] = s.clone()
		}
	}
	return &c
}

// removeSides takes a row out of the side trees, unless another row has its place there by now.
func (t *tree) removeSides(row sqltype.Row) {
	for _, s := range t.sides {
		if was := s.get(row); was != nil && t.cmp(was, row) == 0 {
			s.delete(row)
		}
	}
}

func (t *tree) writable(n *treeNode) *treeNode {
	if n.own == t.own {
		return n
	}
	c := &treeNode{own: t.own, items: make([]sqltype.Row, len(n.items), maxItems+1)}
	copy(c.items, n.items)
	if n.kids != nil {
		c.kids = make([]*treeNode, len(n.kids), maxItems+2)
		copy(c.kids, n.kids)
	}
	return c
}

func (t *tree) find(n *treeNode, row sqltype.Row) (int, bool) {
	// Loads come in key order: look at the last item first.
	if k := len(n.items); k > 0 && t.cmp(n.items[k-1], row) < 0 {
		return k, false
	}
	i := sort.Search(len(n.items), func(i int) bool { return t.cmp(n.items[i], row) >= 0 })
	return i, i < len(n.items) && t.cmp(n.items[i], row) == 0
}

func (t *tree) get(row sqltype.Row) sqltype.Row {
	for n := t.root; n != nil; {
		i, ok := t.find(n, row)
		if ok {
			return n.items[i]
		}
		if n.kids == nil {
			return nil
		}
		n = n.kids[i]
	}
	return nil
}

// set puts a row in and gives the one with the same key it replaced.
func (t *tree) set(row sqltype.Row) (old sqltype.Row) {
	t.root = t.writable(t.root)
	old = t.insert(t.root, row)
	if len(t.root.items) > maxItems {
		right, mid := t.split(t.root)
		t.root = &treeNode{own: t.own, items: append(make([]sqltype.Row, 0, maxItems+1), mid), kids: []*treeNode{t.root, right}}
	}
	if old == nil {
		t.n++
	}
	if t.sides != nil {
		if old != nil {
			t.removeSides(old)
		}
		for _, s := range t.sides {
			s.set(row)
		}
	}
	return old
}

func (t *tree) insert(n *treeNode, row sqltype.Row) (old sqltype.Row) {
	i, ok := t.find(n, row)
	if ok {
		old, n.items[i] = n.items[i], row
		return old
	}
	if n.kids == nil {
		n.items = append(n.items, nil)
		copy(n.items[i+1:], n.items[i:])
		n.items[i] = row
		return nil
	}
	kid := t.writable(n.kids[i])
	n.kids[i] = kid
	old = t.insert(kid, row)
	if len(kid.items) > maxItems {
		right, mid := t.split(kid)
		n.items = append(n.items, nil)
		copy(n.items[i+1:], n.items[i:])
		n.items[i] = mid
		n.kids = append(n.kids, nil)
		copy(n.kids[i+2:], n.kids[i+1:])
		n.kids[i+1] = right
	}
	return old
}

// split cuts an overfull node. A node that grew at its end is cut there, so that loads in key order fill their nodes.
func (t *tree) split(n *treeNode) (right *treeNode, mid sqltype.Row) {
	k := len(n.items) / 2
	mid = n.items[k]
	right = &treeNode{own: t.own, items: append(make([]sqltype.Row, 0, maxItems+1), n.items[k+1:]...)}
	clear(n.items[k:])
	n.items = n.items[:k]
	if n.kids != nil {
		right.kids = append(make([]*treeNode, 0, maxItems+2), n.kids[k+1:]...)
		clear(n.kids[k+1:])
		n.kids = n.kids[:k+1]
	}
	return right, mid
}

// delete takes a row out and gives it; nil when there was none.
func (t *tree) delete(row sqltype.Row) sqltype.Row {
	if t.get(row) == nil {
		return nil
	}
	if t.sides != nil {
		t.removeSides(t.get(row))
	}
	t.root = t.writable(t.root)
	old := t.remove(t.root, row)
	if len(t.root.items) == 0 && t.root.kids != nil {
		t.root = t.root.kids[0]
	}
	t.n--
	return old
}

func (t *tree) remove(n *treeNode, row sqltype.Row) sqltype.Row {
	i, ok := t.find(n, row)
	if n.kids == nil {
		if !ok {
			return nil
		}
		old := n.items[i]
		n.items = append(n.items[:i], n.items[i+1:]...)
		return old
	}
	if ok { // replace by the largest row of the left child
		old := n.items[i]
		kid := t.writable(n.kids[i])
		n.kids[i] = kid
		n.items[i] = t.removeMax(kid)
		t.rebalance(n, i)
		return old
	}
	kid := t.writable(n.kids[i])
	n.kids[i] = kid
	old := t.remove(kid, row)
	t.rebalance(n, i)
	return old
}

func (t *tree) removeMax(n *treeNode) sqltype.Row {
	k := len(n.items) - 1
	if n.kids == nil {
		row := n.items[k]
		n.items = n.items[:k]
		return row
	}
	kid := t.writable(n.kids[k+1])
	n.kids[k+1] = kid
	row := t.removeMax(kid)
	t.rebalance(n, k+1)
	return row
}

// rebalance mends child i when it has become too small.
func (t *tree) rebalance(n *treeNode, i int) {
	if len(n.kids[i].items) >= maxItems/3 {
		return
	}
	if i == len(n.kids)-1 {
		i--
	}
	left, right := t.writable(n.kids[i]), n.kids[i+1]
	n.kids[i] = left
	// merge child i, the item between and child i+1, and cut again if that is too much
	left.items = append(append(left.items, n.items[i]), right.items...)
	left.kids = append(left.kids, right.kids...)
	n.items = append(n.items[:i], n.items[i+1:]...)
	n.kids = append(n.kids[:i+1], n.kids[i+2:]...)
	if len(left.items) <= maxItems {
		return
	}
	rest, mid := t.split(left)
	n.items = append(n.items, nil)
	copy(n.items[i+1:], n.items[i:])
	n.items[i] = mid
	n.kids = append(n.kids, nil)
	copy(n.kids[i+2:], n.kids[i+1:])
	n.kids[i+1] = rest
}

// treeCursor walks rows in either direction.
type treeCursor struct {
	stack []treePlace
	desc  bool
}

type treePlace struct {
	n *treeNode
	i int // the next item
}

// ascend starts at the first row for which before is false.
func (t *tree) ascend(before func(sqltype.Row) bool) *treeCursor {
	c := &treeCursor{stack: make([]treePlace, 0, 6)}
	for n := t.root; ; {
		i := 0
		if before != nil {
			i = sort.Search(len(n.items), func(i int) bool { return !before(n.items[i]) })
		}
		c.stack = append(c.stack, treePlace{n, i})
		if n.kids == nil {
			return c
		}
		n = n.kids[i]
	}
}

// descend starts at the last row for which after is false and goes down.
func (t *tree) descend(after func(sqltype.Row) bool) *treeCursor {
	c := &treeCursor{stack: make([]treePlace, 0, 6), desc: true}
	for n := t.root; ; {
		i := len(n.items)
		if after != nil {
			i = sort.Search(len(n.items), func(i int) bool { return after(n.items[i]) })
		}
		c.stack = append(c.stack, treePlace{n, i - 1})
		if n.kids == nil {
			return c
		}
		n = n.kids[i]
	}
}

// next gives the next row, nil at the end.
func (c *treeCursor) next() sqltype.Row {
	for len(c.stack) > 0 {
		p := &c.stack[len(c.stack)-1]
		if c.desc {
			if p.i < 0 {
				c.stack = c.stack[:len(c.stack)-1]
				continue
			}
			row, n := p.n.items[p.i], p.n
			p.i--
			if n.kids != nil {
				for n = n.kids[p.i+1]; ; n = n.kids[len(n.kids)-1] {
					c.stack = append(c.stack, treePlace{n, len(n.items) - 1})
					if n.kids == nil {
						break
					}
				}
			}
			return row
		}
		if p.i >= len(p.n.items) {
			c.stack = c.stack[:len(c.stack)-1]
			continue
		}
		row, n := p.n.items[p.i], p.n
		p.i++
		if n.kids != nil {
			for n = n.kids[p.i]; ; n = n.kids[0] {
				c.stack = append(c.stack, treePlace{n, 0})
				if n.kids == nil {
					break
				}
			}
		}
		return row
	}
	return nil
}
