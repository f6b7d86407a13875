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
  password = secret(["pass", "show"]) # ERROR language.not_built: The function "secret" is not built yet | The word is reserved for a later release. Secrets come from env("NAME").
  url      = secret_file("x") # ERROR language.not_built: The function "secret_file" is not built yet | The word is reserved for a later release. Secrets come from env("NAME").
}
