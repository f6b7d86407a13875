# ERROR block.missing: The configuration has no pipectl block | Add one: pipectl { name = "NAME" required_plugins { ... } }. It names the configuration and its plugins.
# env SHOP_URL=x

source "mssql" "shop" {
  url = env("SHOP_URL")
}

sink "delta" "lake" {
  root = "./lake"
}
