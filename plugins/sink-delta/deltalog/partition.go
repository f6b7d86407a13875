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

// maxFolderName is the longest folder name that every file system takes, in
// bytes.
const maxFolderName = 200

// PartitionFolder is the folder for data files with these partition values, in
// the order of columns, inside the table: column=value/ for each, as Hive has
// them, with whatever a file system or an object store could trip over escaped.
// It is "" when a name would be too long. Nothing reads values out of it (they
// stand in partitionValues): it is for people, and for tools that list.
func PartitionFolder(columns []Field, values []*string) string {
	var b strings.Builder
	for i, c := range columns {
		value := "__HIVE_DEFAULT_PARTITION__"
		if values[i] != nil {
			value = escapeFolder(*values[i])
		}
		name := escapeFolder(c.Name) + "=" + value
		if len(name) > maxFolderName {
			return ""
		}
		b.WriteString(name)
		b.WriteByte('/')
	}
	return b.String()
}

// escapeFolder percent-encodes all bytes but letters, digits and a few signs
// that no system gives a meaning to. A dot at the end is one that Windows drops.
func escapeFolder(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if letter || strings.IndexByte("-_~", c) >= 0 || c == '.' && i < len(text)-1 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
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
