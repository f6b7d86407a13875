package mssql

import (
	"database/sql/driver"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// castAppender reads a type as another one by way of its canonical text. The
// cast is strict: what does not fit is an error, never cut or rounded, but for
// digits below a microsecond.
func castAppender(b buffer, from string, to outType) (appendFunc, error) {
	text := canonical(from)
	if text == nil {
		return nil, fmt.Errorf("values of type %s cannot be read as %s", from, to)
	}
	parse := textParser(b, from, to)
	if parse == nil {
		return nil, fmt.Errorf("values of type %s cannot be read as %s", from, to)
	}
	return func(v driver.Value) error {
		s, err := text(v)
		if err != nil {
			return err
		}
		return parse(s)
	}, nil
}

// canonical is the text of values of a type, nil for types without one.
func canonical(from string) func(driver.Value) (string, error) {
	switch from {
	case "BIT":
		return func(v driver.Value) (string, error) {
			x, ok := v.(bool)
			return strconv.FormatBool(x), expect(ok, v, from)
		}
	case "TINYINT", "SMALLINT", "INT", "BIGINT":
		return func(v driver.Value) (string, error) {
			x, ok := v.(int64)
			return strconv.FormatInt(x, 10), expect(ok, v, from)
		}
	case "REAL", "FLOAT":
		bits := 64
		if from == "REAL" {
			bits = 32
		}
		return func(v driver.Value) (string, error) {
			x, ok := v.(float64)
			return strconv.FormatFloat(x, 'g', -1, bits), expect(ok, v, from)
		}
	case "DECIMAL", "MONEY", "SMALLMONEY":
		return func(v driver.Value) (string, error) { x, ok := v.([]byte); return string(x), expect(ok, v, from) }
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML":
		return func(v driver.Value) (string, error) { x, ok := v.(string); return x, expect(ok, v, from) }
	case "UNIQUEIDENTIFIER":
		return func(v driver.Value) (string, error) {
			x, ok := v.([]byte)
			if !ok || len(x) != 16 {
				return "", errKind(v, from)
			}
			return string(appendGUID(nil, x)), nil
		}
	case "DATE":
		return timeText(from, dateLayout)
	case "TIME":
		return func(v driver.Value) (string, error) {
			x, ok := v.(time.Time)
			return string(appendTimeOfDay(nil, x)), expect(ok, v, from)
		}
	case "DATETIME", "SMALLDATETIME", "DATETIME2":
		return timeText(from, "2006-01-02 15:04:05.999999")
	case "DATETIMEOFFSET":
		return func(v driver.Value) (string, error) {
			x, ok := v.(time.Time)
			return x.UTC().Format("2006-01-02 15:04:05.999999"), expect(ok, v, from)
		}
	}
	return nil
}

func timeText(from, layout string) func(driver.Value) (string, error) {
	return func(v driver.Value) (string, error) {
		x, ok := v.(time.Time)
		return x.Format(layout), expect(ok, v, from)
	}
}

func expect(ok bool, v driver.Value, from string) error {
	if ok {
		return nil
	}
	return errKind(v, from)
}

// textParser appends what a text says, nil for types that have no text form.
func textParser(b buffer, from string, to outType) func(string) error {
	misfit := func(s string) error { return fmt.Errorf("%s cannot be read as %s", quoteShort(from, s), to) }
	switch b := b.(type) {
	case *bytesBuffer:
		if to.kind != kindString {
			return nil
		}
		return func(s string) error { b.appendString(s); return nil }
	case *boolBuffer:
		return func(s string) error {
			switch strings.ToLower(strings.TrimSpace(s)) {
			case "true", "1", "t", "y", "yes":
				b.append(true)
			case "false", "0", "f", "n", "no":
				b.append(false)
			default:
				return misfit(s)
			}
			return nil
		}
	case *fixedBuffer[int16]:
		return parseInteger(16, misfit, func(n int64) { b.append(int16(n)) })
	case *fixedBuffer[int32]:
		return parseInteger(32, misfit, func(n int64) { b.append(int32(n)) })
	case *fixedBuffer[int64]:
		return parseInteger(64, misfit, func(n int64) { b.append(n) })
	case *fixedBuffer[float32]:
		return parseFloat(32, misfit, func(f float64) { b.append(float32(f)) })
	case *fixedBuffer[float64]:
		return parseFloat(64, misfit, func(f float64) { b.append(f) })
	case *fixedBuffer[decimal128.Num]:
		return func(s string) error {
			n, err := parseDecimal(strings.TrimSpace(s), to.precision, to.scale)
			if err != nil {
				return err
			}
			b.append(n)
			return nil
		}
	case *fixedBuffer[arrow.Date32]:
		return func(s string) error {
			t, err := time.Parse(dateLayout, strings.TrimSpace(s))
			if err != nil {
				return misfit(s)
			}
			b.append(arrow.Date32(days(t)))
			return nil
		}
	case *fixedBuffer[arrow.Timestamp]:
		return func(s string) error {
			t, ok := parseTimestamp(strings.TrimSpace(s), to.kind == kindTimestamp)
			if !ok {
				return misfit(s)
			}
			b.append(arrow.Timestamp(t.UnixMicro()))
			return nil
		}
	}
	return nil
}

// parseInteger accepts a decimal's text too when its fraction is zero.
func parseInteger(bits int, misfit func(string) error, use func(int64)) func(string) error {
	return func(s string) error {
		whole, fraction, _ := strings.Cut(strings.TrimSpace(s), ".")
		n, err := strconv.ParseInt(whole, 10, bits)
		if err != nil || strings.Trim(fraction, "0") != "" {
			return misfit(s)
		}
		use(n)
		return nil
	}
}

func parseFloat(bits int, misfit func(string) error, use func(float64)) func(string) error {
	return func(s string) error {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), bits)
		if err != nil {
			return misfit(s)
		}
		use(f)
		return nil
	}
}

// offsetForm is the text that SQL Server gives a datetimeoffset.
var offsetForm = regexp.MustCompile(`\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,7})? [+-]\d\d:\d\d\z`)

// parseTimestamp reads ISO 8601 text; an offset only where one has a meaning.
func parseTimestamp(s string, zoned bool) (time.Time, bool) {
	if zoned && offsetForm.MatchString(s) {
		t, err := time.Parse("2006-01-02 15:04:05 -07:00", s)
		return t, err == nil
	}
	layouts := []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", dateLayout}
	if zoned {
		layouts = append(layouts, time.RFC3339)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// quoteShort is what sort of value it is, and of a text how long, never what it
// says: values of rows do not belong into messages.
func quoteShort(from, s string) string {
	switch from {
	case "CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "NTEXT", "XML":
		return fmt.Sprintf("a text of %d characters", len([]rune(s)))
	}
	return "a value of type " + strings.ToLower(from)
}
