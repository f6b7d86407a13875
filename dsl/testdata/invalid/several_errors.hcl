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
  roots = 1 # ERROR argument.unknown: No argument named "roots" in a sink block | It has: ledger, deletion_vectors, mirror, mount, root, s3, target_file_size, timestamps. Did you mean root?
}

table "orders" {
  source = source.shpo # ERROR reference.unknown: No source named "shpo" | This configuration declares: shop. Did you mean source.shop?
  objct  = "dbo.orders" # ERROR argument.unknown: No argument named "objct" in a table block | It has: for_each, source, key, columns, exclude, description, capture_instance, hints, object, snapshot_keys. Did you mean object?
}

stream "orders" {
  table     = table.orders
  to        = sink.lak # ERROR reference.unknown: No sink named "lak" | This configuration declares: lake. Did you mean sink.lake?
  target    = "bronze.orders"
  bootstrap = "half" # ERROR argument.value: bootstrap cannot be "half" | It is one of "none", "full".
}

silver "currant" "orders" { # ERROR plugin.type_unknown: No declared plugin offers the silver type "currant" | The declared plugins offer: current. Did you mean current? A plugin is declared in required_plugins of the pipectl block.
  from   = stream.orders
  target = "silver.orders"
}
