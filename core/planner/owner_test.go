package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// ownTable makes a table that another configuration has written.
func (w *world) ownTable(name, owner string) {
	w.t.Helper()
	spec := plugin.TableSpec{Table: plugin.TableRef{Name: name}, Schema: columns("id"), Properties: map[string]string{"pipectl.owner": owner}}
	_, err := w.plugin.Lake.Open().ApplyTable(w.t.Context(), plugin.ApplyTableRequest{Spec: spec})
	w.must(err)
}

// moveState copies state of one configuration to another, as a person does.
func (w *world) moveState(from, to string) {
	w.t.Helper()
	tables := w.plugin.Lake.Open()
	keys, err := tables.ListObjects(w.t.Context(), from, "")
	w.must(err)
	if len(keys) == 0 {
		w.t.Fatalf("there is nothing in %s", from)
	}
	for _, key := range keys {
		object, _, err := tables.GetObject(w.t.Context(), key)
		w.must(err)
		object.Key = to + strings.TrimPrefix(key, from)
		w.must(tables.PutObject(w.t.Context(), object, false))
	}
}

// All tables of a former owner are handed over by one command, and state is
// copied only where it is missing: a copy over what has gone on would take it
// back.
func TestAHandOverIsOneCommand(t *testing.T) {
	t.Parallel()
	const command = "run: pipectl apply -take-over stream.orders,silver.orders shop.hcl"
	w := filled(t)
	w.cfg.Path, w.cfg.Name = "shop.hcl", "other"
	d := errorOf(t, w.plan(), theStream)
	if want := "take its state along (copy its folder to _pipectl/other/ in "; !strings.Contains(d.Detail, want) || !strings.HasSuffix(d.Detail, "in place of what is there), then "+command) {
		t.Errorf("without a state: %s", d.Detail)
	}
	w.moveState("_pipectl/shop/", "_pipectl/other/")
	d = errorOf(t, w.plan(), theStream)
	if want := "If the other no longer writes it, copy nothing, since this state knows the positions of its streams, and " + command; !strings.HasSuffix(d.Detail, want) {
		t.Errorf("with the state: %s", d.Detail)
	}
	taken := func(r *planner.Request) { r.TakeOver = []addr.Address{theStream} }
	d = errorOf(t, w.plan(taken), theSilver)
	if strings.Contains(d.Detail, "copy its folder") || !strings.Contains(d.Detail, command) {
		t.Errorf("the silver alone: %s", d.Detail)
	}
	if err := w.plan(func(r *planner.Request) { r.TakeOver = []addr.Address{theStream, theSilver} }).Errors().Err(); err != nil {
		t.Errorf("both taken: %v", err)
	}

	// A former owner whose state is behind, and which has other streams.
	w.moveState("_pipectl/other/streams/bronze.orders/", "_pipectl/other/streams/bronze.others/")
	for _, log := range []string{"commits", "offsets"} {
		w.must(w.plugin.Lake.Open().DeleteObject(t.Context(), "_pipectl/other/streams/bronze.orders/"+log+"/00000000000000000000"))
	}
	d = errorOf(t, w.plan(), theStream)
	if want := "take along from its state only the folder streams/bronze.orders (copy to the same place in _pipectl/other/ in "; !strings.Contains(d.Detail, want) || !strings.HasSuffix(d.Detail, command) {
		t.Errorf("beside other streams: %s", d.Detail)
	}
}

// The report of a former owner is named beside its other tables: the next plan
// would refuse it.
func TestAHandOverNamesReports(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.check = reporter{table: "ops.report"}
	w.accept()
	w.cfg.Path, w.cfg.Name = "shop.hcl", "other"
	w.moveState("_pipectl/shop/", "_pipectl/other/")
	if d := errorOf(t, w.plan(), theStream); !strings.HasSuffix(d.Detail, "run: pipectl apply -take-over stream.orders,silver.orders,check.orders shop.hcl") {
		t.Error(d.Detail)
	}
	if err := w.plan(func(r *planner.Request) { r.TakeOver = []addr.Address{theStream, theSilver, theCheck} }).Errors().Err(); err != nil {
		t.Error(err)
	}
	// Elsewhere the command is another's, and this one has its own check.
	w.check = reporter{table: "ops.other"}
	if d := errorOf(t, w.plan(), theStream); strings.Contains(d.Detail, "check.orders") {
		t.Error(d.Detail)
	}
}

// A state that was lost without a copy has a way out, too.
func TestALostStateHasAWayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ownTable("bronze.orders", w.cfg.Name+"/1")
	if d := errorOf(t, w.plan(), theStream); !strings.Contains(d.Detail, "restore it. Where that cannot be, the table can be loaded anew. "+plugin.LoadAnew) {
		t.Error(d.Detail)
	}
}

// Instances are named by their block where that means no other table.
func TestAHandOverNamesBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, others, want string
	}{
		{"all of a block", "other/1", "-take-over stream.orders "},
		{"one of a block", "", `-take-over 'stream.orders["eu"]' `},
		{"two former owners", "third/1", `-take-over 'stream.orders["eu"]' `},
	} {
		w := newWorld(t)
		w.cfg.Silvers, w.cfg.Checks = nil, nil
		eu, us := w.cfg.Streams[0], w.cfg.Streams[0]
		eu.Addr, us.Addr = addr.Instance(addr.Stream, "orders", "eu"), addr.Instance(addr.Stream, "orders", "us")
		us.Target, us.AppID = "bronze.us", "bronze.us"
		w.cfg.Streams = []model.Stream{eu, us}
		w.ownTable("bronze.orders", "other/1")
		if c.others != "" {
			w.ownTable("bronze.us", c.others)
		}
		if d := errorOf(t, w.plan(), eu.Addr); !strings.Contains(d.Detail, c.want) {
			t.Errorf("%s: %s", c.name, d.Detail)
		}
	}
}

// A table without an owner is taken from nobody, also when that is asked for.
func TestATableWithoutAnOwnerIsTakenFromNobody(t *testing.T) {
	t.Parallel()
	for _, asked := range [][]addr.Address{nil, {theStream}} {
		w := newWorld(t)
		spec := tablesNamed(w.plan(), "bronze.orders")[0].Spec
		spec.Properties["pipectl.owner"] = ""
		_, err := w.plugin.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec})
		w.must(err)
		p := w.plan(func(r *planner.Request) { r.TakeOver = asked })
		list := tablesNamed(p, "bronze.orders")
		if len(list) != 1 || !slices.Contains(list[0].Changes, "take over: the table has no owner; apply gives it this configuration's, and then no other writes it") || slices.Contains(list[0].Changes, "take over from ") {
			t.Errorf("asked for %v: %+v, %v", asked, list, p.Errors())
		}
	}
}
