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

# Rows that are read in every way that keeps their names: nothing is left over,
# and nothing is hidden.
locals {
  tables = {
    orders = {
      object  = "dbo.orders"
      enabled = true
      key     = ["id"]
      secret  = { email = "personal", phone = "personal" }
      drop    = ["note"]
      rules   = { amount = { as = "string" } }
      stream  = { mode = "full", hour = true }
    }
    lines = { object = "dbo.lines", enabled = true, key = null, secret = {}, drop = [], rules = {}, stream = { mode = "none", hour = false } }
  }
  basis   = { tags = [], exclude = [] }
  enabled = { for name, row in local.tables : name => row if row.enabled && row.object != null }
  objects = values(local.tables)[*].object
  by_mode = { for name, row in local.tables : row.stream.mode => name... }
  whole   = { orders = { email = { drop = true }, note = { as = "string" } } }
}

table "erp" {
  for_each = local.enabled
  source   = source.shop
  object   = try(each.value.object, null)
  key      = lookup(each.value, "key", null)
  exclude  = concat(keys(each.value.secret), [for name in each.value.drop : name])
  columns  = each.value.rules
}

table "whole" {
  for_each = local.whole
  source   = source.shop
  object   = "dbo.${each.key}"
  columns  = merge({ for name, rule in each.value : name => rule }, {})
}

table "merged" {
  for_each = { for name, row in { orders = { object = "dbo.merged", exclude = ["email"] } } : name => merge(local.basis, row) }
  source   = source.shop
  object   = each.value.object
  exclude  = contains(keys(each.value), "tags") && each.value != null ? each.value.exclude : each.value["exclude"]
}

stream "erp" {
  for_each    = table.erp
  table       = each.value
  to          = sink.lake
  target      = "bronze.${each.key}"
  bootstrap   = local.tables[each.key].stream.mode
  granularity = { for name, row in local.tables : name => row.stream }[each.key].hour ? "hour" : "day"
}
