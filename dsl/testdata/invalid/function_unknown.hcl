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
  a = uper("x") # ERROR function.unknown: No function named "uper" | The language page lists the functions. Did you mean upper?
  b = timestamp() # ERROR function.unknown: No function named "timestamp" | The language page lists the functions.
}
