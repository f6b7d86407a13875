package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// deepest is how deep the tree of a statement may be. The parser and the binder call themselves for each level, and a stack
// that is full would end the process. SQL Server has such a limit too, by what is left of its stack: error 191.
const deepest = 4000

// chain are words and signs that make a tree one level deeper, where parentheses do not say so: operators in a row are a tree
// that leans to the left, signs and NOT before an operand one that leans to the right.
var chain = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "&": true, "|": true, "^": true, "~": true, "not": true, "and": true, "or": true,
	"union": true, "except": true, "intersect": true, "join": true, "apply": true, "collate": true, "at": true, "exec": true, "execute": true}

// begins are words that begin a statement. What was counted before them is none of its levels, unless it is part of it.
var begins = map[string]bool{"insert": true, "update": true, "delete": true, "merge": true, "declare": true, "set": true, "print": true, "create": true, "alter": true, "drop": true, "use": true}

// shallow refuses a text that may be deeper than deepest. It counts more than the parser's levels, never less.
func shallow(sql string) error {
	if len(sql) < deepest {
		return nil
	}
	open := []int{0} // of each level that is open: the links of its chain
	depth := 0
	control := 0 // IF and WHILE, which end with a statement that nothing marks
	before := ""
	reset := func() {
		depth -= open[len(open)-1]
		open[len(open)-1] = 0
	}
	leave := func() {
		if len(open) > 1 {
			reset()
			depth--
			open = open[:len(open)-1]
		}
	}
	for t := range eachToken(sql) {
		if t.blank {
			continue
		}
		w := strings.ToLower(t.text)
		switch {
		case w == "(" || w == "case" || w == "begin":
			open = append(open, 0)
			depth++
		case w == ")" || w == "end" || before == "begin" && (w == "tran" || w == "transaction"):
			leave()
		case w == ";":
			control = 0
			reset()
		case w == "," || begins[w] || w == "select" && !chain[before] && before != "all":
			reset()
		case w == "if" || w == "while":
			control++
		case chain[w]:
			open[len(open)-1]++
			depth++
		}
		if depth+control > deepest {
			return sqltype.Errorf(191, "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.")
		}
		before = w
	}
	return nil
}
