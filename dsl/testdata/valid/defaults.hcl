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

sink "delta" "other" {
  root = "./other"
}

defaults "sink" {
  deletion_vectors = true

  s3 {
    region     = "eu-1"
    secret_key = env("SHOP_URL")
  }
}

defaults "table" {
  source  = source.shop
  exclude = ["note"]
}

defaults "stream" {
  to                    = sink.lake
  target                = "bronze.${each.key}"
  bootstrap             = "full"
  max_commits_per_batch = 100

  read {
    partitions = 4
    batch_rows = 1000
  }
}

defaults "check" {
  sample = 1
}

table "erp" {
  for_each = toset(["lines", "orders"])
  object   = "dbo.${each.value}"
  exclude  = []
}

stream "erp" {
  for_each = table.erp
  table    = each.value
}

stream "again" {
  for_each  = { lines = sink.other }
  table     = table.erp[each.key]
  to        = each.value
  bootstrap = "none"

  read {
    batch_rows = 5
  }
}

silver "current" "erp" {
  for_each = stream.erp
  from     = each.value
  target   = "silver.${each.key}"
}

check "reconcile" "erp" {
  for_each   = silver.erp
  silver     = each.value
  settle     = "1d"
  on_failure = "warn"
  tags       = ["night"]
}
