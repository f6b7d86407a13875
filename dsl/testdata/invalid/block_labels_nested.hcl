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

  s3 "eu" { # ERROR block.labels: Block "s3" has no label, not 1 | Write it as: s3 { ... }
    region = "eu-1"
  }

  mount { # ERROR block.labels: Block "mount" has one label, not 0 | Write it as: mount "NAME" { ... }
    at = "/a"
  }

  ledger "x" { # ERROR block.labels: Block "ledger" has no label | Write it as: ledger { ... }
  }
}
