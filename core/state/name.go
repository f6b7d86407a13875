package state

import (
	"fmt"
	"strconv"
	"strings"
)

// decodeName is the inverse of model.Element.
func decodeName(element string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(element); i++ {
		if element[i] != '%' {
			b.WriteByte(element[i])
			continue
		}
		if i+2 >= len(element) {
			return "", fmt.Errorf("state name %q ends inside a percent code", element)
		}
		c, err := strconv.ParseUint(element[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("state name %q: %q is no percent code", element, element[i:i+3])
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}

// number is the name of an entry of a log: 20 digits, so that names sort.
func number(n int64) string { return fmt.Sprintf("%020d", n) }

// parseNumber reads an entry's name; false for files that are none.
func parseNumber(name string) (int64, bool) {
	if len(name) != 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0
}
