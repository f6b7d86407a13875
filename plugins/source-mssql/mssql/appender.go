package mssql

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
)

// appendFunc appends one value that is not NULL to its column's builder.
type appendFunc func(driver.Value) error

// errKind is a value of a kind that the driver does not return for the type.
func errKind(v driver.Value, from string) error {
	return fmt.Errorf("a value of type %s came as %T", from, v)
}

// errMisfit is a value that its column cannot hold. Values of rows do not
// belong into messages.
func errMisfit(to outType) error { return fmt.Errorf("a value does not fit %s", to) }

// newAppender chooses, once per column, how values of a server's type become
// values of an output type. from is the driver's name of the type of the
// result's column, which is the truth about what comes.
func newAppender(b array.Builder, from string, to outType) (appendFunc, error) {
	if f := direct(b, from, to); f != nil {
		return f, nil
	}
	return castAppender(b, from, to)
}

// direct is the appender for a server's type and its own output type, nil for
// other pairs.
func direct(b array.Builder, from string, to outType) appendFunc {
	switch to.kind {
	case kindBool:
		if from == "BIT" {
			return appendBool(b.(*array.BooleanBuilder), from)
		}
	case kindInt16, kindInt32, kindInt64:
		switch from {
		case "TINYINT", "SMALLINT", "INT", "BIGINT":
			return appendInteger(b, from, to)
		}
	case kindFloat32:
		if from == "REAL" {
			return appendFloat32(b.(*array.Float32Builder), from)
		}
	case kindFloat64:
		if from == "REAL" || from == "FLOAT" {
			return appendFloat64(b.(*array.Float64Builder), from)
		}
	case kindDecimal:
		switch from {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			return appendDecimal(b.(*array.Decimal128Builder), from, to)
		}
	case kindDate:
		if from == "DATE" {
			return appendDate(b.(*array.Date32Builder), from)
		}
	case kindTimestampNTZ:
		switch from {
		case "DATE", "DATETIME", "SMALLDATETIME", "DATETIME2":
			return appendTimestamp(b.(*array.TimestampBuilder), from)
		}
	case kindTimestamp:
		if from == "DATETIMEOFFSET" {
			return appendTimestamp(b.(*array.TimestampBuilder), from)
		}
	case kindString:
		return appendText(b.(*array.StringBuilder), from)
	case kindBinary:
		switch from {
		case "BINARY", "VARBINARY", "IMAGE":
			return appendBytes(b.(*array.BinaryBuilder), from)
		}
	}
	return nil
}

func appendBool(b *array.BooleanBuilder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(bool)
		if !ok {
			return errKind(v, from)
		}
		b.Append(x)
		return nil
	}
}

// appendInteger checks the range: a type may have been widened after the read
// was planned.
func appendInteger(b array.Builder, from string, to outType) appendFunc {
	switch b := b.(type) {
	case *array.Int16Builder:
		return func(v driver.Value) error {
			x, ok := v.(int64)
			if !ok {
				return errKind(v, from)
			}
			if x != int64(int16(x)) {
				return errMisfit(to)
			}
			b.Append(int16(x))
			return nil
		}
	case *array.Int32Builder:
		return func(v driver.Value) error {
			x, ok := v.(int64)
			if !ok {
				return errKind(v, from)
			}
			if x != int64(int32(x)) {
				return errMisfit(to)
			}
			b.Append(int32(x))
			return nil
		}
	}
	wide := b.(*array.Int64Builder)
	return func(v driver.Value) error {
		x, ok := v.(int64)
		if !ok {
			return errKind(v, from)
		}
		wide.Append(x)
		return nil
	}
}

func appendFloat32(b *array.Float32Builder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(float64)
		if !ok {
			return errKind(v, from)
		}
		b.Append(float32(x))
		return nil
	}
}

func appendFloat64(b *array.Float64Builder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(float64)
		if !ok {
			return errKind(v, from)
		}
		b.Append(x)
		return nil
	}
}

// appendDecimal reads the driver's text of a decimal; it never passes through
// a float.
func appendDecimal(b *array.Decimal128Builder, from string, to outType) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.([]byte)
		if !ok {
			return errKind(v, from)
		}
		n, err := parseDecimal(x, to.precision, to.scale)
		if err != nil {
			return err
		}
		b.Append(n)
		return nil
	}
}

func appendDate(b *array.Date32Builder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(time.Time)
		if !ok {
			return errKind(v, from)
		}
		b.Append(arrow.Date32(days(x)))
		return nil
	}
}

// appendTimestamp floors to microseconds and never passes through nanoseconds
// since 1970, which end in 2262. A time with an offset becomes its instant.
func appendTimestamp(b *array.TimestampBuilder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(time.Time)
		if !ok {
			return errKind(v, from)
		}
		b.Append(arrow.Timestamp(x.UnixMicro()))
		return nil
	}
}

func appendBytes(b *array.BinaryBuilder, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.([]byte)
		if !ok {
			return errKind(v, from)
		}
		b.Append(x)
		return nil
	}
}

// appendLSN makes the text of an LSN.
func appendLSN(b *array.StringBuilder) appendFunc {
	scratch := make([]byte, 0, lsn.TextLen)
	return func(v driver.Value) error {
		x, _ := v.([]byte)
		l, err := lsn.FromBytes(x)
		if err != nil {
			return err
		}
		b.BinaryBuilder.Append(l.AppendText(scratch[:0]))
		return nil
	}
}

// appendText is the appender for types whose own output is text, nil for
// others.
func appendText(b *array.StringBuilder, from string) appendFunc {
	scratch := make([]byte, 0, 40)
	switch from {
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML":
		return func(v driver.Value) error {
			x, ok := v.(string)
			if !ok {
				return errKind(v, from)
			}
			b.Append(x)
			return nil
		}
	case "UNIQUEIDENTIFIER":
		return func(v driver.Value) error {
			x, ok := v.([]byte)
			if !ok || len(x) != 16 {
				return errKind(v, from)
			}
			b.BinaryBuilder.Append(appendGUID(scratch[:0], x))
			return nil
		}
	case "TIME":
		return func(v driver.Value) error {
			x, ok := v.(time.Time)
			if !ok {
				return errKind(v, from)
			}
			b.BinaryBuilder.Append(appendTimeOfDay(scratch[:0], x))
			return nil
		}
	}
	return nil
}
