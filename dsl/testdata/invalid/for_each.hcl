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

table "a" {
  for_each = ["orders"] # ERROR for_each.invalid: for_each is a list | A list has no keys to make addresses of. Write: for_each = toset([...]).
  source   = source.shop
}

table "b" {
  for_each = null # ERROR for_each.invalid: for_each is null | Give it a map, a set of texts, or a block with for_each. An empty map, {}, makes no instance.
  source   = source.shop
}

table "c" {
  for_each = 5 # ERROR for_each.invalid: for_each is a number | Give it a map, a set of texts, or a block with for_each.
  source   = source.shop
}

table "d" {
  for_each = toset([1, 2]) # ERROR for_each.invalid: for_each is a set of something else than texts | The elements become parts of addresses. Write: for_each = toset(["a", "b"]).
  source   = source.shop
}

table "e" {
  for_each = { "" = 1 } # ERROR for_each.invalid: for_each has an empty key | Every key becomes part of an address; give it a text.
  source   = source.shop
}

stream "f" {
  for_each = table.orders # ERROR for_each.invalid: table.orders has no for_each, so there is nothing to repeat | Remove this for_each, or give that block one.
  table    = each.value
  to       = sink.lake
  target   = "bronze.${each.key}"
}

stream "g" {
  table  = table.a["orders"]
  to     = sink.lake
  target = "bronze.g"
}
