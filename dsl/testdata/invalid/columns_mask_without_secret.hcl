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
    Phone = { mask = "null" } # ERROR language.not_built: mask of column "Phone" is not built yet | The word is reserved for a later release. To keep the column out of the lake: { drop = true }.
    IBAN  = { mask = "hmac", key_id = "2026-1" } # ERROR language.not_built: mask of column "IBAN" is not built yet | The word is reserved for a later release. To keep the column out of the lake: { drop = true }. # ERROR language.not_built: key_id of column "IBAN" is not built yet | The word is reserved for a later release. To keep the column out of the lake: { drop = true }.
  }
}
