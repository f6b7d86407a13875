pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

locals {
  a = local.b # ERROR reference.cycle: Locals refer to each other in a circle | local.a -> local.b -> local.c -> local.a. Write one of them without the others.
  b = "${local.c}x"
  c = local.a
}
