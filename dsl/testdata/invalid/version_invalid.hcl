pipectl {
  name             = "shop"
  required_version = "newest" # ERROR argument.value: required_version "newest" cannot be read | Write terms of =, !=, >, >=, <, <=, ~> and a version, with commas between: ">= 0.1, < 2".

  required_plugins {
  }
}
