package diag

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Listed joins names for a sentence; a long list is cut and says so.
func Listed(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Columns joins names of columns for a list, in full. One that is no plain word, as
// `key id` is none, stands in quotes, so that nobody reads two words, or two
// columns.
func Columns(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Column(n)
	}
	return strings.Join(out, ", ")
}

// Column is one name as Columns shows it.
func Column(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '$' && r != '#' && r != '@' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if plain {
		return name
	}
	return strconv.Quote(name)
}
