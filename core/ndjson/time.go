package ndjson

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

func timestampAppender(a *array.Timestamp) (appendFunc, error) {
	t := a.DataType().(*arrow.TimestampType)
	if err := checkType(t); err != nil {
		return nil, err
	}
	perUnit := int64(microsPerSecond)
	switch t.Unit {
	case arrow.Millisecond:
		perUnit = 1000
	case arrow.Microsecond:
		perUnit = 1
	}
	zoned := t.TimeZone != ""
	return func(dst []byte, i int) ([]byte, error) {
		dst = appendMicros(append(dst, '"'), int64(a.Value(i))*perUnit)
		if zoned {
			dst = append(dst, 'Z')
		}
		return append(dst, '"'), nil
	}, nil
}

// appendMicros writes microseconds since 1970-01-01T00:00:00 with six digits of fraction.
func appendMicros(dst []byte, us int64) []byte {
	day, rest := us/microsPerDay, us%microsPerDay
	if rest < 0 {
		day, rest = day-1, rest+microsPerDay
	}
	dst = append(appendDate(dst, day), 'T')
	secs := rest / microsPerSecond
	dst = append(appendPadded(dst, secs/3600, 2), ':')
	dst = append(appendPadded(dst, secs/60%60, 2), ':')
	dst = append(appendPadded(dst, secs%60, 2), '.')
	return appendPadded(dst, rest%microsPerSecond, 6)
}

// appendDate writes the proleptic Gregorian date of a day counted from 1970-01-01. Years before 0
// have a minus sign, as in ISO 8601.
func appendDate(dst []byte, day int64) []byte {
	// Days from 0000-03-01, in eras of 400 years of 146097 days, so that the leap day is the last
	// day of a year and the arithmetic needs no table.
	day += 719_468
	era := day / 146_097
	if day < 0 {
		era = (day - 146_096) / 146_097
	}
	doe := day - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	month := mp + 3
	year := yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	}
	dst = append(appendPadded(dst, year, 4), '-')
	dst = append(appendPadded(dst, month, 2), '-')
	return appendPadded(dst, doy-(153*mp+2)/5+1, 2)
}

// appendPadded writes v, not negative, with at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	for limit := pow10(width - 1); limit > 1 && v < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, v, 10)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
