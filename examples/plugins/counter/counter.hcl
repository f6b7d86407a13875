# A source that is no part of pipectl, into a lake in a local folder. See README.md.

pipectl {
  name = "counters"

  required_plugins {
    # A file next to this one. pipectl.lock.hcl pins its sha256; any other file is refused.
    counter = { source = "./counter" }
    delta   = { source = "pipectl/sink-delta" }
    silver  = { source = "pipectl/silver" }
  }
}

# The counter has no clock of its own: this says how often it was turned.
variable "commits" {
  type        = number
  default     = 25
  description = "How many commits the source has."
}

source "counter" "hall" {
  commits = var.commits
}

sink "delta" "lake" {
  root = "./lake"
}

table "counters" {
  source = source.hall
  keys   = 10
}

# A counter keeps every change for ever, so bronze begins with the first.
stream "counters" {
  table  = table.counters
  to     = sink.lake
  target = "bronze.counters"
}

# The same silver as over SQL Server. There is no check: the counter cannot aggregate.
silver "current" "counters" {
  from   = stream.counters
  target = "silver.counters"
}
