package model

import (
	"fmt"
	"strings"
)

// MaxElement is how many bytes a part of a path may have: more the common file
// systems refuse (POSIX: NAME_MAX; Linux: 255).
const MaxElement = 255

// Element turns any name into one path element, as the state names its folders:
// letters, digits and ._- stay, all other bytes become %XX, and so does a dot at either end, because
// ".", ".." and hidden or trailing-dot files mean other things to file systems.
func Element(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' ||
			c == '.' && i > 0 && i < len(name)-1
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
