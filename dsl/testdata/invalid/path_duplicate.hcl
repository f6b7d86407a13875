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

stream "a" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.a"
  path   = "old/orders"
}

stream "b" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.b"
  path   = "old/orders" # ERROR target.duplicate: Both stream.a and stream.b put their table at "old/orders" | A place holds one table. A table stands at its path, else in the folders that its target names. Give one of them another path. The other one is in path_duplicate.hcl line 30.
}
