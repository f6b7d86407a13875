package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/rows"
)

// A batch that cannot be sent says nothing of the row that was in hand.
func TestAnErrorOfSendingIsNoneOfTheRow(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	consumer, leave := context.WithCancel(t.Context())
	var fit, unfit error
	frames := rows.Produce(consumer, schema, func(_ context.Context, w *rows.Writer) error {
		b, err := newBatcher(w, schema, 1)
		if err == nil {
			err = b.bind(0, 0, "INT", outType{kind: kindInt32})
		}
		if err != nil {
			return err
		}
		leave() // nobody takes the batch
		fit = unreadable("A row of dbo.files", "chunk", b.add([]driver.Value{int64(1)}))
		unfit = unreadable("A row of dbo.files", "chunk", b.add([]driver.Value{"one"}))
		return nil
	})
	_, err := frames.Recv()
	must(t, err)
	must(t, frames.Close())
	var d *diag.Err
	if !errors.Is(fit, context.Canceled) || errors.As(fit, &d) {
		t.Errorf("%v", fit)
	}
	wantDiag(t, unfit, diag.KindSchemaChanged, codeValue, "A row of dbo.files cannot be read: column id: ")
}

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
