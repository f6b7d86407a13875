package sqltype

import (
	"math"
	"strings"
	"time"
)

// epoch1900 is 1900-01-01, the zero of datetime.
var epoch1900 = TicksOf(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC))

var (
	minDateTime = TicksOf(time.Date(1753, 1, 1, 0, 0, 0, 0, time.UTC))
	endOfTime   = TicksOf(time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC))
)

var scaleTicks = [8]int64{10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1}

// fitTime brings ticks to what a type can hold. Conversions between types round, as documented for each type
// ("Microsoft: datetime2 (Transact-SQL)" and its neighbours).
func fitTime(n int64, to Type) (int64, error) {
	switch to.Kind {
	case Date:
		return n - n%TicksPerDay, nil
	case Time:
		n %= TicksPerDay
		u := scaleTicks[to.Scale]
		n = (n + u/2) / u * u
		if n >= TicksPerDay { // rounds over midnight
			n = 0
		}
		return epoch1900 + n, nil
	case SmallDateTime:
		n = (n + 30*TicksPerSecond) / TicksPerMinute * TicksPerMinute
		if n < epoch1900 || n >= epoch1900+65536*TicksPerDay {
			return 0, Errorf(242, "The conversion of a datetime data type to a smalldatetime data type resulted in an out-of-range value.")
		}
		return n, nil
	case DateTime:
		n = DateTimeTicks(n)
		if n < minDateTime || n > endOfTime {
			return 0, Errorf(242, "The conversion of a datetime2 data type to a datetime data type resulted in an out-of-range value.")
		}
		return n, nil
	}
	u := scaleTicks[to.Scale]
	m := (n + u/2) / u * u
	if m > endOfTime {
		m = n / u * u
	}
	return m, nil
}

func toTime(v Value, from, to Type, style int) (Value, error) {
	switch v.repr {
	case isTime:
		if from.Kind == Time && to.Kind == Date || from.Kind == Date && to.Kind == Time {
			return Value{}, noConversion(from, to)
		}
		n := v.n
		if from.Kind == DateTimeOffset {
			if to.Kind == DateTimeOffset {
				m, err := fitTime(n, to)
				return FromTicksOffset(m, int(v.off)), err
			}
			n += int64(v.off) * TicksPerMinute
		}
		m, err := fitTime(n, to)
		return FromTicks(m), err
	case isStr:
		n, off, ok := parseTime(v.s)
		if !ok {
			return Value{}, Errorf(241, "Conversion failed when converting date and/or time from character string.")
		}
		if to.Kind == DateTimeOffset {
			m, err := fitTime(n-int64(off)*TicksPerMinute, to)
			return FromTicksOffset(m, off), err
		}
		if to.Kind == DateTime && n < minDateTime {
			return Value{}, Errorf(242, "The conversion of a %s data type to a datetime data type resulted in an out-of-range value.", from.Kind)
		}
		m, err := fitTime(n, to)
		return FromTicks(m), err
	case isInt, isDec, isFloat:
		if to.Kind != DateTime && to.Kind != SmallDateTime {
			return Value{}, noConversion(from, to)
		}
		n, err := fitTime(epoch1900+int64(math.Round(toFloat(v)*TicksPerDay)), to)
		return FromTicks(n), err
	}
	return Value{}, noConversion(from, to)
}

// parseTime reads the forms that do not depend on DATEFORMAT or language: ISO 8601, ODBC canonical and the
// unseparated day, each with or without time and offset. The ticks are those the text's clock shows.
func parseTime(s string) (ticks int64, off int, ok bool) {
	s = strings.TrimSpace(s)
	p := timeText{s: s}
	y, m, d := 1900, 1, 1
	dated := false
	switch {
	case len(s) >= 8 && p.digits(8) && (len(s) == 8 || s[8] == ' ' || s[8] == 'T'):
		y, m, d = atoi(s[:4]), atoi(s[4:6]), atoi(s[6:8])
		p.s, dated = s[8:], true
	case len(s) >= 10 && (s[4] == '-' || s[4] == '/') && s[7] == s[4]:
		if !allDigits(s[:4]) || !allDigits(s[5:7]) || !allDigits(s[8:10]) {
			return 0, 0, false
		}
		y, m, d = atoi(s[:4]), atoi(s[5:7]), atoi(s[8:10])
		p.s, dated = s[10:], true
	}
	if y < 1 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, 0, false
	}
	day := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	if day.Day() != d {
		return 0, 0, false
	}
	ticks = TicksOf(day)
	if p.s == "" {
		return ticks, 0, dated
	}
	if dated {
		if p.s[0] != ' ' && p.s[0] != 'T' {
			return 0, 0, false
		}
		p.s = p.s[1:]
	}
	n, ok := p.clock()
	if !ok {
		return 0, 0, false
	}
	off, ok = p.offset()
	return ticks + n, off, ok
}

type timeText struct{ s string }

func (p *timeText) digits(n int) bool { return len(p.s) >= n && allDigits(p.s[:n]) }

func (p *timeText) clock() (int64, bool) {
	if !p.digits(2) || len(p.s) < 5 || p.s[2] != ':' || !allDigits(p.s[3:5]) {
		return 0, false
	}
	h, m, sec, frac := atoi(p.s[:2]), atoi(p.s[3:5]), 0, int64(0)
	p.s = p.s[5:]
	if len(p.s) >= 3 && p.s[0] == ':' && allDigits(p.s[1:3]) {
		sec = atoi(p.s[1:3])
		p.s = p.s[3:]
		if p.s != "" && p.s[0] == '.' {
			p.s = p.s[1:]
			unit := int64(TicksPerSecond)
			i := 0
			for ; i < len(p.s) && p.s[i] >= '0' && p.s[i] <= '9'; i++ {
				unit /= 10
				frac += int64(p.s[i]-'0') * unit
			}
			if i == 0 || i > 9 {
				return 0, false
			}
			p.s = p.s[i:]
		}
	}
	if h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	return int64(h*3600+m*60+sec)*TicksPerSecond + frac, true
}

func (p *timeText) offset() (int, bool) {
	s := strings.TrimSpace(p.s)
	if s == "" || s == "Z" {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' || !allDigits(s[1:3]) || !allDigits(s[4:]) {
		return 0, false
	}
	n := atoi(s[1:3])*60 + atoi(s[4:])
	if n > 14*60 {
		return 0, false
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
