package tsql

import (
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sqlc-dev/teesql/ast"
)

// written is a text that was parsed. The parser counts in the units of UTF-16; they are made once for a text, since it is asked for the
// parts of each of its statements, and not at all where each of its bytes is one.
type written struct {
	text  string
	units []uint16 // nil where they are the bytes
}

func asWritten(text string) written {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return written{text, utf16.Encode([]rune(text))}
		}
	}
	return written{text: text}
}

// part gives the text between two units, as far as there are so many.
func (w written) part(from, to int) string {
	if w.units == nil {
		to = min(to, len(w.text))
		return w.text[min(from, to):to]
	}
	to = min(to, len(w.units))
	return string(utf16.Decode(w.units[min(from, to):to]))
}

// behind gives the text from a unit on.
func (w written) behind(from int) string { return w.part(from, len(w.text)) }

// of gives the text of a part of the tree.
func (w written) of(node any) string {
	v := reflect.ValueOf(node)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return ""
	}
	f, ok := v.Elem().FieldByName("Fragment").Interface().(ast.Fragment)
	if !ok || f.FragmentLength == 0 {
		return ""
	}
	end := len(w.text)
	if w.units != nil {
		end = len(w.units)
	}
	if f.StartOffset+f.FragmentLength > end {
		return ""
	}
	text := unwritten.Replace(w.part(f.StartOffset, f.StartOffset+f.FragmentLength))
	return strings.TrimSpace(strings.TrimRight(text, "; \r\n\t"))
}

// unwritten takes away what was put into a text for the parser.
var unwritten = strings.NewReplacer(unnamed, "", variableName, "", beginScalar, "", endScalar, "")

// sourceText gives the text of a part of what was parsed.
func sourceText(parsed string, node any) string { return asWritten(parsed).of(node) }
