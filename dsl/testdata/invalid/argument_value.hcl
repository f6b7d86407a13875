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
  url             = env("SHOP_URL")
  encrypt         = "strickt" # ERROR argument.value: encrypt cannot be "strickt" | It is one of "true", "false", "strict". Did you mean strict?
  max_connections = 0 # ERROR argument.value: max_connections cannot be 0 | It is a whole number from 1 on. Bound on connections of one process, planning and reading together.
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table                 = table.orders
  to                    = sink.lake
  target                = "bronze.orders"
  bootstrap             = "ful" # ERROR argument.value: bootstrap cannot be "ful" | It is one of "none", "full". Did you mean full?
  granularity           = "week" # ERROR argument.value: granularity cannot be "week" | It is one of "minute", "hour", "day".
  max_commits_per_batch = 1.5 # ERROR argument.value: max_commits_per_batch cannot be 1.5 | It is a whole number from 1 on. Bound on commits of one batch; none otherwise.
  tags                  = ["a", "a", ""] # ERROR argument.value: tags names "a" twice | Remove one of them.
  starting_position     = "" # ERROR argument.value: starting_position is empty | "earliest", "latest" or a position of the source; "earliest" otherwise. Not with a snapshot. Give it a text, or leave it out.
}
silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

check "reconcile" "orders" {
  silver     = silver.orders
  on_failure = "ignore" # ERROR argument.value: on_failure cannot be "ignore" | It is one of "fail", "warn".
  settle     = "two minutes" # ERROR argument.value: settle = "two minutes" is no duration | Durations are written like "90s", "20m", "72h", "7d".
}
