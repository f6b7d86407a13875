pipectl {
  name             = "shop"
  required_version = var.v # ERROR argument.type: required_version is a constant text | Write it as: required_version = ">= 0.1"

  required_plugins {
  }
}
