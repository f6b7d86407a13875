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
		kind        diag.Kind
		says        []string
	}{
		"to the owner":                     {"dbo", "", diag.KindConfiguration, []string{"Check the name."}},
		"to a login that sees a like name": {"reader", "dbo.order", diag.KindConfiguration, []string{"did you mean dbo.order?", grant}},
		"to a login that sees none":        {"reader", "", diag.KindPermission, []string{grant, "check the name"}},
	} {
		list := diag.FromError(unknownObject(tsql.Table{Schema: "dbo", Name: "orders"}, "shop", c.login, c.near))
		if len(list) != 1 || list[0].Kind != c.kind || list[0].Code != codeUnknownTable {
			t.Errorf("%s: %+v", name, list)
		}
		for _, part := range c.says {
			if !strings.Contains(list[0].Detail, part) {
				t.Errorf("%s: %q lacks %q", name, list[0].Detail, part)
			}
		}
		if c.login == "dbo" && strings.Contains(list[0].Detail, "GRANT") {
			t.Errorf("%s: the owner needs no grant: %q", name, list[0].Detail)
		}
	}
}
