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
  url = env("SHOP_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

tabel "orders" { # ERROR block.unknown: No kind of block named "tabel" | The kinds are pipectl, variable, locals, source, sink, table, stream, silver, check, defaults. Did you mean table?
  source = source.shop
}
