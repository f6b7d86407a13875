# version 0.1.0
pipectl {
  name             = "shop"
  required_version = ">= 1.0" # ERROR version.mismatch: This is pipectl 0.1.0; the configuration asks for >= 1.0 | Use another version of pipectl, or change required_version.

  required_plugins {
    mssql = { source = "pipectl/source-mssql", version = "~> 2.0" } # ERROR version.mismatch: Plugin "mssql" has version 0.1.0; the configuration asks for ~> 2.0 | Install a version that fits, or change version in required_plugins.
  }
}
