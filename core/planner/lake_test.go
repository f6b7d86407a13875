package planner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// A hint can be typed as it is: addresses with brackets stand in quotes, and the
// path is named.
func TestAHintOfTakeOverCanBeTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Path = "my shop.hcl"
	s := addr.Instance(addr.Stream, "orders", "eu")
	w.cfg.Streams[0].Addr, w.cfg.Silvers[0].From = s, s
	spec := plugin.TableSpec{Table: plugin.TableRef{Name: "bronze.orders"}, Schema: columns("id"), Properties: map[string]string{"pipectl.owner": "other/1"}}
	_, err := w.plugin.Lake.Open().ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: spec})
	w.must(err)
	d := errorOf(t, w.plan(), s)
	if want := `pipectl apply -take-over 'stream.orders["eu"]' 'my shop.hcl'`; !strings.HasSuffix(d.Detail, want) {
		t.Errorf("%s, want %s", d.Detail, want)
	}
}

// A person sees which lake a relative root means, and not what is sensitive.
func TestThePlaceOfALake(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("lake")
	if err != nil {
		t.Fatal(err)
	}
	const relative = "; a relative path begins in the folder in which pipectl is started"
	for _, c := range []struct {
		root, state    string
		sensitive      bool
		where, noState string
	}{
		{root: "./lake", where: here, noState: "there is no state in _pipectl/shop/ in " + here + relative},
		{root: "/data/lake", where: "/data/lake", noState: "there is no state in _pipectl/shop/ in /data/lake"},
		{root: "s3://bucket/lake", where: "s3://bucket/lake", noState: "there is no state in _pipectl/shop/ in s3://bucket/lake"},
		{root: "./secret", sensitive: true, where: "a sensitive root", noState: "there is no state in _pipectl/shop/ in a sensitive root"},
		{root: "/data/lake", state: "lake", where: "/data/lake", noState: "there is no state in " + filepath.Join(here, "shop") + relative},
	} {
		w := newWorld(t)
		w.cfg.Sinks[0].Body = cty.ObjectVal(map[string]cty.Value{"root": cty.StringVal(c.root)})
		w.cfg.Sinks[0].Origin.Sensitive = map[string]bool{"root": c.sensitive}
		w.cfg.StatePath = c.state
		if lake := w.lake(); lake.Where != c.where || lake.NoState() != c.noState {
			t.Errorf("%s: %s, %s", c.root, lake.Where, lake.NoState())
		}
	}
	w := newWorld(t)
	w.accept()
	if text := w.lake().NoState(); text != "" {
		t.Errorf("a lake with a state says: %s", text)
	}
}

// A plan knows a lake by where it is, and by the lineage of the state in it once
// there is one. Where it is differs when the environment or the folder leads elsewhere,
// not with a credential, and is told by a digest.
func TestAPlanKnowsItsLakes(t *testing.T) {
	t.Parallel()
	type lake struct{ root, endpoint, token, state string }
	place := func(l lake) plan.Place {
		w := newWorld(t)
		w.cfg.Sinks[0].Body = cty.ObjectVal(map[string]cty.Value{
			"root": cty.StringVal(l.root), "token": cty.StringVal(l.token), "s3": cty.ObjectVal(map[string]cty.Value{"endpoint": cty.StringVal(l.endpoint)})})
		w.cfg.Sinks[0].Origin.Sensitive = map[string]bool{"root": true, "token": true, "s3.endpoint": true}
		w.cfg.Secrets, w.cfg.StatePath = []string{l.root, l.endpoint}, l.state
		return w.plan().Places[0]
	}
	here, err := filepath.Abs("lake")
	if err != nil {
		t.Fatal(err)
	}
	one := lake{root: "./lake", endpoint: "https://one.example", token: "t1"}
	digest := place(one).Digest
	for _, c := range []struct {
		name string
		lake lake
		same bool
	}{
		{"the same", one, true},
		{"the root written otherwise", lake{here, one.endpoint, one.token, ""}, true},
		{"another credential", lake{one.root, one.endpoint, "t2", ""}, true},
		{"another root", lake{"./lake2", one.endpoint, one.token, ""}, false},
		{"another endpoint", lake{one.root, "https://two.example", one.token, ""}, false},
		{"a state elsewhere", lake{one.root, one.endpoint, one.token, t.TempDir()}, false},
	} {
		if got := place(c.lake); (got.Digest == digest) != c.same || len(got.Digest) != 64 || got.Lineage != "" {
			t.Errorf("%s: %+v, and before %s", c.name, got, digest)
		}
	}
	w := newWorld(t)
	w.accept()
	if got, want := w.plan().Places[0].Lineage, w.lake().State.Lineage(); got != want || got == "" {
		t.Errorf("lineage %q, want %q", got, want)
	}
	w = newWorld(t)
	w.cfg.StatePath = t.TempDir()
	w.accept()
	if got := w.plan().Places[0]; got.Lineage != "" || w.lake().State.Lineage() == "" {
		t.Errorf("a state that is not in the lake stands for it: %+v", got)
	}
}

// A place for the state that is none is told at its argument, before anything runs.
func TestAStateThatCannotBeKeptIsToldAtItsPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "file")
	w.must(os.WriteFile(file, nil, 0o600))
	w.cfg.StatePath = filepath.Join(file, "state")
	_, err := planner.OpenLake(t.Context(), w.cfg, &w.cfg.Sinks[0], w, planner.LakeOptions{})
	list := diag.FromError(err)
	if len(list) != 1 || list[0].Code != "state.path" || list[0].Kind != diag.KindConfiguration || list[0].Detail == "" || list[0].Path.String() != "state.path" {
		t.Errorf("%+v", list)
	}
}

// A state that cannot be written stops a plan whose steps write; a check only
// reads.
func TestAPlanTellsThatItsStateCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := filled(t)
	w.plugin.Lake.Sealed = "it is sealed"
	for target, stops := range map[addr.Address]bool{{}: true, theStream: true, theSilver: true, theCheck: false} {
		p := w.plan(func(r *planner.Request) {
			if target != (addr.Address{}) {
				r.Targets = []addr.Address{target}
			}
		})
		if got := diag.HasCode(p.Errors().Err(), "memory.sealed"); got != stops {
			t.Errorf("%s: %v", target, p.Errors())
		}
	}
}
