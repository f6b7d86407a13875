#!/usr/bin/env bash
# Generate, format, vet, lint, import rules, build, test with -race, examples,
# interop; then the tree must be as it was. Each step says what it is.
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

clean "before the check"
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
step "test -race (import rules among them)"
make --no-print-directory race
step "examples"
make --no-print-directory examples
step "interop"
make --no-print-directory interop
clean "after the check"
