package tsql

import (
	"context"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/sqlc-dev/teesql/ast"
)

// reserved are the words of Microsoft: Reserved Keywords (Transact-SQL), Transact-SQL keywords. An error near one of them is
// 156, near anything else 102.
var reserved = wordSet(`add all alter and any as asc authorization backup begin between break browse bulk by cascade case check checkpoint close
	clustered coalesce collate column commit compute constraint contains containstable continue convert create cross current current_date current_time
	current_timestamp current_user cursor database dbcc deallocate declare default delete deny desc disk distinct distributed double drop dump else end
	errlvl escape except exec execute exists exit external fetch file fillfactor for foreign freetext freetexttable from full function goto grant group
	having holdlock identity identity_insert identitycol if in index inner insert intersect into is join key kill left like lineno load merge national
	nocheck nonclustered not null nullif of off offsets on open opendatasource openquery openrowset openxml option or order outer over percent pivot plan
	precision primary print proc procedure public raiserror read readtext reconfigure references replication restore restrict return revert revoke right
	rollback rowcount rowguidcol rule save schema securityaudit select semantickeyphrasetable semanticsimilaritydetailstable semanticsimilaritytable
	session_user set setuser shutdown some statistics system_user table tablesample textsize then to top tran transaction trigger truncate try_convert
	tsequal union unique unpivot update updatetext use user values varying view waitfor when where while with writetext`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// place is a token of a text that is no blank, and where it is in it.
type place struct {
	text      string
	from, end int
}

// places gives the tokens of a text without its blanks.
func places(sql string) (out []place) {
	at := 0
	for t := range eachToken(sql) {
		if !t.blank {
			out = append(out, place{t.text, at, at + len(t.text)})
		}
		at += len(t.text)
	}
	return out
}

// near is the error of a text that goes wrong at its i-th token: where it ends too soon, near its last one.
func near(sql string, words []place, i int) *sqltype.Error {
	if len(words) == 0 {
		return sqltype.Errorf(102, "Incorrect syntax near ''.")
	}
	over := i >= len(words)
	p := words[min(i, len(words)-1)]
	if !over && i > 0 && lower(words[i-1].text) == "for" && forClauses[lower(p.text)] { // the parser takes FOR for the name of a column
		return sqltype.Unsupported(forClause)
	}
	e := sqltype.Errorf(102, "Incorrect syntax near '%s'.", bare(p.text))
	if !over && reserved[lower(p.text)] {
		e = sqltype.Errorf(156, "Incorrect syntax near the keyword '%s'.", p.text)
	}
	e.Line = line(sql, p.from)
	return e
}

// line is that of a place in a text, from 1.
func line(sql string, at int) int32 { return int32(strings.Count(sql[:at], "\n")) + 1 }

// bare gives what stands in quotes, brackets or a text.
func bare(word string) string {
	n := len(word)
	if n < 2 {
		return word
	}
	switch shut := word[n-1:]; {
	case word[0] == '[' && shut == "]", (word[0] == '\'' || word[0] == '"') && shut == word[:1]:
		return strings.ReplaceAll(word[1:n-1], shut+shut, shut)
	}
	return word
}

// nearNode is the error of a statement that goes wrong at a part of it, or right behind it.
func nearNode(sql string, node interface{ Frag() *ast.Fragment }, behind bool) *sqltype.Error {
	f := node.Frag()
	units := utf16.Encode([]rune(sql)) // the parser counts in these
	at := f.StartOffset
	if behind {
		at += f.FragmentLength
	}
	from := len(string(utf16.Decode(units[:min(at, len(units))])))
	words := places(sql)
	return near(sql, words, sort.Search(len(words), func(i int) bool { return words[i].from >= from }))
}

// notRead gives the error of a text that the parser does not read. It tells what it expected, and not where: that is the
// first token up to which it already says the same.
func notRead(ctx context.Context, sql string, err error) error {
	words := places(sql)
	says := err.Error()
	same := func(text string) bool {
		if endless(text) != nil {
			return false
		}
		_, err := read(ctx, text)
		return err != nil && err.Error() == says
	}
	i := sort.Search(len(words), func(i int) bool {
		text := sql[:words[i].end]
		return same(text) && same(text+" name") // it is not the end that it does not like
	})
	for back := i; back >= 0 && back > i-3 && back < len(words); back-- { // it may have looked one token ahead
		if strings.HasSuffix(says, " "+words[back].text) {
			i = back
			break
		}
	}
	if strings.HasSuffix(says, " got ") { // it found the end
		i = len(words)
	}
	e := near(sql, words, i)
	at, word := e.Line, bare(words[min(i, len(words)-1)].text)
	switch {
	case strings.HasPrefix(says, "expected comparison operator"):
		e = sqltype.Errorf(4145, "An expression of non-boolean type specified in a context where a condition is expected, near '%s'.", word)
	case strings.HasPrefix(says, "expected CURSOR after identifier in DECLARE") && i < len(words):
		e = sqltype.Errorf(155, "'%s' is not a recognized CURSOR option.", word)
		e.State = 2
	case i > 0 && i < len(words):
		if kind, unknown := unknownKind(words[i-1:]); unknown {
			e = sqltype.Errorf(343, "Unknown object type '%s' used in a CREATE, DROP, or ALTER statement.", kind)
		}
	}
	e.Line = at
	return e
}

// forClause is how the clauses that begin with FOR behind a SELECT are refused, whose next words are forClauses.
const forClause = "FOR XML, FOR JSON and FOR BROWSE"

var forClauses = wordSet("xml json browse")

// nothingBehind refuses a parenthesis that closes behind a comma or BY, which the parser (teesql v1.1.0) lets pass. In the
// definition of a table a comma may stand there.
func nothingBehind(sql string) error {
	empty := false
	for i := 1; i < len(sql) && !empty; i++ {
		if sql[i] == ')' {
			before := strings.TrimRight(sql[:i], " \t\r\n")
			empty = strings.HasSuffix(before, ",") || len(before) > 2 && strings.EqualFold(before[len(before)-2:], "by")
		}
	}
	if !empty || hasWord(sql, "table") {
		return nil
	}
	words := places(sql)
	for i := 1; i < len(words); i++ {
		if words[i].text == ")" && (words[i-1].text == "," || strings.EqualFold(words[i-1].text, "by")) {
			return near(sql, words, i)
		}
	}
	return nil
}

// objectKinds are the words behind CREATE, ALTER and DROP that are not reserved.
var objectKinds = wordSet(`aggregate application assembly asymmetric availability broker certificate columnstore contract credential cryptographic
	endpoint event external fulltext login master message partition queue remote resource role route search security selective sequence server service
	spatial symmetric synonym type workload xml`)

// unknownKind tells the word behind CREATE, ALTER or DROP that names no kind of object.
func unknownKind(words []place) (string, bool) {
	if len(words) < 2 {
		return "", false
	}
	switch lower(words[0].text) {
	case "create", "alter", "drop":
		w := lower(words[1].text)
		return words[1].text, !reserved[w] && !objectKinds[w]
	}
	return "", false
}
