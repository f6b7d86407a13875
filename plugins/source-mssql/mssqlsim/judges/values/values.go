// Package values reads values.tsv, the list of values that all judges ask for. It must not know any client.
package values

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Value is a line of the list.
type Value struct {
	Name       string
	Type       string // in T-SQL, with its length
	Expression string // in T-SQL, of that type
	Text       string // what every client must get; dates without zeros at the end of a fraction, binary as 0x and upper-case digits
}

// Read reads the list; an empty one is an error.
func Read(file string) ([]Value, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the list of values: %w", err)
	}
	var all []Value
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s:%d: %d fields, want name, type, expression and text", file, n, len(fields))
		}
		all = append(all, Value{fields[0], fields[1], fields[2], repeated(fields[3])})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no values", file)
	}
	return all, nil
}

var times = regexp.MustCompile(`(?s)^(.*)\*(\d{3,})$`)

// repeated turns X*N into N times X.
func repeated(s string) string {
	found := times.FindStringSubmatch(s)
	if found == nil {
		return s
	}
	n, _ := strconv.Atoi(found[2])
	if digits, binary := strings.CutPrefix(found[1], "0x"); binary {
		return "0x" + strings.Repeat(digits, n)
	}
	return strings.Repeat(found[1], n)
}

// Kind is the type without its length.
func (v Value) Kind() string {
	kind, _, _ := strings.Cut(v.Type, "(")
	return kind
}
