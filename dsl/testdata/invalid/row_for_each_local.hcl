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
    orders = { object = "dbo.orders", exlude = ["email"] } # ERROR row.unknown_attribute: The row "orders" has an attribute "exlude" that nothing uses | Did you mean exclude?
    lines  = { object = "dbo.lines", exclude = ["note"] }
  }
}

table "erp" {
  for_each = local.tables
  source   = source.shop
  object   = each.value.object
  exclude  = lookup(each.value, "exclude", [])
}
