#!/usr/bin/env bash
# Generate, format, vet, lint, import rules, build, vet for Windows, test
# with -race, examples, interop, judges; then the tree must be as it was. Each step says what it is.
set -euo pipefail
cd "$(dirname "$0")/.."
# What these steps lack fails here, and is not skipped.
export CI=${CI:-true}

step() { printf '\n== %s\n' "$1"; }
clean() {
  local dirt
  dirt=$(git status --porcelain)
  if [ -n "$dirt" ]; then
    printf '%s\nThe tree is dirty %s. Commit what changed (or run the step by hand and look at the diff).\n' "$dirt" "$1" >&2
    exit 1
  fi
}

# need PACKAGE COMMAND...: a new machine may lack what the command looks for; a package manager may have it.
updated=
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 && return
  step "install $package"
  command -v apt-get >/dev/null || { echo "$package is missing and cannot be installed here" >&2; exit 1; }
  [ -n "$updated" ] || apt-get update -qq
  updated=1
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"
}

clean "before the check"
need gcc command -v cc # the race detector
# interop and judges; Node comes with the packages of the judges
need python3-venv python3 -c 'import venv, ensurepip'
need openjdk-17-jdk-headless command -v javac
need maven command -v mvn
need libltdl7 python3 -c 'import ctypes; ctypes.CDLL("libltdl.so.7")'
need freetds-bin command -v tsql
. .ci/versions.sh
for tool in python java javac; do # one that is there and too old is not replaced
  why=$(lacking "$tool")
  [ -z "$why" ] || { echo "$why" >&2; exit 1; }
done
bash .ci/versions_test.sh
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
# Side by side: each waits for its clients much of the time. What they build is in folders of their own.
step "interop, and judges beside it"
judged=$(mktemp)
make --no-print-directory judges >"$judged" 2>&1 &
judges=$!
trap 'kill "$judges" 2>/dev/null || true; rm -f "$judged"' EXIT
failed=
make --no-print-directory interop || failed=interop
wait "$judges" || failed="$failed judges"
step "judges"
cat "$judged"
[ -z "$failed" ] || { echo "failed: $failed" >&2; exit 1; }
clean "after the check"
