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
  host     = "db"
  user     = "reader"
  password = "hunter22" # WARNING value.literal_secret: password is written in clear | A saved plan would hold it, and so does the configuration. Use env("NAME"), or a variable with sensitive = true.
}
