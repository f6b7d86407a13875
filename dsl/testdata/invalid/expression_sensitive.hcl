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
  secret = env("SHOP_URL")
  sum    = 1 + local.secret # ERROR expression.invalid: Invalid operand | The reason is not shown, because a sensitive value goes into the expression.
  number = tonumber(env("SHOP_URL")) # ERROR function.failed: The call of tonumber fails | The reason is not shown, because a sensitive value goes into the call.
  map    = { a = sensitive("swordfish") }
  b      = local.map.a.b # ERROR expression.invalid: local.map.a has no attribute "b" | It is a text.
  json   = jsondecode(local.secret) # ERROR function.failed: The call of jsondecode fails | The reason is not shown, because a sensitive value goes into the call.
}
