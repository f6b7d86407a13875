pipectl {
  name = "x"
  required_plugins {}
}
locals {
  a = 1e999999999 # ERROR expression.invalid: The number is out of range | Write one between 1e-300 and 1e300.
  b = 1e99999 # ERROR expression.invalid: The number is out of range | Write one between 1e-300 and 1e300.
}
source "mssql" "s" {
  max_connections = 1e99999999 # ERROR expression.invalid: The number is out of range | Write one between 1e-300 and 1e300.
}
