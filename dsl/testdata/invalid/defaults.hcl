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

defaults "tabel" { # ERROR block.unknown: No kind of block named "tabel" has defaults | defaults exist for source, sink, table, stream, silver and check. Did you mean table?
}

defaults "table" {
  sorce    = source.shop # ERROR argument.unknown: No argument named "sorce" in a table block | It has: source, key, columns, exclude, description, object, capture_instance, snapshot_keys, hints. Did you mean source?
  for_each = {} # ERROR argument.unknown: for_each has no default | Write it into each block that repeats.

  read { # ERROR block.unknown: No block named "read" in a table block | It has: source, key, columns, exclude, description, object, capture_instance, snapshot_keys, hints.
  }
}

defaults "stream" {
  retain = "400d" # ERROR language.not_built: retain is not built yet | The word is reserved for a later release. Remove it.
  read   = { partitions = 2 } # ERROR argument.type: read is a block, not an argument | Write it without the equals sign: read { ... }

  tags { # ERROR argument.type: tags is an argument, not a block | Write it with an equals sign: tags = ...
  }

  snapshot { # ERROR language.not_built: snapshot is not built yet | The word is reserved for a later release. Remove it.
  }
}
