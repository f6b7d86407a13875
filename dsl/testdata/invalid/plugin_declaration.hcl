pipectl {
  name = "shop"

  required_plugins {
    a = "pipectl/source-mssql" # ERROR argument.type: Plugin "a" is declared with a text, not with a map | Write it as: a = { source = "pipectl/a" }
    b = { src = "pipectl/source-mssql" } # ERROR argument.missing: Plugin "b" has no source | Write it as: b = { source = "pipectl/b" } # ERROR argument.unknown: No argument named "src" for a plugin | A plugin has: source, version, pass_env.
    c = { source = "pipectl/c", version = "new", pass_env = "HOME" } # ERROR argument.value: The version "new" of plugin "c" cannot be read | Write terms of =, !=, >, >=, <, <=, ~> and a version, with commas between: ">= 0.1, < 2". # ERROR argument.type: pass_env of plugin "c" is no list of texts | Write it as: pass_env = ["NAME"]
    d = { source = var.x } # ERROR argument.type: Plugin "d" is not declared with constants | Plugins are found before anything is evaluated: no references, no functions. Write it as: d = { source = "pipectl/d" }
    e = { source = 5 } # ERROR argument.type: source of plugin "e" is a number, not a text | Write it as: e = { source = "pipectl/e" }

    f { # ERROR block.unknown: Block "f" cannot stand in required_plugins | A plugin is an argument: f = { source = "..." }
    }
  }
}
