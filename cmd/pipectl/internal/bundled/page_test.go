package bundled

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/schema"
)

// TestLanguagePageHasEveryArgumentOfThePlugins holds docs/language.md against
// what the bundled plugins describe: each argument with its type and default,
// in the table of its block, and none that a plugin does not have.
func TestLanguagePageHasEveryArgumentOfThePlugins(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	page, walked := string(raw), 0
	plugins := Plugins()
	for _, source := range slices.Sorted(maps.Keys(plugins)) {
		description, err := plugins[source](slog.New(slog.DiscardHandler)).Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range description.Components {
			title := fmt.Sprintf("%s \"%s\"", c.Role, c.Type)
			bodies := map[string]schema.Body{"`" + title + "`": c.Connection}
			switch c.Role {
			case plugin.RoleSource:
				bodies["A `table` of a `"+title+"`"], bodies["`read` of a stream from a `"+title+"`"] = c.Object, c.Read
			case plugin.RoleSilver, plugin.RoleCheck:
				bodies = map[string]schema.Body{"`" + title + "`": c.Object}
			}
			for heading, body := range bodies {
				holdSection(t, page, heading, body)
				walked += len(body.Attributes)
			}
		}
	}
	if walked < 25 {
		t.Errorf("only %d arguments were walked", walked)
	}
}

func holdSection(t *testing.T, page, heading string, body schema.Body) {
	t.Helper()
	_, section, ok := strings.Cut(page, "\n### "+heading+"\n")
	if !ok {
		t.Errorf("the page has no section %q", "### "+heading)
		return
	}
	section, _, _ = strings.Cut(section, "\n#")
	if len(body.Blocks) > 0 {
		t.Errorf("%s: the page has no form for nested blocks of a plugin yet", heading)
	}
	for _, a := range body.Attributes {
		if row := argumentRow(t, a); !strings.Contains(section, row) {
			t.Errorf("%s lacks the row\n%s", heading, row)
		}
	}
	if rows := strings.Count(section, "\n| `"); rows != len(body.Attributes) {
		t.Errorf("%s has %d rows for %d arguments", heading, rows, len(body.Attributes))
	}
}

// argumentRow is the row of an argument, as the page has it.
func argumentRow(t *testing.T, a schema.Attribute) string {
	t.Helper()
	words := map[string]string{"string": "string", "number": "number", "bool": "bool", "list of string": "list of strings"}
	typ, ok := words[a.Type.FriendlyName()]
	if !ok {
		t.Errorf("the page has no word for the type %s of %s", a.Type.FriendlyName(), a.Name)
	}
	given := "none"
	switch {
	case a.Required:
		given = "required"
	case a.Default != cty.NilVal:
		data, err := ctyjson.Marshal(a.Default, a.Type)
		if err != nil {
			t.Fatal(err)
		}
		given = "`" + strings.Trim(string(data), `"`) + "`"
	}
	description := a.Description
	if len(a.Values) > 0 && a.Default != cty.NilVal {
		description += " One of `" + strings.Join(a.Values, "`, `") + "`."
	}
	if a.Sensitive {
		description += " Sensitive."
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", a.Name, typ, given, description)
}
