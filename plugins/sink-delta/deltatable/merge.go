package deltatable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// MergeSpec says how the rows of a merge meet those of the table. The rows hold
// columns of the table and the action column.
//
// A row of the table is matched by the one source row with the same key, NULL
// being equal to NULL. If the source row's guard is greater (NULL is lowest; no
// guard column means always), action D deletes the table's row and U sets the
// update columns. A U without a match is inserted, columns it lacks being NULL;
// a D without a match is dropped.
type MergeSpec struct {
	// Keys are the columns that identify a row.
	Keys []string
	// Guard is the column that must be greater in the source; empty means none.
	Guard string
	// Action is the source's column of U and D; it is not stored.
	Action string
	// UpdateColumns are what U sets in a matched row; nil means all columns that
	// the source has.
	UpdateColumns []string
	// DeleteAbsent also deletes the table's rows whose key no source row has.
	DeleteAbsent bool
}

// merge is what a merge needs to know of table and source.
type merge struct {
	spec   MergeSpec
	spool  *spool
	source *conformer // to the spool's schema without the action
	action int        // column of the source
	keys   []int      // columns of the spool
	guard  int        // column of the spool, -1
	update []int      // columns of the spool that U sets
	names  []string   // columns of the spool
	seed   hashSeed
}

// deleteColumn is the spool's last column: whether the row deletes.
const deleteColumn = "delete"

func newMerge(s *Snapshot, spec WriteSpec) (*merge, error) {
	switch {
	case spec.Merge == nil || len(spec.Merge.Keys) == 0:
		return nil, errors.New("a merge needs key columns")
	case spec.Schema == nil:
		return nil, errors.New("a merge needs the schema of its rows")
	case spec.MergeSchema:
		return nil, errors.New("a merge does not change the schema; add the columns first")
	case s.log.Properties().Bool(deltalog.PropChangeDataFeed, false):
		return nil, &deltalog.UnsupportedError{Features: []string{"changeDataFeed"}, Detail: "a merge into a table with delta.enableChangeDataFeed would have to write change files"}
	}
	m := &merge{spec: *spec.Merge, guard: -1, action: fieldIndex(spec.Schema, spec.Merge.Action), seed: newHashSeed()}
	if m.action < 0 {
		return nil, &SchemaError{Detail: fmt.Sprintf("the rows have no action column %q", spec.Merge.Action)}
	}
	if t := spec.Schema.Field(m.action).Type; t.ID() != arrow.STRING && t.ID() != arrow.LARGE_STRING {
		return nil, &SchemaError{Detail: fmt.Sprintf("the action column %q is %s, not a string", spec.Merge.Action, t)}
	}
	var fields []arrow.Field
	for _, c := range s.all {
		if i := fieldIndex(spec.Schema, c.field.Name); i >= 0 && i != m.action {
			fields = append(fields, arrow.Field{Name: c.field.Name, Type: c.arrow.Type, Nullable: true})
		}
	}
	form := arrow.NewSchema(fields, nil)
	var err error
	if m.source, err = newConformer(spec.Schema, form, []string{spec.Schema.Field(m.action).Name}, s.table.mem()); err != nil {
		return nil, err
	}
	for _, f := range fields {
		m.names = append(m.names, f.Name)
	}
	for _, k := range m.spec.Keys {
		i, err := m.column(form, "key", k)
		if err != nil {
			return nil, err
		}
		if arrow.IsNested(form.Field(i).Type.ID()) {
			return nil, &SchemaError{Detail: fmt.Sprintf("the key column %q is %s; keys are plain values", k, form.Field(i).Type)}
		}
		m.keys = append(m.keys, i)
	}
	if m.spec.Guard != "" {
		if m.guard, err = m.column(form, "guard", m.spec.Guard); err != nil {
			return nil, err
		}
		empty := nullColumn(form.Field(m.guard).Type, 0, s.table.mem())
		_, err := orderAppender(empty)
		empty.Release()
		if err != nil {
			return nil, fmt.Errorf("guard column %q: %w", m.spec.Guard, err)
		}
	}
	if m.spec.UpdateColumns == nil {
		for i := range fields {
			m.update = append(m.update, i)
		}
	}
	for _, c := range m.spec.UpdateColumns {
		i, err := m.column(form, "update", c)
		if err != nil {
			return nil, err
		}
		m.update = append(m.update, i)
	}
	m.spool = &spool{
		schema: arrow.NewSchema(append(fields, arrow.Field{Name: deleteColumn, Type: arrow.FixedWidthTypes.Boolean}), nil),
		mem:    s.table.mem(), dir: s.table.opts.SpillDir, limit: s.table.opts.MergeMemory / 2,
	}
	return m, nil
}

func (m *merge) column(form *arrow.Schema, what, name string) (int, error) {
	if i := fieldIndex(form, name); i >= 0 {
		return i, nil
	}
	return -1, &SchemaError{Detail: fmt.Sprintf("the %s column %q is not in both the table and the rows", what, name)}
}

// mergePart spools a part's rows.
type mergePart struct {
	m    *merge
	rows *spoolPart
}

func (m *merge) newPart() (partRows, error) {
	return &mergePart{m: m, rows: m.spool.newPart()}, nil
}

func (p *mergePart) write(rec arrow.RecordBatch) error {
	if rec.NumRows() == 0 {
		return nil
	}
	batch, err := p.m.source.batch(rec)
	if err != nil {
		return err
	}
	defer batch.Release()
	deletes, err := p.m.actions(rec.Column(p.m.action))
	if err != nil {
		return err
	}
	defer deletes.Release()
	full := array.NewRecordBatch(p.m.spool.schema, append(slices.Clone(batch.Columns()), deletes), rec.NumRows())
	defer full.Release()
	for _, k := range p.m.indexed() {
		p.rows.keyBytes += arrowBytes(full.Column(k)) + rec.NumRows()
	}
	return p.rows.write(full)
}

// indexed are the columns of the spool that go into the index.
func (m *merge) indexed() []int {
	if m.guard < 0 {
		return m.keys
	}
	return append(slices.Clone(m.keys), m.guard)
}

// actions turns U and D into false and true.
func (m *merge) actions(arr arrow.Array) (arrow.Array, error) {
	b := array.NewBooleanBuilder(m.spool.mem)
	defer b.Release()
	b.Reserve(arr.Len())
	texts, ok := arr.(interface{ Value(int) string })
	if !ok {
		return nil, fmt.Errorf("the action column %q is %s in a batch, not a string", m.spec.Action, arr.DataType())
	}
	for i := range arr.Len() {
		if arr.IsNull(i) {
			return nil, fmt.Errorf("row %d of a batch has NULL as its action in column %q, not U or D", i, m.spec.Action)
		}
		switch text := texts.Value(i); text {
		case "U":
			b.UnsafeAppend(false)
		case "D":
			b.UnsafeAppend(true)
		default:
			return nil, fmt.Errorf("row %d of a batch has %q as its action in column %q, not U or D", i, text, m.spec.Action)
		}
	}
	return b.NewArray(), nil
}

func (p *mergePart) close() (rows, bytes int64, err error) {
	if err := p.rows.seal(); err != nil {
		return 0, 0, err
	}
	return p.rows.rows, 0, nil
}

func (p *mergePart) discard(context.Context) error { return p.rows.close() }

// passes is how many times the keys of the table are read, so that the index of
// a pass stays within its share of the memory.
func (m *merge) passes(rows *rowsOf, budget int64) int {
	if rows.total == 0 {
		return 1
	}
	need := rows.total * entryBytes
	seen := map[*spoolPart]bool{}
	for _, b := range rows.batches {
		if !seen[b.part] {
			seen[b.part] = true
			need += b.part.keyBytes
		}
	}
	return int((need + budget - 1) / budget)
}

// describeKey is the key of a spooled row in readable form.
func (m *merge) describeKey(rec arrow.RecordBatch, row int) string {
	parts := make([]string, 0, len(m.keys))
	for _, k := range m.keys {
		v := rec.Column(k).ValueStr(row)
		if rec.Column(k).IsNull(row) {
			v = "NULL"
		}
		parts = append(parts, m.names[k]+" = "+v)
	}
	return strings.Join(parts, ", ")
}
