package tsql

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// The parser (teesql v1.1.0) does not come to an end of some lists in which something is wrong: it stays at the word that it does not know,
// and takes memory until there is none. What it would do that with is told before, by its words: lists of names, the options of a cursor,
// values that a plan is made for. Statements that are not built here, and in which it does the same, are refused.

// endless gives the error of a text whose end the parser does not find; nil where there is none.
func endless(sql string) error {
	if !hasWord(sql, "cursor") && !hasWord(sql, "insensitive") && !hasWord(sql, "scroll") && !hasWord(sql, "statistics") && !hasWord(sql, "view") && !hasWord(sql, "optimize") && !hasWord(sql, "spatial") &&
		!hasWord(sql, "external") && !hasWord(sql, "partitions") {
		return nil
	}
	l := lists{words: places(sql)}
	for i := range l.words {
		wrong := -1
		switch {
		case l.at(i, "create", "spatial", "index"), l.at(i, "create", "external", "table"):
			return sqltype.Unsupported("CREATE %s %s", strings.ToUpper(l.word(i+1)), strings.ToUpper(l.word(i+2)))
		case l.at(i, "on", "partitions", "("):
			return sqltype.Unsupported("ON PARTITIONS")
		case l.at(i, "view") && i > 0 && (l.at(i-1, "create") || l.at(i-1, "alter")):
			wrong = l.names(l.behindName(i + 1))
		case l.at(i, "create", "statistics"):
			if on := l.behindName(i + 2); l.at(on, "on") {
				wrong = l.names(l.behindName(on + 1))
			}
		case l.at(i, "declare"):
			wrong = l.cursor(i)
		case l.at(i, "optimize", "for"):
			wrong = l.variables(i + 2)
		}
		if wrong >= 0 {
			return near(sql, l.words, wrong)
		}
	}
	return nil
}

// lists looks through the words of a text. A place behind the last one is no word.
type lists struct{ words []place }

func (l lists) word(i int) string {
	if i < 0 || i >= len(l.words) {
		return ""
	}
	return l.words[i].text
}

// at tells whether words stand from a place on.
func (l lists) at(i int, words ...string) bool {
	for k, w := range words {
		if !strings.EqualFold(l.word(i+k), w) {
			return false
		}
	}
	return true
}

// name tells whether a word is one, quoted or not.
func (l lists) name(i int) bool {
	w := l.word(i)
	return w != "" && (wordByte(w[0]) && !digit(w[0]) || w[0] == '[' || w[0] == '"')
}

// behindName gives the place behind a name of several parts.
func (l lists) behindName(i int) int {
	for l.name(i) || l.word(i) == "." {
		if l.word(i) != "." && l.word(i+1) != "." {
			return i + 1
		}
		i++
	}
	return i
}

// list gives the place where a list in parentheses goes wrong, -1 where it does not, or is none. An item of it tells what is behind it, or
// where it goes wrong itself.
func (l lists) list(i int, item func(i int) (behind int, ok bool)) int {
	if l.word(i) != "(" {
		return -1
	}
	for {
		behind, ok := item(i + 1)
		switch {
		case !ok:
			return behind
		case l.word(behind) == ")":
			return -1
		case l.word(behind) != ",":
			return behind
		}
		i = behind
	}
}

// names is list of a list of names.
func (l lists) names(i int) int {
	return l.list(i, func(i int) (int, bool) {
		if !l.name(i) || reserved[lower(l.word(i))] {
			return i, false
		}
		if i++; l.at(i, "asc") || l.at(i, "desc") {
			i++
		}
		return i, true
	})
}

// cursor gives the place where the options of DECLARE CURSOR go wrong, -1 where they do not, or it is another DECLARE: a variable has its
// cursor by SET.
func (l lists) cursor(i int) int {
	if !l.name(i+1) || strings.HasPrefix(l.word(i+1), "@") || !l.at(i+2, "cursor") && !l.at(i+2, "insensitive") && !l.at(i+2, "scroll") {
		return -1
	}
	behind := false
	for k := i + 2; ; k++ {
		w := lower(l.word(k))
		switch {
		case w == "for" && behind:
			return -1
		case w == "cursor" && !behind:
			behind = true
		case w == "insensitive" && behind, !cursorWords[w]:
			return k
		}
	}
}

var cursorWords = wordSet("insensitive scroll local global forward_only static keyset dynamic fast_forward read_only scroll_locks optimistic type_warning")

// variables is list of the values of OPTIMIZE FOR.
func (l lists) variables(i int) int {
	return l.list(i, func(i int) (int, bool) {
		if !strings.HasPrefix(l.word(i), "@") {
			return i, false
		}
		i++
		if l.at(i, "unknown") {
			return i + 1, true
		}
		if l.word(i) != "=" {
			return i, false
		}
		if i++; l.word(i) == "-" || l.word(i) == "+" {
			i++
		}
		if l.at(i, "n") && strings.HasPrefix(l.word(i+1), "'") {
			i++
		}
		return l.behindValue(i), true
	})
}

// behindValue gives the place behind a constant. The parts of a number are words of their own.
func (l lists) behindValue(i int) int {
	last := l.word(i)
	if i++; l.word(i) == "." {
		if i++; l.word(i) != "" && digit(l.word(i)[0]) {
			last = l.word(i)
			i++
		}
	}
	if last != "" && digit(last[0]) && !hexadecimal(last) && strings.HasSuffix(lower(last), "e") && (l.word(i) == "-" || l.word(i) == "+") {
		i += 2
	}
	return i
}
