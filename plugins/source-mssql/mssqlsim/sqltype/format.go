package sqltype

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Format gives the text of a value in a CONVERT style ("Microsoft: CAST and CONVERT (Transact-SQL)") in us_english. Binary values
// have their own rules and are not formatted here.
func Format(v Value, t Type, style int) (string, error) {
	return (*Locale)(nil).Format(v, t, style)
}

// Format gives the text of a value in a CONVERT style, as a session writes it.
func (l *Locale) Format(v Value, t Type, style int) (string, error) {
	switch v.repr {
	case isStr:
		return v.s, nil
	case isInt:
		return strconv.FormatInt(v.n, 10), nil
	case isFloat:
		return formatFloat(v.Float(), t, style)
	case isDec:
		if t.Kind == Money || t.Kind == SmallMoney {
			if style == 0 {
				return FormatDecimal(rescale(v, 2, false)), nil
			}
			if style != 2 {
				return "", Unsupported("CONVERT style %d of %s", style, t)
			}
		}
		return FormatDecimal(v), nil
	case isTime:
		return l.formatTime(v, t, style)
	case isGUID:
		b := []byte(v.s)
		return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
	}
	return "", Unsupported("the text form of %s", t)
}

func formatFloat(f float64, t Type, style int) (string, error) {
	digits := 6
	switch {
	case style == 1:
		digits = 8
	case style == 2:
		digits = 16
	case style == 3 && t.Kind == Real:
		digits = 9
	case style == 3:
		digits = 17
	case style != 0:
		return "", Unsupported("CONVERT style %d of %s", style, t)
	}
	if style == 0 {
		if a := math.Abs(f); a == 0 || a >= 1e-4 && a < 1e6 {
			return strconv.FormatFloat(f, 'g', digits, 64), nil
		}
		s := strconv.FormatFloat(f, 'e', digits-1, 64)
		mant, exp, _ := strings.Cut(s, "e")
		if strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		return fmt.Sprintf("%se%c%03s", mant, exp[0], exp[1:]), nil
	}
	mant, exp, _ := strings.Cut(strconv.FormatFloat(f, 'e', digits-1, 64), "e")
	return fmt.Sprintf("%se%c%03s", mant, exp[0], exp[1:]), nil
}

// fraction gives the digits a type shows after the point.
func fraction(n int64, t Type) string {
	rest := n % TicksPerSecond
	switch t.Kind {
	case DateTime:
		return fmt.Sprintf(".%03d", (rest+5_000)/10_000)
	case SmallDateTime, Date:
		return ""
	}
	if t.Scale == 0 {
		return ""
	}
	return "." + fmt.Sprintf("%07d", rest)[:t.Scale]
}

func (l *Locale) formatTime(v Value, t Type, style int) (string, error) {
	local := v.n + int64(v.off)*TicksPerMinute
	x := TimeOf(local - local%TicksPerSecond)
	frac := fraction(local, t)
	if t.Kind == DateTime && frac == ".1000" {
		return "", Unsupported("a datetime that is no tick")
	}
	off := ""
	if t.Kind == DateTimeOffset {
		o, sign := int(v.off), '+'
		if o < 0 {
			o, sign = -o, '-'
		}
		off = fmt.Sprintf("%c%02d:%02d", sign, o/60, o%60)
	}
	clock := x.Format("15:04:05")
	day := fmt.Sprintf("%04d-%02d-%02d", x.Year(), x.Month(), x.Day())
	switch style {
	case 126, 127:
		if t.Kind == Date {
			return day, nil
		}
		if strings.Trim(frac, ".0") == "" && t.Kind == DateTime {
			frac = "" // style 126 writes no fraction for whole seconds
		} else if strings.Trim(frac, ".0") == "" {
			frac = ""
		}
		if t.Kind == Time {
			return clock + frac, nil
		}
		if style == 127 && t.Kind == DateTimeOffset {
			u := TimeOf(v.n - v.n%TicksPerSecond)
			return u.Format("2006-01-02T15:04:05") + frac + "Z", nil
		}
		return day + "T" + clock + frac + off, nil
	case 120, 20, 121, 21, 25, 0:
		if style == 120 || style == 20 {
			frac = ""
		}
		switch t.Kind {
		case Date:
			return day, nil
		case Time:
			return clock + frac, nil
		case DateTime, SmallDateTime:
			if style == 0 {
				return l.formatDefault(x), nil
			}
			if t.Kind == SmallDateTime && frac == "" && style != 120 && style != 20 {
				frac = ".000"
			}
		case DateTimeOffset:
			return day + " " + clock + frac + " " + off, nil
		}
		return day + " " + clock + frac, nil
	case 23:
		return day, nil
	case 112:
		return strings.ReplaceAll(day, "-", ""), nil
	case 108, 8, 24:
		return clock, nil
	case 114:
		return clock + ":" + strings.TrimPrefix(frac, "."), nil
	}
	return "", Unsupported("CONVERT style %d of %s", style, t)
}

// formatDefault is style 0 of datetime: "Jan  2 2026  3:04PM".
func (l *Locale) formatDefault(x time.Time) string {
	h := x.Hour() % 12
	if h == 0 {
		h = 12
	}
	ap := "AM"
	if x.Hour() >= 12 {
		ap = "PM"
	}
	return fmt.Sprintf("%s %2d %04d %2d:%02d%s", l.Language().ShortMonth(int(x.Month())), x.Day(), x.Year(), h, x.Minute(), ap)
}
