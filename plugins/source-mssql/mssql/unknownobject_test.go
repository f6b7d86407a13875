package mssql

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// A server hides a table from a login without a right on it. Both causes are
// said, and the likelier one decides what kind of error it is.
func TestATableThatIsNotSeen(t *testing.T) {
	t.Parallel()
	const grant = "GRANT SELECT ON [dbo].[orders] TO [reader] lets the login see it."
	for name, c := range map[string]struct {
		login, near string
		read        bool
		renamed     string
		kind        diag.Kind
		says        []string
	}{
		"to the owner":                     {"dbo", "", false, "", diag.KindConfiguration, []string{"Check the name."}},
		"to a login that sees a like name": {"reader", "dbo.order", false, "", diag.KindConfiguration, []string{"did you mean dbo.order?", grant}},
		"to a login that sees none":        {"reader", "", false, "", diag.KindPermission, []string{grant, "check the name"}},
		"by the owner, when it was read":   {"dbo", "", true, "", diag.KindConfiguration, []string{"It was there", "dropped or renamed.", "the stream goes on", "another target"}},
		"after it was read":                {"reader", "", true, "", diag.KindPermission, []string{"It was there", "lost its right on it: " + grant}},
		"beside a like name, when read":    {"dbo", "dbo.orders_old", true, "", diag.KindConfiguration, []string{"It was there", "There is dbo.orders_old."}},
		"renamed":                          {"dbo", "dbo.order", true, "dbo.trades", diag.KindConfiguration, []string{"it is called dbo.trades now", "the stream goes on"}},
		"renamed, to a login":              {"reader", "", true, "dbo.trades", diag.KindConfiguration, []string{"it is called dbo.trades now"}},
	} {
		list := diag.FromError(unknownObject(tsql.Table{Schema: "dbo", Name: "orders"}, "shop", c.login, c.near, c.renamed, c.read))
		if len(list) != 1 || list[0].Kind != c.kind || list[0].Code != codeUnknownTable {
			t.Errorf("%s: %+v", name, list)
		}
		for _, part := range c.says {
			if !strings.Contains(list[0].Detail, part) {
				t.Errorf("%s: %q lacks %q", name, list[0].Detail, part)
			}
		}
		if c.read && strings.Contains(strings.ToLower(list[0].Detail), "check the name") {
			t.Errorf("%s: the name was right: %q", name, list[0].Detail)
		}
		if c.renamed != "" && (strings.Contains(list[0].Detail, "dropped") || strings.Contains(list[0].Detail, "dbo.order ") || strings.Contains(list[0].Detail, "GRANT")) {
			t.Errorf("%s: it is known what became of it: %q", name, list[0].Detail)
		}
		if c.login == "dbo" && strings.Contains(list[0].Detail, "GRANT") {
			t.Errorf("%s: the owner needs no grant: %q", name, list[0].Detail)
		}
	}
}
