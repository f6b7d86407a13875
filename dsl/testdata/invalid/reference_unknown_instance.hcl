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

table "erp" {
  for_each = toset(["orders", "lines"])
  source   = source.shop
  object   = "dbo.${each.key}"
}

stream "orders" {
  table  = table.erp["order"] # ERROR reference.unknown: table.erp has no instance "order" | It has: lines, orders. Did you mean orders?
  to     = sink.lake
  target = "bronze.orders"
}

stream "lines" {
  table  = table.erp.line # ERROR reference.unknown: table.erp has no instance "line" | It has: lines, orders. Did you mean lines?
  to     = sink.lake
  target = "bronze.lines"
}
