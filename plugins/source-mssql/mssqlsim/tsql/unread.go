package tsql

import (
	"regexp"
	"strings"
)

// What else the parser (teesql v1.1.0) does not read: a number that begins with its point, and ANY and ALL.

// wholeNumbers writes .5 as 0.5.
func wholeNumbers(sql string) string {
	if !barePoint(sql) {
		return sql
	}
	toks := tokens(sql)
	var b strings.Builder
	for i, t := range toks {
		if t.text == "." && i > 0 && i+1 < len(toks) && digit(toks[i+1].text[0]) && (toks[i-1].blank || strings.Contains("(,+-*/%=<>", toks[i-1].text)) {
			b.WriteByte('0')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// barePoint tells whether a point stands before a digit and behind what is no part of a number or name, be it in a text.
func barePoint(sql string) bool {
	for i := 1; i+1 < len(sql); i++ {
		if sql[i] == '.' && digit(sql[i+1]) && strings.IndexByte(" \t\r\n(,+-*/%=<>", sql[i-1]) >= 0 {
			return true
		}
	}
	return false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

var quantified = regexp.MustCompile(`(?i)[=<>]\s*(any|all|some)\s*\(\s*select\b`)
