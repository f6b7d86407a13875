package deltatable

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// toDecimal turns integers or narrower decimals into decimals of type to.
func toDecimal(arr arrow.Array, to *arrow.Decimal128Type, mem memory.Allocator) (arrow.Array, error) {
	var value func(i int) decimal128.Num
	shift := to.Scale
	switch a := arr.(type) {
	case *array.Decimal128:
		shift -= a.DataType().(*arrow.Decimal128Type).Scale
		value = a.Value
	case *array.Int8:
		value = func(i int) decimal128.Num { return decimal128.FromI64(int64(a.Value(i))) }
	case *array.Int16:
		value = func(i int) decimal128.Num { return decimal128.FromI64(int64(a.Value(i))) }
	case *array.Int32:
		value = func(i int) decimal128.Num { return decimal128.FromI64(int64(a.Value(i))) }
	case *array.Int64:
		value = func(i int) decimal128.Num { return decimal128.FromI64(a.Value(i)) }
	default:
		return nil, fmt.Errorf("%s cannot become %s", arr.DataType(), to)
	}
	b := array.NewDecimal128Builder(mem, to)
	defer b.Release()
	b.Reserve(arr.Len())
	for i := range arr.Len() {
		if arr.IsNull(i) {
			b.AppendNull()
			continue
		}
		v := value(i).IncreaseScaleBy(shift)
		if !v.FitsInPrecision(to.Precision) {
			return nil, fmt.Errorf("the value %s does not fit %s", value(i).ToString(to.Scale-shift), to)
		}
		b.Append(v)
	}
	return b.NewArray(), nil
}
