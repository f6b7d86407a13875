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
  root       = "./lake"
  timestamps = "utc" # ERROR language.not_built: timestamps = "utc" is not built yet | The value is reserved for a later release. Leave it out.

  ledger {
    timestamps = "utc" # ERROR language.not_built: timestamps = "utc" is not built yet | The value is reserved for a later release. It can be "ntz" only.
  }
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table        = table.orders
  to           = sink.lake
  target       = "bronze.orders"
  bootstrap    = "chunked" # ERROR language.not_built: bootstrap = "chunked" is not built yet | The value is reserved for a later release. It is one of "none", "full".
  on_data_loss = "resnapshot" # ERROR language.not_built: on_data_loss = "resnapshot" is not built yet | The value is reserved for a later release. It can be "fail" only.
}

stream "again" {
  table        = table.orders
  to           = sink.lake
  target       = "bronze.again"
  on_data_loss = "skip" # ERROR language.not_built: on_data_loss = "skip" is not built yet | The value is reserved for a later release. It can be "fail" only.
}

silver "current" "orders" {
  from    = stream.orders
  target  = "silver.orders"
  publish = "period" # ERROR language.not_built: publish = "period" is not built yet | The value is reserved for a later release. It can be "head" only.
}
