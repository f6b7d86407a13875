package reconcile

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// keyJSON writes the canonical form of a key as a JSON object of its columns:
// numbers for integers and floats, ISO 8601 for dates and times, plain text
// for decimals, 0x and lower-case hexadecimal for byte strings, null for NULL.
func keyJSON(kinds []kind, key []byte) (string, error) {
	out := []byte{'{'}
	for i, k := range kinds {
		value, rest, err := k.next(key)
		if err != nil {
			return "", fmt.Errorf("reading a key: %w", err)
		}
		key = rest
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendJSONText(out, k.name), ':')
		out = k.appendJSON(out, value)
	}
	return string(append(out, '}')), nil
}

func appendJSONText(dst []byte, s string) []byte {
	// A string always has a JSON form.
	text, err := json.Marshal(s)
	if err != nil {
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, text...)
}

func (k kind) appendJSON(dst, value []byte) []byte {
	if value[0] == markNull {
		return append(dst, "null"...)
	}
	value = value[1:]
	switch k.form {
	case formInt:
		return k.appendIntJSON(dst, decodeInt(value))
	case formDecimal:
		n := decimal128.New(int64(binary.BigEndian.Uint64(value)^signBit), binary.BigEndian.Uint64(value[8:]))
		return appendJSONText(dst, n.ToString(k.typ.(*arrow.Decimal128Type).Scale))
	case formFloat:
		f := math.Float64frombits(binary.BigEndian.Uint64(value))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return appendJSONText(dst, strconv.FormatFloat(f, 'g', -1, 64))
		}
		bits := 64
		if k.typ.ID() == arrow.FLOAT32 {
			bits = 32
		}
		return strconv.AppendFloat(dst, f, 'g', -1, bits)
	case formBool:
		return strconv.AppendBool(dst, value[0] == 1)
	}
	_, used := binary.Uvarint(value)
	if id := k.typ.ID(); id == arrow.BINARY || id == arrow.LARGE_BINARY {
		return appendJSONText(dst, "0x"+hex.EncodeToString(value[used:]))
	}
	return appendJSONText(dst, string(value[used:]))
}

func (k kind) appendIntJSON(dst []byte, v int64) []byte {
	switch t := k.typ.(type) {
	case *arrow.Date32Type:
		return appendJSONText(dst, dateText(v))
	case *arrow.TimestampType:
		layout := "2006-01-02T15:04:05.000000"
		if t.TimeZone != "" {
			layout += "Z"
		}
		return appendJSONText(dst, time.UnixMicro(v).UTC().Format(layout))
	}
	return strconv.AppendInt(dst, v, 10)
}

// decodeInt reads the eight bytes after the marker of an integer's form.
func decodeInt(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ signBit) }

func dateText(days int64) string {
	return time.Unix(days*86_400, 0).UTC().Format(time.DateOnly)
}
