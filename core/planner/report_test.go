package planner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

// reporting is a configuration of one table whose check wants a table.
type reporting struct {
	*memory.Plugin
	table string
}

func (r reporting) Source(context.Context, addr.Address) (plugin.Source, error) {
	return r.Database.Open(), nil
}
func (r reporting) Tables(context.Context, addr.Address) (plugin.Tables, error) {
	return r.Lake.Open(), nil
}
func (r reporting) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return memory.Silver{}, nil
}
func (r reporting) Check(context.Context, addr.Address) (plugin.Check, error) {
	return reporter{table: r.table}, nil
}

type reporter struct {
	memory.Check
	table string
}

func columns(names ...string) *arrow.Schema {
	var fields []arrow.Field
	for _, n := range names {
		fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func (r reporter) PlanCheck(context.Context, plugin.CheckRequest, plugin.Host) (plugin.CheckPlan, error) {
	return plugin.CheckPlan{Summary: "counts", Tables: []plugin.TableSpec{{Table: plugin.TableRef{Name: r.table}, Schema: columns("run_id", "finding")}}}, nil
}

func configuration(report string) *model.Config {
	source, sink := addr.New(addr.Source, "db"), addr.New(addr.Sink, "lake")
	table, stream, silver := addr.New(addr.Table, "orders"), addr.New(addr.Stream, "orders"), addr.New(addr.Silver, "orders")
	return &model.Config{Name: "shop",
		Sources: []model.Source{{Addr: source, Type: "memory", Body: cty.EmptyObjectVal}},
		Sinks:   []model.Sink{{Addr: sink, Type: "memory", Body: cty.EmptyObjectVal, Facts: "ops.facts", Control: "ops.control"}},
		Tables:  []model.Table{{Addr: table, Source: source, Body: cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal("orders")})}},
		Streams: []model.Stream{{Addr: stream, Table: table, To: sink, Target: "bronze.orders", AppID: "bronze.orders",
			Bootstrap: model.BootstrapFull, OnDataLoss: model.OnDataLossFail, Granularity: model.GranularityHour, Read: cty.EmptyObjectVal}},
		Silvers: []model.Silver{{Addr: silver, Type: "memory", From: stream, To: sink, Target: "silver.orders", Path: "else/where", Body: cty.EmptyObjectVal}},
		Checks: []model.Check{{Addr: addr.New(addr.Check, "orders"), Type: "memory", Silver: silver, OnFailure: "fail",
			Body: cty.ObjectVal(map[string]cty.Value{"into": cty.StringVal(report)})}},
	}
}

// A check appends to a table that is its own or another check's: not to one
// that something else writes, and to none that was made for something else.
func TestAChecksTableIsItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report string
		there  *arrow.Schema
		code   string
		says   string
	}{
		{"ops.report", nil, "", ""},
		{"ops.report", columns("run_id", "finding", "of_a_newer_program"), "", ""},
		{"ops.report", columns("run_id"), "", ""},
		{"ops.report", columns("run_id", "name"), "check.table_other", "no report of a check: it has the columns name"},
		{"silver.orders", nil, "", ""}, // silver stands elsewhere
		{"else.where", nil, "check.table_taken", "would go into silver.orders"},
		{"bronze.orders", nil, "check.table_taken", "would go into stream.orders"},
		{"bronze.orders_snapshot_plans", nil, "check.table_taken", "would go into the plans of the snapshots of stream.orders"},
		{"ops.facts", nil, "check.table_taken", "would go into the facts of sink.lake"},
		{"ops.control", nil, "check.table_taken", "would go into the control table"},
		{"ops", nil, "check.table_nested", "The table of the facts of sink.lake would lie inside that of check.orders"},
		{"bronze.orders.report", nil, "check.table_nested", "inside that of stream.orders"},
		{"_pipectl.report", nil, "check.table_nested", "inside that of the state in sink.lake"},
	} {
		t.Run(c.report, func(t *testing.T) {
			t.Parallel()
			p := memory.New()
			p.Database.CreateTable("orders", columns("id"), "id")
			if c.there != nil {
				if _, err := p.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: plugin.TableRef{Name: c.report}, Schema: c.there}}); err != nil {
					t.Fatal(err)
				}
			}
			cfg := configuration(c.report)
			now := func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) }
			out, err := planner.Make(t.Context(), planner.Request{Config: cfg, Plugins: reporting{p, c.report}, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			list := out.Step(cfg.Checks[0].Addr).Diagnostics
			if c.code == "" {
				if list.HasErrors() {
					t.Fatal(list)
				}
				return
			}
			if len(list) != 1 || list[0].Code != c.code || !strings.Contains(list[0].Summary, c.says) || list[0].Path.String() != "into" || list[0].Detail == "" {
				t.Fatalf("%+v, want %s: %s", list, c.code, c.says)
			}
			if list[0].Kind != diag.KindConfiguration && list[0].Kind != diag.KindSchemaChanged {
				t.Errorf("kind %s", list[0].Kind)
			}
		})
	}
}

// A stream never writes into a table that silver made, however both came to one
// place.
func TestAStreamNeverWritesIntoSilver(t *testing.T) {
	t.Parallel()
	p := memory.New()
	p.Database.CreateTable("orders", columns("id"), "id")
	spec := plugin.TableSpec{Table: plugin.TableRef{Name: "bronze.orders"}, Schema: columns("id"), Properties: map[string]string{"pipectl.from": "bronze.other"}}
	if _, err := p.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec}); err != nil {
		t.Fatal(err)
	}
	cfg := configuration("ops.report")
	out, err := planner.Make(t.Context(), planner.Request{Config: cfg, Plugins: reporting{p, "ops.report"}})
	if err != nil {
		t.Fatal(err)
	}
	list := out.Step(cfg.Streams[0].Addr).Diagnostics
	if len(list) != 1 || list[0].Code != "stream.target_is_silver" || !strings.Contains(list[0].Summary, "bronze.other") || list[0].Path.String() != "target" {
		t.Fatalf("%+v", list)
	}
}

// A report has one owner, as every table has, and is taken over when it is named.
func TestAReportOfAnotherConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, owner string
		taken       []addr.Address
		says        string
	}{
		{"another configuration's", "other/1", nil, "If the other no longer writes it, run: pipectl apply -take-over check.orders shop.hcl"},
		{"this name, another state", "shop/1", nil, "If the other no longer writes it, run: pipectl apply -take-over check.orders shop.hcl"},
		{"taken over", "other/1", []addr.Address{theCheck}, ""},
		{"nobody's", "", nil, ""},
	} {
		w := newWorld(t)
		w.cfg.Path, w.check = "shop.hcl", reporter{table: "ops.report"}
		spec := plugin.TableSpec{Table: plugin.TableRef{Name: "ops.report"}, Schema: columns("run_id", "finding"), Properties: map[string]string{"pipectl.owner": c.owner}}
		_, err := w.plugin.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec})
		w.must(err)
		p := w.plan(func(r *planner.Request) { r.TakeOver = c.taken })
		if c.says != "" {
			if d := errorOf(t, p, theCheck); d.Code != "table.other_owner" || d.Kind != diag.KindStale || !strings.Contains(d.Detail, c.says) || strings.Contains(d.Detail, "loaded anew") {
				t.Errorf("%s: %+v", c.name, d)
			}
			if list := tablesNamed(p, "ops.report"); len(list) != 0 {
				t.Errorf("%s: would be changed: %+v", c.name, list)
			}
			continue
		}
		w.must(p.Errors().Err())
		words := "take over from other/1"
		if c.owner == "" {
			words = "take over: the table has no owner"
		}
		if list := tablesNamed(p, "ops.report"); len(list) != 1 || !list[0].TakeOver || len(list[0].Changes) != 1 || !strings.HasPrefix(list[0].Changes[0], words) {
			t.Errorf("%s: %+v", c.name, list)
		}
	}
}
