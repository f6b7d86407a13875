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
  table  = sink.lake # ERROR reference.kind: A reference to a table belongs here, and sink.lake is a sink | Write table.NAME. This configuration declares: orders.
  to     = "the lake" # ERROR reference.kind: A reference to a sink belongs here, not a text | Write sink.NAME, without quotes. This configuration declares: lake.
  target = "bronze.orders"
}

silver "current" "orders" {
  from   = table.orders # ERROR reference.kind: A reference to a stream belongs here, and table.orders is a table | Write stream.NAME. This configuration declares: orders.
  target = "silver.orders"
}

check "reconcile" "orders" {
  silver = 5 # ERROR reference.kind: A reference to a silver belongs here, not a number | Write silver.NAME. This configuration declares: orders.
}
