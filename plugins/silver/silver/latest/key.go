package latest

import (
	"fmt"
	"hash/maphash"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// keyColumn is one key column of one batch. Two NULLs are equal.
type keyColumn interface {
	hash(seed maphash.Seed, row int) uint64
	equal(row int, other keyColumn, otherRow int) bool
}

// nullHash stands for NULL; any constant does.
const nullHash = 0x9e3779b97f4a7c15

type fixed[T comparable] struct {
	values []T
	nulls  arrow.Array
}

func (c fixed[T]) hash(seed maphash.Seed, row int) uint64 {
	if c.nulls.IsNull(row) {
		return nullHash
	}
	return maphash.Comparable(seed, c.values[row])
}

func (c fixed[T]) equal(row int, other keyColumn, otherRow int) bool {
	o := other.(fixed[T])
	if n, m := c.nulls.IsNull(row), o.nulls.IsNull(otherRow); n || m {
		return n && m
	}
	return c.values[row] == o.values[otherRow]
}

// text is a column of variable length; value must not allocate.
type text struct {
	value func(int) string
	nulls arrow.Array
}

func (c text) hash(seed maphash.Seed, row int) uint64 {
	if c.nulls.IsNull(row) {
		return nullHash
	}
	return maphash.String(seed, c.value(row))
}

func (c text) equal(row int, other keyColumn, otherRow int) bool {
	o := other.(text)
	if n, m := c.nulls.IsNull(row), o.nulls.IsNull(otherRow); n || m {
		return n && m
	}
	return c.value(row) == o.value(otherRow)
}

// newKeyColumn reads a column as a key. Floats compare by value: one NaN, and
// zero has no sign.
func newKeyColumn(name string, a arrow.Array) (keyColumn, error) {
	switch a := a.(type) {
	case *array.Int8:
		return fixed[int8]{a.Int8Values(), a}, nil
	case *array.Int16:
		return fixed[int16]{a.Int16Values(), a}, nil
	case *array.Int32:
		return fixed[int32]{a.Int32Values(), a}, nil
	case *array.Int64:
		return fixed[int64]{a.Int64Values(), a}, nil
	case *array.Date32:
		return fixed[arrow.Date32]{a.Date32Values(), a}, nil
	case *array.Timestamp:
		return fixed[arrow.Timestamp]{a.TimestampValues(), a}, nil
	case *array.Decimal128:
		return fixed[decimal128.Num]{a.Values(), a}, nil
	case *array.Boolean:
		values := make([]bool, a.Len())
		for i := range values {
			values[i] = a.Value(i)
		}
		return fixed[bool]{values, a}, nil
	case *array.Float32:
		return fixed[uint64]{floatBits(a.Float32Values()), a}, nil
	case *array.Float64:
		return fixed[uint64]{floatBits(a.Float64Values()), a}, nil
	case *array.String:
		return text{a.Value, a}, nil
	case *array.LargeString:
		return text{a.Value, a}, nil
	case *array.Binary:
		return text{a.ValueString, a}, nil
	case *array.LargeBinary:
		return text{a.ValueString, a}, nil
	}
	return nil, fmt.Errorf("column %q of type %s cannot be a key", name, a.DataType())
}

func floatBits[F float32 | float64](values []F) []uint64 {
	bits := make([]uint64, len(values))
	for i, v := range values {
		switch f := float64(v); {
		case f != f:
			bits[i] = math.Float64bits(math.NaN())
		case f == 0:
			bits[i] = 0
		default:
			bits[i] = math.Float64bits(f)
		}
	}
	return bits
}

// key is all key columns of one batch.
type key []keyColumn

func newKey(batch arrow.RecordBatch, columns []int) (key, error) {
	k := make(key, len(columns))
	for i, at := range columns {
		c, err := newKeyColumn(batch.ColumnName(at), batch.Column(at))
		if err != nil {
			return nil, err
		}
		k[i] = c
	}
	return k, nil
}

func (k key) hash(seed maphash.Seed, row int) uint64 {
	h := uint64(len(k))
	for _, c := range k {
		h = (h<<5|h>>59)*0x9e3779b97f4a7c15 ^ c.hash(seed, row)
	}
	// The table takes low bits and partitions take high ones: mix once more.
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93
}

func (k key) equal(row int, other key, otherRow int) bool {
	for i, c := range k {
		if !c.equal(row, other[i], otherRow) {
			return false
		}
	}
	return true
}
