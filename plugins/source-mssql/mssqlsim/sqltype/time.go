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
		const ms = TicksPerSecond / 1000
		if seconds := n % TicksPerMinute; seconds > 29_998*ms && seconds < 29_999*ms {
			return 0, Unsupported("a time between 29.998 and 29.999 seconds as smalldatetime, which Microsoft's page rounds neither up nor down")
		}
		n = SmallDateTimeTicks(n)
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

func (l *Locale) toTime(v Value, from, to Type, style int) (Value, error) {
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
		n, off, err := l.readDate(v.s, from, to, style)
		if err != nil {
			return Value{}, err
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
		days := toFloat(v)
		n, err := int64(0), error(nil)
		if math.Abs(days) < 1e7 {
			n, err = fitTime(DateTimeTicks(epoch1900+int64(math.Round(days*TicksPerDay))), to)
		}
		if err != nil || math.Abs(days) >= 1e7 {
			return Value{}, Errorf(8115, "Arithmetic overflow error converting expression to data type %s.", to.Kind)
		}
		return FromTicks(n), nil
	}
	return Value{}, noConversion(from, to)
}

// timeText reads the time behind a day: 14:30, 14:30:20, 14:30:20.9999999, 14:30:20:999, 2:30 PM, 2PM.
type timeText struct {
	s      string
	digits int // that a second may have
}

func (p *timeText) number(most int) (n int, ok bool) {
	k := digitsOf(p.s)
	if k == 0 || k > most {
		return 0, false
	}
	n, p.s = atoi(p.s[:k]), p.s[k:]
	return n, true
}

func (p *timeText) sign(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *timeText) clock() (int64, bool) {
	h, ok := p.number(2)
	if !ok {
		return 0, false
	}
	var m, sec int
	var frac int64
	colon := p.sign(':')
	if colon {
		if m, ok = p.number(2); !ok {
			return 0, false
		}
		if p.sign(':') {
			if sec, ok = p.number(2); !ok {
				return 0, false
			}
			if frac, ok = p.fraction(); !ok {
				return 0, false
			}
		}
	}
	if clockWord(strings.TrimLeft(p.s, " ")) {
		p.s = strings.TrimLeft(p.s, " ")
		after := strings.EqualFold(p.s[:2], "pm")
		p.s = p.s[2:]
		if h > 12 && !after || h == 0 && after {
			return 0, false
		}
		if h == 12 && !after {
			h = 0
		}
		if h < 12 && after {
			h += 12
		}
	} else if !colon {
		return 0, false
	}
	if h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	return int64(h*3600+m*60+sec)*TicksPerSecond + frac, true
}

// fraction reads digits behind a point, or thousandths behind a colon.
func (p *timeText) fraction() (frac int64, ok bool) {
	thousandths := p.sign(':')
	if !thousandths && !p.sign('.') {
		return 0, true
	}
	n := digitsOf(p.s)
	if n == 0 || n > p.digits || thousandths && n > 3 {
		return 0, false
	}
	digits := p.s[:n]
	p.s = p.s[n:]
	if thousandths {
		return int64(atoi(digits)) * TicksPerSecond / 1000, true
	}
	unit := int64(TicksPerSecond)
	for i := range len(digits) {
		unit /= 10
		frac += int64(digits[i]-'0') * unit
	}
	return frac, true
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
