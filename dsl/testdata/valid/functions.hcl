# env SHOP_URL=x

pipectl {
  name             = "shop"
  required_version = ">= 0.1, < 2"

  state {
    path = join("/", ["state", local.text.lower])
  }
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

locals {
  text = {
    lower = lower("SHOP"), upper = upper("a"), joined = join("-", ["a", "b"]), parts = split(",", "a,b"), replaced = replace("a.b", ".", "_")
    format = format("%s-%02d", "t", 7), trimmed = trimspace(" x "), regex = regex("[0-9]+", "t42"), starts = startswith("dbo.x", "dbo.")
  }
  lists = {
    concat = concat(["a"], ["b"]), distinct = distinct(["a", "a"]), flatten = flatten([["a"], ["b"]]), length = length([1, 2])
    contains = contains(["a"], "a"), keys = keys({ a = 1 }), values = values({ a = 1 }), set = toset(["b", "a"]), list = tolist(["x"])
    merged = merge({ a = 1 }, { b = 2 }), map = tomap({ a = "1" }), found = lookup({ a = null }, "b", null), some = coalesce(null, "x")
  }
  types = { number = tonumber("5"), text = tostring(5), bool = tobool("true"), json = jsondecode(jsonencode({ a = [1] })).a[0] }
  tries = { try = try({}.x, "none"), can = can({}.x) }
  file  = trimspace(file("functions.txt"))
}

sink "delta" "lake" {
  root = "./lake"
}

source "mssql" "shop" {
  host     = local.file
  password = file("secret.txt")
}

table "probe" {
  source = source.shop
  object = jsonencode([local.text, local.lists, local.types, local.tries])
  hints  = { a = { index = "pk", rows = "5" } }
  columns = {
    Email    = { drop = true }
    Position = { as = "string" }
    Plain    = { drop = false }
  }
  exclude = ["Note", "Email"]
  key     = ["id", "line"]
}
