package silver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/silver/silver/latest"
)

// selection keeps the rows of scanned batches that the decision asks for: a
// scan may return more than its filter.
type selection struct {
	decision  decision
	shape     bronzeShape
	instances []string
	bronze    string
	alloc     memory.Allocator
	// top is the highest position of a selected change; rows counts selected ones.
	top  string
	rows int64

	indices []int32
	known   string // an instance found to be one of the table; "" = none yet
}

// rowColumns are the bookkeeping columns of one batch.
type rowColumns struct {
	instance, position *array.String
	operation          *array.Int32
	snapshot           *array.String // nil when bronze has none
	chunk              *array.Int32  // nil when bronze has none
}

func newRowColumns(batch arrow.RecordBatch) (rowColumns, error) {
	var c rowColumns
	var err error
	if c.instance, err = columnOf[*array.String](batch, plugin.ColumnCaptureInstance); err != nil {
		return c, err
	}
	if c.position, err = columnOf[*array.String](batch, plugin.ColumnStartLSN); err != nil {
		return c, err
	}
	if c.operation, err = columnOf[*array.Int32](batch, plugin.ColumnOperation); err != nil {
		return c, err
	}
	if batch.Schema().HasField(plugin.ColumnSnapshot) {
		if c.snapshot, err = columnOf[*array.String](batch, plugin.ColumnSnapshot); err != nil {
			return c, err
		}
	}
	if batch.Schema().HasField(plugin.ColumnChunk) {
		if c.chunk, err = columnOf[*array.Int32](batch, plugin.ColumnChunk); err != nil {
			return c, err
		}
	}
	return c, nil
}

func columnOf[A arrow.Array](batch arrow.RecordBatch, name string) (A, error) {
	var none A
	at := batch.Schema().FieldIndices(name)
	if len(at) != 1 {
		return none, fmt.Errorf("the rows have no column %q", name)
	}
	a, ok := batch.Column(at[0]).(A)
	if !ok {
		return none, fmt.Errorf("column %q has type %s, want %T", name, batch.Column(at[0]).DataType(), none)
	}
	return a, nil
}

// snapshotOf is the snapshot that row i belongs to: chunk stamps can be newer
// than their snapshot, so the stamp counts only where no snapshot is named.
func (c rowColumns) snapshotOf(i int) string {
	if c.snapshot != nil && c.snapshot.IsValid(i) {
		return c.snapshot.Value(i)
	}
	return c.position.Value(i)
}

func (c rowColumns) chunked(i int) bool { return c.chunk != nil && c.chunk.IsValid(i) }

// keep returns the selected rows of a batch without columns that only the
// selection needs; nil when there are none. Rows of a capture instance that is
// not the table's are an error: skipped ones would be lost for good.
func (s *selection) keep(batch arrow.RecordBatch, ranked *arrow.Schema) (arrow.RecordBatch, error) {
	c, err := newRowColumns(batch)
	if err != nil {
		return nil, err
	}
	s.indices = s.indices[:0]
	for i := range int(batch.NumRows()) {
		change := c.operation.Value(i) != plugin.OpSnapshot
		switch {
		case change && (s.decision.after == "" || c.position.Value(i) > s.decision.after):
		case !change && s.decision.fromSnapshot() && c.snapshotOf(i) == s.decision.snapshot:
		default:
			continue
		}
		if !change && s.decision.recorded {
			s.indices = append(s.indices, int32(i))
			continue
		}
		if instance := c.instance.Value(i); instance == "" || instance != s.known {
			if !slices.Contains(s.instances, strings.ToLower(instance)) {
				return nil, s.unknown(instance)
			}
			s.known = strings.Clone(instance)
		}
		if change && c.position.Value(i) > s.top {
			s.top = strings.Clone(c.position.Value(i))
		}
		s.indices = append(s.indices, int32(i))
	}
	if len(s.indices) == 0 {
		return nil, nil
	}
	s.rows += int64(len(s.indices))
	narrow, err := project(batch, ranked)
	if err != nil {
		return nil, err
	}
	defer narrow.Release()
	return latest.Take(narrow, s.indices, s.alloc)
}

func (s *selection) unknown(instance string) error {
	return diag.Errorf(diag.KindConfiguration, plugin.CodeUnknownInstance,
		fmt.Sprintf("The source lists these instances of the table: %s. If the instance was dropped, name it as capture_instance in the table block so that its rows stay known; if it belongs to another table, two tables were fed into one bronze.",
			strings.Join(s.instances, ", ")),
		"%s holds rows of capture instance %q, which is not one of the table's", s.bronze, instance).Err()
}

// project returns the columns of a schema, by name.
func project(batch arrow.RecordBatch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, schema.NumFields())
	for i, f := range schema.Fields() {
		at := batch.Schema().FieldIndices(f.Name)
		if len(at) != 1 {
			return nil, fmt.Errorf("the rows have no column %q", f.Name)
		}
		columns[i] = batch.Column(at[0])
		if !arrow.TypeEqual(columns[i].DataType(), f.Type) {
			return nil, fmt.Errorf("column %q came as %s, want %s", f.Name, columns[i].DataType(), f.Type)
		}
	}
	return array.NewRecordBatch(schema, columns, batch.NumRows()), nil
}
