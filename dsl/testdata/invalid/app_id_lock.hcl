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
  target = "bronze.orders"
  app_id = "silver.orders"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders" # ERROR app_id.duplicate: The target of silver.orders is the app id of stream.orders: "silver.orders" | A stream is locked under its app id and a silver under its target, so each would keep the other out. Give the silver another target, or a stream that has not run yet another app_id. The other one is in app_id_lock.hcl line 30.
}

silver "current" "apply" {
  from   = stream.orders
  target = "#apply" # ERROR target.invalid: "#apply" is the name of a lock of pipectl's own | Give the silver another target.
}
