pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

root = "./lake" # ERROR argument.unknown: Argument "root" stands outside of any block | Named values belong into locals { ... }, values from outside into variable blocks.
