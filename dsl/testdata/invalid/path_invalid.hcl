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

stream "s0" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_0"
  path   = "../x" # ERROR path.invalid: path = "../x" leads out of the root | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s1" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_1"
  path   = "/lake/x" # ERROR path.invalid: path = "/lake/x" is absolute | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s2" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_2"
  path   = "a/../.." # ERROR path.invalid: path = "a/../.." leads out of the root | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s3" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_3"
  path   = "." # ERROR path.invalid: path = "." is the root itself | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s4" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_4"
  path   = "s3://other/x" # ERROR path.invalid: path = "s3://other/x" is a place of its own | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s5" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_5"
  path   = "C:/x" # ERROR path.invalid: path = "C:/x" is a place of its own | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s6" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_6"
  path   = "bronze\\orders" # ERROR path.invalid: path = "bronze\\orders" holds a backslash | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

stream "s7" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders_7"
  path   = "a\u0000b" # ERROR path.invalid: path = "a\x00b" holds a control character | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}

# What is fine: dots that stay below the root.
stream "fine" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.fine"
  path   = "./bronze/../legacy/fine/"
}

locals {
  places = { now = "../silver" }
}

silver "current" "orders" {
  from   = stream.fine
  target = "silver.orders"
  path   = local.places.now # ERROR path.invalid: path = "../silver" leads out of the root | A table stands in a folder below the root of its sink, and path names that folder: path = "bronze/orders".
}
