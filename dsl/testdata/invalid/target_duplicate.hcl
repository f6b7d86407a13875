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
}

stream "again" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders" # ERROR target.duplicate: Both stream.orders and stream.again write the table "bronze.orders" | A table has one writer. Give one of them another target. The other one is in target_duplicate.hcl line 29.
  app_id = "again"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

silver "current" "again" {
  from   = stream.orders
  target = "silver.orders" # ERROR target.duplicate: Both silver.orders and silver.again write the table "silver.orders" | A table has one writer. Give one of them another target. The other one is in target_duplicate.hcl line 41.
}

silver "current" "facts" {
  from   = stream.orders
  target = "ops.ingestion_facts" # ERROR target.duplicate: Both the facts of sink.lake and silver.facts write the table "ops.ingestion_facts" | A table has one writer. Give one of them another target. The other one is in target_duplicate.hcl line 17.
}
