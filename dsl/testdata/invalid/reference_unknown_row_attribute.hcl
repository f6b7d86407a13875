# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url = env("SHOP_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

locals {
  tables = {
    orders = { object = "dbo.orders" }
    lines  = { objekt = "dbo.lines" } # ERROR row.unknown_attribute: The row "lines" has an attribute "objekt" that nothing uses | Did you mean object?
  }
}

table "erp" {
  for_each = local.tables
  source   = source.shop
  object   = each.value.object # ERROR expression.invalid: each.value has no attribute "object" | In the row "lines". It has: objekt. Did you mean objekt? For a row that may lack it: lookup(each.value, "object", DEFAULT).
}
