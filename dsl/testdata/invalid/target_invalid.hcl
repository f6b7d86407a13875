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
  table  = table.orders
  to     = sink.lake
  target = "bronze/orders" # ERROR target.invalid: "bronze/orders" is no table name | A table name is words with dots between them, such as "bronze.orders", without slashes. Where the table stands is said with path.
}

stream "b" {
  table  = table.orders
  to     = sink.lake
  target = "bronze..orders" # ERROR target.invalid: "bronze..orders" is no table name | A table name is words with dots between them, such as "bronze.orders", without slashes. Where the table stands is said with path.
}

silver "current" "orders" {
  from   = stream.orders
  target = ".orders" # ERROR target.invalid: ".orders" is no table name | A table name is words with dots between them, such as "bronze.orders", without slashes. Where the table stands is said with path.
}
