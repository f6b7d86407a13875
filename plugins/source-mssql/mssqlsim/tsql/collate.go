package tsql

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// The parser (teesql v1.1.0) misreads "x COLLATE y" inside CAST and before a comparison, sometimes without an error.
// It is rewritten here before it sees it; COLLATE in column definitions is left alone.

var definesTable = regexp.MustCompile(`(?i)\b(create|alter)\s+table\b|\btable\s*\(`)

// rewrite turns "operand COLLATE name" into a call the binder knows.
func rewrite(sql string) string {
	if !hasWord(sql, "collate") || definesTable.MatchString(sql) {
		return quoteNames(sql)
	}
	toks := tokens(sql)
	var out []string
	var place collatePlace
	for i := 0; i < len(toks); i++ {
		place.after(toks[i])
		if !strings.EqualFold(toks[i].text, "collate") || place.database {
			out = append(out, toks[i].text)
			continue
		}
		j := i + 1
		for j < len(toks) && toks[j].blank {
			j++
		}
		start := operand(out)
		if j >= len(toks) || start < 0 || typed(out[:start]) {
			out = append(out, toks[i].text)
			continue
		}
		call := "MSSQLSIM_COLLATE(" + strings.TrimSpace(strings.Join(out[start:], "")) + ", '" + toks[j].text + "')"
		out = append(out[:start], call)
		i = j
	}
	return quoteNames(strings.Join(out, ""))
}

// collatePlace tells whether a COLLATE is that of a database.
type collatePlace struct {
	defines, database bool
}

func (p *collatePlace) after(t token) {
	switch w := lower(t.text); {
	case t.blank:
	case w == "database":
		p.database, p.defines = p.defines, false
	case w == "create" || w == "alter":
		p.defines, p.database = true, false
	default:
		p.defines = false
		if w == ";" || w == "select" || w == "if" || w == "while" || w == "exec" || w == "execute" || begins[w] {
			p.database = false
		}
	}
}

// typed tells whether what follows is the type of a variable or an alias, which have no COLLATE.
func typed(before []string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if strings.TrimSpace(before[i]) != "" {
			return before[i][0] == '@' || strings.EqualFold(before[i], "as")
		}
	}
	return false
}

// misplacedCollation refuses COLLATE where there is nothing to collate: what rewrite has left of it outside the definitions of
// tables and databases (Microsoft: COLLATE (Transact-SQL)).
func misplacedCollation(sql string) error {
	if !hasWord(sql, "collate") || definesTable.MatchString(sql) {
		return nil
	}
	var place collatePlace
	for t := range eachToken(sql) {
		place.after(t)
		if strings.EqualFold(t.text, "collate") && !place.database {
			return sqltype.Errorf(156, "Incorrect syntax near the keyword 'COLLATE'.")
		}
	}
	return nil
}

type token struct {
	text  string
	blank bool
}

// tokens cuts a statement into words, texts, quoted names, comments, blanks and single characters.
func tokens(sql string) []token { return slices.Collect(eachToken(sql)) }

// eachToken is tokens one after the other.
func eachToken(sql string) iter.Seq[token] {
	return func(yield func(token) bool) { cut(sql, yield) }
}

func cut(sql string, yield func(token) bool) {
	until := func(i int, end string) int {
		k := strings.Index(sql[i:], end)
		if k < 0 {
			return len(sql)
		}
		return i + k + len(end)
	}
	for i := 0; i < len(sql); {
		j := i + 1
		blank := false
		switch c := sql[i]; {
		case c == '\'' || c == '"':
			j = until(j, string(c))
			for j < len(sql) && sql[j] == c {
				j = until(j+1, string(c))
			}
		case c == '[':
			j = until(j, "]")
			for j < len(sql) && sql[j] == ']' {
				j = until(j+1, "]")
			}
		case strings.HasPrefix(sql[i:], "--"):
			j, blank = until(i, "\n"), true
		case strings.HasPrefix(sql[i:], "/*"):
			j, _ = commentEnd(sql, i)
			blank = true
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			for j < len(sql) && strings.IndexByte(" \t\r\n", sql[j]) >= 0 {
				j++
			}
			blank = true
		case wordByte(c):
			for j < len(sql) && wordByte(sql[j]) {
				j++
			}
		}
		if !yield(token{sql[i:j], blank}) {
			return
		}
		i = j
	}
}

// commentEnd gives where a comment ends that begins at a place of a text, and whether it is closed there. Comments may stand in others
// (Microsoft: Slash Star (Block Comment) (Transact-SQL)).
func commentEnd(sql string, at int) (end int, closed bool) {
	for depth := 0; at+1 < len(sql); at++ {
		switch sql[at : at+2] {
		case "/*":
			depth++
			at++
		case "*/":
			at++
			if depth--; depth == 0 {
				return at + 1, true
			}
		}
	}
	return len(sql), false
}

// flatComments blanks out the comments that stand in others, which the parser (teesql v1.1.0) does not read.
func flatComments(sql string) string {
	if strings.Count(sql, "/*") < 2 {
		return sql
	}
	var b strings.Builder
	for t := range eachToken(sql) {
		if _, closed := commentEnd(t.text, 0); t.blank && closed && strings.HasPrefix(t.text, "/*") {
			inner := t.text[2 : len(t.text)-2]
			t.text = "/*" + strings.NewReplacer("/*", "  ", "*/", "  ").Replace(inner) + "*/"
		}
		b.WriteString(t.text)
	}
	return b.String()
}

func wordByte(c byte) bool {
	return c == '_' || c == '@' || c == '#' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// hasWord tells whether a word, in lower case, is anywhere in a statement, be it in a text or a comment. Each statement
// is asked for several words that few statements hold; with regular expressions that took a third of its time.
func hasWord(sql, word string) bool {
	for i := 0; i+len(word) <= len(sql); i++ {
		if sql[i]|0x20 != word[0] || !strings.EqualFold(sql[i:i+len(word)], word) {
			continue
		}
		if end := i + len(word); (i == 0 || !wordByte(sql[i-1])) && (end == len(sql) || !wordByte(sql[end])) {
			return true
		}
	}
	return false
}

// operand finds where the operand begins that ends a list of tokens: a variable, a text, a name with its parts, or
// parentheses with the function before them.
func operand(out []string) int {
	i := len(out) - 1
	for i >= 0 && strings.TrimSpace(out[i]) == "" {
		i--
	}
	if i < 0 {
		return -1
	}
	name := func(s string) bool { return wordByte(s[0]) || s[0] == '[' }
	if out[i] == ")" {
		depth := 0
		for ; i >= 0; i-- {
			if out[i] == ")" {
				depth++
			} else if out[i] == "(" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if i < 0 {
			return -1
		}
		if i > 0 && name(out[i-1]) {
			i--
		}
	}
	for i >= 2 && out[i-1] == "." && name(out[i-2]) {
		i -= 2
	}
	if i > 0 && (out[i-1] == "N" || out[i-1] == "n") && out[i][0] == '\'' {
		i--
	}
	return i
}
