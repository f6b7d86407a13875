package sqltype

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// keptXML refuses a text that is no well-formed content, whose errors are many on a server, and one that a server does not keep as
// it is written (Microsoft: Create instances of XML data: insignificant white space, the XML declaration, the form of attributes
// and of empty elements are not preserved).
func keptXML(text string) error {
	written, err := writtenXML(text)
	switch {
	case err != nil:
		return Unsupported("text that is no well-formed xml: %v", err)
	case written != text:
		return Unsupported("xml that is not kept as it is written (white space between elements, <a></a>, declarations, comments, references but &lt; &gt; &amp;)")
	}
	return nil
}

// writtenXML writes content as a server shows it, as far as elements, attributes and text go.
func writtenXML(text string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var b strings.Builder
	open := false // the last tag may still be that of an empty element
	for {
		t, err := d.RawToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		if _, ends := t.(xml.EndElement); open && !ends {
			b.WriteByte('>')
		}
		switch t := t.(type) {
		case xml.StartElement:
			b.WriteString("<" + nameXML(t.Name))
			for _, a := range t.Attr {
				b.WriteString(" " + nameXML(a.Name) + `="` + escapeXML(a.Value, true) + `"`)
			}
			open = true
			continue
		case xml.EndElement:
			if open {
				b.WriteString("/>")
			} else {
				b.WriteString("</" + nameXML(t.Name) + ">")
			}
		case xml.CharData:
			if strings.TrimSpace(string(t)) == "" {
				break // white space that nothing is said of is not kept
			}
			b.WriteString(escapeXML(string(t), false))
		}
		open = false
	}
	// RawToken does not look whether elements are closed, Token does.
	for d = xml.NewDecoder(strings.NewReader(text)); ; {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return b.String(), nil
		case err != nil:
			return "", err
		}
	}
}

// decodeXML reads bytes as a server does: their mark of the byte order tells UTF-16, and without one they are UTF-8 (Microsoft: Create
// instances of XML data).
func decodeXML(b string) (string, error) {
	switch {
	case strings.HasPrefix(b, "\xff\xfe"):
		return decodeUTF16(b[2:]), nil
	case strings.HasPrefix(b, "\xfe\xff"):
		return "", Unsupported("xml of bytes with the high byte of each unit first")
	}
	b = strings.TrimPrefix(b, "\ufeff")
	if !utf8.ValidString(b) {
		return "", Unsupported("xml of bytes that are no UTF-8 and have no mark of their byte order")
	}
	return b, nil
}

func nameXML(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

func escapeXML(s string, attribute bool) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
	if attribute {
		s = strings.ReplaceAll(s, `"`, "&quot;")
	}
	return s
}
