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
  source  = source.shop
  objekt  = "dbo.orders" # ERROR argument.unknown: No argument named "objekt" in a table block | It has: for_each, source, key, columns, exclude, description, capture_instance, hints, object, snapshot_keys. Did you mean object?
  exlude  = ["email"] # ERROR argument.unknown: No argument named "exlude" in a table block | It has: for_each, source, key, columns, exclude, description, capture_instance, hints, object, snapshot_keys. Did you mean exclude?
}

stream "orders" {
  table      = table.orders
  to         = sink.lake
  target     = "bronze.orders"
  boot_strap = "full" # ERROR argument.unknown: No argument named "boot_strap" in a stream block | It has: for_each, table, to, target, path, app_id, bootstrap, starting_position, max_commits_per_batch, on_data_loss, granularity, tags and 1 more. Did you mean bootstrap?

  read {
    partition = 2 # ERROR argument.unknown: No argument named "partition" in a read block | It has: batch_rows, include_command_id, partitions, schema_change_policy. Did you mean partitions?
  }
}
