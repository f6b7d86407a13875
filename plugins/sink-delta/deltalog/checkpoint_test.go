package deltalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/sink-delta/internal/golden"
	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// fromCheckpointOnly opens the table as it looks when all but the newest
// checkpoint and the commit of its version is cleaned up.
func fromCheckpointOnly(t testing.TB, st *store.Memory, path string, version int64, opts ...Option) *Snapshot {
	t.Helper()
	c := st.Clone()
	for info, err := range c.List(t.Context(), path+"/"+logDir+"/", "") {
		if err != nil {
			t.Fatal(err)
		}
		name := info.Path[strings.LastIndexByte(info.Path, '/')+1:]
		n := parseLogName(name)
		if name == commitName(version) || n.kind == classicCheckpoint && n.version == version || name == hintName {
			continue
		}
		if err := c.Delete(t.Context(), info.Path); err != nil {
			t.Fatal(err)
		}
	}
	table, err := Open(t.Context(), c, path, testOptions(opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return mustSnapshot(t, table)
}

// TestCheckpointOfEveryGoldenTable writes a checkpoint of each table that we may
// write and reads it back alone.
func TestCheckpointOfEveryGoldenTable(t *testing.T) {
	t.Parallel()
	for _, name := range golden.Names(t) {
		if refusal, refused := refusals[name]; refused && !refusal.byDVs {
			continue // TestGoldenTablesOfOtherWriters sees it refused
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := golden.Load(t, name)
			table, err := Open(t.Context(), g.Store, golden.Path, testOptions(WithOpener(g.Elsewhere))...)
			if err != nil {
				t.Fatal(err)
			}
			s := mustSnapshot(t, table)
			err = table.Checkpoint(t.Context(), s)
			if s.CheckWrite() != nil {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("a table that must not be written gives %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describe(fromCheckpointOnly(t, g.Store, golden.Path, s.Version())), describe(s); got != want {
				t.Errorf("from the checkpoint:\n%s\nbefore:\n%s", got, want)
			}
		})
	}
}

// TestCheckpointWithParsedStatistics reads statistics back from their struct
// form, as they are when the table keeps no text.
func TestCheckpointWithParsedStatistics(t *testing.T) {
	t.Parallel()
	st := store.NewMemory(nil)
	schema := &Struct{Fields: []Field{
		{Name: "id", Type: Long, Nullable: true},
		{Name: "s", Type: &Struct{Fields: []Field{
			{Name: "d", Type: Decimal{38, 10}, Nullable: true},
			{Name: "t", Type: TimestampNTZ, Nullable: true},
			{Name: "b", Type: Boolean, Nullable: true},
		}}, Nullable: true},
		{Name: "f", Type: Double, Nullable: true},
		{Name: "day", Type: Date, Nullable: true},
		{Name: "list", Type: &Array{Element: Long, ContainsNull: true}, Nullable: true},
		{Name: "part", Type: Integer, Nullable: true},
	}}
	table := mustCreate(t, st, CreateSpec{Schema: schema, PartitionColumns: []string{"part"}, Properties: map[string]string{
		propStatsAsJSON: "false", propStatsAsStruct: "true",
	}})
	tx := table.Begin(mustSnapshot(t, table))
	d, err := parseDecimal("-9999999999999999999999999999.9999999999")
	if err != nil {
		t.Fatal(err)
	}
	full := &Stats{NumRecords: 7, TightBounds: true, Columns: []ColumnStats{
		{Path: []string{"id"}, Type: Long, Min: IntValue(-5), Max: IntValue(1 << 60), NullCount: 0},
		{Path: []string{"s", "d"}, Type: Decimal{38, 10}, Min: d, Max: d, NullCount: 1},
		{Path: []string{"s", "t"}, Type: TimestampNTZ, Min: TimestampValue(-1000), Max: TimestampValue(5_000), NullCount: 1},
		{Path: []string{"s", "b"}, Type: Boolean, NullCount: 2},
		{Path: []string{"f"}, Type: Double, Min: FloatValue(-0.5), Max: FloatValue(nan()), NullCount: 0},
		{Path: []string{"day"}, Type: Date, Min: DateValue(-719162), Max: DateValue(20000), NullCount: 3},
		{Path: []string{"list"}, Type: &Array{Element: Long, ContainsNull: true}, NullCount: 4},
	}}
	text, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}
	five := "5"
	add := func(name, stats string, part *string) {
		tx.AddFile(&Add{Path: name, Size: 10, DataChange: true, Stats: stats, PartitionValues: map[string]*string{"part": part}})
	}
	add("a", text, &five)
	add("b", `{"numRecords":1}`, nil)
	add("c", "", nil)
	v := mustCommit(t, tx)
	if err := table.Checkpoint(t.Context(), mustSnapshot(t, table)); err != nil {
		t.Fatal(err)
	}
	s := fromCheckpointOnly(t, st, "orders", v)
	for path, want := range map[string]string{"a": text, "b": `{"numRecords":1}`, "c": ""} {
		a, ok := s.File(path)
		if !ok {
			t.Fatalf("%s is missing", path)
		}
		if want == "" {
			if a.Stats != "" {
				t.Errorf("%s has statistics %s", path, a.Stats)
			}
			continue
		}
		got, err := ParseStats(a.Stats, schema)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := ParseStats(want, schema)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%s: %v, want %v", path, got, wanted)
		}
	}
}

func nan() float64 { z := 0.0; return z / z }

// TestReplayCheckpointReplay lets two writers do random commits, each with its
// own table and sometimes an old snapshot, and compares four ways to the same
// version: the writer's updates, a fresh replay, the checkpoint, and time
// travel.
func TestReplayCheckpointReplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ctx := t.Context()
		st := store.NewMemory(nil)
		interval := rapid.IntRange(2, 9).Draw(r, "interval")
		props := map[string]string{PropDeletionVectors: "true", PropCheckpointInterval: fmt.Sprint(interval), propCodec: plain}
		if rapid.Bool().Draw(r, "times") {
			props[PropInCommitTimestamps] = "true"
		}
		mustCreate(t, st, CreateSpec{Properties: props})
		var tables [2]*Table
		var snaps [2]*Snapshot
		for i := range tables {
			var err error
			if tables[i], err = Open(ctx, st, "orders", testOptions()...); err != nil {
				r.Fatal(err)
			}
			snaps[i] = mustSnapshot(t, tables[i])
		}
		model := map[string]string{} // path to vector id
		byVersion := map[int64]int{0: 0}
		steps := rapid.IntRange(1, 15).Draw(r, "steps")
		for i := range steps {
			w := rapid.IntRange(0, 1).Draw(r, "writer")
			if rapid.IntRange(0, 3).Draw(r, "refresh") > 0 {
				snaps[w] = mustSnapshot(t, tables[w])
			}
			tx := tables[w].Begin(snaps[w])
			next := map[string]string{}
			for k, v := range model {
				next[k] = v
			}
			for j := range rapid.IntRange(1, 3).Draw(r, "actions") {
				randomAction(r, tx, fmt.Sprintf("f%d-%d", i, j), next)
			}
			tx.SetTxn(fmt.Sprint("app", w), int64(i))
			v, err := tx.Commit(ctx)
			if err != nil {
				if !errors.Is(err, ErrConflict) && !errors.As(err, new(*TxnError)) {
					r.Fatal(err)
				}
				continue
			}
			model = next
			byVersion[v] = len(model)
		}
		fresh, err := Open(ctx, st, "orders", testOptions()...)
		if err != nil {
			r.Fatal(err)
		}
		want := mustSnapshot(t, fresh)
		if want.NumFiles() != len(model) {
			r.Fatalf("%d files, the model has %d", want.NumFiles(), len(model))
		}
		for path, id := range model {
			if a, ok := want.File(path); !ok || a.DeletionVector.ID() != id {
				r.Fatalf("%s is %v, the model has vector %q", path, a, id)
			}
		}
		for i := range tables {
			if got := describe(mustSnapshot(t, tables[i])); got != describe(want) {
				r.Fatalf("updated:\n%s\nfresh:\n%s", got, describe(want))
			}
		}
		for v, files := range byVersion {
			s, err := fresh.SnapshotAt(ctx, v)
			if err != nil || s.NumFiles() != files {
				r.Fatalf("version %d: %v, %d files, want %d", v, err, s.NumFiles(), files)
			}
		}
		if err := fresh.Checkpoint(ctx, want); err != nil {
			r.Fatal(err)
		}
		if got := fromCheckpointOnly(t, st, "orders", want.Version()); describe(got) != describe(want) {
			r.Fatalf("checkpoint:\n%s\nreplay:\n%s", describe(got), describe(want))
		}
	})
}

func randomAction(r *rapid.T, tx *Transaction, name string, model map[string]string) {
	var live []*Add
	for a := range tx.Snapshot().Files(nil) {
		already := false
		for _, rm := range tx.removes {
			already = already || rm.Path == a.Path
		}
		if !already {
			live = append(live, a)
		}
	}
	kind := rapid.IntRange(0, 3).Draw(r, "kind")
	if len(live) == 0 || kind <= 1 {
		lo := rapid.Int64Range(0, 100).Draw(r, "lo")
		tx.AddFile(testFile(name, lo, lo+9))
		model[name] = ""
		return
	}
	a := live[rapid.IntRange(0, len(live)-1).Draw(r, "file")]
	if kind == 2 {
		tx.RemoveFile(a, true)
		delete(model, a.Path)
		return
	}
	offset := rapid.Int32Range(1, 1000).Draw(r, "offset")
	dv := &DeletionVector{StorageType: "u", PathOrInlineDV: "vBn[lx{q8@P<9BNH/isA", Offset: &offset, SizeInBytes: 40, Cardinality: 1}
	if dv.ID() == a.DeletionVector.ID() {
		return
	}
	tx.ReplaceDeletionVector(a, dv)
	model[a.Path] = dv.ID()
}

// TestKilledAtEveryCall kills a writer before and after each of its calls while
// it commits and writes a checkpoint. The table must open as before or after.
func TestKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	base := store.NewMemory(nil)
	seed := mustCreate(t, base, CreateSpec{Properties: map[string]string{PropCheckpointInterval: "2", propCodec: plain}})
	tx := seed.Begin(mustSnapshot(t, seed))
	tx.AddFile(testFile("a", 1, 9))
	mustCommit(t, tx)
	for round := range 2 { // version 2 with a first checkpoint, then 3 and 4 with one before
		before := describe(mustSnapshot(t, seed))
		work := func(st store.Store) error {
			table, err := Open(t.Context(), st, "orders", testOptions(WithRetry(Retry{}))...)
			if err != nil {
				return err
			}
			for i := range 2 {
				s, err := table.Snapshot(t.Context())
				if err != nil {
					return err
				}
				tx := table.Begin(s)
				tx.SetTxn("app", int64(10*round+i+1))
				tx.AddFile(testFile(fmt.Sprintf("r%d-%d", round, i), 1, 9))
				if _, err := tx.Commit(t.Context()); err != nil {
					return err
				}
			}
			return nil
		}
		whole := store.NewFaulty(base.Clone())
		if err := work(whole); err != nil {
			t.Fatal(err)
		}
		for n := range whole.Calls() {
			for _, effect := range []store.Effect{store.Kill, store.KillAfter} {
				mem := base.Clone()
				_ = work(store.NewFaulty(mem, store.Fault{Nth: n + 1, Effect: effect}))
				table, err := Open(t.Context(), mem, "orders", testOptions()...)
				if err != nil {
					t.Fatalf("round %d, call %d %v, effect %d: %v", round, n, whole.Calls()[n], effect, err)
				}
				s := mustSnapshot(t, table)
				from, to := int64(1+2*round), int64(3+2*round)
				if s.Version() < from || s.Version() > to || int64(s.NumFiles()) != s.Version() {
					t.Fatalf("round %d, call %d: %s", round, n, describe(s))
				}
				if s.Version() == from && describe(s) != before {
					t.Fatalf("round %d, call %d: neither before nor after: %s", round, n, describe(s))
				}
				// Whoever comes next can go on.
				tx := table.Begin(s)
				tx.AddFile(testFile("next", 1, 9))
				mustCommit(t, tx)
			}
		}
		if err := work(base); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHintIsOnlyAHint(t *testing.T) {
	t.Parallel()
	base := store.NewMemory(nil)
	table := mustCreate(t, base, CreateSpec{Properties: map[string]string{PropCheckpointInterval: "3"}})
	for i := range 7 {
		tx := table.Begin(mustSnapshot(t, table))
		tx.AddFile(testFile(fmt.Sprint("f", i), 1, 9))
		mustCommit(t, tx)
	}
	want := describe(mustSnapshot(t, table))
	hintPath := "orders/_delta_log/_last_checkpoint"
	good, err := base.Get(t.Context(), hintPath)
	if err != nil {
		t.Fatal(err)
	}
	var h hint
	if err := json.Unmarshal(good, &h); err != nil || h.Version != 6 || h.NumOfAddFiles != 6 || h.Checksum == "" {
		t.Fatalf("hint %s: %v", good, err)
	}
	info, err := base.Head(t.Context(), "orders/_delta_log/00000000000000000006.checkpoint.parquet")
	if err != nil || info.Size != h.SizeInBytes {
		t.Errorf("the hint says %d bytes, the checkpoint has %d (%v)", h.SizeInBytes, info.Size, err)
	}
	for name, content := range map[string]string{
		"empty": "", "truncated": string(good[:len(good)/2]), "no checkpoint there": `{"version":5,"size":1}`,
		"the future": `{"version":99,"size":1}`, "negative": `{"version":-3,"size":1}`, "another type": `{"version":"x"}`,
		"a wrong checksum": strings.Replace(string(good), `"version":6`, `"version":3`, 1), "older": `{"version":3,"size":1}`,
		"huge": `{"version":9223372036854775807,"size":1}`,
	} {
		c := base.Clone()
		if err := c.Put(t.Context(), hintPath, []byte(content)); err != nil {
			t.Fatal(err)
		}
		again, err := Open(t.Context(), c, "orders", testOptions()...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := describe(mustSnapshot(t, again)); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A broken checkpoint falls back to an older one, and that to the commits.
	c := base.Clone()
	for _, v := range []int{6, 3} {
		if err := c.Put(t.Context(), fmt.Sprintf("orders/_delta_log/%020d.checkpoint.parquet", v), []byte("PAR1")); err != nil {
			t.Fatal(err)
		}
		again, err := Open(t.Context(), c, "orders", testOptions()...)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(mustSnapshot(t, again)); got != want {
			t.Errorf("checkpoint %d broken: %s", v, got)
		}
	}
}

func TestChecksumOfTheProtocolText(t *testing.T) {
	t.Parallel()
	// Delta protocol: JSON checksum, the example.
	const text = `{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}`
	const canonical = `"k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7"`
	if got, err := canonicalJSON([]byte(text)); err != nil || got != canonical {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := jsonChecksum([]byte(text)); err != nil || got != "6a92d155a59bf2eecbd4b4ec7fd1f875" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := jsonChecksum([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("a key twice is taken")
	}
}

func TestGapOfAListingIsLookedAt(t *testing.T) {
	t.Parallel()
	base := store.NewMemory(nil)
	table := mustCreate(t, base, CreateSpec{})
	for i := range 3 {
		tx := table.Begin(mustSnapshot(t, table))
		tx.AddFile(testFile(fmt.Sprint("f", i), 1, 9))
		mustCommit(t, tx)
	}
	again, err := Open(t.Context(), &gapStore{base, "0002.json"}, "orders", testOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	if s := mustSnapshot(t, again); s.Version() != 3 || s.NumFiles() != 3 {
		t.Error(describe(s))
	}
}

// gapStore leaves a name out of its listings, as a folder that is written to
// meanwhile may.
type gapStore struct {
	*store.Memory
	hide string
}

func (g *gapStore) List(ctx context.Context, prefix, startAfter string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for info, err := range g.Memory.List(ctx, prefix, startAfter) {
			if err == nil && strings.HasSuffix(info.Path, g.hide) {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func TestRecreatedTableIsNoticed(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	table := mustCreate(t, mem, CreateSpec{})
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("f", 1, 9))
	mustCommit(t, tx)
	old := mustSnapshot(t, table)
	for info, err := range mem.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if err := mem.Delete(t.Context(), info.Path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := table.Snapshot(t.Context()); !errors.Is(err, ErrNotTable) {
		t.Errorf("a deleted table gives %v", err)
	}
	mustCreate(t, mem, CreateSpec{Description: "another"})
	s := mustSnapshot(t, table)
	if s.Metadata().ID == old.Metadata().ID || s.Version() != 0 {
		t.Error(describe(s))
	}
}
