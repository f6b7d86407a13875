package deltatable

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// int96Type is how INT96 values become Arrow: they are instants.
var int96Type = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2_440_588

// int96Micros turns an INT96 timestamp (nanoseconds of the day, then the Julian
// day, little-endian) into microseconds since 1970. arrow-go goes by way of
// 64-bit nanoseconds, which end at the years 1677 and 2262; Spark writes years
// 1 to 9999 this way.
func int96Micros(v parquet.Int96) (int64, error) {
	nanos := binary.LittleEndian.Uint64(v[:8])
	if nanos >= 86_400_000_000_000 {
		return 0, fmt.Errorf("an INT96 timestamp has %d nanoseconds in its day", nanos)
	}
	// 2^31 days in microseconds overflow, so the sign of the day is not in
	// question: days are unsigned up to far beyond year 9999.
	day := int64(binary.LittleEndian.Uint32(v[8:])) - julianEpoch
	if day > 106_000_000 {
		return 0, fmt.Errorf("an INT96 timestamp lies on day %d, beyond 64-bit microseconds", day)
	}
	return day*microsPerDay + int64(nanos/1000), nil
}

// int96Reader reads one flat INT96 column of one row group.
type int96Reader struct {
	column *file.Int96ColumnChunkReader
	levels []int16 // nil when the column is required
	values []parquet.Int96
	maxDef int16
}

func newInt96Reader(group *file.RowGroupReader, leaf int) (*int96Reader, error) {
	column, err := group.Column(leaf)
	if err != nil {
		return nil, err
	}
	c, ok := column.(*file.Int96ColumnChunkReader)
	if !ok {
		return nil, fmt.Errorf("column %d is no INT96 column", leaf)
	}
	return &int96Reader{column: c, maxDef: c.Descriptor().MaxDefinitionLevel()}, nil
}

// next returns the next n rows.
func (r *int96Reader) next(n int, mem memory.Allocator) (arrow.Array, error) {
	if cap(r.values) < n {
		r.values = make([]parquet.Int96, n)
		r.levels = make([]int16, n)
	}
	b := array.NewTimestampBuilder(mem, int96Type)
	defer b.Release()
	b.Reserve(n)
	for n > 0 {
		levels := r.levels[:n]
		if r.maxDef == 0 {
			levels = nil
		}
		rows, values, err := r.column.ReadBatch(int64(n), r.values[:n], levels, nil)
		if err != nil {
			return nil, err
		}
		if rows == 0 {
			return nil, fmt.Errorf("the column ends %d rows early", n)
		}
		next := 0
		for i := range int(rows) {
			if levels != nil && levels[i] < r.maxDef {
				b.UnsafeAppendBoolToBitmap(false)
				continue
			}
			if next == values {
				return nil, fmt.Errorf("the column has fewer values than its levels say")
			}
			us, err := int96Micros(r.values[next])
			if err != nil {
				return nil, err
			}
			next++
			b.UnsafeAppend(arrow.Timestamp(us))
		}
		n -= int(rows)
	}
	return b.NewArray(), nil
}
