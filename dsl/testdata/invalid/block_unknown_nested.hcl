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

  reed { # ERROR block.unknown: No block named "reed" in a stream block | It has: for_each, table, to, target, path, app_id, bootstrap, starting_position, max_commits_per_batch, on_data_loss, granularity, tags and 1 more. Did you mean read?
    partitions = 2
  }
}
