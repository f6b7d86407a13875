package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/pipectl/pipectl/core/plugin"
)

// object is a JSON object whose members keep their order. Values are nil,
// string, bool, integers, []string, json.RawMessage or object.
type object []member

type member struct {
	key   string
	value any
}

// spacing is what stands after commas and colons. Metadata of batch commits
// has none, every other payload one blank.
type spacing string

const (
	dense  spacing = ""
	spaced spacing = " "
)

// encode writes the one JSON form of payloads: ASCII (everything else as
// \uXXXX) and no HTML escaping, because other programs search these texts for
// literal values.
func (s spacing) encode(o object) string {
	var b strings.Builder
	s.object(&b, o)
	return b.String()
}

func (s spacing) object(b *strings.Builder, o object) {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteString("," + string(s))
		}
		quote(b, m.key)
		b.WriteString(":" + string(s))
		s.value(b, m.value)
	}
	b.WriteByte('}')
}

func (s spacing) value(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		quote(b, v)
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case json.RawMessage:
		b.Write(v)
	case object:
		s.object(b, v)
	case []string:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString("," + string(s))
			}
			quote(b, e)
		}
		b.WriteByte(']')
	default:
		panic(fmt.Sprintf("payload value of type %T", v)) // a mistake in this package
	}
}

func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r >= ' ' && r < 0x7F:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

// orNull is the text of a value that may be missing.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// timeText is the form of times in payloads.
func timeText(micros *int64) any {
	if micros == nil {
		return nil
	}
	return plugin.Position{CommitMicros: *micros, HasCommit: true}.CommitText()
}
