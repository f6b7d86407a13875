package sqltype

import (
	"fmt"
	"strconv"
	"strings"
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
			return formatMoney(v, t, style)
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
		if f == 0 {
			return "0", nil
		}
		s := strconv.FormatFloat(f, 'e', digits-1, 64)
		mant, exp, _ := strings.Cut(s, "e")
		if n, err := strconv.Atoi(exp); err == nil && n >= -4 && n < digits {
			s = strconv.FormatFloat(f, 'f', digits-1-n, 64)
			if strings.Contains(s, ".") {
				s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
			}
			return s, nil
		}
		if strings.Contains(mant, ".") {
			mant = strings.TrimRight(strings.TrimRight(mant, "0"), ".")
		}
		return fmt.Sprintf("%se%c%03s", mant, exp[0], exp[1:]), nil
	}
	mant, exp, _ := strings.Cut(strconv.FormatFloat(f, 'e', digits-1, 64), "e")
	return fmt.Sprintf("%se%c%03s", mant, exp[0], exp[1:]), nil
}

// formatMoney writes an amount with two decimals, with commas too (1), or with all four decimals (2, 126).
func formatMoney(v Value, t Type, style int) (string, error) {
	switch style {
	case 0:
		return FormatDecimal(rescale(v, 2, false)), nil
	case 2, 126:
		return FormatDecimal(rescale(v, 4, false)), nil
	case 1:
		s := FormatDecimal(rescale(v, 2, false))
		sign := ""
		if s[0] == '-' {
			sign, s = "-", s[1:]
		}
		for i := len(s) - 6; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
		return sign + s, nil
	}
	return "", Unsupported("CONVERT style %d of %s", style, t)
}
