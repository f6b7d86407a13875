package deltalog

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Stats are the statistics of one data file (Delta protocol: Per-file
// Statistics).
type Stats struct {
	// NumRecords is the number of rows in the file, deleted ones included; -1
	// when not known.
	NumRecords int64
	// TightBounds is false when bounds may be wider than the live rows.
	TightBounds bool
	// Columns has one entry per leaf column with any statistics. Arrays and maps
	// count as leaves: only their own nulls are counted.
	Columns []ColumnStats
}

// ColumnStats are the statistics of one leaf column.
type ColumnStats struct {
	// Path leads to the leaf by physical names.
	Path []string
	// Type is the leaf's type.
	Type Type
	// Min and Max bound the values; NULL means not known. Max of a float column
	// with a NaN in it is NaN, the greatest of all. Encode cuts strings and
	// timestamps, so bounds that were read may be wider than the values.
	Min, Max Value
	// NullCount is the number of nulls, -1 when not known.
	NullCount int64
}

// ParseStats reads Add.Stats for the columns of a schema. Columns that the
// statistics do not mention are left out; a value that does not fit its type
// counts as not known. The error is for text that is no JSON object.
func ParseStats(text string, schema *Struct) (*Stats, error) {
	var j struct {
		NumRecords  *json.Number               `json:"numRecords"`
		TightBounds *bool                      `json:"tightBounds"`
		MinValues   map[string]json.RawMessage `json:"minValues"`
		MaxValues   map[string]json.RawMessage `json:"maxValues"`
		NullCount   map[string]json.RawMessage `json:"nullCount"`
	}
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	s := &Stats{NumRecords: -1, TightBounds: j.TightBounds == nil || *j.TightBounds}
	if j.NumRecords != nil {
		if n, err := j.NumRecords.Int64(); err == nil && n >= 0 {
			s.NumRecords = n
		}
	}
	s.collect(schema, nil, j.MinValues, j.MaxValues, j.NullCount)
	return s, nil
}

func (s *Stats) collect(schema *Struct, path []string, mins, maxs, nulls map[string]json.RawMessage) {
	for _, f := range schema.Fields {
		name := f.PhysicalName()
		at := append(path[:len(path):len(path)], name)
		if sub, ok := f.Type.(*Struct); ok {
			s.collect(sub, at, object(mins[name]), object(maxs[name]), object(nulls[name]))
			continue
		}
		c := ColumnStats{Path: at, Type: f.Type, NullCount: -1}
		c.Min = parseStat(string(mins[name]), f.Type)
		c.Max = parseStat(string(maxs[name]), f.Type)
		if n, err := strconv.ParseInt(string(nulls[name]), 10, 64); err == nil && n >= 0 {
			c.NullCount = n
		}
		if !c.Min.IsNull() || !c.Max.IsNull() || c.NullCount >= 0 {
			s.Columns = append(s.Columns, c)
		}
	}
}

func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// parseStat reads one bound. What cannot be read is NULL: not known.
func parseStat(raw string, t Type) Value {
	raw = strings.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return Value{}
	}
	text := raw
	quoted := raw[0] == '"'
	if quoted {
		if text = unquote(raw); text == raw {
			return Value{}
		}
	}
	switch t := t.(type) {
	case Decimal:
		if v, err := parseDecimal(text); err == nil {
			return v
		}
	case Primitive:
		switch t {
		case String:
			if quoted {
				return StringValue(text)
			}
		case Long, Integer, Short, Byte:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return IntValue(n)
			}
		case Float, Double:
			// Spark writes NaN and the infinities as strings.
			f, err := strconv.ParseFloat(text, floatBits(t))
			if err == nil || math.IsInf(f, 0) {
				return FloatValue(f)
			}
		case Boolean:
			if text == "true" || text == "false" {
				return BoolValue(text == "true")
			}
		case Date:
			if d, err := parseDate(text); err == nil && quoted {
				return Value{kind: KindDate, num: d}
			}
		case Timestamp, TimestampNTZ:
			if us, err := parseTimestamp(text); err == nil && quoted {
				return TimestampValue(us)
			}
		}
	}
	return Value{}
}

func floatBits(t Primitive) int {
	if t == Float {
		return 32
	}
	return 64
}

// NumRecords is the number of rows in the data file by its statistics, deleted
// ones included; ok is false when they do not say.
func (a *Add) NumRecords() (rows int64, ok bool) {
	raw := scanField(a.Stats, "numRecords")
	n, err := strconv.ParseInt(raw, 10, 64)
	return n, err == nil && n >= 0
}

// LiveRecords is NumRecords less the rows that the deletion vector takes away.
func (a *Add) LiveRecords() (rows int64, ok bool) {
	n, ok := a.NumRecords()
	if a.DeletionVector != nil {
		n -= a.DeletionVector.Cardinality
	}
	return n, ok && n >= 0
}
