# Everything a contributor runs. `make demo` and `make test` need Go and make only.
SHELL := /bin/bash
GO    ?= go
BIN   := bin

# Everything is built without cgo, as what is shipped is, so that one compile
# serves the binaries, their tests and the linters; the race detector needs it.
export CGO_ENABLED := 0

# Go packages under the product's own module; third-party style plugins in
# examples/plugins are modules of their own and have their own targets.
PKGS := ./...

.PHONY: build cross test race fuzz lint format generate examples demo interop judges bench check clean

build: ## the pipectl binary and each plugin as a file of its own
	$(GO) build -o $(BIN)/ ./cmd/pipectl
	$(GO) build -o $(BIN)/plugins/ ./plugins/source-mssql ./plugins/sink-delta ./plugins/silver ./plugins/reconcile

CROSS ?= windows/amd64 darwin/arm64

cross: ## other systems that pipectl is built for: everything compiles there, tests too, and is vetted
	for system in $(CROSS); do GOOS=$${system%/*} GOARCH=$${system#*/} $(GO) vet $(PKGS) || exit 1; done

demo: ## the main job, start to end, against the built-in SQL Server simulator
	$(GO) build -o $(BIN)/ ./cmd/pipectl
	$(BIN)/pipectl demo

# More than fifty test programs are linked: without what only a debugger reads
# that takes two thirds of the time. Stack traces are the same.
TESTFLAGS := -ldflags='-s -w'

test:
	$(GO) test $(TESTFLAGS) $(PKGS)

race:
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) $(PKGS)

FUZZTIME ?= 60s

FUZZ ?= .

# Go runs one target at a time. What it finds it leaves in testdata/fuzz, where `make test` runs it again.
fuzz: ## every fuzz target in the folder FUZZ, FUZZTIME each
	set -o pipefail; for package in $$(git grep -l '^func Fuzz' -- '$(FUZZ)' | xargs -n1 dirname | sort -u); do \
	  targets=$$($(GO) test -list '^Fuzz' ./$$package | grep '^Fuzz') || exit 1; \
	  for target in $$targets; do \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./$$package || exit 1; \
	  done; \
	done

format: ## rewrite what gofmt would write otherwise
	gofmt -l -w $$(git ls-files '*.go' | grep -v '\.pb\.go$$')

lint:
	$(GO) vet $(PKGS)
	cd tools && $(GO) build -o ../$(BIN)/tools/ honnef.co/go/tools/cmd/staticcheck
	$(BIN)/tools/staticcheck $(PKGS)
	cd tools && $(GO) vet ./...

generate: ## code from plugin.proto
	cd tools && $(GO) run ./protogen -root ../core/proto pipectl/plugin/v1/plugin.proto

examples: build ## every example validates; the example plugin builds as its own module and keeps the contract
	$(BIN)/pipectl validate examples/quickstart.hcl
	$(BIN)/pipectl validate examples/fifty-tables.hcl
	for dir in examples/plugins/*/; do (cd $$dir && $(GO) vet ./... && $(GO) build -o /dev/null ./... && $(GO) test ./...) || exit 1; done

interop: build ## other people's readers over our tables (needs Python 3 and Java)
	bash internal/interop/run.sh

JUDGES ?=

judges: ## clients that others wrote against the SQL Server simulator (needs a JDK, Maven, Python 3, Node, FreeTDS)
	bash plugins/source-mssql/mssqlsim/judges/run.sh $(JUDGES)

bench: ## ratios against baselines of the same run
	bash internal/bench/run.sh

check: ## what CI runs; fails on a dirty tree
	bash .ci/check.sh

clean:
	rm -rf $(BIN) .venv .venv-judges
