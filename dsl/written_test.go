package dsl_test

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/dsl"
)

const rowsText = `
pipectl {
  name = "shop"
  required_plugins {
    mssql  = { source = "pipectl/source-mssql" }
    delta  = { source = "pipectl/sink-delta" }
    silver = { source = "pipectl/silver" }
  }
}
variable "hidden" {
  type    = list(string)
  default = ["from_default"]
}
variable "given" { type = list(string) }
locals {
  personal = ["email", "phone"]
  shared   = { cut = { keys = ["region"] } }
  base = {
    orders = {
      object  = "dbo.orders"
      exclude = concat(local.personal, var.hidden, ["iban"], var.given)
      key     = (["order_id"])
      columns = { amount = { as = "string" } }
    }
  }
  tables = merge(local.base, { lines = { object = "dbo.lines" } })
}
source "mssql" "shop" { url = env("SHOP_URL") }
sink "delta" "lake" { root = "./lake" }
table "erp" {
  for_each      = local.tables
  source        = source.shop
  object        = each.value.object
  exclude       = lookup(each.value, "exclude", ["spare"])
  key           = lookup(each.value, "key", null)
  columns       = lookup(each.value, "columns", {})
  snapshot_keys = local.shared["cut"].keys
  description   = upper("made on the spot")
}
`

// What a block passes on stands where it is written, so that a message about it
// points there.
func TestPlacesAreWhereAValueIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, given := write(t, dir, "shop.hcl", rowsText), write(t, dir, "given.vars", "\ngiven = [\"from_file\"]\n")
	files, list := dsl.Load(path, dsl.Options{Environ: environ("SHOP_URL", "sqlserver://db"), VarFiles: []string{given}})
	if files == nil {
		t.Fatal(list.Err())
	}
	config, list := files.Evaluate(plugins())
	if config == nil {
		t.Fatal(list.Err())
	}
	for _, c := range []struct {
		table string
		path  diag.Path
		text  string // begins at the place
	}{
		{"orders", diag.Path{"columns", "email"}, `"email"`},
		{"orders", diag.Path{"columns", "phone"}, `"phone"`},
		{"orders", diag.Path{"columns", "from_default"}, `"from_default"`},
		{"orders", diag.Path{"columns", "from_file"}, `"from_file"`},
		{"orders", diag.Path{"columns", "iban"}, `"iban"`},
		{"orders", diag.Path{"columns", "amount"}, "amount = {"},
		{"orders", diag.Path{"exclude", 0}, `"email"`},
		{"orders", diag.Path{"exclude"}, "concat("},
		{"orders", diag.Path{"key", 0}, `"order_id"`},
		{"orders", diag.Path{"key"}, `["order_id"]`},
		{"orders", diag.Path{"object"}, `"dbo.orders"`},
		{"orders", diag.Path{"snapshot_keys", 0}, `"region"`},
		{"orders", diag.Path{"description"}, `description   = upper`},
		{"lines", diag.Path{"columns", "spare"}, `"spare"`},
		{"lines", diag.Path{"object"}, `"dbo.lines"`},
		{"lines", diag.Path{"key"}, `null`},
	} {
		place := config.Table(addr.Instance(addr.Table, "erp", c.table)).Origin.Place(c.path)
		text := rowsText
		if place != nil && strings.HasSuffix(place.Filename, "given.vars") {
			text = "\ngiven = [\"from_file\"]\n"
		}
		if place == nil || !strings.HasPrefix(text[place.Start.Byte:], c.text) {
			t.Errorf("%s of %s is at %+v, not at %s", c.path, c.table, place, c.text)
		}
	}
}

// A circle of locals has no place, and no end of its own.
func TestPlacesOfACircleEnd(t *testing.T) {
	t.Parallel()
	text := strings.Replace(rowsText, `personal = ["email", "phone"]`, `personal = lookup(local.personal, "x", local.personal)`, 1)
	path := write(t, t.TempDir(), "shop.hcl", text)
	files, _ := dsl.Load(path, dsl.Options{Offline: true, Vars: []string{`given=["a"]`}})
	_, list := files.Evaluate(plugins())
	if got := strings.Join(codes(list), " "); !strings.Contains(got, "reference.cycle") {
		t.Errorf("%s", got)
	}
}

// A connection's values may be secrets, whose lines are left out where they
// stand in the block.
func TestPlacesOfAConnectionStayInItsBlock(t *testing.T) {
	t.Parallel()
	text := strings.Replace(rowsText, `url = env("SHOP_URL")`, `url = local.address`, 1)
	text = strings.Replace(text, "locals {", "locals {\n  address = \"sqlserver://sa:hunter22@db\"", 1)
	path := write(t, t.TempDir(), "shop.hcl", text)
	files, _ := dsl.Load(path, dsl.Options{Vars: []string{`given=["a"]`}})
	config, list := files.Evaluate(plugins())
	if config == nil {
		t.Fatal(list.Err())
	}
	if got := files.Excerpt(*config.Sources[0].Origin.Place(diag.Path{"url"})); !strings.HasPrefix(got, `source "mssql"`) {
		t.Errorf("%q", got)
	}
}
