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
  source = source.shpo # ERROR reference.unknown: No source named "shpo" | This configuration declares: shop. Did you mean source.shop?
  object = local.name # ERROR reference.unknown: No local named "name" | This configuration declares no local.
}

stream "orders" {
  table  = table.order # ERROR reference.unknown: No table named "order" | This configuration declares: orders. Did you mean table.orders?
  to     = sink # ERROR reference.unknown: "sink" alone is no value | Name one: sink.NAME.
  target = var.target # ERROR reference.unknown: No variable named "target" | This configuration declares no variable.
}
