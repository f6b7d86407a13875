package mssql

import (
	"database/sql/driver"
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
)

// A row larger than a batch names the column to leave out, which is the one
// with the longest value.
func TestARowLargerThanABatchNamesItsLongestColumn(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "scan", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	b, err := newBatcher(nil, schema, 10)
	must(t, err)
	must(t, b.bind(2, 0, "VARBINARY", outType{kind: kindBinary}))
	must(t, b.bind(0, 1, "INT", outType{kind: kindInt32}))
	must(t, b.bind(1, 2, "NVARCHAR", outType{kind: kindString}))
	values := []driver.Value{make([]byte, 9), int64(1), "short"}
	b.fixed = math.MaxInt32 - 13 // stands for values that no test should make
	err = b.add(values)
	if err == nil {
		t.Fatal("it was taken")
	}
	d := wantDiag(t, unreadable("A row of dbo.files", "chunk", err), diag.KindUnsupported, codeRowSize,
		"A row of dbo.files is too large: it has 2147483648 bytes", "9 of them are in column scan", `exclude = ["scan"]`)
	if !reflect.DeepEqual(d.Path, diag.Path{"columns", "scan"}) {
		t.Errorf("path %v", d.Path)
	}
}
