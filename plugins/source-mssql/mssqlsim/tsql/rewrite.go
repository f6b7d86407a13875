package tsql

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// The parser (teesql v1.1.0) does not read hints on the target of a MERGE, VALUES as its source, ALTER TABLE ... ADD
// PRIMARY KEY, UNIQUE, DEFAULT or FOREIGN KEY without a name, FETCH behind EXEC of a procedure without arguments, of which it takes the
// word for one, FOR READ ONLY of a cursor whose SELECT has no FROM, nor N before the device of a BACKUP. They are rewritten
// here before it sees them.

// unnamed gives a constraint a name that means none.
const unnamed = "CONSTRAINT [\x01] "

// nameKeys gives a name to the constraints that the parser wants one of.
func nameKeys(sql string) string {
	if !hasWord(sql, "add") {
		return sql
	}
	var b strings.Builder
	var last string // the word before
	for _, t := range tokens(sql) {
		if strings.EqualFold(last, "add") && slices.ContainsFunc([]string{"primary", "unique", "default", "foreign"}, func(w string) bool { return strings.EqualFold(t.text, w) }) {
			b.WriteString(unnamed)
		}
		if !t.blank {
			last = t.text
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// plainDevice takes the N off the name of the device of a BACKUP.
func plainDevice(sql string) string {
	if !hasWord(sql, "backup") {
		return sql
	}
	var b strings.Builder
	var before [3]string // the words before
	for _, t := range tokens(sql) {
		if before[1] == "=" && strings.EqualFold(before[0], "disk") && strings.EqualFold(before[2], "N") && strings.HasPrefix(t.text, "'") {
			text := b.String()
			b.Reset()
			b.WriteString(text[:len(text)-1])
		}
		if !t.blank {
			before = [3]string{before[1], before[2], t.text}
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// mergeHints are hints that ask for locks; here every statement that writes locks what it writes.
var mergeHints = map[string]bool{"holdlock": true, "serializable": true, "updlock": true, "rowlock": true, "xlock": true, "tablock": true, "tablockx": true, "paglock": true}

// rewriteMerge takes lock hints off the target and makes a SELECT of VALUES.
func rewriteMerge(sql string) string {
	if !hasWord(sql, "merge") {
		return sql
	}
	toks := tokens(sql)
	next := func(i int) int { // the next word
		for i++; i < len(toks) && toks[i].blank; i++ {
		}
		return i
	}
	word := func(i int, w string) bool { return i < len(toks) && strings.EqualFold(toks[i].text, w) }
	for i := range toks {
		if !word(i, "merge") {
			continue
		}
		j := next(i)
		for j < len(toks) && !word(j, "using") && !word(j, "with") && toks[j].text != ";" {
			j = next(j)
		}
		if word(j, "with") {
			blankHints(toks, j, next)
			for j < len(toks) && !word(j, "using") && toks[j].text != ";" {
				j = next(j)
			}
		}
		if open := next(j); word(j, "using") && word(open, "(") && word(next(open), "values") {
			valuesSource(toks, open, next)
		}
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// blankHints removes WITH (...) when all it holds is lock hints.
func blankHints(toks []token, with int, next func(int) int) {
	i := next(with)
	if i >= len(toks) || toks[i].text != "(" {
		return
	}
	for i = next(i); i < len(toks) && toks[i].text != ")"; i = next(i) {
		if t := toks[i].text; t != "," && !mergeHints[lower(t)] {
			return
		}
	}
	for k := with; k <= i && k < len(toks); k++ {
		toks[k] = token{" ", true}
	}
}

// valuesSource makes "(VALUES ...) AS s (a, b)" "(SELECT * FROM (VALUES ...) AS s (a, b)) AS s".
func valuesSource(toks []token, open int, next func(int) int) {
	shut := closing(toks, open)
	i := next(shut)
	if i < len(toks) && strings.EqualFold(toks[i].text, "as") {
		i = next(i)
	}
	list := next(i)
	if shut < 0 || list >= len(toks) || toks[list].text != "(" {
		return
	}
	end := closing(toks, list)
	if end < 0 {
		return
	}
	toks[open].text = "(SELECT * FROM ("
	toks[end].text += ") AS " + toks[i].text
}

// closing gives the place of the parenthesis that closes one, -1 when there is none.
func closing(toks []token, open int) int {
	depth := 0
	for i := open; i < len(toks); i++ {
		switch toks[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// callsBeforeFetch puts BEGIN and END around the call of a procedure that FETCH follows.
func callsBeforeFetch(sql string) string {
	if !hasWord(sql, "fetch") || !hasWord(sql, "exec") && !hasWord(sql, "execute") {
		return sql
	}
	toks := tokens(sql)
	next := func(i int) int { // the next word
		for i++; i < len(toks) && toks[i].blank; i++ {
		}
		return i
	}
	text := func(i int) string {
		if i < len(toks) {
			return toks[i].text
		}
		return ""
	}
	for i := range toks {
		if !strings.EqualFold(toks[i].text, "exec") && !strings.EqualFold(toks[i].text, "execute") {
			continue
		}
		name := next(i)
		if strings.HasPrefix(text(name), "@") && text(next(name)) == "=" {
			name = next(next(name))
		}
		end := name
		for text(next(end)) == "." {
			end = next(end)
			if part := next(end); text(part) != "." {
				end = part
			}
		}
		after := next(end)
		if text(after) == ";" {
			after = next(after)
		}
		if t := text(name); t == "" || !wordByte(t[0]) && t[0] != '[' || !strings.EqualFold(text(after), "fetch") {
			continue
		}
		toks[i].text = "BEGIN " + toks[i].text
		toks[end].text += " END"
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// variableName is before the variable that has the name of a procedure, in brackets.
const variableName = "\x01"

// calledByVariable puts the variable that EXECUTE names a procedure by where the parser takes a name: behind the variable itself it reads
// no arguments. namedByVariables takes it from there again.
func calledByVariable(sql string) string {
	if !hasWord(sql, "exec") && !hasWord(sql, "execute") {
		return sql
	}
	toks := tokens(sql)
	next := func(i int) int { // the next word
		for i++; i < len(toks) && toks[i].blank; i++ {
		}
		return i
	}
	variable := func(i int) bool {
		return i < len(toks) && strings.HasPrefix(toks[i].text, "@") && len(toks[i].text) > 1
	}
	for i := range toks {
		if !strings.EqualFold(toks[i].text, "exec") && !strings.EqualFold(toks[i].text, "execute") {
			continue
		}
		name := next(i)
		if behind := next(name); variable(name) && behind < len(toks) && toks[behind].text == "=" {
			name = next(behind)
		}
		if variable(name) {
			toks[name].text = "[" + variableName + toks[name].text + "]"
		}
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// namedByVariables gives calls of a procedure that a variable names that variable.
func namedByVariables(script *ast.Script) {
	walkTree(reflect.ValueOf(script), func(node any) bool {
		p, ok := node.(*ast.ProcedureReferenceName)
		if !ok || p.ProcedureReference == nil || p.ProcedureReference.Name == nil {
			return true
		}
		if name, ok := strings.CutPrefix(ident(p.ProcedureReference.Name.BaseIdentifier), variableName); ok {
			p.ProcedureVariable, p.ProcedureReference = &ast.VariableReference{Name: name}, nil
		}
		return true
	})
}

// readOnly takes FOR READ ONLY off cursors: all of them are.
func readOnly(sql string) string {
	if !hasWord(sql, "cursor") || !hasWord(sql, "only") {
		return sql
	}
	toks := tokens(sql)
	var words []int
	for i, t := range toks {
		if t.blank {
			continue
		}
		words = append(words, i)
		if n := len(words); n >= 3 && strings.EqualFold(t.text, "only") && strings.EqualFold(toks[words[n-2]].text, "read") && strings.EqualFold(toks[words[n-3]].text, "for") {
			for _, k := range words[n-3:] {
				toks[k].text = " "
			}
		}
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}

// endThrow puts a semicolon behind a THROW without arguments that another word follows, which the parser takes for one.
func endThrow(sql string) string {
	if !hasWord(sql, "throw") {
		return sql
	}
	toks := tokens(sql)
	last := ""
	for i, t := range toks {
		if t.blank {
			continue
		}
		if strings.EqualFold(t.text, "throw") {
			switch next := wordBehind(toks, i); {
			case next == "", next == ";", !reserved[next]:
			case next == "else", next == "end", last == "", last == ";", last == "catch", last == "begin", last == "else", last == "end":
				toks[i].text += ";"
			}
		}
		last = lower(t.text)
	}
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.text)
	}
	return b.String()
}
