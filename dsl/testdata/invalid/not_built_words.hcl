# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

pipectl {
  name = "shop"

  health { # ERROR language.not_built: health is not built yet | The word is reserved for a later release. Remove it.
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

  datetime_zone = "UTC" # ERROR language.not_built: datetime_zone is not built yet | The word is reserved for a later release. Remove it.

  limit "night" { # ERROR language.not_built: limit is not built yet | The word is reserved for a later release. Remove it.
  }

  replica { # ERROR language.not_built: replica is not built yet | The word is reserved for a later release. Remove it.
  }
}

sink "delta" "lake" {
  root = "./lake"

  maintain { # ERROR language.not_built: maintain is not built yet | The word is reserved for a later release. Remove it.
  }
}

table "orders" {
  source = source.shop
  object = "dbo.orders"

  datetime_zone = "Europe/Berlin" # ERROR language.not_built: datetime_zone is not built yet | The word is reserved for a later release. Remove it.
}

stream "orders" {
  table               = table.orders
  to                  = sink.lake
  target              = "bronze.orders"
  snapshot_on_switch  = true # ERROR language.not_built: snapshot_on_switch is not built yet | The word is reserved for a later release. Remove it.
  resnapshot_interval = "30d" # ERROR language.not_built: resnapshot_interval is not built yet | The word is reserved for a later release. Remove it.
  retain              = "400d" # ERROR language.not_built: retain is not built yet | The word is reserved for a later release. Remove it.
  max_rows_per_batch  = 5 # ERROR language.not_built: max_rows_per_batch is not built yet | The word is reserved for a later release. Remove it.

  snapshot { # ERROR language.not_built: snapshot is not built yet | The word is reserved for a later release. Remove it.
    mode = "full"
  }
}

silver "current" "orders" {
  from        = stream.orders
  target      = "silver.orders"
  engine      = "spark" # ERROR language.not_built: engine is not built yet | The word is reserved for a later release. Remove it.
  deletes     = "mark" # ERROR language.not_built: deletes is not built yet | The word is reserved for a later release. Remove it.
  change_feed = true # ERROR language.not_built: change_feed is not built yet | The word is reserved for a later release. Remove it.
}

silver "history" "orders_history" { # ERROR language.not_built: Silver "history" is not built yet | The type is reserved for a later release.
  from   = stream.orders
  target = "silver.orders_history"
}

check "reconcile" "orders" {
  silver   = silver.orders
  key      = "row" # ERROR language.not_built: key is not built yet | The word is reserved for a later release. Remove it.
  coverage = "30d" # ERROR language.not_built: coverage is not built yet | The word is reserved for a later release. Remove it.
  budget   = "1h" # ERROR language.not_built: budget is not built yet | The word is reserved for a later release. Remove it.
}
