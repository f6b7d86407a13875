pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" { # ERROR syntax.invalid: Unclosed configuration block | There is no closing brace for this block before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.
  host = "db"
