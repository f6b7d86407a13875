# ERROR variable.undeclared: No variable named "tragte", which -var gives a value | This configuration declares: target. Did you mean target?
# ERROR variable.undeclared: -var novalue gives no value | Write: -var NAME=VALUE
# var tragte=x
# var novalue
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "target" {
  default = "y"
}
