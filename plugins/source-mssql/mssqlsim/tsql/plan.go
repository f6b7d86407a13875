package tsql

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// plan is a compiled query. A plan runs once at a time; opening it again starts over.
type plan interface {
	columns() []Column
	open(outer *frame) error
	next() (sqltype.Row, error) // valid until the next call; nil is the end
	close()
}

// node is a step of a plan that moves the rows of a frame.
type node interface {
	open(f *frame) error
	next() (bool, error)
	close()
}

// drain reads a node to its end.
func (r *run) drain(n node, f *frame, fn func() error) error {
	if err := n.open(f); err != nil {
		return err
	}
	return r.rest(n, fn)
}

// rest reads an open node to its end and closes it.
func (r *run) rest(n node, fn func() error) error {
	defer n.close()
	for {
		ok, err := n.next()
		if err != nil {
			return err
		}
		if !ok {
			return r.err
		}
		if err := r.tick(); err != nil {
			return err
		}
		if err := fn(); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
}

// each runs a subquery for one outer row until fn returns false.
func (r *run) each(p plan, outer *frame, fn func(sqltype.Row) bool) {
	if r.err != nil {
		return
	}
	if err := p.open(outer); err != nil {
		r.fail(err)
		return
	}
	defer p.close()
	for {
		row, err := p.next()
		if err != nil {
			r.fail(err)
			return
		}
		if row == nil || !fn(row) {
			return
		}
	}
}

// oneRow is the FROM of a query without one.
type oneRow struct{ done bool }

func (n *oneRow) open(*frame) error { n.done = false; return nil }
func (n *oneRow) next() (bool, error) {
	was := n.done
	n.done = true
	return !was, nil
}
func (n *oneRow) close() {}

// filterNode lets rows pass for which all predicates are true.
type filterNode struct {
	run   *run
	input node
	preds []pred
	f     *frame
}

func (n *filterNode) open(f *frame) error {
	n.f = f
	return n.input.open(f)
}

func (n *filterNode) next() (bool, error) {
next:
	for {
		ok, err := n.input.next()
		if err != nil || !ok {
			return false, err
		}
		for _, p := range n.preds {
			if p(n.f) != yes {
				if n.run.err != nil {
					return false, n.run.err
				}
				continue next
			}
		}
		return true, n.run.err
	}
}

func (n *filterNode) close() { n.input.close() }

// saver copies the rows of a frame's segments and brings them back.
type saver struct {
	hold
	segs  []int
	block []sqltype.Value
	rows  []sqltype.Row
}

// begin lets go of all rows; those of the segments are saved from now on.
func (s *saver) begin(r *run, segs []int) {
	s.drop(r)
	s.segs = segs
}

// of is begin with the segments of tables.
func (s *saver) of(r *run, refs []*tableRef) {
	segs := make([]int, len(refs))
	for i, t := range refs {
		segs[i] = t.idx
	}
	s.begin(r, segs)
}

func (s *saver) save(f *frame) []sqltype.Row {
	if len(s.rows) < len(s.segs) {
		s.rows = make([]sqltype.Row, max(1024, len(s.segs)))
	}
	out := s.rows[:len(s.segs):len(s.segs)]
	s.rows = s.rows[len(s.segs):]
	for i, k := range s.segs {
		row := f.seg[k]
		s.take(row.Size())
		if len(s.block) < len(row) {
			s.block = make([]sqltype.Value, max(4096, len(row)))
		}
		copied := s.block[:len(row):len(row)]
		s.block = s.block[len(row):]
		copy(copied, row)
		out[i] = copied
	}
	return out
}

func (s *saver) restore(f *frame, rows []sqltype.Row) {
	for i, k := range s.segs {
		f.seg[k] = rows[i]
	}
}

func allSegs(f *frame) []int {
	s := make([]int, len(f.seg))
	for i := range s {
		s[i] = i
	}
	return s
}

// keptNode reads its input once and delivers it again at each opening.
type keptNode struct {
	run   *run
	input node
	segs  []int
	saver saver
	rows  [][]sqltype.Row
	full  bool
	f     *frame
	at    int
}

func (n *keptNode) open(f *frame) error {
	n.f, n.at = f, 0
	if n.full {
		return nil
	}
	n.rows = nil
	n.saver.begin(n.run, n.segs)
	err := n.run.drain(n.input, f, func() error {
		n.rows = append(n.rows, n.saver.save(f))
		return nil
	})
	n.full = err == nil
	return err
}

func (n *keptNode) next() (bool, error) {
	if n.at >= len(n.rows) {
		return false, nil
	}
	n.saver.restore(n.f, n.rows[n.at])
	n.at++
	return true, nil
}

func (n *keptNode) close() {}

// derivedNode is a query in FROM. One that is applied to the rows before it sees them as its outer rows.
type derivedNode struct {
	plan    plan
	ref     *tableRef
	applied bool
	f       *frame
}

func (n *derivedNode) open(f *frame) error {
	n.f = f
	if n.applied {
		return n.plan.open(f)
	}
	return n.plan.open(f.outer)
}

func (n *derivedNode) next() (bool, error) {
	row, err := n.plan.next()
	if row == nil || err != nil {
		return false, err
	}
	n.f.seg[n.ref.idx] = row
	return true, nil
}

func (n *derivedNode) close() { n.plan.close() }

// valuesNode is VALUES in FROM.
type valuesNode struct {
	run  *run
	rows [][]expr
	ref  *tableRef
	f    *frame
	at   int
}

func (n *valuesNode) open(f *frame) error { n.f, n.at = f, 0; return nil }

func (n *valuesNode) next() (bool, error) {
	if n.at >= len(n.rows) {
		return false, nil
	}
	row := make(sqltype.Row, len(n.rows[n.at]))
	for i, e := range n.rows[n.at] {
		row[i] = e.eval(n.f)
	}
	n.f.seg[n.ref.idx] = row
	n.at++
	return true, n.run.err
}

func (n *valuesNode) close() {}

// functionNode is a table function in FROM.
type functionNode struct {
	run  *run
	fn   *TableFunction
	args []expr
	ref  *tableRef
	f    *frame
	cur  Cursor
}

func (n *functionNode) open(f *frame) error {
	n.f = f
	args := make([]sqltype.Value, len(n.args))
	for i, a := range n.args {
		args[i] = a.eval(f)
	}
	if n.run.err != nil {
		return n.run.err
	}
	cur, err := n.fn.Call(n.run.ctx, args)
	n.cur = cur
	return err
}

func (n *functionNode) next() (bool, error) {
	row, err := n.cur.Next()
	if row == nil || err != nil {
		return false, err
	}
	n.f.seg[n.ref.idx] = row
	return true, nil
}

func (n *functionNode) close() {
	if n.cur != nil {
		n.cur.Close()
		n.cur = nil
	}
}
