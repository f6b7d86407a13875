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

locals {
  typo = { orders = { object = "dbo.orders", exclud = ["email"] } } # ERROR row.unknown_attribute: The row "orders" has an attribute "exclud" that nothing uses | Did you mean exclude?

  # Read in other places too, each by its own names.
  shared  = { orders = { object = "dbo.shared", enabled = true, mode = "full" } } # ERROR row.unknown_attribute: The row "orders" has an attribute "mode" that nothing uses | Nothing reads it; use each.value.mode or remove it.
  modes   = { orders = { mode = "none" } }
  enabled = [for name, row in local.shared : name if row.enabled]
  basis   = { exclude = [], key = null }
  filled  = { for name, row in local.shared : name => merge(local.basis, row, { exlude = ["email"] }) if contains(local.enabled, name) }
  nested  = { orders = { object = "dbo.nested", drop = { column = "email", colums = ["note"] } } } # ERROR row.unknown_attribute: The row "orders" has an attribute "drop.colums" that nothing uses | Did you mean column?
  objects = [for row in local.nested : row.drop.column]
  moved   = { list = [{ name = "orders", object = "dbo.moved", keys = ["id"] }] }
}

variable "any" {
  type    = map(any)
  default = { orders = { object = "dbo.any", exlude = "email" } } # ERROR row.unknown_attribute: The row "orders" has an attribute "exlude" that nothing uses | Did you mean exclude?
}

table "merge" {
  for_each = local.typo
  source   = source.shop
  object   = each.value.object
  exclude  = merge({ exclude = [] }, each.value).exclude
}

table "try" {
  for_each = { orders = { object = "dbo.orders", exclud1 = ["email"] } } # ERROR row.unknown_attribute: The row "orders" has an attribute "exclud1" that nothing uses | Did you mean exclude?
  source   = source.shop
  object   = each.value.object
  exclude  = try(lookup(try(each.value, {}), "exclude", []), [])
}

table "object" {
  for_each = { orders = { object = "dbo.orders", exclud2 = ["email"] } } # ERROR row.unknown_attribute: The row "orders" has an attribute "exclud2" that nothing uses | Did you mean exclude?
  source   = source.shop
  object   = { row = each.value }.row.object
  exclude  = var.any == null ? [] : try((each.value != null ? each.value : {})["exclude"], [])
}

table "for" {
  for_each = { orders = { object = "dbo.orders", exclud3 = ["email"] } } # ERROR row.unknown_attribute: The row "orders" has an attribute "exclud3" that nothing uses | Did you mean exclude?
  source   = source.shop
  object   = each.value.object
  exclude  = try({ for name, v in each.value : name => v }.exclude, [])
}

table "shared" {
  for_each = local.shared
  source   = source.shop
  object   = each.value.object
}

stream "shared" {
  for_each  = local.modes
  table     = table.shared[each.key]
  to        = sink.lake
  target    = "bronze.${each.key}"
  bootstrap = each.value.mode
}

table "filled" {
  for_each = local.filled # ERROR row.unknown_attribute: The row "orders" has an attribute "exlude" that nothing uses | Did you mean exclude? # ERROR row.unknown_attribute: The row "orders" has an attribute "mode" that nothing uses | Nothing reads it; use each.value.mode or remove it.
  source   = source.shop
  object   = each.value.object
  key      = each.value.key
  exclude  = each.value.exclude
}

table "nested" {
  for_each = local.nested
  source   = source.shop
  object   = each.value.object
  exclude  = [each.value.drop.column]
}

table "moved" {
  for_each = { for row in local.moved.list : row.name => row } # ERROR row.unknown_attribute: The row "orders" has an attribute "keys" that nothing uses | Did you mean key?
  source   = source.shop
  object   = each.value.object
  key      = lookup(each.value, "key", null)
}

table "text" {
  for_each = jsondecode("{\"orders\": {\"object\": \"dbo.orders\", \"exlude\": [\"email\"]}}") # ERROR row.unknown_attribute: The row "orders" has an attribute "exlude" that nothing uses | Did you mean exclude?
  source   = source.shop
  object   = each.value.object
  exclude  = lookup(each.value, "exclude", [])
}

table "any" {
  for_each = var.any
  source   = source.shop
  object   = each.value.object
  exclude  = try([each.value.exclude], [])
}

# What the block itself says is not taken from the defaults, and does not read there.
defaults "silver" {
  tags = each.value.tags
}

silver "current" "own" {
  for_each = { orders = { target = "silver.orders", tags = ["a"] } } # ERROR row.unknown_attribute: The row "orders" has an attribute "tags" that nothing uses | Nothing reads it; use each.value.tags or remove it.
  from     = stream.shared[each.key]
  target   = each.value.target
  tags     = ["b"]
}
