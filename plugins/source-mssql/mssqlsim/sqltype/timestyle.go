package sqltype

import (
	"fmt"
	"strings"
	"time"
)

// A style of CONVERT from dates and times to text is a day and a clock ("Microsoft: CAST and CONVERT (Transact-SQL)",
// Date and time styles).
type dayForm func(t time.Time, lang *Language) string

// How a style writes the clock.
type clockForm uint8

const (
	noClock      clockForm = iota
	halfMinutes            // 2:07PM
	halfFraction           // 2:07:09:123PM
	halfSeconds            // 2:07:09 PM
	seconds                // 14:07:09
	fractions              // 14:07:09.123
	colon                  // 14:07:09:123
)

type timeStyle struct {
	day   dayForm
	clock clockForm
}

// layout is a form in Go's words; Jan stands for the short name of the month.
func layout(s string) dayForm {
	before, after, named := strings.Cut(s, "Jan")
	return func(t time.Time, lang *Language) string {
		if !named {
			return t.Format(s)
		}
		return t.Format(before) + lang.ShortMonth(int(t.Month())) + t.Format(after)
	}
}

func words(t time.Time, lang *Language) string {
	return fmt.Sprintf("%s %2d %04d", lang.ShortMonth(int(t.Month())), t.Day(), t.Year())
}

func isoDay(t time.Time, _ *Language) string { return iso(t) }

func iso(t time.Time) string { return fmt.Sprintf("%04d-%02d-%02d", t.Year(), t.Month(), t.Day()) }

var timeStyles = map[int]timeStyle{
	1: {layout("01/02/06"), noClock}, 101: {layout("01/02/2006"), noClock},
	2: {layout("06.01.02"), noClock}, 102: {layout("2006.01.02"), noClock},
	3: {layout("02/01/06"), noClock}, 103: {layout("02/01/2006"), noClock},
	4: {layout("02.01.06"), noClock}, 104: {layout("02.01.2006"), noClock},
	5: {layout("02-01-06"), noClock}, 105: {layout("02-01-2006"), noClock},
	6: {layout("02 Jan 06"), noClock}, 106: {layout("02 Jan 2006"), noClock},
	7: {layout("Jan 02, 06"), noClock}, 107: {layout("Jan 02, 2006"), noClock},
	10: {layout("01-02-06"), noClock}, 110: {layout("01-02-2006"), noClock},
	11: {layout("06/01/02"), noClock}, 111: {layout("2006/01/02"), noClock},
	12: {layout("060102"), noClock}, 112: {layout("20060102"), noClock},
	23: {isoDay, noClock},
	8:  {nil, seconds}, 108: {nil, seconds}, 24: {nil, seconds},
	14: {nil, colon}, 114: {nil, colon},
	100: {words, halfMinutes},
	9:   {words, halfFraction}, 109: {words, halfFraction},
	13: {layout("02 Jan 2006"), colon}, 113: {layout("02 Jan 2006"), colon},
	20: {isoDay, seconds}, 120: {isoDay, seconds},
	21: {isoDay, fractions}, 121: {isoDay, fractions}, 25: {isoDay, fractions},
	22: {layout("01/02/06"), halfSeconds},
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
	old := t.Kind == DateTime || t.Kind == SmallDateTime
	switch style {
	case 0: // CAST, or no style
		style = 121
		if old {
			style = 100
		}
	case 126, 127:
		return formatISO(v, t, x, frac, off, style), nil
	case 130, 131:
		return "", Unsupported("CONVERT style %d, which counts in the Hijri calendar", style)
	}
	s, ok := timeStyles[style]
	if !ok {
		return "", Errorf(281, "%d is not a valid style number when converting from %s to a character string.", style, t.Kind)
	}
	if t.Kind == Date && s.day == nil || t.Kind == Time && s.clock == noClock {
		return "", Unsupported("CONVERT style %d of %s", style, t)
	}
	if t.Kind == DateTimeOffset && s.day == nil {
		return "", Unsupported("CONVERT style %d of %s", style, t)
	}
	var out strings.Builder
	if s.day != nil && t.Kind != Time {
		out.WriteString(s.day(x, l.Language()))
	}
	if s.clock == noClock || t.Kind == Date {
		return out.String(), nil
	}
	alone := out.Len() == 0
	if !alone {
		out.WriteByte(' ')
	}
	out.WriteString(formatClock(x, s.clock, frac, t, alone))
	if off != "" {
		out.WriteString(" " + off)
	}
	return out.String(), nil
}

// formatISO is styles 126 and 127, which write no fraction for whole seconds.
func formatISO(v Value, t Type, x time.Time, frac, off string, style int) string {
	if t.Kind == Date {
		return iso(x)
	}
	if strings.Trim(frac, ".0") == "" {
		frac = ""
	}
	clock := x.Format("15:04:05") + frac
	switch {
	case t.Kind == Time:
		return clock
	case style == 127 && t.Kind == DateTimeOffset:
		return TimeOf(v.n-v.n%TicksPerSecond).Format("2006-01-02T15:04:05") + frac + "Z"
	}
	return iso(x) + "T" + clock + off
}

// formatClock writes the clock. The types that came with SQL Server 2008 put a point before the fraction in every style.
func formatClock(x time.Time, form clockForm, frac string, t Type, alone bool) string {
	if t.Kind == SmallDateTime {
		frac = ".000"
	}
	if (form == colon || form == halfFraction) && (t.Kind == DateTime || t.Kind == SmallDateTime) {
		frac = ":" + strings.TrimPrefix(frac, ".")
	}
	switch form {
	case seconds:
		return x.Format("15:04:05")
	case fractions, colon:
		return x.Format("15:04:05") + frac
	}
	h := (x.Hour()+11)%12 + 1
	half := "AM"
	if x.Hour() >= 12 {
		half = "PM"
	}
	hour := fmt.Sprintf("%2d", h)
	if alone {
		hour = fmt.Sprint(h)
	}
	switch form {
	case halfMinutes:
		return fmt.Sprintf("%s:%02d%s", hour, x.Minute(), half)
	case halfSeconds:
		return fmt.Sprintf("%s:%02d:%02d %s", hour, x.Minute(), x.Second(), half)
	}
	return fmt.Sprintf("%s:%02d:%02d%s%s", hour, x.Minute(), x.Second(), frac, half)
}
