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
  for_each = toset(["a"]) # ERROR argument.unknown: No argument named "for_each" in a source block | It has: max_connections, access_token, certificate, connect_timeout, database, encrypt, host, instance, isolation, lock_timeout, password, source_time_zone and 2 more.
  host     = "db"
}
