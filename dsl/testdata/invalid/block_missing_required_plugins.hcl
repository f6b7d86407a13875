pipectl { # ERROR block.missing: The pipectl block has no required_plugins | Add: required_plugins { NAME = { source = "..." } }
  name = "shop"
}
