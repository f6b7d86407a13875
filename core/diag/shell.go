package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shellSafe are the characters, besides letters and digits of ASCII, that mean
// nothing to a shell wherever they stand in a word.
const shellSafe = "_-./:,@%+="

// Shell is a word as it is typed into a POSIX shell, for commands that a hint
// names: in quotes when it has a character that means something there. The
// address stream.erp["eu"] has, and so may a path have. A word that no terminal shows as it is,
// such as one with a line end, is written with dollar-single-quotes (POSIX.1-2024: Shell
// Command Language, 2.2.4): views escape such characters, and in other quotes an escape
// is another value.
func Shell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(shellSafe, r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if !utf8.ValidString(word) || strings.IndexFunc(word, unseen) >= 0 {
		return dollarQuoted(word)
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// unseen are control and format characters, and separators of lines and paragraphs.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// dollarQuoted writes what is unseen, and bytes that are no character, as octal
// digits: three of them end an escape, whatever follows.
func dollarQuoted(word string) string {
	named := strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	var b strings.Builder
	b.WriteString("$'")
	for i, r := range word {
		_, size := utf8.DecodeRuneInString(word[i:])
		text := word[i : i+size]
		escaped := named.Replace(text)
		switch {
		case escaped != text:
			b.WriteString(escaped)
		case r == utf8.RuneError && size == 1, unseen(r):
			for _, octet := range []byte(text) {
				fmt.Fprintf(&b, `\%03o`, octet)
			}
		default:
			b.WriteString(text)
		}
	}
	return b.String() + "'"
}
