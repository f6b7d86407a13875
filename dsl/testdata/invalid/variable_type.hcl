# var n=many
# var list=[a
# env PIPECTL_VAR_flag=perhaps
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "n" { # ERROR variable.type: The value of variable "n" does not fit its type | Its type is number: a number is required. The value comes from -var.
  type = number
}

variable "list" { # ERROR variable.type: The value that -var gives variable "list" cannot be read | Lists and maps are written as in HCL: ["a", "b"] or { a = 1 }. Texts inside them need quotes.
  type = list(string)
}

variable "flag" { # ERROR variable.type: The value of variable "flag" does not fit its type | Its type is bool: a bool is required. The value comes from PIPECTL_VAR_flag.
  type = bool
}

variable "port" {
  type    = number
  default = "x" # ERROR variable.type: The value of variable "port" does not fit its type | Its type is number: a number is required. The value comes from its default.
}

variable "rows" {
  type    = map(object({ object = string }))
  default = { a = {} } # ERROR variable.type: The value of variable "rows" does not fit its type | Its type is map(object({object=string})): element "a": attribute "object" is required. The value comes from its default.
}
