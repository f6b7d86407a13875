pipectl {
  name = "shop/eu" # ERROR argument.value: The name "shop/eu" cannot be part of a path | Use letters, digits, underscores, hyphens and dots.
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}
