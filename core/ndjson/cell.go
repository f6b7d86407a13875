package ndjson

import "github.com/apache/arrow-go/v18/arrow"

// Cell returns a function that appends the text of one value of a column, in
// the form that Encoder gives it, for those who lay rows out in another way.
func Cell(column arrow.Array) (func(dst []byte, row int) ([]byte, error), error) {
	if err := checkType(column.DataType()); err != nil {
		return nil, err
	}
	return appender(column)
}
