package deltatable

import (
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// groupFacts is what a row group's statistics say of one column.
type groupFacts struct {
	lo, hi  deltalog.Value // NULL: not known
	nulls   int64          // -1: not known
	allNull bool
}

// groupMayMatch says whether the row group can hold a row for which p is true.
// Columns that are not among the file's column list restrict nothing.
func (d *dataFile) groupMayMatch(group int, p deltalog.Predicate) bool {
	if len(p) == 0 {
		return true
	}
	known := map[string]groupFacts{}
	for _, clause := range p {
		possible := true
		for _, c := range clause {
			facts, ok := known[c.Column]
			if !ok {
				facts = d.facts(group, c.Column)
				known[c.Column] = facts
			}
			if !facts.mayMatch(c) {
				possible = false
				break
			}
		}
		if possible {
			return true
		}
	}
	return false
}

// facts reads the statistics of a column in a row group.
func (d *dataFile) facts(group int, column string) groupFacts {
	unknown := groupFacts{nulls: -1}
	for i, c := range d.cols {
		if c.field.Name != column {
			continue
		}
		src := d.sources[i]
		switch {
		case src.constant != nil:
			return groupFacts{lo: *src.constant, hi: *src.constant, nulls: -1, allNull: src.constant.IsNull()}
		case src.field < 0:
			return groupFacts{nulls: -1, allNull: true}
		case len(src.leaves) != 1 || src.int96 >= 0 || isNested(c.field.Type):
			return unknown
		}
		for leaf := range src.leaves {
			meta, err := d.parquet.MetaData().RowGroup(group).ColumnChunk(leaf)
			if err != nil {
				return unknown
			}
			stats, err := meta.Statistics()
			if err != nil || stats == nil {
				return unknown
			}
			f := statisticsFacts(stats, d.reader.Manifest.Fields[src.field].Field.Type, c.arrow.Type, meta.NumValues())
			if _, texts := stats.(*metadata.ByteArrayStatistics); texts && strings.HasPrefix(d.parquet.MetaData().GetCreatedBy(), "parquet-go") {
				f.lo = deltalog.NullValue() // of programs with arrow-go: see solid
			}
			return f
		}
	}
	return unknown
}

// statisticsFacts reads Parquet statistics of a column that the file has as
// type have and the table as type want. Only types whose order in Parquet is
// the order of the values are used.
func statisticsFacts(stats metadata.TypedStatistics, have, want arrow.DataType, values int64) groupFacts {
	f := groupFacts{nulls: -1}
	if stats.HasNullCount() {
		f.nulls = stats.NullCount()
		f.allNull = f.nulls == values && values > 0
	}
	if !stats.HasMinMax() {
		return f
	}
	lossy := lossless(have, want)
	if lossy == castNone || lossy == castToMicros || lossy == castNanos {
		return f
	}
	whole := func(lo, hi int64) {
		switch t := have.(type) {
		case *arrow.Decimal128Type:
			f.lo = deltalog.DecimalValue(decimal128.FromI64(lo).BigInt(), t.Scale)
			f.hi = deltalog.DecimalValue(decimal128.FromI64(hi).BigInt(), t.Scale)
		case *arrow.Date32Type:
			f.lo, f.hi = deltalog.DateValue(int32(lo)), deltalog.DateValue(int32(hi))
		case *arrow.TimestampType:
			f.lo, f.hi = deltalog.TimestampValue(lo), deltalog.TimestampValue(hi)
		case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
			f.lo, f.hi = deltalog.IntValue(lo), deltalog.IntValue(hi)
		}
	}
	switch s := stats.(type) {
	case *metadata.Int32Statistics:
		whole(int64(s.Min()), int64(s.Max()))
	case *metadata.Int64Statistics:
		whole(s.Min(), s.Max())
	case *metadata.Float64Statistics:
		f.lo, f.hi = floatFacts(s.Min(), s.Max())
	case *metadata.Float32Statistics:
		f.lo, f.hi = floatFacts(float64(s.Min()), float64(s.Max()))
	case *metadata.ByteArrayStatistics:
		switch have.ID() {
		case arrow.STRING:
			f.lo, f.hi = deltalog.StringValue(string(s.Min())), deltalog.StringValue(string(s.Max()))
		case arrow.BINARY:
			f.lo, f.hi = deltalog.BinaryValue(s.Min()), deltalog.BinaryValue(s.Max())
		}
	}
	return f
}

// floatFacts leaves the upper bound out: Parquet statistics do not count NaN,
// which is above all numbers.
func floatFacts(lo, _ float64) (deltalog.Value, deltalog.Value) {
	if math.IsNaN(lo) {
		return deltalog.NullValue(), deltalog.NullValue()
	}
	return deltalog.FloatValue(lo), deltalog.NullValue()
}

// mayMatch says whether a row with these facts can satisfy the comparison.
func (f groupFacts) mayMatch(c deltalog.Comparison) bool {
	switch c.Op {
	case deltalog.OpIsNull:
		return f.nulls != 0 || f.allNull
	case deltalog.OpIsNotNull:
		return !f.allNull
	case deltalog.OpIn:
		for _, v := range c.Values {
			if f.mayCompare(deltalog.OpEq, v) {
				return true
			}
		}
		return false
	}
	return f.mayCompare(c.Op, c.Values[0])
}

func (f groupFacts) mayCompare(op deltalog.Op, v deltalog.Value) bool {
	if f.allNull || v.IsNull() {
		return false // a comparison with NULL is never true
	}
	lo, knownLo := deltalog.Compare(f.lo, v)
	hi, knownHi := deltalog.Compare(f.hi, v)
	switch op {
	case deltalog.OpEq:
		return !(knownLo && lo > 0) && !(knownHi && hi < 0)
	case deltalog.OpLt:
		return !(knownLo && lo >= 0)
	case deltalog.OpLe:
		return !(knownLo && lo > 0)
	case deltalog.OpGt:
		return !(knownHi && hi <= 0)
	case deltalog.OpGe:
		return !(knownHi && hi < 0)
	}
	return true // <>: bounds may have been cut
}
