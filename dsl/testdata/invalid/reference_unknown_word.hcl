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
  table     = table.orders
  to        = snik.lake # ERROR reference.unknown: No value named "snik" | References begin with var, local, each, or a kind of block: source, sink, table, stream, silver, check. Did you mean sink?
  target    = "bronze.orders"
  bootstrap = full # ERROR reference.unknown: No value named "full" | Text needs quotes: "full".
}
