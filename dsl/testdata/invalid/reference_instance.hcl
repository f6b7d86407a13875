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

table "erp" {
  for_each = toset(["orders"])
  source   = source.shop
}

stream "orders" {
  table  = table.erp # ERROR reference.instance: table.erp has for_each; one of its instances belongs here | Write table.erp[each.key].
  to     = sink.lake
  target = "bronze.orders"
}
