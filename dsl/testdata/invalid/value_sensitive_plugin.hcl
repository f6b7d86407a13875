# env TABLE=hunter22
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
  url  = env("SHOP_URL")
  user = env("SHOP_URL")
}

sink "delta" "lake" {
  root = env("SHOP_URL")
}

table "orders" {
  source = source.shop
  object = "dbo.${env("TABLE")}" # ERROR value.sensitive: object cannot be sensitive | What it says is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"

  read {
    batch_rows = env("TABLE") # ERROR value.sensitive: read.batch_rows cannot be sensitive | What it says is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
  }
}

silver "current" "orders" {
  from       = stream.orders
  target     = "silver.orders"
  clustering = [env("TABLE")] # ERROR value.sensitive: clustering cannot be sensitive | What it says is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
}

check "reconcile" "orders" {
  silver = silver.orders
  report = env("TABLE") # ERROR value.sensitive: report cannot be sensitive | What it says is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
}
