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
  app_id = "a#facts" # ERROR app_id.invalid: The app id "a#facts" contains "#" | Those forms are made by pipectl for generations and keys of the stream. Choose another id.
}

stream "b" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.b"
  app_id = "orders.g2" # ERROR app_id.invalid: The app id "orders.g2" ends in ".g2" | Those forms are made by pipectl for generations and keys of the stream. Choose another id.
}

stream "c" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.g1" # ERROR app_id.invalid: The app id "bronze.g1" ends in ".g1" | Without app_id the target is the stream's app id, and that form is made by pipectl for generations and keys. Give the stream an app_id.
}
