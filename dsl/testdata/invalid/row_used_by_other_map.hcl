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
    orders = { object = "dbo.orders", mode = "full" } # ERROR row.unknown_attribute: The row "orders" has an attribute "mode" that nothing uses | Nothing reads it; use each.value.mode or remove it.
  }
  streams = {
    orders = { mode = "none" }
  }
}

table "erp" {
  for_each = local.tables
  source   = source.shop
  object   = each.value.object
}

stream "erp" {
  for_each  = local.streams
  table     = table.erp[each.key]
  to        = sink.lake
  target    = "bronze.${each.key}"
  bootstrap = each.value.mode
}
