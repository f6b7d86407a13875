# planned name=orders
# planned target=bronze.orders
# var name=other
# var hours=5
# var same=1
# var list=["b"]
# var pin=4321
# varfile variable_planned.vars
# env PIPECTL_VAR_quiet=from the environment
pipectl {
  name = "shop"
  required_plugins {
    mssql = { source = "pipectl/source-mssql" }
  }
}

variable "name" {} # ERROR variable.planned: The plan was made with another value of variable "name" than -var gives | A saved plan is carried out with the values that it was made with. Leave this one out, or make a new plan with it. Sensitive variables, which no plan holds, are given again.

variable "target" {}

variable "hours" { # ERROR variable.planned: The plan was made with another value of variable "hours" than -var gives | A saved plan is carried out with the values that it was made with. Leave this one out, or make a new plan with it. Sensitive variables, which no plan holds, are given again.
  type    = number
  default = 3
}

variable "same" {
  type    = number
  default = 1
}

variable "list" { # ERROR variable.planned: The plan was made with another value of variable "list" than -var gives | A saved plan is carried out with the values that it was made with. Leave this one out, or make a new plan with it. Sensitive variables, which no plan holds, are given again.
  type    = list(string)
  default = ["a"]
}

variable "quiet" {
  default = "as planned"
  validation {
    condition     = var.quiet == "as planned"
    error_message = "The environment changes no plan."
  }
}

variable "pin" {
  sensitive = true
}
