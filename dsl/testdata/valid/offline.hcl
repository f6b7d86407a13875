# offline

pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "database" {
  type      = string
  sensitive = true

  validation {
    condition     = startswith(var.database, "shop")
    error_message = "The databases of the shop begin with shop."
  }
}

source "mssql" "shop" {
  url      = env("SHOP_URL")
  database = var.database
  password = upper(env("SHOP_PASSWORD"))
  user     = env("SHOP_USER") == "" ? "a" : "b"
  host     = "db"
}

locals {
  unknown = { url = env("SHOP_URL") }
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "bronze.orders"
}
