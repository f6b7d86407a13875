package planner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/state"
)

func kinds(p *plan.Plan) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, fmt.Sprintf("%s: %s", s.Address, s.Kind))
	}
	return strings.Join(out, ", ")
}

// What a stream would do follows from its position, its snapshot and what is
// declared; each kind has its reason.
func TestKindsOfStreamsAndTheirReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make            func(*testing.T) *world
		kind            plan.Kind
		reason          string
		detail          string
		pending, change bool
	}{
		"new, with a snapshot": {func(t *testing.T) *world { w := newWorld(t); w.insert(1, 2); return w },
			plan.FullSnapshot, "it has no position yet", "about 2 rows in one snapshot, then changes", true, true},
		"new, without a snapshot": {func(t *testing.T) *world {
			w := newWorld(t)
			w.cfg.Streams[0].Bootstrap = model.BootstrapNone
			return w
		}, plan.Start, "it has no position yet and bootstrap is none", "changes from earliest", true, true},
		"new, from a position": {func(t *testing.T) *world {
			w := newWorld(t)
			w.cfg.Streams[0].Bootstrap, w.cfg.Streams[0].StartingPosition = model.BootstrapNone, "latest"
			return w
		}, plan.Start, "it has no position yet and bootstrap is none", "changes from latest", true, true},
		"read up to the newest change": {filled, plan.Changes, "it has a position", "", false, false},
		"with changes that wait":       {func(t *testing.T) *world { w := filled(t); w.insert(3, 4); return w }, plan.Changes, "it has a position", "2 commits wait", true, false},
		"a snapshot that comes later": {func(t *testing.T) *world {
			w := newWorld(t)
			w.cfg.Streams[0].Bootstrap = model.BootstrapNone
			w.insert(1)
			w.accept()
			w.read()
			w.cfg.Streams[0].Bootstrap = model.BootstrapFull
			return w
		}, plan.FullSnapshot, "no snapshot is in bronze.orders", "about 1 row", true, true},
		"a batch that was interrupted": {func(t *testing.T) *world {
			w := filled(t)
			log := w.log()
			w.insert(3)
			_, err := w.lake().State.Stream("bronze.orders").Checkpoint(0).PutOffset(t.Context(), log.Newest+1, state.Offset{Start: log.Offset.End, End: w.plugin.Database.Newest()})
			w.must(err)
			return w
		}, plan.Changes, "it has a position", "batch 1 was not finished and is carried out again", true, false},
		"a batch that a run has in hand": {func(t *testing.T) *world {
			w := filled(t)
			log := w.log()
			w.insert(3)
			_, err := w.lake().State.Stream("bronze.orders").Checkpoint(0).PutOffset(t.Context(), log.Newest+1, state.Offset{Start: log.Offset.End, End: w.plugin.Database.Newest()})
			w.must(err)
			_, err = w.lake().State.Lock(t.Context(), "bronze.orders", state.Holder{Run: "watch", Host: "night", PID: 7})
			w.must(err)
			return w
		}, plan.Changes, "it has a position", "batch 1 is in the hands of run watch (process 7 on night)", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.make(t)
			p := w.plan()
			s := p.Step(theStream)
			if s.Diagnostics.HasErrors() || s.Kind != c.kind || s.Reason != c.reason || s.Pending != c.pending || p.Changed() != c.change || !strings.Contains(strings.Join(s.Detail, "\n"), c.detail) {
				t.Errorf("%+v, changed %v", s, p.Changed())
			}
		})
	}
}

func (w *world) log() state.Log {
	w.t.Helper()
	log, err := planner.NewestLog(w.t.Context(), w.lake().State.Stream("bronze.orders"))
	w.must(err)
	return log
}

// A first plan makes the ledger, bronze and silver, names what each step waits
// for, and asks the source once.
func TestAFirstPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.plan()
	if got := kinds(p); got != "stream.orders: full snapshot, silver.orders: apply, check.orders: reconcile" {
		t.Error(got)
	}
	var tables []string
	for _, table := range p.Tables {
		tables = append(tables, fmt.Sprintf("%s %s %s", table.Owner, table.Ref.Name, table.Action))
	}
	want := "sink.lake ops.facts create, sink.lake ops.control create, stream.orders bronze.orders create, silver.orders silver.orders create"
	if got := strings.Join(tables, ", "); got != want {
		t.Errorf("tables %s", got)
	}
	if fmt.Sprint(p.Step(theSilver).After, p.Step(theCheck).After) != "[stream.orders] [silver.orders]" {
		t.Errorf("%+v", p.Steps)
	}
	if w.calls["inspect"] != 1 || len(w.plugin.Lake.TableNames())+len(w.plugin.Lake.Objects()) != 0 {
		t.Errorf("a plan asked %d times and made %v %v", w.calls["inspect"], w.plugin.Lake.TableNames(), w.plugin.Lake.Objects())
	}
}

// What was accepted is compared by its digest; apply accepts, and a plan says
// why not.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	w := filled(t)
	for _, s := range w.plan().Steps {
		if !s.Accepted || s.NotAccepted != "" {
			t.Errorf("%+v", s)
		}
	}
	w.cfg.Streams[0].Granularity = model.GranularityDay
	p := w.plan()
	if s := p.Step(theStream); s.Accepted || s.NotAccepted != "its declaration changed" || !p.Changed() {
		t.Errorf("%+v", s)
	}
	if s := p.Step(theCheck); !s.Accepted {
		t.Errorf("%+v", s)
	}
	second := w.cfg.Checks[0]
	second.Addr = addr.New(addr.Check, "again")
	w.cfg.Checks = append(w.cfg.Checks, second)
	if s := w.plan().Step(second.Addr); s.Accepted || s.NotAccepted != "it is new" {
		t.Errorf("%+v", s)
	}
	w.cfg.Checks = nil
	if p := w.plan(); len(p.Removed) != 1 || p.Removed[0].Address != theCheck || !p.Changed() {
		t.Errorf("%+v", p.Removed)
	}
}

// Steps are chosen by target and exclude; a target alone is planned, not what
// it follows.
func TestTargetsAndExclude(t *testing.T) {
	t.Parallel()
	w := filled(t)
	for want, choose := range map[string]func(*planner.Request){
		"silver.orders: apply":                            func(r *planner.Request) { r.Targets = []addr.Address{theSilver} },
		"stream.orders: changes, check.orders: reconcile": func(r *planner.Request) { r.Exclude = []addr.Address{theSilver} },
		"check.orders: reconcile":                         func(r *planner.Request) { r.Targets = []addr.Address{theCheck} },
		"stream.orders: changes":                          func(r *planner.Request) { r.Targets, r.Exclude = []addr.Address{theStream}, []addr.Address{theSilver} },
		"stream.orders: changes, silver.orders: apply, check.orders: reconcile": func(*planner.Request) {},
	} {
		if got := kinds(w.plan(choose)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What is wrong with one step is its own: those that wait for it are blocked by
// it and say nothing of their own.
func TestBlockedSteps(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.plugin.Lake.DropTable("bronze.orders")
	p := w.plan()
	if d := errorOf(t, p, theStream); d.Code != "stream.table_gone" || d.Kind != diag.KindStale {
		t.Errorf("%+v", d)
	}
	for _, a := range []addr.Address{theSilver, theCheck} {
		if s := p.Step(a); s.Blocked != theStream || len(s.Diagnostics) > 0 || s.Kind != "" {
			t.Errorf("%+v", s)
		}
	}
	if list := tablesNamed(p, "bronze.orders"); len(list) > 0 {
		t.Errorf("a table that nothing makes is in the plan: %+v", list)
	}
	if len(p.Errors()) != 1 {
		t.Errorf("%v", p.Errors())
	}
}

// A step whose stream is not chosen says itself why it cannot run: there is nobody
// else to tell it, and it is no work to begin.
func TestAStepAloneSaysWhatBlocksIt(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.plugin.Lake.DropTable("bronze.orders")
	for _, a := range []addr.Address{theSilver, theCheck} {
		p := w.plan(func(r *planner.Request) { r.Targets = []addr.Address{a} })
		if d := errorOf(t, p, a); d.Code != "stream.table_gone" || p.Step(a).Blocked != theStream || len(p.Steps) != 1 {
			t.Errorf("%s: %+v", a, p.Steps)
		}
	}
}

// broken opens nothing of one role.
type broken struct {
	*world
	role string
}

var errAway = diag.Errorf(diag.KindUnavailable, "test.away", "Wait.", "It is away").Err()

func (b broken) Source(ctx context.Context, a addr.Address) (plugin.Source, error) {
	if b.role == "source" {
		return nil, errAway
	}
	return b.world.Source(ctx, a)
}
func (b broken) Tables(ctx context.Context, a addr.Address) (plugin.Tables, error) {
	if b.role == "sink" {
		return nil, errAway
	}
	return b.world.Tables(ctx, a)
}
func (b broken) Silver(ctx context.Context, a addr.Address) (plugin.Silver, error) {
	if b.role == "silver" {
		return nil, errAway
	}
	return b.world.Silver(ctx, a)
}
func (b broken) Check(ctx context.Context, a addr.Address) (plugin.Check, error) {
	if b.role == "check" {
		return nil, errAway
	}
	return b.world.Check(ctx, a)
}

// A plugin that is away spoils its steps, and the plan says so once.
func TestAPluginThatIsAway(t *testing.T) {
	t.Parallel()
	for role, spoilt := range map[string][]addr.Address{
		"source": {theStream}, "sink": {theStream, theSilver, theCheck}, "silver": {theSilver}, "check": {theCheck},
	} {
		w := filled(t)
		p, err := planner.Make(t.Context(), planner.Request{Config: w.cfg, Plugins: broken{w, role}, Now: w.request().Now})
		w.must(err)
		for _, s := range p.Steps {
			if s.Diagnostics.HasErrors() != slices.Contains(spoilt, s.Address) {
				t.Errorf("%s: %+v", role, s)
			}
		}
		if list := p.Errors(); len(list) == 0 || list[0].Code != "test.away" {
			t.Errorf("%s: %v", role, list)
		}
		if codes := p.Diagnostics.Errors(); (role == "source" || role == "sink") != (len(codes) == 1) {
			t.Errorf("%s: of the plan as a whole: %v", role, codes)
		}
	}
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := planner.Make(ctx, w.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("a plan that was cancelled: %v", err)
	}
}

// Rows are estimated from statistics: that there are none is said as such.
func TestTheRowsOfASnapshotAreCounted(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		-1:      "all rows in one snapshot, then changes",
		0:       "all rows in one snapshot (statistics say there are none), then changes",
		1:       "about 1 row in one snapshot, then changes",
		2:       "about 2 rows in one snapshot, then changes",
		1234567: "about 1,234,567 rows in one snapshot, then changes",
	} {
		w := newWorld(t)
		w.inspected = func(r *plugin.InspectResponse) { r.Tables[0].RowsEstimate = n }
		if d := w.plan().Step(theStream).Detail; len(d) == 0 || d[0] != want {
			t.Errorf("%d: %q", n, d)
		}
	}
}

// A new app id in a table that has rows of another would write them twice.
func TestANewAppID(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.cfg.Streams[0].AppID = "orders-2"
	if d := errorOf(t, w.plan(), theStream); d.Code != "stream.other_app_id" || d.Path.String() != "app_id" || !strings.Contains(d.Summary, `"bronze.orders"`) {
		t.Errorf("%+v", d)
	}
	w.cfg.Streams[0].Target, w.cfg.Silvers[0].Target = "bronze.orders_2", "silver.orders_2"
	if p := w.plan(); len(p.Errors()) > 0 || p.Step(theStream).Kind != plan.FullSnapshot {
		t.Errorf("%v %s", p.Errors(), kinds(p))
	}
}

// Another database and another table of that name are found before anything is
// read.
func TestAnotherSourceIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(*world)
		code string
	}{
		"another database":            {func(w *world) { w.plugin.Database.SetIdentity("other") }, "stream.source"},
		"a table that was made again": {func(w *world) { w.inspected = func(r *plugin.InspectResponse) { r.Tables[0].Identity = "again" } }, "stream.table"},
	} {
		w := filled(t)
		c.then(w)
		if d := errorOf(t, w.plan(), theStream); d.Code != c.code {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// Diagnostics of the source stand in the stream's step: warnings let it run.
func TestDiagnosticsOfTheSource(t *testing.T) {
	t.Parallel()
	for severity, fails := range map[diag.Severity]bool{diag.Warning: false, diag.Error: true} {
		w := newWorld(t)
		w.inspected = func(r *plugin.InspectResponse) {
			r.Tables[0].Diagnostics = diag.List{{Severity: severity, Code: "test.doubt", Summary: "The key is doubtful", Detail: "Look."}}
		}
		p := w.plan()
		s := p.Step(theStream)
		if len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != "test.doubt" || s.Diagnostics.HasErrors() != fails || (p.Step(theSilver).Blocked == theStream) != fails {
			t.Errorf("%+v", s)
		}
	}
}

// Columns that snapshots cannot be cut on stop a step that takes one before it
// begins, and no other: a stream past its snapshot goes on.
func TestKeysOfSnapshotsConcernThoseWhoTakeOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		world func(*testing.T) *world
		fails bool
	}{
		"a first snapshot": {newWorld, true},
		"no snapshot": {func(t *testing.T) *world {
			w := newWorld(t)
			w.cfg.Streams[0].Bootstrap = model.BootstrapNone
			return w
		}, false},
		"past it": {filled, false},
		"with what else is wrong": {func(t *testing.T) *world {
			w := newWorld(t)
			w.inspected = func(r *plugin.InspectResponse) {
				r.Tables[0].Diagnostics = diag.List{diag.Errorf(diag.KindConfiguration, "test.column", "", "no such column")}
			}
			return w
		}, true},
	} {
		w := c.world(t)
		before := w.inspected
		w.inspected = func(r *plugin.InspectResponse) {
			if before != nil {
				before(r)
			}
			r.Tables[0].Diagnostics = append(r.Tables[0].Diagnostics, diag.Warningf(plugin.CodeSnapshotKeys, "Look.", "no such key"),
				diag.Warningf(plugin.CodeSnapshotIsolation, "Look.", "not allowed"))
		}
		s := w.plan().Step(theStream)
		for _, code := range []string{plugin.CodeSnapshotKeys, plugin.CodeSnapshotIsolation} {
			i := slices.IndexFunc(s.Diagnostics, func(d diag.Diagnostic) bool { return d.Code == code })
			if i < 0 || (s.Diagnostics[i].Severity == diag.Error) != c.fails {
				t.Errorf("%s: %s: %v", name, code, s.Diagnostics)
			} else if c.fails && s.Diagnostics[i].Kind != diag.KindConfiguration {
				t.Errorf("%s: kind %s", name, s.Diagnostics[i].Kind)
			}
		}
	}
}

// prober is a check that tries what its host lets it do while it plans.
type prober struct {
	memory.Check
	w     *world
	tried map[string]error
}

func (c prober) PlanCheck(ctx context.Context, req plugin.CheckRequest, host plugin.Host) (plugin.CheckPlan, error) {
	inspect := func(table plugin.SourceTable) error {
		_, err := host.Source.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table}})
		return err
	}
	c.tried["its table"] = inspect(req.Source)
	_, c.tried["read silver"] = host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Silver}})
	_, c.tried["read bronze"] = host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{req.Bronze}})
	_, c.tried["read the ledger"] = host.Ledger.ReadLedger(ctx, req.Silver.Name)
	_, c.tried["write silver"] = host.Tables.BeginWrite(ctx, plugin.BeginWriteRequest{Table: req.Silver, Mode: plugin.WriteAppend, BaseVersion: -1})
	_, c.tried["read the facts"] = host.Tables.GetTables(ctx, plugin.GetTablesRequest{Tables: []plugin.TableRef{{Name: "ops.facts"}}})
	_, c.tried["move the position"] = host.Ledger.Advance(ctx, plugin.AdvanceRequest{Target: req.Silver.Name})
	return plugin.CheckPlan{Summary: "tries"}, nil
}

// A check may read its silver, bronze, source table and ledger, and nothing
// else; what it asks of its table costs the source no call of its own.
func TestWhatACheckMayDo(t *testing.T) {
	t.Parallel()
	w := filled(t)
	check := prober{w: w, tried: map[string]error{}}
	w.check = check
	before := w.calls["inspect"]
	p := w.plan()
	w.must(p.Errors().Err())
	for what, allowed := range map[string]bool{"its table": true, "read silver": true, "read bronze": true, "read the ledger": true,
		"write silver": false, "read the facts": false, "move the position": false} {
		if err, tried := check.tried[what]; !tried || (err == nil) != allowed {
			t.Errorf("%s: %v", what, err)
		}
	}
	if w.calls["inspect"] != before+1 {
		t.Errorf("%d inspections for one plan", w.calls["inspect"]-before)
	}
	if s := p.Step(theCheck); s.Reason != "compares silver.orders with its source" || fmt.Sprint(s.Detail) != "[tries]" {
		t.Errorf("%+v", s)
	}
}

// Numbers of a plan come from what the source counted, up to the limit.
func TestPendingWorkIsCountedUpToALimit(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.insert(3, 4, 5)
	p := w.plan(func(r *planner.Request) { r.PendingLimit = 2 })
	if got := strings.Join(p.Step(theStream).Detail, "\n"); !strings.Contains(got, "2+ commits wait") {
		t.Error(got)
	}
	// An age is told by the clock that the request has.
	w = newWorld(t)
	w.insert(1)
	w.clock = w.clock.Add(36 * time.Hour)
	if got := strings.Join(w.plan().Step(theStream).Detail, "\n"); !strings.Contains(got, "oldest change kept is 36 h old") {
		t.Error(got)
	}
}
