# env SHOP_URL=x

source "mssql" "shop" {
  url = env("SHOP_URL")
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}

