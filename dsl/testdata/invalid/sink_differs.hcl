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

sink "delta" "other" {
  root = "./other"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}

silver "current" "orders" {
  from   = stream.orders
  to     = sink.other # ERROR sink.differs: silver.orders is written to sink.other and its stream to sink.lake | Silver stands in the sink of its stream: one position and one control table. Remove "to".
  target = "silver.orders"
}
