# env SHOP_URL=sqlserver://reader:hunter22@db?database=shop

pipectl {
  name = "shop"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url = env("SHOP_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  columns = {
    Email    = { dropp = true } # ERROR row.unknown_attribute: No attribute named "dropp" in the rule of column "Email" | It has: drop, as. Did you mean drop?
    Phone    = { drop = "yes" } # ERROR argument.type: drop of column "Phone" is a text, not a bool | Write: drop = true
    Position = { as = "string", drop = true } # ERROR argument.value: Column "Position" is dropped and read as another type | Remove drop or as.
    IBAN     = "drop" # ERROR argument.type: The rule of column "IBAN" is a text, not a map | Write it as: IBAN = { drop = true }
    Ort      = { as = 1 } # ERROR argument.type: as of column "Ort" is no text | Write the type as a text: as = "string"
    Name     = { as = "string" }
    Rank     = { as = "strng" } # ERROR argument.value: as of column "Rank" cannot be "strng" | It is one of string, boolean, short, int, long, float, double, decimal(p,s), date, timestamp, timestamp_ntz, binary; p is at most 38, s at most p. Did you mean string?
    Price    = { as = "decimal(40,2)" } # ERROR argument.value: as of column "Price" cannot be "decimal(40,2)" | It is one of string, boolean, short, int, long, float, double, decimal(p,s), date, timestamp, timestamp_ntz, binary; p is at most 38, s at most p.
    Amount   = { as = "Decimal(18, 2)" }
  }
  exclude = ["Name"] # ERROR argument.value: Column "Name" is excluded and has another rule in columns | Remove one of them.
}
