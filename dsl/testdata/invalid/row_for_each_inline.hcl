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
  for_each = {
    orders = { object = "dbo.orders", colour = "red" } # ERROR row.unknown_attribute: The row "orders" has an attribute "colour" that nothing uses | Nothing reads it; use each.value.colour or remove it.
  }
  source = source.shop
  object = each.value.object
}
