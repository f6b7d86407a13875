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
  a = = 1 # ERROR syntax.invalid: Invalid expression | Expected the start of an expression, but found an invalid expression token.
  b = 2 +
}
