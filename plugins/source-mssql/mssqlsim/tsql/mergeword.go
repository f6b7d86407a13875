package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// beginsStatement are words that begin a statement, or the condition before one.
var beginsStatement = map[string]bool{"select": true, "insert": true, "update": true, "delete": true, "exec": true, "execute": true, "if": true, "while": true, "else": true, "begin": true, "with": true,
	"commit": true, "rollback": true, "save": true, "set": true, "declare": true, "print": true, "as": true, "create": true, "alter": true, "drop": true, "truncate": true, "use": true, "merge": true}

// endBeforeMerge puts a semicolon before a MERGE that follows a statement without one, where the parser takes the word,
// which is reserved, for an alias or a name (Microsoft: Reserved Keywords (Transact-SQL)).
func endBeforeMerge(sql string) string {
	if !hasWord(sql, "merge") {
		return sql
	}
	var b strings.Builder
	depth, cases, begun, last := 0, 0, "", ""
	merging := false // in a MERGE, which has to end with a semicolon of its own
	toks := tokens(sql)
	for i, t := range toks {
		if t.blank {
			b.WriteString(t.text)
			continue
		}
		word := lower(t.text)
		switch {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == ";":
			begun, merging = "", false
		case depth > 0:
		case word == "merge" && wordBehind(toks, i) != "range" && wordBehind(toks, i) != "join" && last != "inner" && last != "left" && last != "right" && last != "full" && last != "outer" && last != "." && last != ",":
			switch begun {
			case "", "if", "while", "else", "with", "as":
			default:
				if !merging {
					b.WriteByte(';')
				}
			}
			begun, merging = word, true
		case word == "with" && wordBehind(toks, i) == "(": // of hints
		case word == "as" && begun != "create" && begun != "alter": // of an alias
		case word == "case":
			cases++
		case word == "end" && cases > 0:
			cases--
		case (word == "tran" || word == "transaction") && last == "begin":
			begun = "begin transaction"
		case word == "end":
			begun = "end"
		case beginsStatement[word] && last != "." && last != "then":
			begun = word
		}
		if begun == "begin" && word == "begin" {
			begun = ""
		}
		last = word
		b.WriteString(t.text)
	}
	return b.String()
}

// wordBehind gives the word behind a token.
func wordBehind(toks []token, i int) string {
	for i++; i < len(toks); i++ {
		if !toks[i].blank {
			return lower(toks[i].text)
		}
	}
	return ""
}

// ended refuses a MERGE without a semicolon behind it (Microsoft: MERGE (Transact-SQL), Remarks).
func ended(s *ast.MergeStatement, source written) error {
	end := s.StartOffset + s.FragmentLength
	if strings.HasSuffix(strings.TrimSpace(source.part(s.StartOffset, end)), ";") || wordBehind(tokens(source.behind(end)), -1) == ";" {
		return nil
	}
	return sqltype.Errorf(10713, "A MERGE statement must be terminated by a semi-colon (;).")
}
