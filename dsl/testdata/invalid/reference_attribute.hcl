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

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table  = table.orders["x"] # ERROR reference.attribute: table.orders is a reference; nothing can be read from it | Write table.orders alone.
  to     = sink.lake
  target = table.orders.object # ERROR reference.attribute: table.orders is a reference; nothing can be read from it | Write table.orders alone.
}

table "erp" {
  for_each = toset(["a"])
  source   = source.shop
}

stream "a" {
  table  = table.erp["a"].source # ERROR reference.attribute: table.erp["a"] is a reference; nothing can be read from it | Write table.erp["a"] alone.
  to     = sink.lake
  target = "bronze.a"
}
