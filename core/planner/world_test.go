package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
	"github.com/pipectl/pipectl/core/stream"
)

// world is a configuration of one table, orders, over the in-process fakes. The
// tests carry out themselves what a plan says: accept, then read, then apply.
type world struct {
	t      *testing.T
	plugin *memory.Plugin
	cfg    *model.Config
	clock  time.Time
	// inspected changes what the source says of itself.
	inspected func(*plugin.InspectResponse)
	// asked is what the source was last asked to look at.
	asked plugin.InspectRequest
	// start answers in place of the source, unless nil.
	start func(plugin.StartRequest) (plugin.Position, error)
	// silver and check replace the fakes.
	silver plugin.Silver
	check  plugin.Check
	// counts of calls by name.
	calls map[string]int
}

var (
	theStream = addr.New(addr.Stream, "orders")
	theSilver = addr.New(addr.Silver, "orders")
	theCheck  = addr.New(addr.Check, "orders")
)

func newWorld(t *testing.T) *world {
	w := &world{t: t, plugin: memory.New(), cfg: configuration("ops.report"), clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		silver: memory.Silver{}, check: memory.Check{}, calls: map[string]int{}}
	w.cfg.Silvers[0].Path = ""
	w.cfg.Checks[0].Body = cty.EmptyObjectVal
	w.plugin.Database.CreateTable("orders", arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "amount", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil), "id")
	return w
}

// counted counts the calls that a plan makes of its source.
type counted struct {
	plugin.Source
	w *world
}

func (c counted) Inspect(ctx context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	c.w.calls["inspect"]++
	c.w.asked = req
	r, err := c.Source.Inspect(ctx, req)
	if c.w.inspected != nil && err == nil {
		c.w.inspected(&r)
	}
	return r, err
}

func (c counted) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	c.w.calls["lost"]++
	return c.Source.Lost(ctx, req)
}

func (c counted) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	c.w.calls["start"]++
	if c.w.start != nil {
		return c.w.start(req)
	}
	return c.Source.Start(ctx, req)
}

func (w *world) Source(context.Context, addr.Address) (plugin.Source, error) {
	return counted{w.plugin.Database.Open(), w}, nil
}
func (w *world) Tables(context.Context, addr.Address) (plugin.Tables, error) {
	return w.plugin.Lake.Open(), nil
}
func (w *world) Silver(context.Context, addr.Address) (plugin.Silver, error) { return w.silver, nil }
func (w *world) Check(context.Context, addr.Address) (plugin.Check, error)   { return w.check, nil }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// insert commits one order per id.
func (w *world) insert(ids ...int64) {
	for _, id := range ids {
		w.clock = w.clock.Add(time.Minute)
		w.plugin.Database.Commit(w.clock, memory.Insert("orders", memory.Row{"id": id, "note": fmt.Sprint("order ", id), "amount": id}))
	}
}

func (w *world) request() planner.Request {
	return planner.Request{Config: w.cfg, Plugins: w, Now: func() time.Time { return w.clock }}
}

func (w *world) plan(change ...func(*planner.Request)) *plan.Plan {
	w.t.Helper()
	req := w.request()
	for _, c := range change {
		c(&req)
	}
	p, err := planner.Make(w.t.Context(), req)
	w.must(err)
	return p
}

func (w *world) lake() *planner.Lake {
	w.t.Helper()
	lake, err := planner.OpenLake(w.t.Context(), w.cfg, &w.cfg.Sinks[0], w, planner.LakeOptions{Clock: func() time.Time { return w.clock }})
	w.must(err)
	return lake
}

// accept makes the tables of a plan without errors and accepts its steps.
func (w *world) accept() {
	w.t.Helper()
	p := w.plan()
	w.must(p.Errors().Err())
	lake := w.lake()
	w.must(lake.State.Initialize(w.t.Context()))
	w.must(lake.Ledger.Ensure(w.t.Context()))
	for _, t := range p.Tables {
		if t.Action != plugin.TableNone && t.Owner.Kind != addr.Sink {
			_, err := lake.Tables.ApplyTable(w.t.Context(), plugin.ApplyTableRequest{Spec: lake.Own(w.cfg, t.Spec)})
			w.must(err)
		}
	}
	declared, err := lake.State.Declared(w.t.Context())
	w.must(err)
	for _, s := range p.Steps {
		declared[s.Address.String()] = state.Accepted{Digest: s.Digest, At: w.clock}
	}
	w.must(lake.State.PutDeclared(w.t.Context(), declared))
}

// read brings stream and silver to the newest change.
func (w *world) read() {
	w.t.Helper()
	ctx, lake, s := w.t.Context(), w.lake(), &w.cfg.Streams[0]
	source, _ := w.Source(ctx, addr.Address{})
	table := planner.SourceTable(&w.cfg.Tables[0], s)
	answer, err := source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table}})
	w.must(err)
	bronze := plugin.TableRef{Name: s.Target, Path: s.Path}
	_, err = stream.Run(ctx, stream.Config{AppID: s.AppID, Source: source, Table: table, Database: answer.Database(), Info: answer.Tables[0], Tables: lake.Tables,
		Bronze: bronze, Ledger: lake.Ledger, State: lake.State, Holder: state.Holder{Run: "test"}, Bootstrap: s.Bootstrap, Granularity: "hour",
		Clock: func() time.Time { return w.clock }})
	w.must(err)
	spec, err := stream.BronzeSpec(bronze, answer.Tables[0].Schema)
	w.must(err)
	v := &w.cfg.Silvers[0]
	host, err := lake.SilverHost(v, s)
	w.must(err)
	_, err = memory.Silver{}.RunSilver(ctx, planner.SilverRequest(v, s, answer.Tables[0], spec), host, nil)
	w.must(err)
}

// filled is a world in which two orders were read.
func filled(t *testing.T) *world {
	w := newWorld(t)
	w.insert(1, 2)
	w.accept()
	w.read()
	return w
}

// errorOf is the one error of a step.
func errorOf(t *testing.T, p *plan.Plan, a addr.Address) diag.Diagnostic {
	t.Helper()
	list := p.Step(a).Diagnostics.Errors()
	if len(list) != 1 || list[0].Detail == "" {
		t.Fatalf("%s: %+v, want one error that says what to do", a, p.Step(a).Diagnostics)
	}
	return list[0]
}

func changesOf(s *plan.Step) string {
	var out []string
	for _, c := range s.Changes {
		out = append(out, fmt.Sprintf("%s %s %s", c.Code, c.Column, c.Class))
	}
	return strings.Join(out, "; ")
}
