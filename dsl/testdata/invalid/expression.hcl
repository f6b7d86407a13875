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
  sum  = 1 + "x" # ERROR expression.invalid: Invalid operand | Unsuitable value for right operand: a number is required.
  part = { a = 1 }.b # ERROR expression.invalid: { a = 1 } has no attribute "b" | It has: a.
  nul  = null
  deep = local.nul.x # ERROR expression.invalid: local.nul is null; nothing can be read from it | Guard it: try(..., null).
  item = [1, 2][5] # ERROR expression.invalid: [1, 2] has no such element | It is a list.
  text = "x-${[1]}" # ERROR expression.invalid: Invalid template interpolation value | Only text, numbers and bools can stand in a text; a reference or a list cannot.
}

table "orders" {
  source = source.shop
  object = "dbo.${source.shop}" # ERROR expression.invalid: Invalid template interpolation value | Only text, numbers and bools can stand in a text; a reference or a list cannot.
}
