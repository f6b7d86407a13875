# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

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
  url     = env("SHOP_URL")
  encrypt = env("SHOP_URL") # ERROR argument.value: The value of encrypt is not allowed | It is one of "true", "false", "strict".
}
