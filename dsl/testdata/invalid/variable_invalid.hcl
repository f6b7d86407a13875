# var env=qa
pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "env" {
  type = string

  validation {
    condition     = contains(["dev", "prod"], var.env) # ERROR variable.invalid: The value of variable "env" is refused | There is dev and prod, not qa.
    error_message = "There is dev and prod, not ${var.env}."
  }
}

variable "pin" {
  default   = "1234x" # WARNING value.literal_secret: The default of the sensitive variable "pin" is written in clear | A saved plan would hold it, and so does the configuration. Use env("NAME"), or a variable with sensitive = true.
  sensitive = true

  validation {
    condition     = can(tonumber(var.pin)) # ERROR variable.invalid: The value of variable "pin" is refused | The message is not shown, because a sensitive value goes into it.
    error_message = "The pin ${var.pin} is no number."
  }
}
