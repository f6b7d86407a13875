"""A lake that the real pipectl fills from the scenario's SQL Server."""

import os
import shutil
import subprocess

import rows
import shapes
from deltalake import DeltaTable

CONFIG = """
pipectl {
  name = "interop"

  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url = env("INTEROP_MSSQL_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

# For readers that know no deletion vectors.
sink "delta" "plain" {
  root             = "./plain"
  deletion_vectors = false
}

locals {
  tables = { orders = "dbo.orders", types = "dbo.types", odd = "dbo.odd" }
}

table "all" {
  for_each = local.tables
  source   = source.shop
  object   = each.value
}

stream "all" {
  for_each    = table.all
  table       = each.value
  to          = sink.lake
  target      = "bronze.${each.key}"
  bootstrap   = "full"
  granularity = "minute"
}

silver "current" "all" {
  for_each = stream.all
  from     = each.value
  target   = "silver.${each.key}"
}

check "reconcile" "all" {
  for_each = silver.all
  silver   = each.value
  sample   = 1
  report   = "ops.reconcile"
}

stream "plain" {
  table     = table.all["orders"]
  to        = sink.plain
  target    = "bronze.orders"
  bootstrap = "full"
}

silver "current" "plain" {
  from   = stream.plain
  target = "silver.orders"
}

check "reconcile" "plain" {
  silver = silver.plain
  sample = 1
}
"""


class Scenario:
    """The program in ./scenario, under command."""

    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        word, self.url = self.process.stdout.readline().split()
        assert word == "ready"

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer != "ok":
            raise RuntimeError(f"scenario: {line}: {answer or 'it has ended'}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Lake:
    # Versions 10 and 20 have checkpoints; one commit per run on each bronze and silver.
    RUNS = 12

    def __init__(self, home, binary, scenario):
        self.home, self.binary, self.scenario = home, binary, scenario
        (home / "interop.hcl").write_text(CONFIG, encoding="utf-8")
        self.past = []  # (version of silver by table, directory of the truth) in between

    def pipectl(self, *args, want=0):
        """Runs a command; returns its output, errors included."""
        done = subprocess.run(
            [self.binary, *args, "interop.hcl"], cwd=self.home, env=os.environ | {"INTEROP_MSSQL_URL": self.scenario.url},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )
        assert done.returncode == want, f"pipectl {' '.join(args)}: exit {done.returncode}, want {want}\n{done.stdout}"
        return done.stdout

    def truth(self, name):
        directory = self.home / name
        directory.mkdir()
        self.scenario.tell(f"truth {directory}")
        return directory

    def fill(self):
        """Snapshot, batches, a live source, and a last run with the source at rest; then a copy that stays as it is."""
        self.pipectl("apply", "-yes")
        for i in range(self.RUNS):
            self.scenario.tell("change 40")
            self.pipectl("run", "-exclude", "check.all,check.plain")
            if i in (3, 8):
                versions = {t: DeltaTable(self.home / "lake/silver" / t).version() for t in shapes.SOURCES}
                self.past.append((versions, self.truth(f"truth-{i}")))
        self.scenario.tell("live")
        for _ in range(2):
            self.pipectl("run", "-exclude", "check.all,check.plain")
        self.scenario.tell("quiet")
        self.pipectl("run")
        self.pipectl("check")
        self.last = self.truth("truth")
        self.still = self.copy("still")

    def copy(self, name, of=None):
        """A copy of the lakes as they are, or of an earlier copy, to read or to write to."""
        for lake in ("lake", "plain"):
            shutil.copytree((of or self.home) / lake, self.home / name / lake)
        return self.home / name / "lake"

    def rows(self, name, directory=None):
        """The source's own rows."""
        return rows.of_truth((directory or self.last) / f"{name}.ndjson", shapes.SOURCES[name])
