# What the tools that are not Go's must be, at the least; CONTRIBUTING.md says the same. To be sourced: interop, judges and the
# check ask here, so that one that is too old is named as such, and does not fail somewhere in what it runs.

oldest_python=3.11
oldest_java=17

# found_version TOOL: the version of a tool as it says it, "" when it is not there or says none.
found_version() {
  case $1 in
    python) "${PYTHON:-python3}" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null ;;
    # Java 8 and older call themselves 1.8.
    java) java -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9][0-9.]*\).*/\2/p' | head -1 ;;
    javac) javac -version 2>&1 | sed -n 's/^javac \(1\.\)\{0,1\}\([0-9][0-9.]*\).*/\2/p' | head -1 ;;
    *) echo "found_version: no tool $1" >&2; return 2 ;;
  esac
}

# lacking TOOL: why a tool does not do, in words; nothing when it does.
lacking() {
  local oldest=$oldest_java name=Java found
  case $1 in
    python) oldest=$oldest_python name=Python ;;
    javac) name="a JDK" ;;
  esac
  found=$(found_version "$1") || found=
  if [ -z "$found" ]; then
    echo "$name $oldest or newer is missing"
  elif [ "$(printf '%s\n%s\n' "$oldest" "$found" | sort -V | head -1)" != "$oldest" ]; then
    echo "$name $oldest or newer is needed, and $1 is $found"
  elif [ "$1" = python ] && ! "${PYTHON:-python3}" -c 'import venv, ensurepip' 2>/dev/null; then
    echo "venv of Python $found is missing (Debian: python3-venv)"
  fi
}
