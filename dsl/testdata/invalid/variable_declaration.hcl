pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

variable "a" {
  type = strng # ERROR variable.declaration: The type of variable "a" is none | Types are string, number, bool, any, list(T), set(T), map(T), tuple([T]), object({ NAME = T }), with optional(T, DEFAULT) inside objects.
}

variable "b" {
  sensitive = "perhaps" # ERROR variable.declaration: sensitive is true or false | Write: sensitive = true
  default   = 1
}

variable "c" {
  default = 1

  validation {
    condition     = "x" # ERROR variable.declaration: A condition is true or false | Write a comparison, or a function that answers with a bool: can(regex(...)).
    error_message = "m"
  }

  validation {
    condition = true
  }
}

variable "d" {
  defalt = 1 # ERROR argument.unknown: No argument named "defalt" in a variable block | It has: type, default, description, sensitive, validation. Did you mean default?
}

variable "e" {
  default = 1

  validation {
    condition     = var.c == 1 # ERROR reference.unknown: No variable named "c" | This configuration declares: e.
    error_message = "m"
  }
}
