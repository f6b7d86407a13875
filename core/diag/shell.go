package diag

import "strings"

// shellSafe are the characters, besides letters and digits of ASCII, that mean
// nothing to a shell wherever they stand in a word.
const shellSafe = "_-./:,@%+="

// Shell is a word as it is typed into a POSIX shell, for commands that a hint
// names: in quotes when it has a character that means something there. The
// address stream.erp["eu"] has, and so may a path have.
func Shell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(shellSafe, r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
