package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// config is what the program is run with: one table, its bronze and silver and
// a check of every row.
const config = `pipectl {
  name = "bench"
  required_plugins {
    mssql     = { source = "pipectl/source-mssql" }
    delta     = { source = "pipectl/sink-delta" }
    silver    = { source = "pipectl/silver" }
    reconcile = { source = "pipectl/reconcile" }
  }
}

source "mssql" "shop" {
  url = env("SHOP_MSSQL_URL")
}

sink "delta" "lake" {
  root = "./lake"
}

table "orders" {
  source = source.shop
  object = "dbo.orders"
}

stream "orders" {
  table     = table.orders
  to        = sink.lake
  target    = "bronze.orders"
  bootstrap = "%s"
}

silver "current" "orders" {
  from   = stream.orders
  target = "silver.orders"
}

check "reconcile" "orders" {
  silver = silver.orders
  sample = 1
}
`

// program is pipectl over a lake of its own.
type program struct {
	binary string
	dir    string
	url    string
}

const (
	bootstrapNone = "none"
	bootstrapFull = "full"
)

// program makes a folder with a configuration.
func (b *bench) program(name, url, bootstrap string) (*program, error) {
	p := &program{binary: b.binary, dir: filepath.Join(b.dir, name), url: url}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	return p, os.WriteFile(filepath.Join(p.dir, "bench.hcl"), fmt.Appendf(nil, config, bootstrap), 0o644)
}

// table is the folder of a table of the lake.
func (p *program) table(layer string) string { return filepath.Join(p.dir, "lake", layer, "orders") }

// step is how one step of a run ended, as the program's JSON tells it.
type step struct {
	Address string  `json:"address"`
	Status  string  `json:"status"`
	Seconds float64 `json:"seconds"`
	Result  struct {
		Rows     int64  `json:"rows"`
		Outcome  string `json:"outcome"`
		Inserted int64  `json:"inserted"`
		Updated  int64  `json:"updated"`
		Deleted  int64  `json:"deleted"`
	} `json:"result"`
}

// ran is what one run of the program took.
type ran struct {
	steps map[string]step
	// cpu is user and system time of the program and its plugins.
	cpu time.Duration
	// peak is the most memory of each process, in MiB by name; nil where the
	// system does not tell.
	peak map[string]float64
}

// run carries out one command and fails unless every step is done.
func (p *program) run(ctx context.Context, args ...string) (ran, error) {
	cmd := p.command(ctx, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Start(); err != nil {
		return ran{}, fmt.Errorf("starting pipectl: %w", err)
	}
	watch := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	r := ran{steps: map[string]step{}, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: watch.end()}
	if err != nil {
		return r, fmt.Errorf("pipectl %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), problems.String())
	}
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var s struct {
			Type string `json:"type"`
			step
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return r, fmt.Errorf("pipectl printed %q: %w", lines.Text(), err)
		}
		if s.Type == "ended" {
			r.steps[s.Address] = s.step
		}
	}
	return r, nil
}

func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.binary, append(args, "-json", "bench.hcl")...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "SHOP_MSSQL_URL="+p.url)
	return cmd
}

// prepare accepts the configuration and creates the tables.
func (p *program) prepare(ctx context.Context) error {
	_, err := p.run(ctx, "apply", "-yes", "-tables-only")
	return err
}

const (
	streamStep = "stream.orders"
	silverStep = "silver.orders"
	checkStep  = "check.orders"
)

// one runs one step and returns how it ended.
func (p *program) one(ctx context.Context, address string, args ...string) (step, ran, error) {
	command := "run"
	if address == checkStep {
		command = "check"
	}
	r, err := p.run(ctx, append([]string{command, "-target", address}, args...)...)
	if err != nil {
		return step{}, r, err
	}
	s, ok := r.steps[address]
	if !ok {
		return s, r, fmt.Errorf("pipectl %s tells nothing of %s", command, address)
	}
	return s, r, nil
}

// reset empties the lake.
func (p *program) reset() error { return os.RemoveAll(filepath.Join(p.dir, "lake")) }

var errRows = errors.New("wrong number of rows")

func wantRows(what string, got, want int64) error {
	if got != want {
		return fmt.Errorf("%w: %s has %d, not %d", errRows, what, got, want)
	}
	return nil
}
