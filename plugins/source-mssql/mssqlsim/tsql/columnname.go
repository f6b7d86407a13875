package tsql

import "strings"

// columnWords are words that T-SQL does not reserve (Microsoft: Reserved Keywords (Transact-SQL)) and that the parser
// (teesql v1.1.0) takes for something else where they are the name of a column.
var columnWords = map[string]bool{"type": true, "message": true, "login": true, "password": true, "language": true, "job": true, "delay": true, "try": true, "catch": true,
	"throw": true, "certificate": true, "time": true, "period": true, "returns": true, "encryption": true, "credential": true, "symmetric": true, "asymmetric": true, "master": true,
	"conversation": true, "dialog": true, "receive": true, "send": true, "get": true, "move": true, "caller": true, "query": true, "ties": true, "cube": true, "rollup": true}

// statementWords are those of columnWords that also begin a statement.
var statementWords = map[string]bool{"throw": true, "receive": true, "send": true, "get": true, "move": true}

// beforeColumn are the words behind which an expression or the name of a column stands.
var beforeColumn = map[string]bool{"select": true, "distinct": true, "all": true, "where": true, "and": true, "or": true, "not": true, "having": true, "when": true, "then": true, "else": true,
	"case": true, "on": true, "by": true, "between": true, "like": true, "column": true, "if": true, "while": true, "return": true, "print": true}

// shaped are what CREATE and ALTER make that has columns or statements; the rest has options of its own, whose names are
// the same words.
var shaped = map[string]bool{"table": true, "proc": true, "procedure": true, "function": true, "view": true, "index": true, "unique": true, "clustered": true, "nonclustered": true, "trigger": true,
	"column": true, "schema": true, "or": true, "statistics": true}

// nameScan is how far quoteNames has come.
type nameScan struct {
	before [2]string // the words before, in lower case, the nearest last
	parens []string  // the word before each parenthesis that is open
	cases  int       // CASE whose END is still to come
	off    bool      // within a statement whose options bear the same names
	head   bool      // before the AS behind which the statements of a procedure are
}

// quoteNames puts brackets round words of columnWords where they are the name of a column, never within texts, comments
// and names in brackets.
func quoteNames(sql string) string {
	if !hasColumnWord(sql) {
		return sql
	}
	toks := tokens(sql)
	var b strings.Builder
	var s nameScan
	for i, t := range toks {
		if t.blank {
			b.WriteString(t.text)
			continue
		}
		word := lower(t.text)
		if columnWords[word] && s.column(word, wordBehind(toks, i)) {
			b.WriteString("[" + t.text + "]")
		} else {
			b.WriteString(t.text)
		}
		s.pass(word)
	}
	return b.String()
}

// hasColumnWord tells whether one of the words is anywhere in a statement; every statement is asked.
func hasColumnWord(sql string) bool {
	var word [16]byte
	for i := 0; i < len(sql); i++ {
		n := 0
		for ; i < len(sql) && wordByte(sql[i]); i++ {
			if n < len(word) {
				word[n] = sql[i] | 0x20
			}
			n++
		}
		if n > 0 && n <= len(word) && columnWords[string(word[:n])] {
			return true
		}
	}
	return false
}

// pass goes over a word.
func (s *nameScan) pass(word string) {
	last := s.before[1]
	switch word {
	case "(":
		s.parens = append(s.parens, last)
	case ")":
		if len(s.parens) > 0 {
			s.parens = s.parens[:len(s.parens)-1]
		}
	case "case":
		s.cases++
	case "end":
		s.cases = max(s.cases-1, 0)
	case ";", "select", "insert", "update", "delete", "create", "alter", "exec", "execute", "declare":
		s.off = false
	case "backup", "restore":
		s.off = true
	}
	if last == "create" || last == "alter" {
		s.off = !shaped[word]
		s.head = word == "proc" || word == "procedure"
	}
	if last == "as" && s.body() {
		s.head = false
	}
	s.before = [2]string{last, word}
}

// body tells whether the AS before is the one behind which the statements of a procedure are, and not that of a parameter or of
// EXECUTE AS.
func (s *nameScan) body() bool {
	return s.head && s.before[0] != "exec" && s.before[0] != "execute" && !strings.HasPrefix(s.before[0], "@")
}

// column tells whether a word is the name of a column, or of what takes the place of one, by what stands around it.
func (s *nameScan) column(word, next string) bool {
	last, within := s.before[1], ""
	if n := len(s.parens); n > 0 {
		within = s.parens[n-1]
	}
	switch {
	case last == ".":
		return next != "("
	case next == ":" || next == "(" && last != ",", next == "(" && word != "type", word == "period" && next == "for", word == "message" && next == "type":
		return false
	case strings.HasPrefix(next, "'"), next == "n" && word == "move":
		return false
	case word == "type": // wherever it may be one
		return !s.off && last != "create" && last != "drop" && last != "alter" && last != "message"
	case s.off, within == "with":
		return false
	}
	switch last {
	case ",":
		return !(next == "on" && statementWords[word]) && !(next == "as" && word == "encryption")
	case "(":
		return word != "time" || within != "convert" && within != "try_convert"
	case "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^":
		return true
	case "set":
		return next != "" && strings.Contains("=+-*/%&|^", next)
	case "add":
		return next != "" && (wordByte(next[0]) || next[0] == '[')
	case "as":
		if next == "=" || s.before[0] == "exec" || s.before[0] == "execute" || statementWords[word] && s.body() {
			return false
		}
		return word != "time" || !strings.HasPrefix(s.before[0], "@") && within != "cast" && within != "try_cast" && within != "parse" && within != "try_parse"
	case "by":
		return next != "="
	case "on":
		return s.before[0] != "send"
	case "else":
		return s.cases > 0 || !statementWords[word]
	}
	return beforeColumn[last]
}
