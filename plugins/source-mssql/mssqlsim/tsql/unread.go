package tsql

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// What else the parser (teesql v1.1.0) does not read: a number that begins with its point, a dollar sign without a number, a column
// timestamp without a type before all others, lines that go on, and ANY and ALL.

// otherCurrencies are the currency symbols that the parser does not know (Microsoft: Using Monetary Data).
const otherCurrencies = "¢៛₠₥€₭₮₯₰₱﷼﹩＄￠￡￥￦"

// dollars writes $ as $0, where no number is behind it: it is a constant of type money (Stack Overflow: T-SQL dollar sign in
// expressions). Other currency symbols are as good.
func dollars(sql string) string {
	if !strings.Contains(sql, "$") && !strings.ContainsAny(sql, otherCurrencies) {
		return sql
	}
	toks := tokens(sql)
	var b strings.Builder
	for i, t := range toks {
		if first, size := utf8.DecodeRuneInString(t.text); strings.ContainsRune(otherCurrencies, first) {
			t.text = "$" + t.text[size:]
		}
		b.WriteString(t.text)
		if t.text == "$" && !amountBehind(toks[i+1:]) {
			b.WriteByte('0')
		}
	}
	return b.String()
}

// amountBehind tells whether the tokens begin with the number of an amount of money, whose sign and blanks may be before it.
func amountBehind(toks []token) bool {
	for _, t := range toks {
		if t.text != "+" && t.text != "-" && !t.blank {
			return digit(t.text[0])
		}
	}
	return false
}

// typedTimestamp gives the first column of a table its type where it has none and is called timestamp: the parser takes it for one of a
// list of names.
func typedTimestamp(sql string) string {
	if !hasWord(sql, "timestamp") || !hasWord(sql, "table") {
		return sql
	}
	toks := tokens(sql)
	var words []int
	for i, t := range toks {
		if !t.blank {
			words = append(words, i)
		}
	}
	word := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return lower(toks[words[i]].text)
	}
	for i := range words {
		if word(i) != "timestamp" || word(i-1) != "(" || word(i+1) != "," && word(i+1) != ")" {
			continue
		}
		name := i - 2 // its last part
		for word(name-1) == "." {
			if name--; word(name-1) != "." {
				name--
			}
		}
		if word(name-1) == "table" && word(name-2) == "create" {
			toks[words[i]].text = "timestamp timestamp"
		}
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

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
