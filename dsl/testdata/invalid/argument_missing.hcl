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

sink "delta" "lake" { # ERROR argument.missing: Sink "delta" "lake" has no root | Add: root = ... Folder or object store.
  s3 { # ERROR argument.missing: Sink "delta" "lake" has no s3.region | Add: region = ...
    secret_key = env("SHOP_URL")
  }
}

table "orders" { # ERROR argument.missing: Table "orders" has no source | Add: source = ... The database that has the table.
  object = "dbo.orders"
}

stream "orders" { # ERROR argument.missing: Stream "orders" has no to | Add: to = ... Into which lake. # ERROR argument.missing: Stream "orders" has no target | Add: target = ... Name of the bronze table: "bronze.orders".
  table = table.orders
}

silver "current" "orders" { # ERROR argument.missing: Silver "current" "orders" has no from | Add: from = ... The stream that it follows. # ERROR argument.missing: Silver "current" "orders" has no target | Add: target = ... Name of the silver table: "silver.orders".
}

check "reconcile" "orders" { # ERROR argument.missing: Check "reconcile" "orders" has no silver | Add: silver = ... What to compare with its source.
}
