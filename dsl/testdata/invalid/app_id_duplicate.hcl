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
  app_id = "orders"
}

stream "b" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.b"
  app_id = "orders" # ERROR app_id.duplicate: Both stream.a and stream.b have the app id "orders" | The app id tells the writes of streams apart. Give one of them another. The other one is in app_id_duplicate.hcl line 30.
}

stream "c" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.c"
  app_id = "bronze.d"
}

stream "d" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.d" # ERROR app_id.duplicate: Both stream.c and stream.d have the app id "bronze.d" | The app id tells the writes of streams apart. Give one of them another. The other one is in app_id_duplicate.hcl line 44.
}
