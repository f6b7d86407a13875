package model_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
)

func lake(root string) model.Config {
	return model.Config{Name: "shop", Sinks: []model.Sink{{Addr: addr.New(addr.Sink, "lake"), Type: "delta",
		Body: cty.ObjectVal(map[string]cty.Value{"root": cty.StringVal(root)})}}}
}

// Two roots are one lake when they mean one folder, however they are written.
func TestRootsAreComparedInOneForm(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("lake")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"./lake", "lake", true},
		{"./lake", "x/../lake//", true},
		{"lake", here, true},
		{"lake", "file:///" + strings.TrimPrefix(filepath.ToSlash(here), "/") + "/", true},
		{"lake", "lake2", false},
		{"s3://bucket/a", "S3://Bucket/a/", true},
		{"s3://bucket/a", "s3://bucket/A", false},
		{"s3://bucket/a", "s3a://bucket/a", false},
		{"abfss://one@account/a", "abfss://two@account/a", false},
		{"abfss://one@account/a", "abfss://one@ACCOUNT/a/", true},
		{"/", "/x/..", true},
	} {
		a, b := lake(c.a), lake(c.b)
		sink := addr.New(addr.Sink, "lake")
		if got := a.Lake(sink) == b.Lake(sink); got != c.same {
			t.Errorf("%q and %q are one lake: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// What is not known keeps sinks apart; other arguments than a root are compared
// as a whole.
func TestLakesWithoutARoot(t *testing.T) {
	t.Parallel()
	body := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"bucket": v}) }
	a, b, c, d := addr.New(addr.Sink, "a"), addr.New(addr.Sink, "b"), addr.New(addr.Sink, "c"), addr.New(addr.Sink, "d")
	unknown := addr.New(addr.Sink, "unknown")
	config := model.Config{Sinks: []model.Sink{
		{Addr: a, Type: "x", Body: body(cty.StringVal("one"))}, {Addr: b, Type: "x", Body: body(cty.StringVal("one"))},
		{Addr: c, Type: "x", Body: body(cty.StringVal("two"))}, {Addr: d, Type: "y", Body: body(cty.StringVal("one"))},
		{Addr: unknown, Type: "x", Body: body(cty.UnknownVal(cty.String))},
	}}
	if config.Lake(a) != config.Lake(b) {
		t.Error("equal arguments are two lakes")
	}
	seen := map[string]addr.Address{}
	for _, s := range []addr.Address{a, c, d, unknown, addr.New(addr.Sink, "undeclared")} {
		if other, ok := seen[config.Lake(s)]; ok {
			t.Errorf("%s and %s are one lake", s, other)
		}
		seen[config.Lake(s)] = s
	}
}

// Every folder that a configuration writes has a writer, and they know how they
// meet.
func TestWritersMeet(t *testing.T) {
	t.Parallel()
	config := lake("./lake")
	sink := config.Sinks[0].Addr
	config.Sinks[0].Facts, config.Sinks[0].Control = "ops.facts", "ops.control"
	config.Streams = []model.Stream{{Addr: addr.New(addr.Stream, "s"), To: sink, Target: "bronze.s"}}
	config.Silvers = []model.Silver{{Addr: addr.New(addr.Silver, "v"), To: sink, Target: "silver.v", Path: "/else//where/"}}
	var folders []string
	for _, w := range config.Writers() {
		folders = append(folders, w.Folder)
	}
	if got, want := strings.Join(folders, " "), "_pipectl ops/facts ops/control bronze/s bronze/s_snapshot_plans else/where"; got != want {
		t.Errorf("folders %s, want %s", got, want)
	}
	report := func(target, folder string) model.Writer {
		return config.TableWriter(addr.New(addr.Check, "c"), model.Origin{}, sink, target, folder)
	}
	for _, c := range []struct {
		a, b string
		want model.Overlap
	}{
		{"a.b", "a.b", model.Same}, {"a.b", "a.b.c", model.Around}, {"a.b.c", "a.b", model.Inside},
		{"a.b", "a.bc", model.Apart}, {"a.b", "b", model.Apart},
	} {
		if got := report(c.a, "").Meets(report(c.b, "")); got != c.want {
			t.Errorf("%s meets %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	config.StatePath = "state"
	if w := config.Writers()[0]; !w.State || w.Place != filepath.ToSlash(mustAbs(t, "state/shop")) {
		t.Errorf("the state is %+v", w)
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
