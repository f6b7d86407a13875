package mssqlsim

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// columnWriter writes the values of one column of a result, those that are not NULL. Which it is follows from the type,
// once for all rows; values come by pointer, since the rows of a large result are read once and copies of their values
// would be what they cost.
type columnWriter func(w *tds.RowWriter, v *sqltype.Value)

// writerOf gives the writer of a type.
func writerOf(t sqltype.Type) columnWriter {
	switch t.Class() {
	case sqltype.ClassInt:
		return func(w *tds.RowWriter, v *sqltype.Value) { w.Int64(v.Int()) }
	case sqltype.ClassBit:
		return func(w *tds.RowWriter, v *sqltype.Value) { w.Bool(v.Bool()) }
	case sqltype.ClassFloat:
		return func(w *tds.RowWriter, v *sqltype.Value) { w.Float64(v.Float()) }
	case sqltype.ClassDecimal:
		return writeDecimal
	case sqltype.ClassTime:
		if t.Kind == sqltype.DateTimeOffset {
			return func(w *tds.RowWriter, v *sqltype.Value) {
				w.DateTimeOffset(v.Ticks()+int64(v.Offset())*sqltype.TicksPerMinute, v.Offset())
			}
		}
		return func(w *tds.RowWriter, v *sqltype.Value) { w.DateTime2(v.Ticks()) }
	case sqltype.ClassGUID:
		return func(w *tds.RowWriter, v *sqltype.Value) { w.GUID(tds.GUID([]byte(v.Str()))) }
	case sqltype.ClassString:
		return func(w *tds.RowWriter, v *sqltype.Value) { w.Text(v.Str()) }
	}
	if t.Kind == sqltype.Variant {
		return writeVariant
	}
	return writeBytes
}

func writeDecimal(w *tds.RowWriter, v *sqltype.Value) {
	if n, ok := v.Small(); ok {
		w.Decimal64(n)
		return
	}
	w.Decimal128(split(v.Big()))
}

func writeBytes(w *tds.RowWriter, v *sqltype.Value) { w.ByteString(v.Str()) }

// writeVariant writes a sql_variant with its base type.
func writeVariant(w *tds.RowWriter, v *sqltype.Value) {
	base := v.Base()
	t, err := wireType(base)
	if err != nil { // then the row's error names the column
		writeBytes(w, v)
		return
	}
	w.Value(tds.Typed{Type: t, Value: wireValue(*v, base)})
}
