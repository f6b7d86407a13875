package mssql

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
)

// appendFunc appends one value that is not NULL to its column's buffer.
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
func newAppender(b buffer, from string, to outType) (appendFunc, error) {
	if f := direct(b, from, to); f != nil {
		return f, nil
	}
	return castAppender(b, from, to)
}

// direct is the appender for a server's type and its own output type, nil for
// other pairs.
func direct(b buffer, from string, to outType) appendFunc {
	switch to.kind {
	case kindBool:
		if from == "BIT" {
			return appendBool(b.(*boolBuffer), from)
		}
	case kindInt16, kindInt32, kindInt64:
		switch from {
		case "TINYINT", "SMALLINT", "INT", "BIGINT":
			return appendInteger(b, from, to)
		}
	case kindFloat32:
		if from == "REAL" {
			return appendFloat32(b.(*fixedBuffer[float32]), from)
		}
	case kindFloat64:
		if from == "REAL" || from == "FLOAT" {
			return appendFloat64(b.(*fixedBuffer[float64]), from)
		}
	case kindDecimal:
		switch from {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			return appendDecimal(b.(*fixedBuffer[decimal128.Num]), from, to)
		}
	case kindDate:
		if from == "DATE" {
			return appendDate(b.(*fixedBuffer[arrow.Date32]), from)
		}
	case kindTimestampNTZ:
		switch from {
		case "DATE", "DATETIME", "SMALLDATETIME", "DATETIME2":
			return appendTimestamp(b.(*fixedBuffer[arrow.Timestamp]), from)
		}
	case kindTimestamp:
		if from == "DATETIMEOFFSET" {
			return appendTimestamp(b.(*fixedBuffer[arrow.Timestamp]), from)
		}
	case kindString:
		return appendText(b.(*bytesBuffer), from)
	case kindBinary:
		switch from {
		case "BINARY", "VARBINARY", "IMAGE":
			return appendBytes(b.(*bytesBuffer), from)
		}
	}
	return nil
}

func appendBool(b *boolBuffer, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(bool)
		if !ok {
			return errKind(v, from)
		}
		b.append(x)
		return nil
	}
}

// appendInteger checks the range: a type may have been widened after the read
// was planned.
func appendInteger(b buffer, from string, to outType) appendFunc {
	switch b := b.(type) {
	case *fixedBuffer[int16]:
		return func(v driver.Value) error {
			x, ok := v.(int64)
			if !ok {
				return errKind(v, from)
			}
			if x != int64(int16(x)) {
				return errMisfit(to)
			}
			b.append(int16(x))
			return nil
		}
	case *fixedBuffer[int32]:
		return func(v driver.Value) error {
			x, ok := v.(int64)
			if !ok {
				return errKind(v, from)
			}
			if x != int64(int32(x)) {
				return errMisfit(to)
			}
			b.append(int32(x))
			return nil
		}
	}
	wide := b.(*fixedBuffer[int64])
	return func(v driver.Value) error {
		x, ok := v.(int64)
		if !ok {
			return errKind(v, from)
		}
		wide.append(x)
		return nil
	}
}

func appendFloat32(b *fixedBuffer[float32], from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(float64)
		if !ok {
			return errKind(v, from)
		}
		b.append(float32(x))
		return nil
	}
}

func appendFloat64(b *fixedBuffer[float64], from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(float64)
		if !ok {
			return errKind(v, from)
		}
		b.append(x)
		return nil
	}
}

// appendDecimal reads the driver's text of a decimal; it never passes through
// a float.
func appendDecimal(b *fixedBuffer[decimal128.Num], from string, to outType) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.([]byte)
		if !ok {
			return errKind(v, from)
		}
		n, err := parseDecimal(x, to.precision, to.scale)
		if err != nil {
			return err
		}
		b.append(n)
		return nil
	}
}

func appendDate(b *fixedBuffer[arrow.Date32], from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(time.Time)
		if !ok {
			return errKind(v, from)
		}
		b.append(arrow.Date32(days(x)))
		return nil
	}
}

// appendTimestamp floors to microseconds and never passes through nanoseconds
// since 1970, which end in 2262. A time with an offset becomes its instant.
func appendTimestamp(b *fixedBuffer[arrow.Timestamp], from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.(time.Time)
		if !ok {
			return errKind(v, from)
		}
		b.append(arrow.Timestamp(x.UnixMicro()))
		return nil
	}
}

func appendBytes(b *bytesBuffer, from string) appendFunc {
	return func(v driver.Value) error {
		x, ok := v.([]byte)
		if !ok {
			return errKind(v, from)
		}
		b.append(x)
		return nil
	}
}

// appendLSN makes the text of an LSN.
func appendLSN(b *bytesBuffer) appendFunc {
	return func(v driver.Value) error {
		x, _ := v.([]byte)
		l, err := lsn.FromBytes(x)
		if err != nil {
			return err
		}
		b.data = l.AppendText(b.data)
		b.end()
		return nil
	}
}

// appendText is the appender for types whose own output is text, nil for
// others.
func appendText(b *bytesBuffer, from string) appendFunc {
	switch from {
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML":
		return func(v driver.Value) error {
			x, ok := v.(string)
			if !ok {
				return errKind(v, from)
			}
			b.appendString(x)
			return nil
		}
	case "UNIQUEIDENTIFIER":
		return func(v driver.Value) error {
			x, ok := v.([]byte)
			if !ok || len(x) != 16 {
				return errKind(v, from)
			}
			b.data = appendGUID(b.data, x)
			b.end()
			return nil
		}
	case "TIME":
		return func(v driver.Value) error {
			x, ok := v.(time.Time)
			if !ok {
				return errKind(v, from)
			}
			b.data = appendTimeOfDay(b.data, x)
			b.end()
			return nil
		}
	}
	return nil
}
