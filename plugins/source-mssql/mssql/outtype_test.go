package mssql

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/schema"
)

// Whatever name of a type the language takes, the plugin takes, and no other.
func TestTypeNamesAreThoseOfTheLanguage(t *testing.T) {
	t.Parallel()
	names := []string{"strng", "decimal(39,0)", "decimal(38,38)", "Decimal( 5, 2 )", "varchar"}
	for word := range outTypeWords {
		names = append(names, word)
	}
	for _, name := range schema.TypeNames() {
		names = append(names, name, strings.ReplaceAll(name, "(p,s)", "(18,2)"))
	}
	for _, name := range names {
		_, own := parseOutType(name)
		if language := schema.CheckTypeName(name); (own == nil) != (language == nil) {
			t.Errorf("%q: the plugin says %v, the language %v", name, own, language)
		}
	}
}
