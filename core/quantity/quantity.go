// Package quantity writes how many there are of something for people, in plans,
// messages and reports. It knows nothing of what it counts.
package quantity

import "strconv"

// Grouped is a number with its thousands apart: 2,000,000.
func Grouped[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// Of is a number with its noun, which may have a verb: 1 row, 2,000 rows, 1 table is.
func Of[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}
