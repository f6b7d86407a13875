pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "root" { # ERROR variable.missing: Variable "root" has no value | Give one with -var root=VALUE, with -var-file FILE, or with PIPECTL_VAR_root.
  type = string
}

sink "delta" "lake" {
  root = var.root
}
