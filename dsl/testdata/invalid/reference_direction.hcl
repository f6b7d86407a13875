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
  host = sink.lake # ERROR reference.direction: A source cannot refer to a sink | References point back along variable, local, source and sink, table, stream, silver, check.
}

sink "delta" "lake" {
  root = source.shop # ERROR reference.direction: A sink cannot refer to a source | References point back along variable, local, source and sink, table, stream, silver, check.
}

locals {
  a = source.shop # ERROR reference.direction: A local cannot refer to a source | References point back along variable, local, source and sink, table, stream, silver, check.
}

variable "v" {
  default = local.a # ERROR reference.direction: The default of a variable cannot refer to a local | Write the value itself.
}

variable "w" {
  default = var.v # ERROR reference.direction: The default of a variable cannot refer to a variable | Write the value itself.
}

table "orders" {
  source = source.shop
  object = stream.orders # ERROR reference.direction: A table cannot refer to a stream | References point back along variable, local, source and sink, table, stream, silver, check.
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = stream.orders # ERROR reference.direction: A stream cannot refer to a stream | References point back along variable, local, source and sink, table, stream, silver, check.
}
