# var n=7
# var tags=["eu", "night"]
# env PIPECTL_VAR_env=prod
# env PIPECTL_VAR_n=5
# varfile variables.vars
# env SHOP_URL=sqlserver://reader:hunter22@db

variable "n" {
  type    = number
  default = 1
}

variable "env" {
  type = string

  validation {
    condition     = contains(["dev", "prod"], var.env)
    error_message = "There is dev and prod."
  }
}

variable "tags" {
  type    = list(string)
  default = []
}

variable "untyped" {
  default = "from the default"
}

variable "tables" {
  type = map(object({
    object  = string
    exclude = optional(list(string), ["note"])
  }))
}

variable "token" {
  type      = string
  sensitive = true
}

pipectl {
  name        = "shop"
  environment = var.env
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url             = env("SHOP_URL")
  access_token    = var.token
  user            = upper(var.token)
  max_connections = var.n
}

sink "delta" "lake" {
  root = "./lake"
}

table "erp" {
  for_each = var.tables

  source      = source.shop
  object      = each.value.object
  exclude     = each.value.exclude
  description = var.untyped
}

stream "erp" {
  for_each = table.erp

  table  = each.value
  to     = sink.lake
  target = "bronze.${lower(each.key)}"
  tags   = var.tags
}
