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
    orders = { object = "dbo.orders", enabled = true, keys = ["id"] }
  }
}

table "erp" {
  for_each = { for k, v in local.tables : k => v if v.enabled } # ERROR row.unknown_attribute: The row "orders" has an attribute "keys" that nothing uses | Did you mean key?
  source   = source.shop
  object   = each.value.object
  key      = try(each.value.key, null)
}
