// Package importrules keeps the directions in which packages may import each
// other. A broken rule fails with the reason for it.
package importrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/pipectl/pipectl/"

// rule says what a package (or all below it) must not import.
type rule struct {
	// of is a package path below the module; a trailing /... means all below.
	of string
	// only, when not nil, lists the packages of ours that it may import
	// (prefixes; everything below is meant).
	only []string
	// never lists what it must not import, not even by way of others.
	never []string
	// direct looks at the package's own imports only: arrow-go's Parquet reader
	// brings gRPC with it, which its users neither see nor call.
	direct bool
	reason string
}

const (
	hcl      = "github.com/hashicorp/hcl"
	arrow    = "github.com/apache/arrow-go"
	grpc     = "google.golang.org/grpc"
	protobuf = "google.golang.org/protobuf"
	goplugin = "github.com/hashicorp/go-plugin"
	mssql    = "github.com/microsoft/go-mssqldb"
	sql      = "database/sql" // what every driver of a database serves
)

var (
	words    = []string{"core/addr", "core/diag", "core/schema"}
	values   = append(slices.Clone(words), "core/model")
	contract = append(slices.Clone(values), "core/plugin$", "core/plugin/rows", "core/ndjson")
	engine   = append(slices.Clone(contract), "core/state", "core/ledger", "core/plan$")
	sdk      = append(slices.Clone(contract), "core/sdk", "core/plugin/wire", "core/proto")
)

var rules = []rule{
	{of: "core/addr", only: []string{}, reason: "addresses are words; they know nothing of what they name"},
	{of: "core/graph", only: []string{}, reason: "the graph knows nothing of pipelines"},
	{of: "core/diag", only: words, never: []string{hcl, arrow, grpc}, reason: "diagnostics are found in every layer"},
	{of: "core/schema", only: words, never: []string{hcl, arrow, grpc}, reason: "schemas are plain shapes"},
	{of: "core/model", only: words, never: []string{hcl, arrow, grpc}, reason: "a configuration is plain values: planner tests need no text"},
	{of: "dsl", only: append(slices.Clone(values), "core/nearest"), never: []string{arrow, grpc, goplugin}, reason: "the language knows plugins only by their schemas"},
	{of: "core/plugin", only: values, never: []string{grpc, protobuf, goplugin}, reason: "the contract is Go; the wire is one way to carry it"},
	{of: "core/plugin/rows", only: append(slices.Clone(values), "core/plugin$"), never: []string{grpc, protobuf, goplugin}, reason: "frames do not know how they travel"},
	{of: "core/plugin/wire", only: append(slices.Clone(contract), "core/proto"), reason: "the wire carries calls and decides nothing"},
	{of: "core/plugin/host", only: append(slices.Clone(contract), "core/plugin/wire", "core/proto"), reason: "the host runs processes and decides nothing"},
	{of: "core/state", only: contract, never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "state is plain"},
	{of: "core/ledger", only: contract, never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "the ledger writes through the tables role only"},
	{of: "core/plan", only: contract, never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "a plan is plain"},
	{of: "core/planner", only: append(slices.Clone(engine), "core/graph", "core/planner", "core/stream", "core/quantity"), never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "planner tests need no process and no text"},
	{of: "core/stream", only: append(slices.Clone(engine), "core/graph", "core/stream"), never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "the loop is tested with literals and fakes"},
	{of: "core/run", only: append(slices.Clone(engine), "core/graph", "core/planner", "core/stream", "core/run", "core/quantity"), never: []string{hcl, grpc, goplugin, mssql, sql}, reason: "the runner gets its plugins as interfaces"},
	{of: "core/plugin/memory", only: append(slices.Clone(values), "core/plugin$", "core/plugin/rows"), never: []string{hcl, grpc, protobuf, goplugin, mssql, sql}, reason: "the fakes stand for every plugin: tests over them need no process and no wire"},
	{of: "core/sdk", only: sdk, never: []string{hcl, mssql, sql, module + "core/plugin/host", module + "core/plugin/memory"}, reason: "a plugin author compiles none of the engine"},
	{of: "core/sdk/conformance", only: append(slices.Clone(sdk), "core/plugin/host", "core/plugin/memory"), never: []string{hcl, mssql, sql}, reason: "the suite starts plugins as the host does, and compiles none of the engine"},
	{of: "core/diag", only: words, never: []string{"github.com/agext/levenshtein"}, reason: "what diagnostics import, every plugin of others imports"},
	{of: "core/nearest", only: []string{}, reason: "a misspelt word is compared with others, whatever they name"},
	{of: "core/quantity", only: []string{}, reason: "a number in words knows nothing of what it counts"},
	{of: "core/ndjson", only: []string{}, reason: "rows as text know nothing of pipelines"},
	{of: "plugins/source-mssql/...", only: append(slices.Clone(sdk), "plugins/source-mssql"), never: []string{hcl}, reason: "plugins know the SDK and their own driver, never the core or each other"},
	{of: "plugins/sink-delta/...", only: append(slices.Clone(sdk), "plugins/sink-delta"), never: []string{hcl, mssql}, reason: "plugins know the SDK and their own driver, never the core or each other"},
	{of: "plugins/silver/...", only: append(slices.Clone(sdk), "plugins/silver"), never: []string{hcl, mssql}, reason: "plugins know the SDK and their own driver, never the core or each other"},
	{of: "plugins/reconcile/...", only: append(slices.Clone(sdk), "plugins/reconcile"), never: []string{hcl, mssql}, reason: "plugins know the SDK and their own driver, never the core or each other"},
	{of: "plugins/sink-delta/deltalog", only: []string{"plugins/sink-delta/deltalog", "plugins/sink-delta/parquetfile$", "plugins/sink-delta/store$"}, never: []string{grpc, goplugin, "net/http"}, direct: true, reason: "the Delta protocol is a library without network code"},
	{of: "plugins/sink-delta/store", only: []string{}, never: []string{arrow, grpc}, reason: "stores hold bytes and know no Delta"},
	{of: "plugins/sink-delta/deltatable", only: []string{"plugins/sink-delta"}, never: []string{grpc, goplugin}, direct: true, reason: "the table library is for everyone, not only for pipectl"},
	{of: "plugins/source-mssql/mssqlsim/...", only: []string{"plugins/source-mssql/mssqlsim"}, never: []string{grpc, goplugin, arrow}, reason: "the simulator stands alone"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImportDirections(t *testing.T) {
	t.Parallel()
	packages := list(t)
	for _, r := range rules {
		matched := false
		for _, p := range packages {
			name := strings.TrimPrefix(p.ImportPath, module)
			if !r.covers(name) {
				continue
			}
			matched = true
			for _, path := range p.Imports {
				inner, ours := strings.CutPrefix(path, module)
				if ours && r.only != nil && !allowed(r.only, name, inner) {
					t.Errorf("%s imports %s: %s", name, inner, r.reason)
				}
			}
			reached := p.Deps
			if r.direct {
				reached = p.Imports
			}
			for _, path := range reached {
				for _, no := range r.never {
					if path == no || strings.HasPrefix(path, no+"/") {
						t.Errorf("%s depends on %s: %s", name, path, r.reason)
					}
				}
			}
		}
		if !matched {
			t.Errorf("the rule for %s matches no package: it guards nothing", r.of)
		}
	}
}

// A package that no rule covers may import anything.
func TestEveryPackageHasARule(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		guarded := name == "dsl" || strings.HasPrefix(name, "dsl/") || strings.HasPrefix(name, "core/") || strings.HasPrefix(name, "plugins/")
		generated := strings.HasPrefix(name, "core/proto/")
		if guarded && !generated && !slices.ContainsFunc(rules, func(r rule) bool { return r.covers(name) }) {
			t.Errorf("no rule says what %s may import", name)
		}
	}
}

// Only internal/bundled may know which plugins come with the binary.
func TestOnlyBundledImportsPlugins(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		free := strings.HasPrefix(name, "plugins/") || name == "cmd/pipectl/internal/bundled" ||
			strings.HasPrefix(name, "internal/")
		for _, path := range p.Imports {
			if strings.HasPrefix(path, module+"plugins/") && !free {
				t.Errorf("%s imports %s: only cmd/pipectl/internal/bundled does", name, strings.TrimPrefix(path, module))
			}
		}
	}
}

// No room is called after nothing.
func TestNoPackageWithoutAName(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		for _, part := range strings.Split(p.ImportPath, "/") {
			if slices.Contains([]string{"util", "utils", "helper", "helpers", "common", "misc", "base"}, part) {
				t.Errorf("%s: %q says nothing about what is in it", p.ImportPath, part)
			}
		}
	}
}

func (r rule) covers(name string) bool {
	if below, ok := strings.CutSuffix(r.of, "/..."); ok {
		return name == below || strings.HasPrefix(name, below+"/")
	}
	return name == r.of
}

// allowed reports whether inner lies below one of the prefixes; a prefix that
// ends in $ means that package alone.
func allowed(only []string, self, inner string) bool {
	if inner == self {
		return true
	}
	for _, prefix := range only {
		if exact, ok := strings.CutSuffix(prefix, "$"); ok {
			if inner == exact {
				return true
			}
			continue
		}
		if inner == prefix || strings.HasPrefix(inner, prefix+"/") {
			return true
		}
	}
	return false
}

func list(t *testing.T) []pkg {
	t.Helper()
	packages, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// listed asks for all packages once. Go's test cache knows nothing of what another
// program reads (go help test), so every folder that may hold one is read here, too.
var listed = sync.OnceValues(func() ([]pkg, error) {
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "core", "dsl", "examples", "internal", "plugins"} {
		if err := filepath.WalkDir(filepath.Join(root, top), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return nil, err
		}
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %s", exit.Stderr)
		}
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	var packages []pkg
	for {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})
