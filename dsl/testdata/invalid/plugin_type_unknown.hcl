pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "msql" "shop" { # ERROR plugin.type_unknown: No declared plugin offers the source type "msql" | The declared plugins offer: mssql. Did you mean mssql? A plugin is declared in required_plugins of the pipectl block.
  host = "db"
}

sink "iceberg" "lake" { # ERROR plugin.type_unknown: No declared plugin offers the sink type "iceberg" | The declared plugins offer: delta. A plugin is declared in required_plugins of the pipectl block.
}
