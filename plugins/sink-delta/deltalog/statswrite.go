package deltalog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// statsStringLength is where strings are cut in statistics, in characters, as
// Spark does it.
const statsStringLength = 32

// Encode writes the statistics as Add.Stats keeps them. Strings over 32
// characters are cut: a minimum to a prefix, a maximum to a prefix with a
// greater character behind it, and left out when there is none. Timestamps are
// cut to milliseconds, so readers allow a millisecond above a maximum. Bounds of
// types that Spark keeps none for (binary, boolean) and values that the text
// cannot hold are left out.
func (s *Stats) Encode() (string, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if s.NumRecords >= 0 {
		fmt.Fprintf(&b, `"numRecords":%d,`, s.NumRecords)
	}
	for _, part := range []struct {
		name string
		leaf func(c *ColumnStats) (string, bool)
	}{
		{"minValues", func(c *ColumnStats) (string, bool) { return encodeBound(c.Min, c.Type, false) }},
		{"maxValues", func(c *ColumnStats) (string, bool) { return encodeBound(c.Max, c.Type, true) }},
		{"nullCount", func(c *ColumnStats) (string, bool) { return strconv.FormatInt(c.NullCount, 10), c.NullCount >= 0 }},
	} {
		root := &statsNode{}
		for i := range s.Columns {
			c := &s.Columns[i]
			if len(c.Path) == 0 {
				return "", fmt.Errorf("statistics: column %d has no path", i)
			}
			if text, ok := part.leaf(c); ok {
				if err := root.put(c.Path, text); err != nil {
					return "", err
				}
			}
		}
		fmt.Fprintf(&b, `"%s":`, part.name)
		if err := root.write(&b); err != nil {
			return "", err
		}
		b.WriteByte(',')
	}
	// The protocol takes a missing tightBounds as true.
	fmt.Fprintf(&b, `"tightBounds":%t}`, s.TightBounds)
	return b.String(), nil
}

// statsNode is a level of a nested statistics object, in the order of columns.
type statsNode struct {
	names []string
	nodes []*statsNode
	text  string // of a leaf
}

func (n *statsNode) put(path []string, text string) error {
	for _, name := range path {
		if n.text != "" {
			return fmt.Errorf("statistics: %q is both a column and a struct", path)
		}
		var next *statsNode
		for i, have := range n.names {
			if have == name {
				next = n.nodes[i]
			}
		}
		if next == nil {
			next = &statsNode{}
			n.names, n.nodes = append(n.names, name), append(n.nodes, next)
		}
		n = next
	}
	if n.text != "" || n.names != nil {
		return fmt.Errorf("statistics: column %q stands there twice", path)
	}
	n.text = text
	return nil
}

func (n *statsNode) write(b *bytes.Buffer) error {
	if n.text != "" {
		b.WriteString(n.text)
		return nil
	}
	b.WriteByte('{')
	for i, name := range n.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := marshal(name)
		if err != nil {
			return err
		}
		b.Write(key)
		b.WriteByte(':')
		if err := n.nodes[i].write(b); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// encodeBound writes one bound as JSON; ok is false when it must be left out.
func encodeBound(v Value, t Type, upper bool) (text string, ok bool) {
	if v.IsNull() {
		return "", false
	}
	quote := func(s string) (string, bool) {
		raw, err := marshal(s)
		return string(raw), err == nil
	}
	switch t := t.(type) {
	case Decimal:
		if v.kind == KindDecimal {
			return formatDecimal(v), true
		}
	case Primitive:
		switch t {
		case String:
			if v.kind == KindString {
				if s, ok := cutString(v.text, upper); ok {
					return quote(s)
				}
			}
		case Long, Integer, Short, Byte:
			if v.kind == KindInt {
				return strconv.FormatInt(v.num, 10), true
			}
		case Float, Double:
			if v.kind == KindFloat {
				bits := 64
				if t == Float {
					bits = 32
				}
				s := formatFloat(v.float, bits)
				if math.IsNaN(v.float) || math.IsInf(v.float, 0) {
					return quote(s)
				}
				return s, true
			}
		case Date:
			if v.kind == KindDate && plainYear(v.num) {
				return quote(formatDate(v.num))
			}
		case Timestamp, TimestampNTZ:
			if v.kind == KindTimestamp && plainYear(floorDiv(v.num, microsPerDay)) {
				s := formatTimestamp(floorDiv(v.num, 1000) * 1000)
				s = s[:len(s)-3] // the three digits below a millisecond
				if t == Timestamp {
					s += "Z"
				}
				return quote(s)
			}
		}
	}
	return "", false
}

// plainYear holds for days of the years 1 to 9999, which every reader of the
// log writes and reads alike.
func plainYear(days int64) bool { return days >= -719162 && days <= 2932896 }

// cutString shortens a bound to statsStringLength characters. ok is false when
// no text is a safe bound.
func cutString(s string, upper bool) (cut string, ok bool) {
	const tieASCII, tieMax = '\u007f', utf8.MaxRune
	at, n := 0, 0
	for at < len(s) && n < statsStringLength {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 {
			return "", false // JSON cannot hold it as it is
		}
		at += size
		n++
	}
	if at == len(s) {
		return s, true
	}
	if !upper {
		return s[:at], true
	}
	// The text needs a character behind the prefix that is greater than what
	// follows there. Where that is already the greatest one, the prefix grows.
	for ; n < 2*statsStringLength && at < len(s); n++ {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			return "", false
		case r < tieASCII:
			return s[:at] + string(rune(tieASCII)), true
		case r < tieMax:
			return s[:at] + string(rune(tieMax)), true
		}
		at += size
	}
	if at == len(s) {
		return s, true
	}
	return "", false
}
