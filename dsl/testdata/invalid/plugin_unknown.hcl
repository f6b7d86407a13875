# bundled
pipectl {
  name = "shop"

  required_plugins {
    mssql = { source = "pipectl/source-msql" } # ERROR plugin.unknown: No plugin named "pipectl/source-msql" | This pipectl has: pipectl/source-mssql, pipectl/sink-delta, pipectl/silver, pipectl/reconcile. Did you mean pipectl/source-mssql? A plugin of your own is given as a path: ./plugins/NAME.
    own   = { source = "./plugins/own" }
  }
}
