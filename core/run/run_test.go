package run_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
	"github.com/pipectl/pipectl/core/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a configuration of n tables over the in-process fakes.
type world struct {
	t      *testing.T
	plugin *memory.Plugin
	cfg    *model.Config

	mu    sync.Mutex // guards clock: a watch asks while a test commits
	clock time.Time
}

func newWorld(t *testing.T, tables ...string) *world {
	w := &world{t: t, plugin: memory.New(), clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	w.cfg = &model.Config{Name: "shop",
		Sources: []model.Source{{Addr: addr.New(addr.Source, "db"), Type: "memory", Body: empty()}},
		Sinks:   []model.Sink{{Addr: addr.New(addr.Sink, "lake"), Type: "memory", Body: empty(), Facts: "ops.ingestion_facts", Control: "ops.table_finalization"}},
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	for _, name := range tables {
		w.plugin.Database.CreateTable(name, schema, "id")
		w.declare(name)
	}
	return w
}

func empty() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"place": cty.NullVal(cty.String), "password": cty.NullVal(cty.String)})
}

func (w *world) declare(name string) {
	c := w.cfg
	source, sink := c.Sources[0].Addr, c.Sinks[0].Addr
	table, stream := addr.New(addr.Table, name), addr.New(addr.Stream, name)
	silver, check := addr.New(addr.Silver, name), addr.New(addr.Check, name)
	none := cty.EmptyObjectVal
	c.Tables = append(c.Tables, model.Table{Addr: table, Source: source, Body: cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal(name)})})
	c.Streams = append(c.Streams, model.Stream{Addr: stream, Table: table, To: sink, Target: "bronze." + name, AppID: "bronze." + name,
		Bootstrap: model.BootstrapFull, OnDataLoss: model.OnDataLossFail, Granularity: model.GranularityHour, Read: none})
	c.Silvers = append(c.Silvers, model.Silver{Addr: silver, Type: "memory", From: stream, To: sink, Target: "silver." + name, Body: none})
	c.Checks = append(c.Checks, model.Check{Addr: check, Type: "memory", Silver: silver, OnFailure: "fail", Body: none})
}

func (w *world) commit(changes ...memory.Change) {
	w.mu.Lock()
	w.clock = w.clock.Add(time.Minute)
	at := w.clock
	w.mu.Unlock()
	w.plugin.Database.Commit(at, changes...)
}

func row(id int64, note string) memory.Row { return memory.Row{"id": id, "note": note} }

// sessions opens everything over the one plugin.
type sessions struct {
	w      *world
	tables plugin.Tables
	source plugin.Source
}

func (s *sessions) Source(ctx context.Context, _ addr.Address) (plugin.Source, error) {
	if s.source == nil {
		s.source = s.w.plugin.Database.Open()
	}
	return s.source, nil
}

func (s *sessions) Tables(context.Context, addr.Address) (plugin.Tables, error) {
	if s.tables == nil {
		s.tables = s.w.plugin.Lake.Open()
	}
	return s.tables, nil
}

func (s *sessions) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return memory.Silver{}, nil
}
func (s *sessions) Check(context.Context, addr.Address) (plugin.Check, error) {
	return memory.Check{}, nil
}

func (w *world) plan(targets ...addr.Address) (*plan.Plan, map[addr.Address]*planner.Lake, *sessions) {
	w.t.Helper()
	ctx, s := context.Background(), &sessions{w: w}
	lakes := map[addr.Address]*planner.Lake{}
	for i := range w.cfg.Sinks {
		lake, err := planner.OpenLake(ctx, w.cfg, &w.cfg.Sinks[i], s, planner.LakeOptions{Clock: w.now})
		if err != nil {
			w.t.Fatal(err)
		}
		lakes[w.cfg.Sinks[i].Addr] = lake
	}
	p, err := planner.Make(ctx, planner.Request{Config: w.cfg, Plugins: s, Lakes: lakes, Targets: targets, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	return p, lakes, s
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) execute(apply bool, change func(*run.Request)) (run.Result, error) {
	w.t.Helper()
	p, lakes, s := w.plan()
	req := run.Request{Config: w.cfg, Plan: p, Plugins: s, Lakes: lakes, Apply: apply, Whole: true,
		Holder: state.Holder{Run: "test"}, Clock: w.now, Sleep: func(context.Context, time.Duration) error { return nil }}
	if change != nil {
		change(&req)
	}
	return run.Execute(context.Background(), req)
}

func (w *world) mustExecute(apply bool) run.Result {
	w.t.Helper()
	result, err := w.execute(apply, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

func (w *world) silver(name string) map[int64]string {
	out := map[int64]string{}
	for _, r := range w.plugin.Lake.Rows("silver." + name) {
		out[r["id"].(int64)] = r["note"].(string)
	}
	return out
}

func statuses(r run.Result) string {
	var parts []string
	for _, s := range r.Steps {
		parts = append(parts, fmt.Sprintf("%s %s", s.Address, s.Status))
	}
	return strings.Join(parts, "; ")
}

func TestApplyThenRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("orders", row(2, "b")))

	p, _, _ := w.plan()
	if !p.Changed() || p.Count(plugin.TableCreate) != 4 || p.Steps[0].Kind != plan.FullSnapshot {
		t.Fatalf("first plan: %+v", p)
	}
	r := w.mustExecute(true)
	if got := statuses(r); got != "stream.orders done; silver.orders done; check.orders done" {
		t.Fatal(got, r.Steps[0].Diagnostics)
	}
	if got := w.silver("orders"); !maps.Equal(got, map[int64]string{1: "a", 2: "b"}) {
		t.Fatalf("silver %v", got)
	}

	w.commit(memory.Update("orders", row(1, "a"), row(1, "c")), memory.Delete("orders", row(2, "b")))
	p, _, _ = w.plan()
	if p.Changed() {
		t.Fatalf("a plan after apply changes something: %+v", p)
	}
	if s := p.Step(addr.New(addr.Stream, "orders")); s.Kind != plan.Changes || !s.Pending || !strings.Contains(strings.Join(s.Detail, " "), "1 commit waits") {
		t.Fatalf("stream step %+v", s)
	}
	r = w.mustExecute(false)
	if got := w.silver("orders"); !maps.Equal(got, map[int64]string{1: "c"}) {
		t.Fatalf("silver %v after %s", got, statuses(r))
	}
	// The owner is the name and the lineage of the state.
	states, err := w.plugin.Lake.Open().GetTables(context.Background(), plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "silver.orders"}}})
	if err != nil || !strings.HasPrefix(states[0].Properties["pipectl.owner"], "shop/") || strings.HasSuffix(states[0].Properties["pipectl.owner"], "/new") {
		t.Fatalf("owner %q, %v", states[0].Properties["pipectl.owner"], err)
	}
}

func TestRunObeysWhatApplyAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	// A new table is declared and an old one changes: only what was accepted runs.
	w.plugin.Database.CreateTable("lines", arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil), "id")
	w.declare("lines")
	w.commit(memory.Insert("orders", row(2, "b")))
	r := w.mustExecute(false)
	if got := statuses(r); got != "stream.orders done; stream.lines refused; silver.orders done; silver.lines refused; check.orders done; check.lines refused" {
		t.Fatal(got)
	}
	for _, s := range r.Steps {
		if s.Status == run.Refused && !(len(s.Diagnostics) == 1 && s.Diagnostics[0].Kind == diag.KindStale) {
			t.Fatalf("%s: %+v", s.Address, s.Diagnostics)
		}
	}
	if w.plugin.Lake.Rows("bronze.lines") != nil {
		t.Fatal("run created a table")
	}
	w.mustExecute(true)
	p, _, _ := w.plan()
	if p.Changed() {
		t.Fatal("apply did not accept")
	}
	// What is declared no more is shown until apply, and its data is kept.
	w.cfg.Checks, w.cfg.Silvers = w.cfg.Checks[:1], w.cfg.Silvers[:1]
	w.cfg.Streams, w.cfg.Tables = w.cfg.Streams[:1], w.cfg.Tables[:1]
	p, _, _ = w.plan()
	if len(p.Removed) != 3 || !p.Changed() {
		t.Fatalf("removed %+v", p.Removed)
	}
	w.mustExecute(true)
	if p, _, _ = w.plan(); p.Changed() || w.plugin.Lake.Rows("silver.lines") == nil && !slices.Contains(w.plugin.Lake.TableNames(), "silver.lines") {
		t.Fatal("removing a block deleted data, or is shown for ever")
	}
}

func TestAFailureSkipsWhatFollowsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders", "lines")
	w.commit(memory.Insert("orders", row(1, "a")), memory.Insert("lines", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")), memory.Insert("lines", row(2, "b")))
	w.plugin.Database.Purge("orders", w.plugin.Database.Newest())
	r, err := w.execute(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := statuses(r); got != "stream.orders failed; stream.lines done; silver.orders skipped; silver.lines done; check.orders skipped; check.lines done" {
		t.Fatal(got)
	}
	if !diag.Is(r.Steps[0].Diagnostics.Err(), diag.KindDataLoss) || r.Steps[2].Because != addr.New(addr.Stream, "orders") {
		t.Fatalf("%+v", r.Steps[0])
	}
}

func TestAStepThatMayPassIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")))
	var warned []string
	failures := 1
	r, err := w.execute(false, func(q *run.Request) {
		q.Plugins = flaky{q.Plugins.(*sessions), &failures}
		q.Event = func(e run.Event) {
			if e.Kind == run.StepWarning {
				warned = append(warned, e.Diagnostic.Summary)
			}
		}
	})
	if err != nil || r.Steps[1].Status != run.Done || fmt.Sprint(warned) != "[the plugin died]" || len(w.silver("orders")) != 2 {
		t.Fatalf("%s %v %v", statuses(r), warned, err)
	}
}

// flaky answers the first calls of silver as a plugin that died would.
type flaky struct {
	*sessions
	failures *int
}

func (f flaky) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	if *f.failures > 0 {
		*f.failures--
		return nil, diag.Errorf(diag.KindTransient, "plugin.crashed", "", "the plugin died").Err()
	}
	return memory.Silver{}, nil
}

func TestADifferenceFailsAndUndecidedFailsClosed(t *testing.T) {
	t.Parallel()
	for outcome, code := range map[plugin.Outcome]string{plugin.Equal: "", plugin.Different: "check.different", plugin.Undecided: "check.undecided"} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			for _, onFailure := range []string{"fail", "warn"} {
				w := newWorld(t, "orders")
				w.cfg.Checks[0].OnFailure = onFailure
				w.commit(memory.Insert("orders", row(1, "a")))
				p, lakes, s := w.plan()
				r, err := run.Execute(context.Background(), run.Request{Config: w.cfg, Plan: p, Lakes: lakes, Apply: true,
					Plugins: judged{s, outcome}, Clock: w.now, Holder: state.Holder{Run: "test"}})
				if err != nil {
					t.Fatal(err)
				}
				last := r.Steps[2]
				failed := code != "" && onFailure == "fail"
				if (last.Status == run.Failed) != failed || code != "" && last.Diagnostics[len(last.Diagnostics)-1].Code != code {
					t.Fatalf("%s %+v", statuses(r), last.Diagnostics)
				}
				if failed && !diag.Is(last.Diagnostics.Err(), diag.KindDifferent) {
					t.Fatalf("%+v", last.Diagnostics)
				}
			}
		})
	}
}

// judged answers every check with one outcome.
type judged struct {
	*sessions
	outcome plugin.Outcome
}

func (j judged) Check(context.Context, addr.Address) (plugin.Check, error) {
	return verdict{outcome: j.outcome}, nil
}

type verdict struct {
	memory.Check
	outcome plugin.Outcome
}

func (v verdict) RunCheck(context.Context, plugin.CheckRequest, plugin.Host, plugin.CheckEvents) (plugin.CheckResult, error) {
	return plugin.CheckResult{Outcome: v.outcome, Buckets: 1}, nil
}

func TestStopEndsAWatchAndSilverIsAtTheHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	stop := make(chan struct{})
	seen := 0
	r, err := w.execute(false, func(q *run.Request) {
		q.Watch, q.Stop = true, stop
		q.Event = func(e run.Event) {
			if e.Kind != run.StepProgress || e.Stage != "idle" {
				return
			}
			switch seen++; seen {
			case 1:
				w.commit(memory.Insert("orders", row(2, "b")))
			case 3:
				close(stop)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.silver("orders"); !maps.Equal(got, map[int64]string{1: "a", 2: "b"}) || !r.Stopped {
		t.Fatalf("silver %v, %s", got, statuses(r))
	}
}

func TestARunThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")))
	p, lakes, s := w.plan()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := run.Execute(ctx, run.Request{Config: w.cfg, Plan: p, Lakes: lakes, Plugins: s, Clock: w.now, Holder: state.Holder{Run: "test"},
		Event: func(e run.Event) {
			if e.Kind == run.StepStarted {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, %s", err, statuses(r))
	}
	w.mustExecute(false)
	if got := w.silver("orders"); len(got) != 2 {
		t.Fatalf("silver %v", got)
	}
}
