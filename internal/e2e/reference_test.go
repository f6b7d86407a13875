package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/history"
)

// The recorded life of a database: 200 rows of 18 types, then transactions of
// every kind, with the points at which the reference package ran its steps,
// and what each step changed in its lake.
const (
	recordedLife  = "../../plugins/source-mssql/mssqlsim/history/testdata/full.ndjson"
	recordedSteps = "testdata/reference"
	// lastStep is the first one that is not a stream or an apply.
	lastStep = "09-apply-orders"
)

const referenceConfig = `
pipectl {
  name = "reference"
  required_plugins {
    mssql  = { source = "pipectl/source-mssql" }
    delta  = { source = "pipectl/sink-delta" }
    silver = { source = "pipectl/silver" }
  }
}

variable "commits" {
  type    = number
  default = null
}

source "mssql" "shop" {
  url = env("SHOP_MSSQL_URL")
}

sink "delta" "lake" {
  root = "./lake"
  ledger {
    facts   = "g_full.facts"
    control = "g_full.control"
  }
}

table "orders" {
  source           = source.shop
  capture_instance = "dbo_orders"
}

stream "orders" {
  table                 = table.orders
  to                    = sink.lake
  target                = "g_full.bronze_orders"
  app_id                = "orders-v1"
  bootstrap             = "full"
  max_commits_per_batch = var.commits
}

silver "current" "orders" {
  from   = stream.orders
  target = "g_full.silver_orders"
}
`

// TestReferenceReplay replays the recorded life in the simulator and runs the
// same steps with this program: after each, the rows of bronze, silver, facts
// and control are those that the reference package recorded.
func TestReferenceReplay(t *testing.T) {
	t.Parallel()
	program, dir := pipectl(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "reference.hcl"), []byte(referenceConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	server, err := mssqlsim.Start(t.Context(), mssqlsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	player, err := history.Open(recordedLife, server.Database("shop").Model(), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{t: t, program: program, dir: dir, url: server.DSN("shop"), tables: map[string][]string{}}
	for first := true; ; first = false {
		step, err := player.Next(t.Context())
		if errors.Is(err, io.EOF) {
			t.Fatalf("the history ended before step %s", lastStep)
		}
		if err != nil {
			t.Fatal(err)
		}
		if first {
			r.run("apply", "-yes", "-tables-only")
		}
		switch step.Action {
		case "stream":
			r.run(append([]string{"run", "-target", "stream.orders"}, streamOptions(t, step.Args)...)...)
		case "apply":
			r.run("run", "-target", "silver.orders")
		default:
			t.Fatalf("step %s has the action %s", step.Name, step.Action)
		}
		r.compare(step.Name)
		if step.Name == lastStep {
			return
		}
	}
}

// streamOptions turns the options of a recorded step into arguments.
func streamOptions(t *testing.T, args json.RawMessage) []string {
	var a struct {
		Options struct {
			MaxCommitsPerBatch string `json:"maxCommitsPerBatch"`
		} `json:"options"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		t.Fatal(err)
	}
	if a.Options.MaxCommitsPerBatch == "" {
		return nil
	}
	return []string{"-var", "commits=" + a.Options.MaxCommitsPerBatch}
}

type replay struct {
	t       *testing.T
	program string
	dir     string
	url     string
	tables  map[string][]string // rows of each table after the last step, sorted
}

func (r *replay) run(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("pipectl %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (r *replay) try(args ...string) (string, error) {
	cmd := exec.Command(r.program, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "SHOP_MSSQL_URL="+r.url)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s%s", err, out.String(), errs.String())
	}
	return out.String(), nil
}

// compare looks at all tables after a step: those that the step changed in the
// record have changed in the same way, the others are as they were.
func (r *replay) compare(step string) {
	r.t.Helper()
	for _, table := range []string{"bronze_orders", "silver_orders", "facts", "control"} {
		now := r.rows(table)
		before := r.tables[table]
		r.tables[table] = now
		if whole, ok := recorded(r.t, step, table+".ndjson"); ok {
			r.same(step, table, "rows", now, whole)
			continue
		}
		added, hasAdded := recorded(r.t, step, table+".added.ndjson")
		removed, hasRemoved := recorded(r.t, step, table+".removed.ndjson")
		if table == "control" && !hasAdded && !hasRemoved {
			added, removed = nil, nil
		}
		r.same(step, table, "added", minus(now, before), added)
		r.same(step, table, "removed", minus(before, now), removed)
	}
}

func (r *replay) same(step, table, what string, got, want []string) {
	r.t.Helper()
	missing, extra := minus(want, got), minus(got, want)
	if len(missing)+len(extra) == 0 {
		return
	}
	show := func(list []string) string { return strings.Join(list[:min(len(list), 2)], "\n") }
	r.t.Errorf("step %s, %s of %s: %d rows missing, %d rows too many\nmissing:\n%s\ntoo many:\n%s", step, what, table, len(missing), len(extra), show(missing), show(extra))
}

// rows reads a table in canonical form; one that does not exist has none.
func (r *replay) rows(table string) []string {
	r.t.Helper()
	if _, err := os.Stat(filepath.Join(r.dir, "lake", "g_full", table)); err != nil {
		return nil
	}
	return canonical(r.t, r.run("table", "rows", "-json", filepath.Join("lake", "g_full", table)))
}

func recorded(t *testing.T, step, file string) ([]string, bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordedSteps, step, file))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return canonical(t, string(data)), true
}

// volatile values depend on clock, machine or chance; only whether they are
// NULL is compared. The recorded stand-in could not measure two values, and the
// reference has no column for the versions that pipectl keeps in control.
var (
	volatile    = []string{"started_at", "duration_ms", "read_seconds", "read_mb", "capture_lag_seconds", "written_at", "updated_at"}
	notRecorded = []string{"source_rtt_ms", "network_wait_ms", "silver_version", "foreign_version", "silver_merge", "table_path", "table_id"}
)

// canonical turns NDJSON into sorted lines that can be compared as text.
func canonical(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.UseNumber()
		var row map[string]any
		if err := decoder.Decode(&row); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		out = append(out, canonicalRow(t, row))
	}
	slices.Sort(out)
	return out
}

func canonicalRow(t *testing.T, row map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(row)) {
		value := row[name]
		switch {
		case slices.Contains(notRecorded, name):
			continue
		case slices.Contains(volatile, name) && value != nil:
			value = "<volatile>"
		case name == "ratio4" && value != nil: // the record has the double equal to the float32
			value = float32Of(t, value)
		}
		switch v := value.(type) {
		case json.Number:
			value = numberText(t, v)
		case string:
			value = jsonText(v)
		}
		fmt.Fprintf(&b, "%s=%v ", name, value)
	}
	return b.String()
}

func float32Of(t *testing.T, v any) string {
	f, err := v.(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(float32(f))
}

// numberText writes whole numbers as they are and others by value.
func numberText(t *testing.T, n json.Number) string {
	if !strings.ContainsAny(n.String(), ".eE") {
		return n.String()
	}
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(f)
}

// jsonText makes payloads comparable: their spacing carries no meaning.
func jsonText(s string) string {
	if !strings.HasPrefix(s, "{") {
		return s
	}
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(text)
}

// minus returns the lines of a that are not in b, counting how often each stands.
func minus(a, b []string) []string {
	counts := map[string]int{}
	for _, line := range b {
		counts[line]++
	}
	var out []string
	for _, line := range a {
		if counts[line] > 0 {
			counts[line]--
			continue
		}
		out = append(out, line)
	}
	return out
}
