# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

pipectl "x" { # ERROR block.labels: A pipectl block has no label, not 1 | Write it as: pipectl { ... }
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
