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
  object  = ["dbo.orders"] # ERROR argument.type: object is a list, not a text | String required, but have tuple.
  key     = "id" # ERROR argument.type: key is a text, not a list of texts | Key columns; the table's unique index otherwise.
  exclude = [1] # ERROR argument.type: exclude holds something else than texts | Columns to leave out; short for drop.
  columns = ["email"] # ERROR argument.type: columns is a list, not a map of column rules | COLUMN = { drop = true } or { as = TYPE }.
}

stream "orders" {
  table                 = table.orders
  to                    = sink.lake
  target                = 5 # ERROR argument.type: target is a number, not a text | Name of the bronze table: "bronze.orders".
  max_commits_per_batch = "many" # ERROR argument.type: max_commits_per_batch is a text, not a whole number | Bound on commits of one batch; none otherwise.
  tags                  = { a = 1 } # ERROR argument.type: tags is a map, not a list of texts | Words to select addresses by.

  read {
    partitions = "two" # ERROR argument.type: read.partitions is a text, not a number | A number is required.
  }
}
