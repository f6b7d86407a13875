package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// TypeNames lists the types that a column can be read as. A decimal has a
// precision of 1 to 38 and a scale of at most that: "decimal(18,2)".
func TypeNames() []string {
	return []string{"string", "boolean", "short", "int", "long", "float", "double", "decimal(p,s)", "date", "timestamp", "timestamp_ntz", "binary"}
}

// typeWords are the names without decimal, and the other names of some.
var typeWords = map[string]bool{
	"string": true, "boolean": true, "bool": true, "short": true, "smallint": true, "int": true, "integer": true, "long": true, "bigint": true,
	"float": true, "real": true, "double": true, "date": true, "timestamp": true, "timestamp_ntz": true, "binary": true,
}

var decimalForm = regexp.MustCompile(`\Adecimal\(([0-9]{1,2}),([0-9]{1,2})\)\z`)

// CheckTypeName reports whether text names a type that a column can be read
// as, in any case, with or without spaces.
func CheckTypeName(text string) error {
	name := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	if typeWords[name] {
		return nil
	}
	if m := decimalForm.FindStringSubmatch(name); m != nil {
		// Two digits are a number.
		p, _ := strconv.Atoi(m[1])
		s, _ := strconv.Atoi(m[2])
		if p >= 1 && p <= 38 && s <= p {
			return nil
		}
	}
	return fmt.Errorf("%q is no type", text)
}
