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
  root   = "./lake"
  ledger = { facts = "a.b" } # ERROR argument.type: ledger is a block, not an argument | Write it without the equals sign: ledger { ... }
  s3     = { region = "a" } # ERROR argument.type: s3 is a block, not an argument | Write it without the equals sign: s3 { ... }

  deletion_vectors { # ERROR argument.type: deletion_vectors is an argument, not a block | Write it with an equals sign: deletion_vectors = ...
  }
}

table "orders" {
  source = source.shop

  columns { # ERROR argument.type: columns is an argument, not a block | Write it with an equals sign: columns = ...
  }
}
