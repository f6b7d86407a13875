# Fifty tables of one database: one map with a row per table, and the same five blocks as for one table.
# Every block repeats over the map or over the block before it; stream.erp["t07"] is one of them.

pipectl {
  name = "erp"

  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

# Given with -var root=..., with -var-file FILE, or with PIPECTL_VAR_root.
variable "root" {
  type        = string
  default     = "./lake"
  description = "Folder of the lake."
}

locals {
  # A row is checked strictly: a word that no block below reads is an error, so a misspelt
  # exclude cannot let a column through.
  tables = {
    t01 = { object = "dbo.t01" }
    t02 = { object = "dbo.t02" }
    t03 = { object = "dbo.t03", exclude = ["email", "phone"] }
    t04 = { object = "dbo.t04" }
    t05 = { object = "dbo.t05", bootstrap = "none" }
    t06 = { object = "dbo.t06" }
    t07 = { object = "dbo.t07", key = ["id"] }
    t08 = { object = "dbo.t08" }
    t09 = { object = "dbo.t09", granularity = "day" }
    t10 = { object = "dbo.t10", tags = ["large"] }
    t11 = { object = "dbo.t11" }
    t12 = { object = "dbo.t12" }
    t13 = { object = "dbo.t13", exclude = ["email", "phone"] }
    t14 = { object = "dbo.t14" }
    t15 = { object = "dbo.t15", bootstrap = "none" }
    t16 = { object = "dbo.t16" }
    t17 = { object = "dbo.t17", key = ["id"] }
    t18 = { object = "dbo.t18" }
    t19 = { object = "dbo.t19" }
    t20 = { object = "dbo.t20", tags = ["large"] }
    t21 = { object = "dbo.t21" }
    t22 = { object = "dbo.t22" }
    t23 = { object = "dbo.t23", exclude = ["email", "phone"] }
    t24 = { object = "dbo.t24" }
    t25 = { object = "dbo.t25", bootstrap = "none" }
    t26 = { object = "dbo.t26" }
    t27 = { object = "dbo.t27", key = ["id"] }
    t28 = { object = "dbo.t28" }
    t29 = { object = "dbo.t29" }
    t30 = { object = "dbo.t30", tags = ["large"] }
    t31 = { object = "dbo.t31" }
    t32 = { object = "dbo.t32" }
    t33 = { object = "dbo.t33", exclude = ["email", "phone"] }
    t34 = { object = "dbo.t34", granularity = "day" }
    t35 = { object = "dbo.t35", bootstrap = "none" }
    t36 = { object = "dbo.t36" }
    t37 = { object = "dbo.t37", key = ["id"] }
    t38 = { object = "dbo.t38" }
    t39 = { object = "dbo.t39" }
    t40 = { object = "dbo.t40", tags = ["large"] }
    t41 = { object = "dbo.t41" }
    t42 = { object = "dbo.t42" }
    t43 = { object = "dbo.t43", exclude = ["email", "phone"] }
    t44 = { object = "dbo.t44" }
    t45 = { object = "dbo.t45", bootstrap = "none" }
    t46 = { object = "dbo.t46" }
    t47 = { object = "dbo.t47", key = ["id"] }
    t48 = { object = "dbo.t48" }
    t49 = { object = "dbo.t49" }
    t50 = { object = "dbo.t50", tags = ["large"] }
  }
}

source "mssql" "erp" {
  url             = env("ERP_MSSQL_URL")
  max_connections = 4
}

sink "delta" "lake" {
  root = var.root
}

# Fills what a stream leaves out.
defaults "stream" {
  max_commits_per_batch = 50000
}

table "erp" {
  for_each = local.tables

  source  = source.erp
  object  = each.value.object
  key     = lookup(each.value, "key", null)
  exclude = lookup(each.value, "exclude", [])
}

stream "erp" {
  for_each = local.tables

  table       = table.erp[each.key]
  to          = sink.lake
  target      = "bronze.${each.key}"
  bootstrap   = lookup(each.value, "bootstrap", "full")
  granularity = lookup(each.value, "granularity", "hour")
  tags        = lookup(each.value, "tags", [])
}

# Over another block: each.value is the reference to one of its instances.
silver "current" "erp" {
  for_each = stream.erp

  from   = each.value
  target = "silver.${each.key}"
}

# Not of a table without a snapshot: rows that have not changed since are in the source alone, and
# its check would fail each night.
check "reconcile" "erp" {
  for_each = { for name, table in silver.erp : name => table if lookup(local.tables[name], "bootstrap", "full") != "none" }

  silver      = each.value
  bucket_rows = 10000
  sample      = 0.01
}
