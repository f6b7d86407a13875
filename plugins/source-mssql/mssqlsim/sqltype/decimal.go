package sqltype

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

var pows = func() (p [77]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

func pow10(n uint8) *big.Int { return pows[n] }

// ParseDecimal reads digits with an optional sign and point.
func ParseDecimal(s string) (Value, bool) {
	s = strings.TrimSpace(s)
	scale := 0
	if i := strings.IndexByte(s, '.'); i >= 0 {
		scale = len(s) - i - 1
		s = s[:i] + s[i+1:]
	}
	if s == "" || s == "-" || s == "+" || scale > 76 {
		return Value{}, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return FromScaled(n, uint8(scale)), true
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return Value{}, false
	}
	return FromBig(n, uint8(scale)), true
}

// leadingBlanks are what may come before a number in a text; behind it are blanks alone. (Measured by others: "IsNumeric != IsNumber",
// louiebao.net, where a tab, a line feed or a carriage return in front of a digit is numeric and one behind it is not; "An overview of the
// SQL Server ISNUMERIC function", sqlshack.com, for each alone.)
const leadingBlanks = " \t\n\v\f\r"

// numberText takes off what may stand around a number, and the blanks between its sign and its digits.
func numberText(s string) string {
	s = strings.TrimRight(strings.TrimLeft(s, leadingBlanks), " ")
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + strings.TrimLeft(s[1:], " ")
	}
	return s
}

// integerText gives a sign and digits, and whether there is nothing else; a sign alone is the number 0, and so is nothing.
func integerText(s string) (string, bool) {
	s = numberText(s)
	if s == "+" || s == "-" {
		return "", true
	}
	digits := strings.TrimLeft(s, "0123456789")
	if s != "" && (s[0] == '+' || s[0] == '-') {
		digits = strings.TrimLeft(s[1:], "0123456789")
	}
	return s, digits == ""
}

// moneyText takes out of an amount what is no number: a currency sign, commas, and parentheses that mean less than zero
// ("Microsoft: money and smallmoney (Transact-SQL)").
func moneyText(s string) string {
	sign := ""
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		sign, s = "-", s[1:len(s)-1]
	}
	for _, c := range []string{"-", "+", "$", "£", "€", "¥", "¢", "¤", "\\"} {
		if rest, ok := strings.CutPrefix(s, c); ok {
			if c == "-" {
				sign = "-"
			}
			s = rest
		}
	}
	for _, c := range []string{"$", "-", "+"} { // $-5 as well as -$5
		if rest, ok := strings.CutPrefix(s, c); ok && sign == "" {
			if c == "-" {
				sign = "-"
			}
			s = rest
		}
	}
	if s = strings.ReplaceAll(s, ",", ""); s == "" || s == "." {
		s = "0"
	}
	return sign + s
}

// parseFloat reads a float as SQL Server writes one down: digits, a point, and an exponent behind e or d. Blanks are 0.
func parseFloat(s string) (float64, error) {
	s = strings.ToLower(strings.TrimRight(strings.TrimLeft(s, leadingBlanks), " "))
	if s == "" {
		return 0, nil
	}
	if strings.Trim(s, "+-.0123456789ed") != "" {
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(strings.Replace(s, "d", "e", 1), 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return f, nil // an overflow for the caller
	}
	return f, err
}

// FormatDecimal writes a decimal with all digits of its scale.
func FormatDecimal(v Value) string {
	n := v.Big()
	s := new(big.Int).Abs(n).String()
	if len(s) <= int(v.scale) {
		s = strings.Repeat("0", int(v.scale)-len(s)+1) + s
	}
	if v.scale > 0 {
		s = s[:len(s)-int(v.scale)] + "." + s[len(s)-int(v.scale):]
	}
	if n.Sign() < 0 {
		s = "-" + s
	}
	return s
}

func rescaleExact(v Value, scale uint8) Value {
	if scale <= v.scale {
		return v
	}
	return FromBig(scaledBig(v, scale), scale)
}

// rescale brings a decimal to a scale, rounding half away from zero, or cutting when trunc is set.
func rescale(v Value, scale uint8, trunc bool) Value {
	if v.scale == scale {
		return v
	}
	if scale > v.scale {
		if v.s == "" && scale-v.scale <= 18 {
			if n, ok := mul64(v.n, pows[scale-v.scale].Int64()); ok {
				return FromScaled(n, scale)
			}
		}
		return FromBig(scaledBig(v, scale), scale)
	}
	p := pow10(v.scale - scale)
	n := v.Big()
	if !trunc {
		half := new(big.Int).Rsh(p, 1)
		if n.Sign() < 0 {
			half.Neg(half)
		}
		n.Add(n, half)
	}
	return FromBig(n.Quo(n, p), scale)
}

func mul64(a, b int64) (int64, bool) {
	c := a * b
	if a != 0 && (c/a != b || a == -1 && b == -1<<63) {
		return 0, false
	}
	return c, true
}

// fits tells whether a decimal has at most p digits.
func fits(v Value, p uint8) bool {
	if v.s == "" && p >= 19 {
		return true
	}
	return new(big.Int).Abs(v.Big()).Cmp(pow10(p)) < 0
}

// fitsType tells whether a decimal of the type's scale is one of the type: money is a number of 64 bits, smallmoney of 32.
func fitsType(v Value, t Type) bool {
	switch t.Kind {
	case Money:
		return v.s == ""
	case SmallMoney:
		return v.s == "" && v.n == int64(int32(v.n))
	}
	return fits(v, t.AsDecimal().Prec)
}

// exact gives any exact number as a decimal.
func exact(v Value) Value {
	if v.repr == isInt {
		return FromScaled(v.n, 0)
	}
	return v
}

// toFloat gives any number as a float.
func toFloat(v Value) float64 {
	switch v.repr {
	case isFloat:
		return v.Float()
	case isInt:
		return float64(v.n)
	}
	f, _ := new(big.Rat).SetFrac(v.Big(), pow10(v.scale)).Float64()
	return f
}

// toInt cuts a number to an integer.
func toInt(v Value) (int64, bool) {
	switch v.repr {
	case isInt:
		return v.n, true
	case isFloat:
		f := v.Float()
		if f != f || f >= 9.223372036854775e18 || f <= -9.223372036854775e18 {
			return 0, false
		}
		return int64(f), true
	}
	n := new(big.Int).Quo(v.Big(), pow10(v.scale))
	return n.Int64(), n.IsInt64()
}
