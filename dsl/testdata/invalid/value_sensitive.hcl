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

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

variable "name" {
  default   = "bronze.orders" # WARNING value.literal_secret: The default of the sensitive variable "name" is written in clear | A saved plan would hold it, and so does the configuration. Use env("NAME"), or a variable with sensitive = true.
  sensitive = true
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = var.name # ERROR value.sensitive: target cannot be sensitive | It is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
  tags   = [env("SHOP_URL")] # ERROR value.sensitive: tags cannot be sensitive | It is shown in plans and stored in tables. env() is sensitive; a value that may be shown comes from a variable (PIPECTL_VAR_NAME).
}
