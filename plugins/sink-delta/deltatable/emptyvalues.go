package deltatable

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// noBytes is the values of an array that holds empty texts alone.
var noBytes = memory.NewBufferBytes([]byte{})

// solid is an array whose texts and bytes all lie in a buffer, also where all of them
// are empty and it came without one; false when that is arr itself. arrow-go 18.8 takes an
// empty value of no buffer for none when it makes the statistics of a row group
// (ByteArrayStatistics.minval in parquet/metadata): the least value of a batch of empty
// texts and one of others would be among the others, and every reader would pass the group
// over when it looks for the empty one.
func solid(arr arrow.Array) (arrow.Array, bool) {
	data, changed := solidData(arr.Data())
	if !changed {
		return arr, false
	}
	defer data.Release()
	return array.MakeFromData(data), true
}

func solidData(d arrow.ArrayData) (arrow.ArrayData, bool) {
	buffers, children := d.Buffers(), slices.Clone(d.Children())
	changed := false
	switch d.DataType().ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		if d.Len() > 0 && (buffers[2] == nil || buffers[2].Bytes() == nil) {
			buffers, changed = slices.Clone(buffers), true
			buffers[2] = noBytes
		}
	}
	for i, c := range children {
		to, other := solidData(c)
		if !other {
			continue
		}
		defer to.Release()
		children[i], changed = to, true
	}
	if !changed {
		return d, false
	}
	return array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset()), true
}
