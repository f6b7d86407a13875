package schema_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/schema"
)

func TestTypeNames(t *testing.T) {
	t.Parallel()
	good := []string{"String", "decimal( 38, 38 )", "bool", "bigint", "decimal(1,0)"}
	for _, name := range schema.TypeNames() {
		good = append(good, strings.ReplaceAll(name, "(p,s)", "(18,2)"))
	}
	for _, name := range good {
		if err := schema.CheckTypeName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"strng", "", "decimal", "decimal(39,0)", "decimal(0,0)", "decimal(5,6)", "decimal(5)", "varchar(10)", "string\n"} {
		if err := schema.CheckTypeName(name); err == nil {
			t.Errorf("%q is taken for a type", name)
		}
	}
}
