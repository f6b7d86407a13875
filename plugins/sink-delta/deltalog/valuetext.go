package deltalog

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// formatFloat writes a float as Spark does in statistics and partition values:
// shortest digits that read back, special values by name.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// formatDecimal writes a decimal with all the digits of its scale.
func formatDecimal(v Value) string {
	n, scale := v.Decimal()
	if scale <= 0 {
		return n.Mul(n, pow10(-scale)).String()
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
		n.Neg(n)
	}
	digits := n.String()
	if pad := int(scale) + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	point := len(digits) - int(scale)
	return sign + digits[:point] + "." + digits[point:]
}

// maxExponent bounds the digits on either side of the point of decimals that
// are read: a column holds 38, a double written out 309, and a hostile exponent
// must not cost memory.
const maxExponent = 400

// parseDecimal reads a decimal in plain or scientific form (Spark writes
// -1E-10 for small ones).
func parseDecimal(text string) (Value, error) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		if err != nil || e > maxExponent || e < -maxExponent {
			return Value{}, fmt.Errorf("%q is no decimal number", text)
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimPrefix(whole, "+") + fraction
	if len(whole)+exponent > maxExponent || len(fraction)-exponent > maxExponent || len(digits) > 2*maxExponent || strings.Trim(strings.TrimPrefix(digits, "-"), "0123456789") != "" {
		return Value{}, fmt.Errorf("%q is no decimal number", text)
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return Value{}, fmt.Errorf("%q is no decimal number", text)
	}
	scale := len(fraction) - exponent
	if scale < 0 {
		n.Mul(n, pow10(int32(-scale)))
		scale = 0
	}
	return DecimalValue(n, int32(scale)), nil
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

func formatDate(days int64) string {
	return formatYear(time.Unix(days*86400, 0).UTC())
}

func formatYear(t time.Time) string {
	y, m, d := t.Date()
	if y < 0 {
		return fmt.Sprintf("-%04d-%02d-%02d", -y, m, d)
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

// parseDate reads year-month-day; years may have a sign and more than four
// digits.
func parseDate(text string) (days int64, err error) {
	rest, negative := strings.CutPrefix(text, "-")
	rest = strings.TrimPrefix(rest, "+")
	parts := strings.Split(rest, "-")
	if len(parts) != 3 {
		return 0, fmt.Errorf("%q is no date", text)
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 24)
		if err != nil || p == "" {
			return 0, fmt.Errorf("%q is no date", text)
		}
		n[i] = int(v)
	}
	if negative {
		n[0] = -n[0]
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], 0, 0, 0, 0, time.UTC)
	if y, m, d := t.Date(); y != n[0] || int(m) != n[1] || d != n[2] {
		return 0, fmt.Errorf("%q is no date", text)
	}
	return floorDiv(t.Unix(), 86400), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func formatTimestamp(micros int64) string {
	day := floorDiv(micros, microsPerDay)
	rest := micros - day*microsPerDay
	return formatDate(day) + "T" + formatClock(rest)
}

// formatClock writes microseconds of a day with six fraction digits.
func formatClock(micros int64) string {
	s := micros / 1_000_000
	return fmt.Sprintf("%02d:%02d:%02d.%06d", s/3600, s/60%60, s%60, micros%1_000_000)
}

// parseTimestamp reads every form that writers of the log use: a space or a T
// between date and time, any number of fraction digits, an offset or Z or
// nothing, which means UTC. It cuts below a microsecond.
func parseTimestamp(text string) (micros int64, err error) {
	bad := func() (int64, error) { return 0, fmt.Errorf("%q is no timestamp", text) }
	sep := strings.IndexAny(text, "T ")
	datePart, clock := text, ""
	if sep >= 0 {
		datePart, clock = text[:sep], text[sep+1:]
	}
	days, err := parseDate(datePart)
	if err != nil {
		return bad()
	}
	var rest, offset int64
	if clock != "" {
		if c, ok := strings.CutSuffix(clock, "Z"); ok {
			clock = c
		} else if i := strings.LastIndexAny(clock, "+-"); i >= 0 {
			if offset, err = parseOffset(clock[i:]); err != nil {
				return bad()
			}
			clock = clock[:i]
		}
		if rest, err = parseClock(clock); err != nil {
			return bad()
		}
	}
	if days > math.MaxInt64/microsPerDay-2 || days < math.MinInt64/microsPerDay+2 {
		return bad()
	}
	return days*microsPerDay + rest - offset, nil
}

func parseOffset(text string) (micros int64, err error) {
	digits := strings.ReplaceAll(text[1:], ":", "")
	if len(digits) != 2 && len(digits) != 4 {
		return 0, fmt.Errorf("%q is no offset", text)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return 0, err
	}
	if len(digits) == 2 {
		n *= 100
	}
	micros = int64(n/100*3600+n%100*60) * 1_000_000
	if text[0] == '-' {
		return -micros, nil
	}
	return micros, nil
}

func parseClock(text string) (micros int64, err error) {
	whole, fraction, hasFraction := strings.Cut(text, ".")
	parts := strings.Split(whole, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	limits := [3]uint64{23, 59, 59}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || n > limits[i] {
			return 0, fmt.Errorf("%q is no time", text)
		}
		micros = micros*60 + int64(n)
	}
	if len(parts) == 2 {
		micros *= 60
	}
	micros *= 1_000_000
	if hasFraction {
		if len(fraction) > 6 {
			if strings.Trim(fraction[6:], "0123456789") != "" {
				return 0, fmt.Errorf("%q is no time", text)
			}
			fraction = fraction[:6]
		}
		n, err := strconv.ParseUint(fraction+strings.Repeat("0", 6-len(fraction)), 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is no time", text)
		}
		micros += int64(n)
	}
	return micros, nil
}
