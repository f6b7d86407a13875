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

table "mssql" "orders" { # ERROR block.labels: A table block has one label, not 2 | Write it as: table "NAME" { ... }
  source = source.shop
}

source "second" { # ERROR block.labels: A source block has two labels, not 1 | Write it as: source "TYPE" "NAME" { ... }
  host = "db"
}
