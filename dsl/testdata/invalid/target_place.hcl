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

# The path of one is the place that another's name gives.
stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}

stream "path" {
  table  = table.orders
  to     = sink.lake
  target = "x.orders"
  path   = "bronze//orders/" # ERROR target.duplicate: Both stream.orders and stream.path put their table at "bronze/orders" | A place holds one table. A table stands at its path, else in the folders that its target names. Give one of them another path. The other one is in target_place.hcl line 30.
}

# Silver over its own bronze would merge into it.
silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
  path   = "bronze/orders" # ERROR target.duplicate: Both stream.orders and silver.orders put their table at "bronze/orders" | A place holds one table. A table stands at its path, else in the folders that its target names. Give one of them another path. The other one is in target_place.hcl line 30.
}

silver "current" "facts" {
  from   = stream.orders
  target = "silver.facts"
  path   = "ops/ingestion_facts" # ERROR target.duplicate: Both the facts of sink.lake and silver.facts put their table at "ops/ingestion_facts" | A place holds one table. A table stands at its path, else in the folders that its target names. Give one of them another path. The other one is in target_place.hcl line 17.
}

# Two sinks, one lake.
sink "delta" "same" {
  root = "lake/"

  ledger {
    facts   = "other.facts"
    control = "other.control"
  }
}

sink "delta" "inner" {
  root = "./lake/bronze"
}

stream "same" {
  table  = table.orders
  to     = sink.same
  target = "bronze.orders" # ERROR target.duplicate: Both stream.orders and stream.same put their table into one place: "bronze/orders" of sink.same is "bronze/orders" of sink.lake | A table has one writer, and these sinks are one lake. Give one of them another target, or a sink another root. The other one is in target_place.hcl line 30.
  app_id = "same"
}

stream "inner" {
  table  = table.orders
  to     = sink.inner
  target = "orders" # ERROR target.duplicate: Both stream.orders and stream.inner put their table into one place: "orders" of sink.inner is "bronze/orders" of sink.lake | A table has one writer, and these sinks are one lake. Give one of them another target, or a sink another root. The other one is in target_place.hcl line 30.
}

sink "delta" "cloud" {
  root = "S3://Bucket/lake"
}

sink "delta" "cloud_again" { # ERROR target.duplicate: Both the facts of sink.cloud and the facts of sink.cloud_again put their table into one place: "ops/ingestion_facts" of sink.cloud_again is "ops/ingestion_facts" of sink.cloud | A table has one writer, and these sinks are one lake. Give one of them another target, or a sink another root. The other one is in target_place.hcl line 80. # ERROR target.duplicate: Both the control table of sink.cloud and the control table of sink.cloud_again put their table into one place: "ops/table_finalization" of sink.cloud_again is "ops/table_finalization" of sink.cloud | A table has one writer, and these sinks are one lake. Give one of them another target, or a sink another root. The other one is in target_place.hcl line 80.
  root = "s3://bucket/lake/"
}

sink "delta" "elsewhere" {
  root = "./elsewhere"
}

stream "elsewhere" {
  table  = table.orders
  to     = sink.elsewhere
  target = "bronze.orders"
}

stream "cloud" {
  table  = table.orders
  to     = sink.cloud
  target = "bronze.orders"
}

stream "cloud_deep" {
  table  = table.orders
  to     = sink.cloud
  target = "bronze.orders.deep" # ERROR target.nested: The table of stream.cloud_deep lies inside that of stream.cloud: "bronze/orders/deep" in "bronze/orders" | Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give one of them another target or path. The other one is in target_place.hcl line 101.
}
