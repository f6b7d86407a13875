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
	} {
		if got := diag.Shell(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
