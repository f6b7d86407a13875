package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/run"
	"github.com/pipectl/pipectl/core/stream"
)

func TestOneIsOne(t *testing.T) {
	t.Parallel()
	r := &run.StepResult{Address: addr.New(addr.Stream, "orders"), Status: run.Done, Stream: &stream.Result{SnapshotRows: 1, Rows: 1, Batches: 1}}
	if got := StepLine(r); !strings.Contains(got, "1 row of a snapshot, 1 change in 1 batch") {
		t.Error(got)
	}
	r.Stream.SnapshotRows, r.Stream.Rows = 2000, 0
	if got := StepLine(r); !strings.Contains(got, "2,000 rows of a snapshot, 0 changes in 1 batch") {
		t.Error(got)
	}
}

// A column that is called "key id" is one column, and not the key called id.
func TestOneColumnIsOne(t *testing.T) {
	t.Parallel()
	for want, table := range map[string]plan.Table{
		"1 column":                      {Action: plugin.TableCreate, Extra: 1},
		"12 columns":                    {Action: plugin.TableCreate, Extra: 12},
		"1 column + 9 of the pipeline":  {Action: plugin.TableCreate, Captured: 1, Extra: 9},
		"3 columns + 1 of the pipeline": {Action: plugin.TableCreate, Captured: 3, Extra: 1},
	} {
		if got := describeTable(table); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestAKeyIsToldByTheNamesOfItsColumns(t *testing.T) {
	t.Parallel()
	owner := addr.New(addr.Silver, "orders")
	if got := describeTable(plan.Table{Owner: owner, Action: plugin.TableCreate, Captured: 3, Extra: 2, Key: []string{"key id", "line"}}); got != `3 columns + 2 of the pipeline, key "key id", line` {
		t.Error(got)
	}
}

// The text of a block with for_each is that of all its instances.
func TestADiagnosticNamesItsInstance(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		addr.Instance(addr.Table, "t", "eu").String(): `on shop.hcl line 3, in table "t" (table.t["eu"]):`,
		addr.New(addr.Table, "t").String():            `on shop.hcl line 3, in table "t":`,
	} {
		var out bytes.Buffer
		s := &Streams{Err: &out}
		d := diag.Errorf(diag.KindConfiguration, "x.y", "", "wrong")
		d.Subject, d.Context, d.Address = &diag.Range{Filename: "shop.hcl", Start: diag.Pos{Line: 3}}, `table "t"`, address
		s.Diagnostics(diag.List{d}, nil)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s, want %s", out.String(), want)
		}
	}
}
