package deltalog

import (
	"encoding/json"
)

// jsonScanner walks over JSON text without building anything. Pruning looks at
// a few values in the statistics of every file of a table, and decoding all of
// them would cost more than the rest of planning. It accepts some text that is
// no JSON; what it finds is checked when it is parsed, and text that it cannot
// follow yields nothing, which keeps the file.
type jsonScanner struct {
	text string
	pos  int
}

func (s *jsonScanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// take moves over one byte if it is c.
func (s *jsonScanner) take(c byte) bool {
	s.space()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// quoted returns the next string with its quotes, "" if there is none.
func (s *jsonScanner) quoted() string {
	s.space()
	start := s.pos
	if start >= len(s.text) || s.text[start] != '"' {
		return ""
	}
	for i := start + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			s.pos = i + 1
			return s.text[start:s.pos]
		}
	}
	return ""
}

// value returns the next value as text, "" if it cannot be followed.
func (s *jsonScanner) value() string {
	s.space()
	start := s.pos
	depth := 0
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case '"':
			if s.quoted() == "" {
				return ""
			}
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			if depth == 0 {
				return s.text[start:s.pos]
			}
			depth--
			s.pos++
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return s.text[start:s.pos]
			}
			s.pos++
			continue
		default:
			s.pos++
			continue
		}
		if depth == 0 && s.pos > start {
			return s.text[start:s.pos]
		}
	}
	if depth > 0 {
		return ""
	}
	return s.text[start:s.pos]
}

// scanFields calls visit for each field of the object until visit returns false.
// The name is given as it stands between the quotes.
func scanFields(text string, visit func(name, value string) bool) {
	s := jsonScanner{text: text}
	if !s.take('{') {
		return
	}
	for {
		name := s.quoted()
		if name == "" || !s.take(':') {
			return
		}
		value := s.value()
		if value == "" || !visit(unquote(name), value) || !s.take(',') {
			return
		}
	}
}

// unquote reads a JSON string; what is none comes back as it is.
func unquote(quoted string) string {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return quoted
	}
	inner := quoted[1 : len(quoted)-1]
	plain := true
	for i := 0; i < len(inner) && plain; i++ {
		plain = inner[i] != '\\' && inner[i] != '"' && inner[i] >= 0x20 && inner[i] < 0x80
	}
	if plain {
		return inner
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return quoted
	}
	return text
}

// scanField returns the text of one field of an object, "" if it is not there.
func scanField(text, name string) (value string) {
	scanFields(text, func(n, v string) bool {
		if n == name {
			value = v
			return false
		}
		return true
	})
	return value
}
