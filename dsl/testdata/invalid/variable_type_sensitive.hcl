# var pin=hunter22
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "pin" { # ERROR variable.type: The value of variable "pin" does not fit its type | Its type is number: a number is required. The value comes from -var.
  type      = number
  sensitive = true
}
