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

defaults "stream" {
  bootstrap = "ful" # ERROR argument.value: bootstrap cannot be "ful" | It is one of "none", "full". Did you mean full?
  target    = "bronze.${each.key}" # ERROR reference.each: each exists only in a block with for_each | Add for_each to the block, or write the value itself.
}

stream "orders" {
  table = table.orders
  to    = sink.lake
}
