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
  object = each.key # ERROR reference.each: each exists only in a block with for_each | Add for_each to the block, or write the value itself.
}

table "erp" {
  for_each = toset(["a"])
  source   = source.shop
  object   = each.name # ERROR reference.each: each has no "name" | It has each.key and each.value.
}
