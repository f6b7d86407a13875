package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// place is one kind of place for state, and a look into it.
type place struct {
	Objects
	clock *clock
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time      { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// everywhere runs a test in a sink and in a directory.
func everywhere(t *testing.T, test func(*testing.T, place)) {
	t.Helper()
	for name, objects := range map[string]func() Objects{
		"sink":      func() Objects { return InSink(memory.NewLake().Open(), "sink.lake") },
		"directory": func() Objects { return InDirectory(t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			test(t, place{objects(), &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}})
		})
	}
}

func (p place) open(t *testing.T, environment string) *Store {
	t.Helper()
	s, err := Open(ctx, p, Options{Name: "shop", Environment: environment, Clock: p.clock.time, After: func(time.Duration) <-chan time.Time { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) text(t *testing.T, key string) string {
	t.Helper()
	data, ok, err := p.Get(ctx, key)
	if err != nil || !ok {
		t.Fatalf("object %s: %v %v", key, ok, err)
	}
	return strings.TrimSpace(string(data))
}

func (p place) keys(t *testing.T) []string {
	t.Helper()
	keys, err := p.List(ctx, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestObjects(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		put := func(key, text string, absent bool) error { return p.Put(ctx, key, []byte(text), absent) }
		if err := errors.Join(put("a/2", "first", true), put("a/1", "x", false), put("a/b/3", "y", true), put("ab", "z", true)); err != nil {
			t.Fatal(err)
		}
		if err := put("a/2", "second", true); !errors.Is(err, ErrExists) || p.text(t, "a/2") != "first" {
			t.Errorf("put if absent: %v", err)
		}
		if err := put("a/1", "replaced", false); err != nil || p.text(t, "a/1") != "replaced" {
			t.Errorf("replace: %v", err)
		}
		for _, tt := range []struct{ prefix, after, want string }{
			{"", "", "a/1 a/2 a/b/3 ab"}, {"a/", "", "a/1 a/2 a/b/3"}, {"a/", "a/1", "a/2 a/b/3"}, {"a/b", "", "a/b/3"}, {"none/", "", ""}, {"a", "", "a/1 a/2 a/b/3 ab"},
		} {
			if got, err := p.List(ctx, tt.prefix, tt.after); err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("list %q after %q: %v, %v", tt.prefix, tt.after, got, err)
			}
		}
		if err := errors.Join(p.Delete(ctx, "a/1"), p.Delete(ctx, "a/1"), p.Delete(ctx, "none/x")); err != nil {
			t.Error(err)
		}
		if _, ok, err := p.Get(ctx, "a/1"); ok || err != nil {
			t.Errorf("after delete: %v, %v", ok, err)
		}
		// Of many that create at once, one wins.
		var wins []error
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				err := put("race", fmt.Sprint(i), true)
				mu.Lock()
				defer mu.Unlock()
				wins = append(wins, err)
			})
		}
		group.Wait()
		won := slices.DeleteFunc(wins, func(err error) bool { return errors.Is(err, ErrExists) })
		if len(won) != 1 || won[0] != nil {
			t.Errorf("winners %v", won)
		}
		if place := p.Place("a/1"); !strings.Contains(place, "1") {
			t.Errorf("place %q", place)
		}
	})
}

func TestNamesArePercentEncoded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"bronze.orders": "bronze.orders", "#apply": "%23apply", ".": "%2E", "..": "%2E%2E", "a/b": "a%2Fb", "a..b": "a..b", "x.": "x%2E", "ü": "%C3%BC", "50%": "50%25", "": "",
	} {
		if got := model.Element(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		element := model.Element(name)
		if got, err := decodeName(element); err != nil || got != name {
			t.Fatalf("%q became %q and %q (%v)", name, element, got, err)
		}
		if strings.ContainsAny(element, `/\: `) || element == "." || element == ".." {
			t.Fatalf("%q is no file name", element)
		}
	})
	for _, bad := range []string{"a%", "a%2", "a%zz"} {
		if _, err := decodeName(bad); err == nil {
			t.Errorf("%q was decoded", bad)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		s := p.open(t, "prod")
		if s.Lineage() != "" || len(p.keys(t)) != 0 {
			t.Fatal("opening wrote something")
		}
		if err := s.Initialize(ctx); err != nil {
			t.Fatal(err)
		}
		var f map[string]any
		if err := json.Unmarshal([]byte(p.text(t, "shop/format.json")), &f); err != nil || f["format"] != 1.0 || f["environment"] != "prod" || f["lineage"] != s.Lineage() || len(s.Lineage()) != 36 {
			t.Errorf("%v, %v", f, err)
		}
		// A second creator takes the first one's lineage.
		late := p.open(t, "prod")
		late.lineage = ""
		if err := late.Initialize(ctx); err != nil || late.Lineage() != s.Lineage() {
			t.Errorf("%v, %v", late.Lineage(), err)
		}
		for _, other := range []string{"test", ""} {
			_, err := Open(ctx, p, Options{Name: "shop", Environment: other})
			if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(err.Error(), `"prod"`) {
				t.Errorf("environment %q: %v", other, err)
			}
		}
		if _, err := Open(ctx, p, Options{Name: "other", Environment: "test"}); err != nil {
			t.Errorf("another configuration: %v", err)
		}
	})
}

func TestFormatsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		kind diag.Kind
		says string
	}{
		`{"format": 3, "lineage": "x", "environment": null}`: {diag.KindUnavailable, "format 3"},
		`{"format": 0, "lineage": "x"}`:                      {diag.KindConfiguration, "not a format file"},
		`{"format": 1}`:                                      {diag.KindConfiguration, "not a format file"},
		`{"form`:                                             {diag.KindConfiguration, "not understood"},
		``:                                                   {diag.KindConfiguration, "not understood"},
	} {
		p := InSink(memory.NewLake().Open(), "sink.lake")
		if err := p.Put(ctx, "shop/format.json", []byte(text), true); err != nil {
			t.Fatal(err)
		}
		_, err := Open(ctx, p, Options{Name: "shop"})
		if !diag.Is(err, want.kind) || !strings.Contains(err.Error(), want.says) || !strings.Contains(err.Error(), "_pipectl/shop/format.json in sink.lake") {
			t.Errorf("%q: %v", text, err)
		}
		if want.kind == diag.KindUnavailable && !strings.Contains(err.Error(), "up to 1") {
			t.Errorf("both numbers are named: %v", err)
		}
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		s := p.open(t, "")
		got, err := s.Declared(ctx)
		if err != nil || got == nil || len(got) != 0 {
			t.Fatalf("%v, %v", got, err)
		}
		want := map[string]Accepted{`stream.erp["eu"]`: {Target: "bronze.orders", Digest: "sha256:1", At: p.clock.time()}, "check.a": {Digest: "sha256:2", At: p.clock.time()}}
		if err := s.PutDeclared(ctx, want); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Declared(ctx); err != nil || !maps.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
	s := p.open(t, "")
	own := s.Stream("orders-v1")
	id := Identity{Target: "bronze.orders", Source: "shop", Table: "dbo.orders#1"}
	if err := own.Check(ctx, id); err != nil {
		t.Fatalf("before the first offset: %v", err)
	}
	for range 2 {
		if err := own.Claim(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	for code, other := range map[string]Identity{
		"stream.source": {Target: id.Target, Source: "warehouse", Table: id.Table}, "stream.table": {Target: id.Target, Source: id.Source, Table: "dbo.orders#2"},
		"stream.target": {Target: "bronze.o", Source: id.Source, Table: id.Table},
	} {
		for _, err := range []error{own.Check(ctx, other), own.Claim(ctx, other)} {
			if list := diag.FromError(err); err == nil || list[0].Code != code || list[0].Kind != diag.KindConfiguration || !strings.Contains(list[0].Detail, "app_id") {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
	if got, ok, err := own.Identity(ctx); err != nil || !ok || got != id {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
	if err := s.Stream("a/b#c").Claim(ctx, id); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Streams(ctx); err != nil || !slices.Equal(got, []string{"a/b#c", "orders-v1"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// Another table is told by both names, as far as the state has them; a table
// that was renamed is the same.
func TestAnotherTableIsToldByItsName(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
	s := p.open(t, "")
	for _, c := range []struct{ appID, first, then, id, says, detail string }{
		{"other", "dbo.x1", "dbo.x2", "2", `was started with table "dbo.x1" (1) and now has "dbo.x2" (2)`, "Another table is meant. If that was a slip, put the old one back. To load"},
		{"again", "dbo.x1", "dbo.x1", "2", `was started with table "dbo.x1" (1) and now has "dbo.x1" (2)`, "The table was dropped and created again. To load"},
		{"older", "", "dbo.x2", "2", `was started with table "1" and now has "dbo.x2" (2)`, "The table was dropped and created again, or another one is meant: then put it back. To load"},
		{"renamed", "dbo.x1", "dbo.x2", "1", "", ""},
	} {
		own := s.Stream(c.appID)
		if err := own.Claim(ctx, Identity{Target: "b", Source: "s", Table: "1", Object: c.first}); err != nil {
			t.Fatal(err)
		}
		err := own.Check(ctx, Identity{Target: "b", Source: "s", Table: c.id, Object: c.then})
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.appID, err)
			}
			continue
		}
		if list := diag.FromError(err); len(list) != 1 || !strings.Contains(list[0].Summary, c.says) || !strings.HasPrefix(list[0].Detail, c.detail) {
			t.Errorf("%s: %+v", c.appID, list)
		}
	}
}

func TestGeneration(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p place) {
		own := p.open(t, "").Stream("a")
		if g, err := own.Generation(ctx); err != nil || g != (Generation{}) {
			t.Fatalf("%+v, %v", g, err)
		}
		from := at("0x3", "2026-03-01T10:00:00")
		want := Generation{Number: 2, Snapshot: at("0x5", ""), At: time.Date(2026, 10, 14, 6, 33, 0, 0, time.UTC), Recovering: &from, FailedAt: time.Date(2026, 10, 14, 7, 0, 0, 0, time.UTC)}
		if err := own.PutGeneration(ctx, want); err != nil {
			t.Fatal(err)
		}
		const text = `{"generation":2,"snapshot_lsn":"0x5","commit_ts":"","at":"2026-10-14T06:33:00+00:00","recovering":{"lsn":"0x3","commit_ts":"2026-03-01T10:00:00.000"},"failed_at":"2026-10-14T07:00:00+00:00"}`
		if got := p.text(t, "shop/streams/a/_mssql_cdc_generation.json"); got != text {
			t.Errorf("got %s", got)
		}
		got, err := own.Generation(ctx)
		if err != nil || got.Number != 2 || got.Snapshot != want.Snapshot || !got.At.Equal(want.At) || *got.Recovering != from || !got.FailedAt.Equal(want.FailedAt) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := own.Checkpoint(2).PutOffset(ctx, 0, Offset{Start: at("0x5", ""), End: at("0x6", "")}); err != nil {
			t.Fatal(err)
		}
		p.text(t, "shop/streams/a/_generations/2/offsets/00000000000000000000")
		if log, err := own.Checkpoint(0).Load(ctx); err != nil || log.Newest != -1 {
			t.Errorf("generation 0 sees %+v, %v", log, err)
		}
	})
	for _, bad := range []string{`{"generation": -1}`, `{"generation": 1}`, `{"generation": 1, "snapshot_lsn": "0x1", "at": "noon"}`, `{"generation": 0, "recovering": {}}`} {
		p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
		if err := p.Put(ctx, "shop/streams/a/_mssql_cdc_generation.json", []byte(bad), true); err != nil {
			t.Fatal(err)
		}
		if _, err := p.open(t, "").Stream("a").Generation(ctx); !diag.Is(err, diag.KindConfiguration) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	p := place{InSink(memory.NewLake().Open(), "sink.lake"), &clock{}}
	s := p.open(t, "")
	begin := time.Date(2026, 3, 1, 2, 0, 0, 0, time.FixedZone("", 3600))
	for i := range KeepRuns + 5 {
		if err := s.PutRun(ctx, Run{ID: fmt.Sprint("r", i), Started: begin.Add(time.Duration(i) * time.Second), Exit: i % 8}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutRun(ctx, Run{ID: fmt.Sprint("r", KeepRuns), Started: begin.Add(KeepRuns * time.Second), Exit: 99}); err != nil {
		t.Fatal(err)
	}
	keys := p.keys(t)
	if len(keys) != KeepRuns || keys[0] != "shop/runs/20260301T010005.000Z-r5.json" {
		t.Errorf("%d runs from %s", len(keys), keys[0])
	}
	got, _, err := s.Runs(ctx, 5)
	if err != nil || len(got) != 5 || got[0].ID != "r1004" || got[4].ID != "r1000" || got[4].Exit == 99 {
		t.Errorf("%+v, %v", got, err)
	}
	if all, _, err := s.Runs(ctx, 0); err != nil || len(all) != KeepRuns {
		t.Errorf("%d, %v", len(all), err)
	}
	// What a watch tells that began before all of them is the newest.
	end := begin.Add((KeepRuns + 10) * time.Second)
	if err := s.PutRun(ctx, Run{ID: "watch", Started: begin.Add(-time.Hour), Finished: end}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.Runs(ctx, 2); err != nil || len(got) != 2 || got[0].ID != "watch" || got[1].ID != "r1004" {
		t.Errorf("%+v, %v", got, err)
	}
	if keys := p.keys(t); len(keys) != KeepRuns {
		t.Errorf("%d runs", len(keys))
	}
	// A record that was cut short is told by its name, and the others are there.
	broken := p.keys(t)[KeepRuns-1]
	if err := p.Put(ctx, broken, nil, false); err != nil {
		t.Fatal(err)
	}
	got, left, err := s.Runs(ctx, 2)
	if err != nil || len(got) != 2 || got[0].ID != "r1004" || got[1].ID != "r1003" {
		t.Errorf("%+v, %v", got, err)
	}
	if len(left) != 1 || left[0].Severity != diag.Warning || left[0].Code != "state.damaged" || !strings.Contains(left[0].Summary, broken) {
		t.Errorf("%+v", left)
	}
	list := RunDiagnostics(diag.List{diag.Errorf(diag.KindDataLoss, "a.b", "do this", "gone")})
	if len(list) != 1 || list[0] != (RunDiagnostic{"Error", "a.b", diag.KindDataLoss, "gone", "do this"}) {
		t.Errorf("%+v", list)
	}
}
