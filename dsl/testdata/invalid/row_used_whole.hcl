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

table "names" {
  for_each = { orders = { object = "dbo.orders", exclud = ["email"] } } # WARNING row.used_whole: Whether anything uses the attribute "exclud" of the row "orders" cannot be told | Did you mean exclude? In row_used_whole.hcl line 24 the row is used whole (keys(each.value)), so a misspelt name in it is not found. Read attributes by their names, or make the map a variable with a type.
  source   = source.shop
  object   = length(keys(each.value)) > 1 ? each.value.object : "dbo.other"
  exclude  = lookup(each.value, "exclude", [])
}

table "index" {
  for_each = { orders = { object = "dbo.orders", exclude_eu = ["email"] } } # WARNING row.used_whole: Whether anything uses the attribute "exclude_eu" of the row "orders" cannot be told | In row_used_whole.hcl line 32 the row is used whole (each.value["exclude_${lower("EU")}"]), so a misspelt name in it is not found. Read attributes by their names, or make the map a variable with a type.
  source   = source.shop
  object   = each.value.object
  exclude  = each.value["exclude_${lower("EU")}"]
}

table "text" {
  for_each = { orders = { object = "dbo.orders", exlude = ["email"] } } # WARNING row.used_whole: Whether anything uses the attribute "exlude" of the row "orders" cannot be told | In row_used_whole.hcl line 39 the row is used whole (jsondecode(jsonencode(each.value))), so a misspelt name in it is not found. Read attributes by their names, or make the map a variable with a type.
  source   = source.shop
  object   = each.value.object
  exclude  = try(jsondecode(jsonencode(each.value)).exclude, [])
}

table "chosen" {
  for_each = { orders = { object = "dbo.orders", exlude = ["email"] } } # WARNING row.used_whole: Whether anything uses the attribute "exlude" of the row "orders" cannot be told | In row_used_whole.hcl line 46 the row is used whole (name == "exclude"), so a misspelt name in it is not found. Read attributes by their names, or make the map a variable with a type.
  source   = source.shop
  object   = each.value.object
  exclude  = flatten([for name, v in each.value : v if name == "exclude"])
}
