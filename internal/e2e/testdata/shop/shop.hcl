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
  url = env("SHOP_MSSQL_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table     = table.orders
  to        = sink.lake
  target    = "bronze.orders"
  bootstrap = "full"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

check "reconcile" "orders" {
  silver = silver.orders
  sample = 1
}
