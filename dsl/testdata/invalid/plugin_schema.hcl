# reserved
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    bad       = { source = "./bad" } # ERROR plugin.schema: Plugin "bad" cannot be used: the connection schema of its source "bad" breaks a rule | The name "snapshot_on_switch" is reserved for the core language. This is a fault of the plugin: tell its author, or use another version.
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "bad" "x" {
}
