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
  a = 1
  a = 2 # ERROR argument.duplicate: An argument is written twice in one block | The argument "a" was already set at argument_twice.hcl:12,3-4. Each argument may be set only once.
}
