package deltatable

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

const (
	// maxRowGroupRows is the most rows of one row group. arrow-go's own default
	// of 64 Mi rows would keep a whole file in memory until it is closed.
	maxRowGroupRows = 1 << 20
	// dictionarySample is how many rows of a file decide about dictionaries.
	dictionarySample = 8192
	// pageBytes is when a page of values ends. Pages that stay in the processor's
	// cache are built and compressed faster than arrow-go's default of 1 MiB, and
	// the files are no larger.
	pageBytes = 128 << 10
	// dictionaryShare: a column gets a dictionary when at most one in this many
	// sampled values is distinct. Above it, building the dictionary costs more
	// than it saves; measured on a change log, dictionaries on all columns cost
	// 15 % of the writing time and made the files larger.
	dictionaryShare = 4
)

// encodingOptions are the parts of the file format that a table's owner may
// choose.
type encodingOptions struct {
	// deltaPacked writes integers, dates and timestamps DELTA_BINARY_PACKED.
	deltaPacked bool
}

// writerProperties chooses how a file that begins with the batch rec is
// encoded: zstd level 1 and dictionaries where values repeat.
func (o encodingOptions) writerProperties(rec arrow.RecordBatch, mem memory.Allocator) (*parquet.WriterProperties, error) {
	props := []parquet.WriterProperty{
		parquet.WithAllocator(mem),
		parquet.WithCreatedBy("pipectl"),
		parquet.WithVersion(parquet.V2_6),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(1),
		parquet.WithMaxRowGroupLength(maxRowGroupRows),
		parquet.WithDataPageSize(pageBytes),
		parquet.WithDictionaryDefault(false),
		// Decimals of up to 18 digits as INT32 or INT64, as Spark writes them.
		parquet.WithStoreDecimalAsInteger(true),
	}
	for i, col := range rec.Columns() {
		// The column's own name is its path in Parquet: only columns that are
		// not nested get here with a dictionary or another encoding.
		name := parquet.ColumnPath{rec.ColumnName(i)}
		repeats, err := valuesRepeat(col)
		switch {
		case err != nil:
			return nil, err
		case repeats:
			props = append(props, parquet.WithDictionaryPath(name, true))
		case o.deltaPacked && packable(col.DataType()):
			props = append(props, parquet.WithEncodingPath(name, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	return parquet.NewWriterProperties(props...), nil
}

// packable says whether the type is stored as INT32 or INT64.
func packable(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return t.Precision <= 18
	default:
		switch t.ID() {
		case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.DATE32, arrow.TIMESTAMP:
			return true
		}
	}
	return false
}

// valuesRepeat says whether a dictionary pays for the column, judged by its
// first rows.
func valuesRepeat(col arrow.Array) (bool, error) {
	if arrow.IsNested(col.DataType().ID()) || col.DataType().ID() == arrow.BOOL {
		return false, nil
	}
	n := min(col.Len(), dictionarySample)
	if n == 0 {
		return false, nil
	}
	hashes := make([]uint64, n)
	var sample arrow.Array = col
	if n < col.Len() {
		sample = array.NewSlice(col, 0, int64(n))
		defer sample.Release()
	}
	if err := newHashSeed().rows([]arrow.Array{sample}, hashes); err != nil {
		return false, err
	}
	limit := n / dictionaryShare
	distinct := make(map[uint64]struct{}, limit)
	for _, h := range hashes {
		if distinct[h] = struct{}{}; len(distinct) > limit {
			return false, nil
		}
	}
	return true, nil
}
