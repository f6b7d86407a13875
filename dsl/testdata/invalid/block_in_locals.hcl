pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

locals {
  tables { # ERROR block.unknown: Block "tables" cannot stand in locals | A local is an argument: tables = { ... }
    a = 1
  }
}
