package latest

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Members finds out which keys of a batch other batches have.
type Members struct {
	// Found tells it of each row of the batch.
	Found []bool

	batch   arrow.RecordBatch
	columns []string
	key     key
	table   *table
}

// NewMembers looks for the keys of a batch, whose columns are the key. Each is
// there once. The batch is valid as long as the members are used.
func NewMembers(batch arrow.RecordBatch) (*Members, error) {
	m := &Members{Found: make([]bool, batch.NumRows()), batch: batch, table: newTable(maphash.MakeSeed(), int(batch.NumRows()))}
	at := make([]int, batch.NumCols())
	for i := range at {
		at[i], m.columns = i, append(m.columns, batch.ColumnName(i))
	}
	var err error
	if m.key, err = newKey(batch, at); err != nil {
		return nil, err
	}
	for row := range int(batch.NumRows()) {
		h := m.key.hash(m.table.seed, row)
		m.table.take(m.table.find(h, func(int32, int) bool { return false }), slot{hash: h, place: uint32(row)})
	}
	return m, nil
}

// Look marks the keys that a batch has, whose other columns do not count.
func (m *Members) Look(batch arrow.RecordBatch) error {
	at := make([]int, len(m.columns))
	for i, name := range m.columns {
		at[i] = slices.IndexFunc(batch.Schema().Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, name) })
		if at[i] < 0 {
			return fmt.Errorf("no key column %q in the rows", name)
		}
		if got, want := batch.Column(at[i]).DataType(), m.batch.Column(i).DataType(); !arrow.TypeEqual(got, want) {
			return fmt.Errorf("key column %q is %s, want %s", name, got, want)
		}
	}
	k, err := newKey(batch, at)
	if err != nil {
		return err
	}
	for row := range int(batch.NumRows()) {
		s := m.table.find(k.hash(m.table.seed, row), func(_ int32, other int) bool { return k.equal(row, m.key, other) })
		if s.batch != emptySlot {
			m.Found[s.row()] = true
		}
	}
	return nil
}
