package parquetfile

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// checkFooter looks at the numbers of a footer: counts and places in a file of
// size bytes that no writer gives. What they mean is in the Thrift definition of
// the Parquet format (RowGroup, ColumnChunk, ColumnMetaData).
func checkFooter(m *metadata.FileMetaData, size int64) error {
	if m.NumRows < 0 {
		return fmt.Errorf("the footer says that there are %d rows", m.NumRows)
	}
	left := m.NumRows
	for i, g := range m.RowGroups {
		if g.NumRows < 0 || g.NumRows > left {
			return fmt.Errorf("row group %d has %d rows, of %d in the file", i, g.NumRows, m.NumRows)
		}
		left -= g.NumRows
		if len(g.Columns) != m.Schema.NumColumns() {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, len(g.Columns), m.Schema.NumColumns())
		}
		for k, c := range g.Columns {
			d := m.Schema.Column(k)
			if c == nil || c.MetaData == nil || c.CryptoMetadata != nil {
				return fmt.Errorf("row group %d, column %s: nothing says where it is, or it is encrypted", i, d.Path())
			}
			if c.FilePath != nil {
				return fmt.Errorf("row group %d, column %s is in another file", i, d.Path())
			}
			md := c.MetaData
			claim := chunk{
				physical: parquet.Type(md.Type), values: md.NumValues, rows: g.NumRows, repeated: d.MaxRepetitionLevel() > 0,
				start: md.DataPageOffset, bytes: md.TotalCompressedSize,
			}
			if dict := md.DictionaryPageOffset; dict != nil {
				if *dict < 0 {
					return fmt.Errorf("row group %d, column %s: its dictionary is at %d", i, d.Path(), *dict)
				}
				if *dict > 0 {
					claim.start = min(claim.start, *dict)
				}
			}
			if claim.physical != d.PhysicalType() {
				return fmt.Errorf("row group %d, column %s: its values are %s, in the schema %s", i, d.Path(), claim.physical, d.PhysicalType())
			}
			if err := claim.check(size); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, d.Path(), err)
			}
		}
	}
	if left != 0 {
		return errors.New("the row groups have fewer rows than the file")
	}
	return nil
}

// chunk is what a footer says of a column in a row group.
type chunk struct {
	physical     parquet.Type
	values, rows int64
	repeated     bool
	start, bytes int64
}

func (c chunk) check(size int64) error {
	switch {
	case c.start < 0 || c.bytes < 0 || c.start > size || c.bytes > size-c.start:
		return fmt.Errorf("%d bytes at %d, in a file of %d bytes", c.bytes, c.start, size)
	case c.values < c.rows || !c.repeated && c.values != c.rows:
		return fmt.Errorf("%d values in %d rows", c.values, c.rows)
	}
	return nil
}
