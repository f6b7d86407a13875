package tsql

import (
	"regexp"
	"strings"
)

// What else the parser (teesql v1.1.0) does not read: a number that begins with its point, lines that
// go on, and ANY and ALL.

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

// continued joins the parts of a text or a binary number that are on several lines, each but the last with a backslash at its end, and
// puts the ends of these lines behind it (Microsoft: Backslash (Line Continuation) (Transact-SQL)).
func continued(sql string) string {
	if !strings.Contains(sql, "\\\n") && !strings.Contains(sql, "\\\r\n") {
		return sql
	}
	var b strings.Builder
	rest := sql
	for rest != "" {
		var t token
		cut(rest, func(first token) bool { t = first; return false })
		rest = rest[len(t.text):]
		if hexadecimal(t.text) {
			for more := afterBackslash(rest); more != "" && hexDigit(more[0]); more = afterBackslash(rest) {
				cut(more, func(first token) bool { t.text += "\\\n" + first.text; rest = more[len(first.text):]; return false })
			}
		}
		if whole := lineEnds.ReplaceAllString(t.text, ""); !t.blank && whole != t.text && (t.text[0] == '\'' || t.text[0] == '"' || t.text[0] == '0') {
			t.text = whole + strings.Repeat("\n", strings.Count(t.text, "\n")-strings.Count(whole, "\n"))
		}
		b.WriteString(t.text)
	}
	return b.String()
}

var lineEnds = regexp.MustCompile(`\\\r?\n`)

// afterBackslash gives what is on the next line, where a text begins with a backslash that ends its line; "" where it does not.
func afterBackslash(s string) string {
	for _, end := range []string{"\\\n", "\\\r\n"} {
		if behind, ok := strings.CutPrefix(s, end); ok {
			return behind
		}
	}
	return ""
}

func hexadecimal(word string) bool { return len(word) > 1 && word[0] == '0' && word[1]|0x20 == 'x' }

func hexDigit(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

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

var rowsets = regexp.MustCompile(`(?i)\b(openquery|openrowset|opendatasource|openxml)\s*\(`)

var quantified = regexp.MustCompile(`(?i)[=<>]\s*(any|all|some)\s*\(\s*select\b`)
