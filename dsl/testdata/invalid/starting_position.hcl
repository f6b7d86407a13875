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
  table             = table.orders
  to                = sink.lake
  target            = "bronze.orders"
  bootstrap         = "full"
  starting_position = "latest" # ERROR argument.value: starting_position = "latest" and bootstrap = "full" exclude each other | A stream with a snapshot starts where the snapshot was taken. Remove one of them.
}

stream "changes" {
  table             = table.orders
  to                = sink.lake
  target            = "bronze.changes"
  starting_position = "latest"
}
