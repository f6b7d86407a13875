package diag_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/diag"
)

// POSIX: Shell Command Language, 2.2 Quoting.
func TestAWordForAShell(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"stream.orders":     "stream.orders",
		"../shop/main.hcl":  "../shop/main.hcl",
		`stream.erp["eu"]`:  `'stream.erp["eu"]'`,
		`stream.erp["o'x"]`: `'stream.erp["o'\''x"]'`,
		"my shop.hcl":       "'my shop.hcl'",
		"a#b":               "'a#b'",
		"~root":             "'~root'",
		"größe":             "'größe'",
		"$HOME":             "'$HOME'",
		"":                  "''",
		// 2.2.4 Dollar-Single-Quotes: what a terminal would not show as it is.
		"note=a\nb":        `$'note=a\nb'`,
		"a\tb\rc":          `$'a\tb\rc'`,
		"a\n\\'\"$1":       `$'a\n\\\'"$1'`,
		"\x1b[2K1":         `$'\033[2K1'`,
		"größe\u202e7":     `$'größe\342\200\2567'`,
		"\u061c\u2028\x85": `$'\330\234\342\200\250\205'`,
		"\xff7":            `$'\3777'`,
	} {
		if got := diag.Shell(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
