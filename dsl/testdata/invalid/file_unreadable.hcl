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
  a = file("missing.txt") # ERROR file.unreadable: There is no file "missing.txt" | The path is relative to the folder of file_unreadable.hcl.
  b = file(".") # ERROR file.unreadable: The file "." cannot be read: it is no file | The path is relative to the folder of file_unreadable.hcl.
}
