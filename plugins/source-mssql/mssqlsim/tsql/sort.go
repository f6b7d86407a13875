package tsql

import (
	"sort"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

type sortKey struct {
	e    expr
	desc bool
}

// sortNode reads its whole input and delivers it in order; rows that agree keep their order.
type sortNode struct {
	run   *run
	input node
	keys  []sortKey
	saver saver
	rows  []sorted
	f     *frame
	at    int
}

type sorted struct {
	keys []sqltype.Value
	rows []sqltype.Row
}

func (n *sortNode) open(f *frame) error {
	n.f, n.at, n.rows = f, 0, nil
	n.saver.begin(n.run, allSegs(f))
	err := n.run.drain(n.input, f, func() error {
		s := sorted{keys: make([]sqltype.Value, len(n.keys))}
		for i, k := range n.keys {
			s.keys[i] = k.e.eval(f)
		}
		n.saver.take(sqltype.Row(s.keys).Size())
		s.rows = n.saver.save(f)
		n.rows = append(n.rows, s)
		return nil
	})
	if err != nil {
		return err
	}
	sortRows(n.rows, n.keys)
	return nil
}

func sortRows(rows []sorted, keys []sortKey) {
	cmps := make([]func(a, b *sqltype.Value) int, len(keys))
	for i, k := range keys {
		cmps[i] = sqltype.Comparer(k.e.typ)
	}
	sort.SliceStable(rows, func(i, j int) bool {
		for k, cmp := range cmps {
			if c := cmp(&rows[i].keys[k], &rows[j].keys[k]); c != 0 {
				return (c < 0) != keys[k].desc
			}
		}
		return false
	})
}

func (n *sortNode) next() (bool, error) {
	if n.at >= len(n.rows) {
		return false, nil
	}
	n.saver.restore(n.f, n.rows[n.at].rows)
	n.rows[n.at] = sorted{}
	n.at++
	return true, nil
}

func (n *sortNode) close() {}
