#!/usr/bin/env bash
# Holds versions.sh against tools that only say a version.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/versions.sh"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
failed=0

# says TOOL SCRIPT WANT: with a tool that is the script, lacking says what is wanted.
says() {
  local got
  rm -f "$tools"/*
  [ -z "$2" ] || printf '#!/bin/bash\n%s\n' "$2" >"$tools/$1"
  [ -z "$2" ] || chmod +x "$tools/$1"
  got=$(PYTHON=$tools/python PATH=$tools:/usr/bin:/bin lacking_without "$1")
  [ "$got" = "$3" ] || { printf '%s that is %q: %q, want %q\n' "$1" "$2" "$got" "$3" >&2; failed=1; }
}

# lacking_without is lacking where no tool of the machine is seen.
lacking_without() {
  hash -r
  [ -e "$tools/$1" ] || eval "$1() { return 127; }"
  lacking "$1"
}

says javac 'echo javac 17.0.15' ''
says javac 'echo javac 21' ''
says javac 'echo javac 11.0.2' 'a JDK 17 or newer is needed, and javac is 11.0.2'
says javac 'echo javac 1.8.0_392 >&2' 'a JDK 17 or newer is needed, and javac is 8.0'
says javac '' 'a JDK 17 or newer is missing'
says java 'echo "openjdk version \"17.0.15\" 2025-04-15" >&2' ''
says java 'echo "openjdk version \"9\" 2017-09-21" >&2' 'Java 17 or newer is needed, and java is 9'
says java 'echo "java version \"1.8.0_392\"" >&2' 'Java 17 or newer is needed, and java is 8.0'
says python 'case $2 in *print*) echo 3.11.7;; esac' ''
says python 'case $2 in *print*) echo 3.9.2;; esac' 'Python 3.11 or newer is needed, and python is 3.9.2'
says python 'case $2 in *print*) echo 3.12.0;; *) exit 1;; esac' 'venv of Python 3.12.0 is missing (Debian: python3-venv)'
says python '' 'Python 3.11 or newer is missing'
exit "$failed"
