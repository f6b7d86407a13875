package deltatable

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// rowMatcher says exactly for which rows a predicate is true. A comparison with
// NULL is not true, whatever the operator; NaN is above every number and equal to
// itself, and -0.0 is equal to 0.0.
type rowMatcher struct {
	predicate deltalog.Predicate
	columns   []tableColumn // in the order in which batches have them
	at        map[string]int
}

// newRowMatcher fails when a comparison can be true of no value of its column,
// which is a slip of whoever wrote it.
func (s *Snapshot) newRowMatcher(p deltalog.Predicate) (*rowMatcher, error) {
	resolved, err := s.resolve(p)
	if err != nil {
		return nil, err
	}
	m := &rowMatcher{predicate: resolved, at: map[string]int{}}
	for _, clause := range resolved {
		for _, c := range clause {
			col, err := s.column(c.Column)
			if err != nil {
				return nil, err
			}
			sample, ok := sampleOf(col.field.Type)
			if !ok && c.Op != deltalog.OpIsNull && c.Op != deltalog.OpIsNotNull {
				return nil, &SchemaError{Detail: fmt.Sprintf("column %q is %s, which is compared with nothing", col.field.Name, col.field.Type)}
			}
			for _, v := range c.Values {
				if _, ok := deltalog.Compare(sample, v); !ok {
					return nil, &SchemaError{Detail: fmt.Sprintf("column %q is %s, which is never compared with %v", col.field.Name, col.field.Type, v)}
				}
			}
			if _, seen := m.at[c.Column]; !seen {
				m.at[c.Column] = len(m.columns)
				m.columns = append(m.columns, col)
			}
		}
	}
	return m, nil
}

// sampleOf is some value of a type; ok is false for types without an order.
func sampleOf(t deltalog.Type) (v deltalog.Value, ok bool) {
	if d, isDecimal := t.(deltalog.Decimal); isDecimal {
		return deltalog.DecimalValue(big.NewInt(0), int32(d.Scale)), true
	}
	switch t {
	case deltalog.Long, deltalog.Integer, deltalog.Short, deltalog.Byte:
		return deltalog.IntValue(0), true
	case deltalog.Float, deltalog.Double:
		return deltalog.FloatValue(0), true
	case deltalog.String:
		return deltalog.StringValue(""), true
	case deltalog.Binary:
		return deltalog.BinaryValue(nil), true
	case deltalog.Boolean:
		return deltalog.BoolValue(false), true
	case deltalog.Date:
		return deltalog.DateValue(0), true
	case deltalog.Timestamp, deltalog.TimestampNTZ:
		return deltalog.TimestampValue(0), true
	}
	return v, false
}

// partitioned says that the predicate is about partition columns alone, so of
// all rows of a file or of none.
func (m *rowMatcher) partitioned() bool {
	return !slices.ContainsFunc(m.columns, func(c tableColumn) bool { return !c.partition })
}

// matches evaluates the predicate of one row.
func (m *rowMatcher) matches(value func(column int) (deltalog.Value, error)) (bool, error) {
	for _, clause := range m.predicate {
		all := true
		for _, c := range clause {
			v, err := value(m.at[c.Column])
			if err != nil {
				return false, err
			}
			if all = comparisonHolds(c, v); !all {
				break
			}
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

func comparisonHolds(c deltalog.Comparison, v deltalog.Value) bool {
	switch c.Op {
	case deltalog.OpIsNull:
		return v.IsNull()
	case deltalog.OpIsNotNull:
		return !v.IsNull()
	case deltalog.OpIn:
		return slices.ContainsFunc(c.Values, func(l deltalog.Value) bool {
			order, ok := deltalog.Compare(v, l)
			return ok && order == 0
		})
	}
	order, ok := deltalog.Compare(v, c.Values[0])
	if !ok {
		return false
	}
	switch c.Op {
	case deltalog.OpEq:
		return order == 0
	case deltalog.OpNe:
		return order != 0
	case deltalog.OpLt:
		return order < 0
	case deltalog.OpLe:
		return order <= 0
	case deltalog.OpGt:
		return order > 0
	case deltalog.OpGe:
		return order >= 0
	}
	return false
}

// rows calls hit with each row of rec for which the predicate is true; rec has
// the matcher's columns.
func (m *rowMatcher) rows(rec arrow.RecordBatch, hit func(row int)) error {
	for i := range int(rec.NumRows()) {
		ok, err := m.matches(func(column int) (deltalog.Value, error) { return cellAt(rec.Column(column), i) })
		if err != nil {
			return err
		}
		if ok {
			hit(i)
		}
	}
	return nil
}

// cellAt is valueAt, but of a nested column only whether it is NULL.
func cellAt(arr arrow.Array, i int) (deltalog.Value, error) {
	if arrow.IsNested(arr.DataType().ID()) && arr.IsValid(i) {
		return deltalog.BoolValue(true), nil
	}
	return valueAt(arr, i)
}
