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
  for_each = toset(["a", "b"])
  source   = source.shop
}

stream "erp" {
  for_each = table.erp
  table    = each.value
  to       = sink.lake
  target   = "bronze.all" # ERROR target.duplicate: Both stream.erp["a"] and stream.erp["b"] write the table "bronze.all" | A table has one writer. Give one of them another target. The other one is in target_duplicate_instances.hcl line 30.
}
