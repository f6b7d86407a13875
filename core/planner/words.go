package planner

import "strconv"

// grouped prints a number with thousands separated: 2,000,000.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
