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

schedule "hourly" { # ERROR language.not_built: The block "schedule" is not built yet | The word is reserved for a later release. Remove the block.
  cron = "5 * * * *"
}

health { # ERROR language.not_built: The block "health" is not built yet | The word is reserved for a later release. Remove the block.
}

moved { # ERROR language.not_built: The block "moved" is not built yet | The word is reserved for a later release. Remove the block.
}

removed { # ERROR language.not_built: The block "removed" is not built yet | The word is reserved for a later release. Remove the block.
}

defaults "schedule" { # ERROR language.not_built: The block "schedule" is not built yet | The word is reserved for a later release. Remove the defaults.
}
