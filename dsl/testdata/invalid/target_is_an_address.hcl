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

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table  = table.orders
  to     = sink.lake
  target = "table.orders" # ERROR target.invalid: The target of stream.orders is the address of something else: table.orders | Commands take an address or the name of a table, and this one would mean both. Give the table another target, or the block another name.
}

silver "current" "orders" {
  from   = stream.orders
  target = "stream.orders" # ERROR target.invalid: The target of silver.orders is the address of something else: stream.orders | Commands take an address or the name of a table, and this one would mean both. Give the table another target, or the block another name.
}

# Its own address is the same thing.
silver "current" "own" {
  from   = stream.orders
  target = "silver.own"
}

# A block of instances and one of them are not.
silver "current" "erp" {
  for_each = toset(["erp"])
  from     = stream.orders
  target   = "silver.${each.key}" # ERROR target.invalid: The target of silver.erp["erp"] is the address of something else: silver.erp | Commands take an address or the name of a table, and this one would mean both. Give the table another target, or the block another name.
}
