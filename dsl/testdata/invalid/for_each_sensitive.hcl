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

table "a" {
  for_each = toset(split("?", env("SHOP_URL"))) # ERROR for_each.sensitive: for_each is sensitive | Its keys become parts of addresses, which are shown. Take the keys from a value that is not sensitive.
  source   = source.shop
}
