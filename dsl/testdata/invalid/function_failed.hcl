pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

locals {
  a = upper() # ERROR function.failed: The call of upper fails | Function "upper" expects 1 argument(s). Missing value for "str".
  b = upper("a", "b") # ERROR function.failed: The call of upper fails | Function "upper" expects only 1 argument(s).
  c = tonumber("five") # ERROR function.failed: The call of tonumber fails | Invalid value for "v" parameter: cannot convert "five" to number; given string must be a decimal representation of a number.
  d = try({}.x, null.y) # ERROR function.failed: The call of try fails | None of its expressions has a value. Add a last one that always has, such as null.
  e = lookup([1], "a", 1) # ERROR function.failed: The call of lookup fails | Invalid value for "map" parameter: a map is needed, not a list.
  f = join("-", "a") # ERROR function.failed: The call of join fails | Invalid value for "lists" parameter: list of string required, but have string.
}
