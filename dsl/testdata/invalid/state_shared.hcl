# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

pipectl {
  name = "shop"

  state {
    path = "./state"
  }

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

sink "delta" "other" {
  root = "./other"
}

sink "delta" "state" { # ERROR target.nested: The table of the facts of sink.state lies in the folder of the state of this configuration: "ops/ingestion_facts" | That folder holds positions and locks, and is no place for a table. Give it another target or path. The other one is in state_shared.hcl line 7. # ERROR target.nested: The table of the control table of sink.state lies in the folder of the state of this configuration: "ops/table_finalization" | That folder holds positions and locks, and is no place for a table. Give it another target or path. The other one is in state_shared.hcl line 7.
  root = "./state/shop"
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

# One state for all sinks: one log for each app id, one lock for each name.
stream "other" {
  table  = table.orders
  to     = sink.other
  target = "bronze.orders" # ERROR app_id.duplicate: Both stream.orders and stream.other have the app id "bronze.orders" | The app id tells the writes of streams apart, and sink.lake and sink.other keep one state. Give one of them another. The other one is in state_shared.hcl line 42.
}

silver "current" "other" {
  from   = stream.other
  target = "silver.orders" # ERROR target.duplicate: Both silver.orders and silver.other have the target "silver.orders" in one state | A silver is locked under its target, and state { path } is one for all sinks. Give one of them another target, or leave the state in the sinks. The other one is in state_shared.hcl line 47.
}
