package deltatable

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// statsCollector gathers the statistics of one data file while it is written,
// exactly, from the batches themselves.
type statsCollector struct {
	rows int64
	mem  memory.Allocator
	cols []columnStats
}

// columnStats gathers one leaf column.
type columnStats struct {
	statsLeaf
	nulls int64
	bound bounds // nil when the type has no bounds
}

// bounds gathers least and greatest value of a column's non-null values.
type bounds interface {
	// update takes in the values of arr.
	update(arr arrow.Array)
	// values are the bounds; NULL where there is none.
	values() (lo, hi deltalog.Value)
}

func newStatsCollector(leaves []statsLeaf, mem memory.Allocator) *statsCollector {
	s := &statsCollector{mem: mem}
	for _, l := range leaves {
		s.cols = append(s.cols, columnStats{statsLeaf: l, bound: newBounds(l.typ)})
	}
	return s
}

func isNested(t deltalog.Type) bool {
	switch t := t.(type) {
	case *deltalog.Struct, *deltalog.Array, *deltalog.Map:
		return true
	case deltalog.Primitive:
		return t == deltalog.Variant
	}
	return false
}

// update takes in a batch in the form of the files.
func (s *statsCollector) update(rec arrow.RecordBatch) {
	s.rows += rec.NumRows()
	for i := range s.cols {
		c := &s.cols[i]
		arr := leafOf(rec, c.at, s.mem)
		c.nulls += int64(arr.NullN())
		if c.bound != nil && arr.NullN() < arr.Len() {
			c.bound.update(arr)
		}
		arr.Release()
	}
}

// stats are the statistics so far.
func (s *statsCollector) stats() *deltalog.Stats {
	out := &deltalog.Stats{NumRecords: s.rows, TightBounds: true}
	for _, c := range s.cols {
		col := deltalog.ColumnStats{Path: c.path, Type: c.typ, NullCount: c.nulls}
		if c.bound != nil {
			col.Min, col.Max = c.bound.values()
		}
		out.Columns = append(out.Columns, col)
	}
	return out
}

// newBounds returns the collector for a type, nil for types that Delta keeps no
// bounds of: Spark keeps them for numbers, dates, timestamps and strings.
func newBounds(t deltalog.Type) bounds {
	if d, ok := t.(deltalog.Decimal); ok {
		return &decimalBounds{scale: int32(d.Scale)}
	}
	switch t {
	case deltalog.Long, deltalog.Integer, deltalog.Short, deltalog.Byte:
		return &intBounds{value: deltalog.IntValue}
	case deltalog.Date:
		return &intBounds{value: func(v int64) deltalog.Value { return deltalog.DateValue(int32(v)) }}
	case deltalog.Timestamp, deltalog.TimestampNTZ:
		return &intBounds{value: deltalog.TimestampValue}
	case deltalog.Float, deltalog.Double:
		return &floatBounds{}
	case deltalog.String:
		return &stringBounds{}
	}
	return nil
}

type intBounds struct {
	seen   bool
	lo, hi int64
	value  func(int64) deltalog.Value
}

func (b *intBounds) update(arr arrow.Array) {
	switch a := arr.(type) {
	case *array.Int8:
		updateInts(b, arr, a.Int8Values())
	case *array.Int16:
		updateInts(b, arr, a.Int16Values())
	case *array.Int32:
		updateInts(b, arr, a.Int32Values())
	case *array.Int64:
		updateInts(b, arr, a.Int64Values())
	case *array.Date32:
		updateInts(b, arr, a.Date32Values())
	case *array.Timestamp:
		updateInts(b, arr, a.TimestampValues())
	default:
		panic(fmt.Sprintf("statistics of whole numbers from %s", arr.DataType()))
	}
}

func updateInts[T ~int8 | ~int16 | ~int32 | ~int64](b *intBounds, arr arrow.Array, values []T) {
	var lo, hi T
	first := true
	if arr.NullN() == 0 {
		lo, hi, first = values[0], values[0], false
		for _, v := range values {
			lo, hi = min(lo, v), max(hi, v)
		}
	} else {
		for i, v := range values {
			if arr.IsNull(i) {
				continue
			}
			if first {
				lo, hi, first = v, v, false
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if !b.seen {
		b.seen, b.lo, b.hi = true, int64(lo), int64(hi)
		return
	}
	b.lo, b.hi = min(b.lo, int64(lo)), max(b.hi, int64(hi))
}

func (b *intBounds) values() (lo, hi deltalog.Value) {
	if !b.seen {
		return deltalog.NullValue(), deltalog.NullValue()
	}
	return b.value(b.lo), b.value(b.hi)
}

// floatBounds counts NaN as the greatest value, as Spark does.
type floatBounds struct {
	seen, nan bool
	lo, hi    float64
}

func (b *floatBounds) update(arr arrow.Array) {
	at := func(int) float64 { panic("statistics of floats from " + arr.DataType().String()) }
	switch a := arr.(type) {
	case *array.Float32:
		at = func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		at = a.Value
	}
	for i := range arr.Len() {
		if arr.IsNull(i) {
			continue
		}
		switch v := at(i); {
		case math.IsNaN(v):
			b.nan = true
		case !b.seen:
			b.seen, b.lo, b.hi = true, v, v
		default:
			b.lo, b.hi = min(b.lo, v), max(b.hi, v)
		}
	}
}

func (b *floatBounds) values() (lo, hi deltalog.Value) {
	if b.seen {
		lo, hi = deltalog.FloatValue(b.lo), deltalog.FloatValue(b.hi)
	}
	if b.nan {
		// Readers disagree about NaN (Spark: above all numbers; others leave it
		// out of bounds), so a file that holds one has no upper bound.
		hi = deltalog.NullValue()
	}
	return lo, hi
}

type decimalBounds struct {
	seen   bool
	scale  int32
	lo, hi decimal128.Num
}

func (b *decimalBounds) update(arr arrow.Array) {
	a := arr.(*array.Decimal128)
	for i, v := range a.Values() {
		switch {
		case a.IsNull(i):
		case !b.seen:
			b.seen, b.lo, b.hi = true, v, v
		case v.Less(b.lo):
			b.lo = v
		case b.hi.Less(v):
			b.hi = v
		}
	}
}

func (b *decimalBounds) values() (lo, hi deltalog.Value) {
	if !b.seen {
		return lo, hi
	}
	return deltalog.DecimalValue(b.lo.BigInt(), b.scale), deltalog.DecimalValue(b.hi.BigInt(), b.scale)
}

type stringBounds struct {
	seen   bool
	lo, hi string
}

func (b *stringBounds) update(arr arrow.Array) {
	a := arr.(*array.String)
	lo, hi, seen := b.lo, b.hi, b.seen
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		switch v := a.Value(i); {
		case !seen:
			lo, hi, seen = v, v, true
		case v < lo:
			lo = v
		case v > hi:
			hi = v
		}
	}
	// The batch's memory is only borrowed.
	if !b.seen || lo != b.lo {
		b.lo = strings.Clone(lo)
	}
	if !b.seen || hi != b.hi {
		b.hi = strings.Clone(hi)
	}
	b.seen = seen
}

func (b *stringBounds) values() (lo, hi deltalog.Value) {
	// JSON cannot hold text that is not UTF-8.
	if b.seen && utf8.ValidString(b.lo) {
		lo = deltalog.StringValue(b.lo)
	}
	if b.seen && utf8.ValidString(b.hi) {
		hi = deltalog.StringValue(b.hi)
	}
	return lo, hi
}
