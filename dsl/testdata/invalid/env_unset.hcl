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
  url      = env("SHOP_URL") # ERROR env.unset: The environment variable "SHOP_URL" is not set | Set SHOP_URL, or give the value another way.
  password = env("SHOP_PASSWORD") # ERROR env.unset: The environment variable "SHOP_PASSWORD" is not set | Set SHOP_PASSWORD, or give the value another way.
}
