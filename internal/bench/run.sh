#!/usr/bin/env bash
# Ratios against baselines of the same run; see internal/bench/main.go.
# Arguments are passed on: -quick, -only silver, -table 100000 ...
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p bin
go build -o bin/ ./cmd/pipectl
go build -o bin/pipectl-bench ./internal/bench
exec bin/pipectl-bench -root . -pipectl bin/pipectl "$@"
