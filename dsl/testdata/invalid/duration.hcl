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

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

check "reconcile" "number" {
  silver = silver.orders
  settle = 20 # ERROR argument.type: settle is a number, not a duration | Durations are written like "90s", "20m", "72h", "7d". Did you mean "20s"?
}

check "reconcile" "text" {
  silver = silver.orders
  settle = "20" # ERROR argument.value: settle = "20" is no duration | Durations are written like "90s", "20m", "72h", "7d". Did you mean "20s"?
}

check "reconcile" "negative" {
  silver = silver.orders
  settle = -5 # ERROR argument.type: settle is a number, not a duration | Durations are written like "90s", "20m", "72h", "7d".
}

check "reconcile" "list" {
  silver = silver.orders
  settle = ["20s"] # ERROR argument.type: settle is a list, not a duration | How long undecided ranges are looked at again, and differences once.
}

check "reconcile" "empty" {
  silver = silver.orders
  settle = "" # ERROR argument.value: settle = "" is no duration | Durations are written like "90s", "20m", "72h", "7d".
}
