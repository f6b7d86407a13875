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

stream "a" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.お客様注文明細履歴テーブル二〇二六年度版追加お客様注文明細履歴テーブル二〇二六年度版追加" # ERROR app_id.invalid: The name is too long: as a folder of the state it has 403 bytes, and may have 255 | ASCII letters, digits and ._- count one byte there, and each byte of another character three. Give the stream an app_id, which is the target otherwise, or a shorter target.
}

stream "b" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.b"
  app_id = "お客様注文明細履歴テーブル二〇二六年度版追加お客様注文明細履歴テーブル二〇二六年度版追加-v1" # ERROR app_id.invalid: The name is too long: as a folder of the state it has 399 bytes, and may have 255 | ASCII letters, digits and ._- count one byte there, and each byte of another character three. Choose a shorter id.
}

# An id of its own is enough.
stream "c" {
  table  = table.orders
  to     = sink.lake
  target = "bronze2.お客様注文明細履歴テーブル二〇二六年度版追加お客様注文明細履歴テーブル二〇二六年度版追加"
  app_id = "c"
}

silver "current" "c" {
  from   = stream.c
  target = "silver.お客様注文明細履歴テーブル二〇二六年度版追加お客様注文明細履歴テーブル二〇二六年度版追加" # ERROR target.invalid: The name is too long: as a folder of the state it has 403 bytes, and may have 255 | ASCII letters, digits and ._- count one byte there, and each byte of another character three. Choose a shorter target.
}

stream "d" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" # ERROR target.invalid: A part of a table's name has 256 bytes, and may have 255 | Each part between the dots is a folder. Choose a shorter name.
  app_id = "d"
}

stream "e" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.e"
  path   = "bronze/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" # ERROR path.invalid: path = "bronze/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" has a folder of more than 255 bytes | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}
