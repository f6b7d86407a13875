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

  ledger {
    facts      = "audit.facts"
    timestamps = "ntz"
  }

  s3 {
    region = "eu-1"
  }

  mount "a" {
    at = "/a"
  }

  mount "b" {
    at = "/b"
  }

  mirror {
    root = "./one"
  }

  mirror {
    root = "./two"
  }
}
