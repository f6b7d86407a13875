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

source "mssql" "crm" {
  host = "crm"
}

variable "crm" {
  default = true
}

table "erp" {
  for_each = toset(["a", "b"])
  source   = var.crm ? source.crm : source.shop
}

table "crm" {
  for_each = { c = "dbo.c" }
  source   = source.crm
  object   = each.value
}

stream "all" {
  for_each = merge(table.erp, table.crm)
  table    = each.value
  to       = sink.lake
  target   = "bronze.${each.key}"
}

stream "one" {
  table  = table.erp["a"]
  to     = sink.lake
  target = "bronze.one"
  app_id = "one"
  path   = "legacy/one"
}

stream "two" {
  table  = try(table.erp["z"], table.erp["b"])
  to     = sink.lake
  target = "bronze.two"
}

stream "none" {
  for_each = { for k, t in table.erp : k => t if k == "z" }
  table    = each.value
  to       = sink.lake
  target   = "bronze.none"
}

silver "current" "some" {
  for_each = { for k, s in stream.all : k => s if k != "b" }
  from     = each.value
  to       = sink.lake
  target   = "silver.${each.key}"
}
