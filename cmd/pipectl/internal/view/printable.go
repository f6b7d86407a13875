package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What views show may come from anywhere: names and comments of another program's
// table, the words of a server, a key. They are text and nothing else: a line of a
// view stays a line, and no name moves the cursor, paints what follows, or turns its
// direction around.

// printable is a text with those characters written as escapes, as in a string of
// the configuration.
func printable(text string) string { return escaping(text, "") }

// printableLines is printable of a text of several lines.
func printableLines(text string) string { return escaping(text, "\n") }

// printableText is printable of a file's lines, with the tabs in them and each with
// its own end. A carriage return elsewhere would have a line written over itself.
func printableText(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := ""
		for _, of := range []string{"\r\n", "\n"} {
			if strings.HasSuffix(line, of) {
				end = of
				break
			}
		}
		b.WriteString(escaping(strings.TrimSuffix(line, end), "\t") + end)
	}
	return b.String()
}

// escaping escapes all but the characters that are let through.
func escaping(text, through string) string {
	moves := func(r rune) bool {
		return (unicode.IsControl(r) || unicode.Is(directed, r)) && !strings.ContainsRune(through, r)
	}
	if utf8.ValidString(text) && strings.IndexFunc(text, moves) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !moves(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r <= unicode.MaxLatin1:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// directed are the separators of lines and paragraphs, and the characters that change
// the direction of text (Unicode Standard Annex #9: Directional Formatting Characters,
// the explicit and the implicit ones).
var directed = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x061c, Hi: 0x061c, Stride: 1}, {Lo: 0x200e, Hi: 0x200f, Stride: 1}, {Lo: 0x2028, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}
