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

sink "delta" "lake" { # ERROR target.nested: The table of the facts of sink.lake lies inside that of silver.orders: "ops/ingestion_facts" in "ops" | Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give one of them another target or path. The other one is in target_nested.hcl line 53. # ERROR target.nested: The table of the control table of sink.lake lies inside that of silver.orders: "ops/table_finalization" in "ops" | Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give one of them another target or path. The other one is in target_nested.hcl line 53.
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "state" {
  table  = table.orders
  to     = sink.lake
  target = "_pipectl.shop" # ERROR target.nested: The table of stream.state lies in the folder of the state in sink.lake: "_pipectl/shop" | That folder holds positions and locks, and is no place for a table. Give it another target or path. The other one is in target_nested.hcl line 18.
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}

stream "deep" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders.deep" # ERROR target.nested: The table of stream.deep lies inside that of stream.orders: "bronze/orders/deep" in "bronze/orders" | Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give one of them another target or path. The other one is in target_nested.hcl line 35.
}

stream "plans" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_snapshot_plans" # ERROR target.duplicate: Both the plans of the snapshots of stream.orders and stream.plans write the table "bronze.orders_snapshot_plans" | A table has one writer. Give one of them another target. The other one is in target_nested.hcl line 35.
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
  path   = "ops"
}

# Not inside: a name that only begins alike.
stream "orders2" {
  table  = table.orders
  to     = sink.lake
  target = "other.orders2"
}

silver "current" "orders2" {
  from   = stream.orders2
  target = "other.orders"
}
