#!/usr/bin/env bash
# Generate, format, vet, lint, import rules, build, vet for Windows, test
# with -race, examples, interop; then the tree must be as it was. Each step says what it is.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$1"; }
clean() {
  local dirt
  dirt=$(git status --porcelain)
  if [ -n "$dirt" ]; then
    printf '%s\nThe tree is dirty %s. Commit what changed (or run the step by hand and look at the diff).\n' "$dirt" "$1" >&2
    exit 1
  fi
}

# need COMMAND PACKAGE: a new machine may lack it; a package manager may have it.
need() {
  command -v "$1" >/dev/null && return
  step "install $2"
  command -v apt-get >/dev/null || { echo "$1 is missing and cannot be installed here" >&2; exit 1; }
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2"
}

clean "before the check"
need cc gcc               # the race detector
need python3 python3-venv # interop
need java openjdk-17-jre-headless
need mvn maven
step "generate"
make --no-print-directory generate
clean "after make generate"
step "format"
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
  printf 'not formatted (make format):\n%s\n' "$unformatted" >&2
  exit 1
fi
step "build"
make --no-print-directory build
step "lint"
make --no-print-directory lint
step "cross (windows; darwin is by hand, since each system compiles all anew)"
make --no-print-directory cross CROSS=windows/amd64
step "test -race (import rules among them)"
make --no-print-directory race
step "examples"
make --no-print-directory examples
step "interop"
make --no-print-directory interop
clean "after the check"
