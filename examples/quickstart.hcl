# One table of SQL Server, tracked by change data capture (CDC), into a lake in a local folder:
#
#   bronze.orders   every change of the table, in the order of its commits; rows are only ever added
#   silver.orders   the rows as they are in the source now
#   a check         compares silver with the source and names each difference
#
# Set SHOP_MSSQL_URL to sqlserver://USER:PASSWORD@HOST?database=shop and type:
#
#   pipectl plan examples/quickstart.hcl      shows what would happen
#   pipectl apply examples/quickstart.hcl     creates the tables and fills them
#   pipectl run examples/quickstart.hcl       from then on, as often as you like

pipectl {
  # Also the place of the state: lake/_pipectl/shop.
  name = "shop"

  # The plugins that do the work. These four are part of pipectl; nothing is downloaded.
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

# Where the rows come from. env() is sensitive: the value is in no plan, no log and no message.
source "mssql" "shop" {
  url = env("SHOP_MSSQL_URL")
}

# Where the rows go: Delta tables under one folder.
sink "delta" "lake" {
  root = "./lake"
}

# A table of the source. References such as source.shop have no quotes.
table "orders" {
  source = source.shop
  object = "dbo.orders"
}

# Its changes into bronze. "full" starts with a copy of the whole table;
# with "none", the default, bronze begins with the oldest change that CDC still has.
stream "orders" {
  table     = table.orders
  to        = sink.lake
  target    = "bronze.orders"
  bootstrap = "full"
}

# The current row of each key, made from bronze alone.
silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

# Counts rows and sums up their keys in buckets of 10,000 keys on both sides, and
# compares all of them (sample = 1) row by row.
check "reconcile" "orders" {
  silver      = silver.orders
  bucket_rows = 10000
  sample      = 1
}
