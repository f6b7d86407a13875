package cdc

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// table finds a table when nobody else is changing the shape of the database, and tells the version of its own.
func (w *Writer) table(name string) (*Table, int64, error) {
	db := w.tx.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if _, err := db.settle(w.ctx, w.tx, -1); err != nil {
		return nil, 0, err
	}
	t, err := db.tableNamed(name)
	if err != nil {
		return nil, 0, err
	}
	return t, t.shaped, nil
}

// Insert adds rows.
func (w *Writer) Insert(table string, rows ...sqltype.Row) error {
	return w.write(table, func(t *Table) (changes []tsql.Change, err error) {
		for _, r := range rows {
			if err := w.fits(t, r); err != nil {
				return nil, err
			}
			changes = append(changes, tsql.Change{New: slices.Clone(r)})
		}
		return changes, nil
	})
}

// Update changes the row with a key to a new one, whose key may differ.
func (w *Writer) Update(table string, key []sqltype.Value, row sqltype.Row) error {
	return w.write(table, func(t *Table) ([]tsql.Change, error) {
		if err := w.fits(t, row); err != nil {
			return nil, err
		}
		old, id, err := w.find(t, key)
		return []tsql.Change{{ID: id, Old: old, New: slices.Clone(row)}}, err
	})
}

// Delete removes the row with a key.
func (w *Writer) Delete(table string, key []sqltype.Value) error {
	return w.write(table, func(t *Table) ([]tsql.Change, error) {
		old, id, err := w.find(t, key)
		return []tsql.Change{{ID: id, Old: old}}, err
	})
}

// Get gives the row with a key as the transaction sees it, nil when there is none.
func (w *Writer) Get(table string, key []sqltype.Value) (sqltype.Row, error) {
	t, _, err := w.table(table)
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

// write does the changes that make gives for a table as it is, anew when it is another one by then.
func (w *Writer) write(table string, make func(*Table) ([]tsql.Change, error)) error {
	before := len(w.tx.ops)
	for {
		t, version, err := w.table(table)
		if err != nil {
			return err
		}
		changes, err := make(t)
		if err == nil {
			err = w.tx.write(w.ctx, t, version, changes, -1)
		}
		if errors.Is(err, errStale) {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	if w.n >= 0 {
		for i := range w.tx.ops[before:] {
			w.tx.ops[before+i].n = w.n + i
		}
		w.n = -1
	}
	return nil
}
