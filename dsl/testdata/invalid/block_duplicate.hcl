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

table "orders" { # ERROR block.duplicate: A second table named "orders" | The first one is in block_duplicate.hcl line 21. Rename or remove one of them.
  source = source.shop
}

locals {
  a = 1
}

locals {
  a = 2 # ERROR block.duplicate: The local "a" is declared twice | The first one is in block_duplicate.hcl line 31. Rename or remove one of them.
}

variable "x" {
  default = 1
}

variable "x" { # ERROR block.duplicate: A second variable named "x" | The first one is in block_duplicate.hcl line 38. Rename or remove one of them.
  default = 2
}

defaults "stream" {
}

defaults "stream" { # ERROR block.duplicate: A second defaults named "stream" | The first one is in block_duplicate.hcl line 46. Rename or remove one of them.
}

pipectl { # ERROR block.duplicate: A second pipectl block | The first one is in block_duplicate.hcl line 3. Rename or remove one of them.
  name = "other"
}
