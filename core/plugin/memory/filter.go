package memory

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/plugin"
)

// matches reports whether a filter selects a row. A comparison with NULL
// selects nothing; one between types that have no common order selects the
// row, because a scan may answer too many rows but never too few.
func matches(f plugin.Filter, schema *arrow.Schema, row []cell) bool {
	if len(f.Any) == 0 {
		return true
	}
	for _, clause := range f.Any {
		if matchesAll(clause, schema, row) {
			return true
		}
	}
	return false
}

func matchesAll(clause plugin.Clause, schema *arrow.Schema, row []cell) bool {
	for _, term := range clause.All {
		if !matchesTerm(term, schema, row) {
			return false
		}
	}
	return true
}

func matchesTerm(t plugin.Term, schema *arrow.Schema, row []cell) bool {
	index := schema.FieldIndices(t.Column)
	if len(index) == 0 {
		// A column added later is NULL in a version that lacks it.
		return t.Op == plugin.OpIsNull
	}
	value, dataType := row[index[0]], schema.Field(index[0]).Type
	switch t.Op {
	case plugin.OpIsNull:
		return value == nil
	case plugin.OpNotNull:
		return value != nil
	}
	if value == nil {
		return false
	}
	for _, l := range t.Literals {
		order, ok := compareCells(value, literalCell(dataType, l))
		if !ok || holds(t.Op, order) {
			return true
		}
	}
	return false
}

func holds(op string, order int) bool {
	switch op {
	case plugin.OpEQ, plugin.OpIn:
		return order == 0
	case plugin.OpNE:
		return order != 0
	case plugin.OpLT:
		return order < 0
	case plugin.OpLE:
		return order <= 0
	case plugin.OpGT:
		return order > 0
	case plugin.OpGE:
		return order >= 0
	}
	return true
}

// literalCell returns the literal as a cell comparable with values of the
// type, or a text cell, which is comparable with none.
func literalCell(t arrow.DataType, l plugin.Literal) cell {
	switch l.Type {
	case plugin.LiteralBool:
		return l.Bool
	case plugin.LiteralInt, plugin.LiteralDate, plugin.LiteralTimestamp, plugin.LiteralTimestampNTZ:
		if ts, ok := t.(*arrow.TimestampType); ok && ts.Unit != arrow.Microsecond {
			return text("")
		}
		return l.Int
	case plugin.LiteralFloat:
		return l.Float
	case plugin.LiteralString:
		return l.Text
	case plugin.LiteralBinary:
		return binary(l.Bytes)
	case plugin.LiteralDecimal:
		if d, ok := t.(*arrow.Decimal128Type); ok {
			if c, err := decimalCell(l.Text, d); err == nil {
				return c
			}
		}
	}
	return text("")
}
