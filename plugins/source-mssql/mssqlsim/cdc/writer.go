package cdc

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Writer changes tables in one transaction. Rows hold all columns of the table in order; keys its key columns.
type Writer struct {
	ctx context.Context
	tx  *Tx
	n   int // number given to the next change, or -1
}

// Number gives the next change its number in the transaction: its __$seqval is the commit's LSN plus n. Replays need it.
func (w *Writer) Number(n int) { w.n = n }

// Pairs makes later updates that move a key one pair of operations 3 and 4. A server writes 1 and 2.
func (w *Writer) Pairs(on bool) { w.tx.pairs = on }

func (w *Writer) table(name string) (*Table, error) {
	w.tx.db.mu.RLock()
	defer w.tx.db.mu.RUnlock()
	return w.tx.db.tableNamed(name)
}

// Insert adds rows.
func (w *Writer) Insert(table string, rows ...sqltype.Row) error {
	t, err := w.table(table)
	if err != nil {
		return err
	}
	changes := make([]tsql.Change, len(rows))
	for i, r := range rows {
		if err := w.fits(t, r); err != nil {
			return err
		}
		changes[i] = tsql.Change{New: append(sqltype.Row(nil), r...)}
	}
	return w.write(t, changes)
}

// Update changes the row with a key to a new one, whose key may differ.
func (w *Writer) Update(table string, key []sqltype.Value, row sqltype.Row) error {
	t, err := w.table(table)
	if err != nil {
		return err
	}
	if err := w.fits(t, row); err != nil {
		return err
	}
	for {
		old, id, err := w.find(t, key)
		if err != nil {
			return err
		}
		err = w.write(t, []tsql.Change{{ID: id, Old: old, New: append(sqltype.Row(nil), row...)}})
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// Delete removes the row with a key.
func (w *Writer) Delete(table string, key []sqltype.Value) error {
	t, err := w.table(table)
	if err != nil {
		return err
	}
	for {
		old, id, err := w.find(t, key)
		if err != nil {
			return err
		}
		err = w.write(t, []tsql.Change{{ID: id, Old: old}})
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// Get gives the row with a key as the transaction sees it, nil when there is none.
func (w *Writer) Get(table string, key []sqltype.Value) (sqltype.Row, error) {
	t, err := w.table(table)
	if err != nil {
		return nil, err
	}
	row, _, err := w.find(t, key)
	if errors.Is(err, ErrNoRow) {
		return nil, nil
	}
	return row, err
}

func (w *Writer) fits(t *Table, row sqltype.Row) error {
	if len(row) != len(t.columns) {
		return fmt.Errorf("a row of %s needs %d values, not %d", t.FullName(), len(t.columns), len(row))
	}
	return nil
}

// ErrNoRow is what Update and Delete return when there is no row with the key.
var ErrNoRow = errors.New("there is no row with this key")

func (w *Writer) find(t *Table, key []sqltype.Value) (sqltype.Row, sqltype.Value, error) {
	db := w.tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if t.key == nil || len(key) != len(t.key) {
		return nil, sqltype.Value{}, fmt.Errorf("table %s has a key of %d columns, not %d", t.FullName(), len(t.key), len(key))
	}
	probe := make(sqltype.Row, t.lastID+1)
	for i, id := range t.key {
		probe[id] = key[i]
	}
	row := w.tx.rows(t).get(probe)
	if row == nil {
		return nil, sqltype.Value{}, fmt.Errorf("table %s: %w", t.FullName(), ErrNoRow)
	}
	return t.visible(row), row[0], nil
}

func (w *Writer) write(t *Table, changes []tsql.Change) error {
	before := len(w.tx.ops)
	if err := w.tx.write(w.ctx, t, changes, -1); err != nil {
		return err
	}
	if w.n >= 0 {
		for i := range w.tx.ops[before:] {
			w.tx.ops[before+i].n = w.n + i
		}
		w.n = -1
	}
	return nil
}
