package deltalog

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatPartitionValue writes a value as partitionValues keep it (Delta
// protocol: Partition Value Serialization); nil is NULL. An empty string is
// NULL too, since that is how every reader but delta-rs takes it.
func FormatPartitionValue(v Value, t Type) (*string, error) {
	if v.IsNull() {
		return nil, nil
	}
	var text string
	switch {
	case t == String && v.kind == KindString, t == Binary && v.kind == KindBinary:
		text = v.text
	case t == Boolean && v.kind == KindBool:
		text = strconv.FormatBool(v.num != 0)
	case t == Date && v.kind == KindDate:
		text = formatDate(v.num)
	case t == Timestamp && v.kind == KindTimestamp:
		text = formatTimestamp(v.num) + "Z"
	case t == TimestampNTZ && v.kind == KindTimestamp:
		text = strings.Replace(formatTimestamp(v.num), "T", " ", 1)
	case t == Float && v.kind == KindFloat:
		text = formatFloat(v.float, 32)
	case t == Double && v.kind == KindFloat:
		text = formatFloat(v.float, 64)
	case isInteger(t) && v.kind == KindInt:
		text = strconv.FormatInt(v.num, 10)
	default:
		if _, ok := t.(Decimal); ok && v.kind == KindDecimal {
			text = formatDecimal(v)
			break
		}
		return nil, fmt.Errorf("partition value %v is not of type %s", v, t)
	}
	if text == "" {
		return nil, nil
	}
	return &text, nil
}

func isInteger(t Type) bool {
	return t == Long || t == Integer || t == Short || t == Byte
}

// ParsePartitionValue reads an entry of partitionValues: every form that known
// writers use.
func ParsePartitionValue(text *string, t Type) (Value, error) {
	if text == nil {
		return Value{}, nil
	}
	if *text == "" {
		// The protocol takes an empty text as NULL. delta-rs writes "" for an
		// empty string and reads it so; Spark writes null for it.
		if t == String {
			return StringValue(""), nil
		}
		return Value{}, nil
	}
	bad := func(err error) (Value, error) {
		return Value{}, fmt.Errorf("partition value %q is no %s: %w", *text, t, err)
	}
	switch t := t.(type) {
	case Decimal:
		v, err := parseDecimal(*text)
		if err != nil {
			return bad(err)
		}
		return v, nil
	case Primitive:
		switch t {
		case String:
			return StringValue(*text), nil
		case Binary:
			return BinaryValue([]byte(*text)), nil
		case Boolean:
			b, err := strconv.ParseBool(*text)
			if err != nil {
				return bad(err)
			}
			return BoolValue(b), nil
		case Long, Integer, Short, Byte:
			bits := map[Primitive]int{Long: 64, Integer: 32, Short: 16, Byte: 8}[t]
			n, err := strconv.ParseInt(*text, 10, bits)
			if err != nil {
				return bad(err)
			}
			return IntValue(n), nil
		case Float, Double:
			f, err := strconv.ParseFloat(*text, floatBits(t))
			if err != nil {
				return bad(err)
			}
			return FloatValue(f), nil
		case Date:
			d, err := parseDate(*text)
			if err != nil {
				return bad(err)
			}
			return Value{kind: KindDate, num: d}, nil
		case Timestamp, TimestampNTZ:
			us, err := parseTimestamp(*text)
			if err != nil {
				return bad(err)
			}
			return TimestampValue(us), nil
		}
	}
	return Value{}, fmt.Errorf("a column of type %s cannot be a partition column", t)
}
