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

  s3 {
    region = "a"
  }

  s3 { # ERROR block.duplicate: A second block "s3" | It may stand once. Put both together.
    region = "b"
  }

  mount "a" {
  }

  mount "a" { # ERROR block.duplicate: A second block mount "a" | Rename or remove one of them.
  }

  ledger {
  }

  ledger { # ERROR block.duplicate: A second block "ledger" | It may stand once. Put both together.
  }
}
