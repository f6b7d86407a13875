package tsql

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// A part of a text between two units of UTF-16 is the same however its bytes are counted.
func TestPartsOfAWrittenText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n;é中😀"))).Draw(t, "text")
		units := utf16.Encode([]rune(text))
		from := rapid.IntRange(0, len(units)+3).Draw(t, "from")
		to := rapid.IntRange(from, len(units)+3).Draw(t, "to")
		end := min(to, len(units))
		w := asWritten(text)
		if got, want := w.part(from, to), string(utf16.Decode(units[min(from, end):end])); got != want {
			t.Fatalf("%q, %d to %d: %q, want %q", text, from, to, got, want)
		}
		if got, want := w.behind(from), string(utf16.Decode(units[min(from, len(units)):])); got != want {
			t.Fatalf("%q, behind %d: %q, want %q", text, from, got, want)
		}
	})
}
