package deltalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

func TestCreateThenAppendThenReopen(t *testing.T) {
	t.Parallel()
	st := store.NewMemory(nil)
	table := mustCreate(t, st, CreateSpec{Description: "orders", Properties: map[string]string{"mssql_cdc.schema_version": "2"}})
	tx := table.Begin(mustSnapshot(t, table))
	tx.SetTxn("orders-v1", 0)
	tx.SetUserMetadata(`{"backfill": "A#snap.<S> & co"}`)
	tx.SetOperation("WRITE", map[string]string{"mode": "Append"})
	tx.SetMetrics(map[string]int64{"numOutputRows": 10})
	tx.AddFile(testFile("a.parquet", 1, 10))
	if v := mustCommit(t, tx); v != 1 {
		t.Fatalf("version %d, want 1", v)
	}
	raw, err := st.Get(t.Context(), "orders/_delta_log/00000000000000000001.json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `A#snap.<S> & co`) {
		t.Errorf("the user metadata is not written verbatim: %s", raw)
	}
	again, err := Open(t.Context(), st, "orders", testOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	s := mustSnapshot(t, again)
	if v, ok := s.Txn("orders-v1"); !ok || v != 0 || s.NumFiles() != 1 || s.Metadata().Description != "orders" {
		t.Errorf("%s", describe(s))
	}
	if got, want := describe(s), describe(mustSnapshot(t, table)); got != want {
		t.Errorf("reopened:\n%s\nupdated:\n%s", got, want)
	}
	if _, err := Create(t.Context(), st, "orders", CreateSpec{Schema: ordersSchema()}); !errors.Is(err, ErrTableExists) {
		t.Errorf("creating it again gives %v", err)
	}
	for c, err := range again.History(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := c.Metric("numOutputRows"); n != 10 || c.Info.Operation != "WRITE" || !c.DataChange || c.Added != 1 ||
			c.UserMetadata() != `{"backfill": "A#snap.<S> & co"}` || len(c.Txns) != 1 || !*c.Info.IsBlindAppend {
			t.Errorf("history %+v", c)
		}
	}
}

func TestTxnVersionThatTheTableHasIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, store.NewMemory(nil), CreateSpec{})
	for _, c := range []struct {
		version int64
		skipped bool
	}{{5, false}, {5, true}, {4, true}, {6, false}} {
		tx := table.Begin(mustSnapshot(t, table))
		tx.SetTxn("a", c.version)
		tx.AddFile(testFile(fmt.Sprint("f", c.version, c.skipped), 1, 2))
		_, err := tx.Commit(t.Context())
		var txn *TxnError
		if errors.As(err, &txn) != c.skipped {
			t.Errorf("version %d: %v", c.version, err)
		}
		if c.skipped && txn.Recorded < c.version {
			t.Errorf("%+v", txn)
		}
	}
}

// TestConflicts has two transactions on one snapshot: the second commits after
// the first.
func TestConflicts(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name       string
		properties map[string]string
		first      func(tx *Transaction)
		second     func(tx *Transaction)
		want       error // nil: both commit
	}{
		{
			name:   "blind appends never conflict",
			first:  func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.AddFile(testFile("y", 1, 5)) },
		},
		{
			name:   "rows were added that were read",
			first:  func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.ReadPredicate(idBetween(5, 6)); tx.AddFile(testFile("y", 5, 6)) },
			want:   ErrConcurrentAppend,
		},
		{
			name:   "rows were added outside of what was read",
			first:  func(tx *Transaction) { tx.AddFile(testFile("x", 1, 4)) },
			second: func(tx *Transaction) { tx.ReadPredicate(idBetween(5, 6)); tx.AddFile(testFile("y", 5, 6)) },
		},
		{
			name:       "WriteSerializable does not mind blind appends",
			properties: map[string]string{PropIsolationLevel: "WriteSerializable"},
			first:      func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			second:     func(tx *Transaction) { tx.ReadTable(); tx.AddFile(testFile("y", 5, 6)) },
		},
		{
			name:       "WriteSerializable minds other appends",
			properties: map[string]string{PropIsolationLevel: "WriteSerializable"},
			first:      func(tx *Transaction) { tx.ReadTable(); tx.AddFile(testFile("x", 1, 5)) },
			second:     func(tx *Transaction) { tx.ReadTable(); tx.AddFile(testFile("y", 5, 6)) },
			want:       ErrConcurrentAppend,
		},
		{
			name:   "two overwrites",
			first:  func(tx *Transaction) { tx.ReadTable(); remove(tx, "base0"); tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.ReadTable(); remove(tx, "base0"); tx.AddFile(testFile("y", 1, 5)) },
			want:   ErrConcurrentAppend,
		},
		{
			name:   "a file that was read is gone",
			first:  func(tx *Transaction) { remove(tx, "base0") },
			second: func(tx *Transaction) { tx.ReadPredicate(idBetween(3, 4)); tx.AddFile(testFile("y", 5, 6)) },
			want:   ErrConcurrentDeleteRead,
		},
		{
			name:   "a file that was read by name is gone",
			first:  func(tx *Transaction) { remove(tx, "base0") },
			second: func(tx *Transaction) { tx.ReadFile(testFile("base0", 0, 9)); tx.AddFile(testFile("y", 5, 6)) },
			want:   ErrConcurrentDeleteRead,
		},
		{
			name:   "a file that was not read is gone",
			first:  func(tx *Transaction) { remove(tx, "base0") },
			second: func(tx *Transaction) { tx.ReadPredicate(idBetween(13, 14)); tx.AddFile(testFile("y", 15, 16)) },
		},
		{
			name:   "both remove one file",
			first:  func(tx *Transaction) { remove(tx, "base0") },
			second: func(tx *Transaction) { remove(tx, "base0") },
			want:   ErrConcurrentDeleteDelete,
		},
		{
			name:   "compaction beside an append",
			first:  func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			second: compact01,
		},
		{
			name:   "compaction beside a delete of one of its files",
			first:  func(tx *Transaction) { remove(tx, "base1") },
			second: compact01,
			want:   ErrConcurrentDeleteDelete,
		},
		{
			name:   "an append beside compaction",
			first:  compact01,
			second: func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
		},
		{
			name:   "one application twice",
			first:  func(tx *Transaction) { tx.SetTxn("a", 1); tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.SetTxn("a", 2); tx.AddFile(testFile("y", 1, 5)) },
			want:   ErrConcurrentTransaction,
		},
		{
			name:   "two applications",
			first:  func(tx *Transaction) { tx.SetTxn("a", 1); tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.SetTxn("b", 1); tx.AddFile(testFile("y", 1, 5)) },
		},
		{
			name:   "metadata changed",
			first:  func(tx *Transaction) { must(tx.AddColumns(Field{Name: "new", Type: Long, Nullable: true})) },
			second: func(tx *Transaction) { tx.AddFile(testFile("y", 1, 5)) },
			want:   ErrMetadataChanged,
		},
		{
			name:   "protocol changed",
			first:  func(tx *Transaction) { must(tx.AddColumns(Field{Name: "new", Type: TimestampNTZ, Nullable: true})) },
			second: func(tx *Transaction) { tx.AddFile(testFile("y", 1, 5)) },
			want:   ErrProtocolChanged,
		},
		{
			name:   "one path twice",
			first:  func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			second: func(tx *Transaction) { tx.AddFile(testFile("x", 1, 5)) },
			want:   ErrConcurrentWrite,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := mustCreate(t, store.NewMemory(nil), CreateSpec{Properties: c.properties})
			base := table.Begin(mustSnapshot(t, table))
			for i := range int64(2) {
				base.AddFile(testFile(fmt.Sprint("base", i), 10*i, 10*i+9))
			}
			mustCommit(t, base)
			s := mustSnapshot(t, table)
			first, second := table.Begin(s), table.Begin(s)
			c.first(first)
			c.second(second)
			mustCommit(t, first)
			v, err := second.Commit(t.Context())
			if c.want == nil {
				if err != nil || v != 3 {
					t.Fatalf("version %d, %v", v, err)
				}
				return
			}
			var conflict *ConflictError
			if !errors.Is(err, c.want) || !errors.Is(err, ErrConflict) || !errors.As(err, &conflict) || conflict.Version != 2 {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if s := mustSnapshot(t, table); s.Version() != 2 {
				t.Errorf("the loser wrote version %d", s.Version())
			}
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func remove(tx *Transaction, path string) {
	a, ok := tx.Snapshot().File(path)
	if !ok {
		panic("no file " + path)
	}
	tx.RemoveFile(a, true)
}

func compact01(tx *Transaction) {
	for _, p := range []string{"base0", "base1"} {
		a, _ := tx.Snapshot().File(p)
		tx.ReadFile(a)
		tx.RemoveFile(a, false)
	}
	a := testFile("compacted", 0, 19)
	a.DataChange = false
	tx.AddFile(a)
}

func TestInvalidTransactionsAreRefused(t *testing.T) {
	t.Parallel()
	dv := &DeletionVector{StorageType: "i", PathOrInlineDV: "00000", SizeInBytes: 4, Cardinality: 1}
	cases := []struct {
		name string
		spec CreateSpec
		do   func(tx *Transaction)
		want error
		text string
	}{
		{"a path twice", CreateSpec{}, func(tx *Transaction) { tx.AddFile(testFile("x", 1, 2)); tx.AddFile(testFile("x", 1, 2)) }, ErrInvalidCommit, "twice"},
		{"an application twice", CreateSpec{}, func(tx *Transaction) { tx.SetTxn("a", 1); tx.SetTxn("a", 2) }, ErrInvalidCommit, "two versions"},
		{"no size", CreateSpec{}, func(tx *Transaction) { a := testFile("x", 1, 2); a.Size = 0; tx.AddFile(a) }, ErrInvalidCommit, "size"},
		{"statistics that are no JSON", CreateSpec{}, func(tx *Transaction) { a := testFile("x", 1, 2); a.Stats = "{"; tx.AddFile(a) }, ErrInvalidCommit, "JSON"},
		{"a path that is not encoded", CreateSpec{}, func(tx *Transaction) { tx.AddFile(testFile("x%zz", 1, 2)) }, ErrCorrupt, "percent"},
		{"partition values missing", CreateSpec{PartitionColumns: []string{"name"}}, func(tx *Transaction) { tx.AddFile(testFile("x", 1, 2)) }, ErrInvalidCommit, "partition"},
		{"a vector without the property", CreateSpec{}, func(tx *Transaction) { a := testFile("x", 1, 2); a.DeletionVector = dv; tx.AddFile(a) }, ErrInvalidCommit, PropDeletionVectors},
		{"a vector without numRecords", CreateSpec{Properties: map[string]string{PropDeletionVectors: "true"}},
			func(tx *Transaction) { a := testFile("x", 1, 2); a.DeletionVector, a.Stats = dv, ""; tx.AddFile(a) }, ErrInvalidCommit, "numRecords"},
		{"a removed file that is not there", CreateSpec{}, func(tx *Transaction) { tx.RemoveFile(testFile("x", 1, 2), true) }, ErrInvalidCommit, "not in version"},
		{"a domain without the feature", CreateSpec{}, func(tx *Transaction) { tx.SetDomain("d", "{}") }, ErrInvalidCommit, "domainMetadata"},
		{"rows removed from an append-only table", CreateSpec{Properties: map[string]string{PropAppendOnly: "true"}},
			func(tx *Transaction) { remove(tx, "base") }, ErrAppendOnly, "appendOnly"},
		{"rows removed from a table with a change feed", CreateSpec{Properties: map[string]string{PropChangeDataFeed: "true"}},
			func(tx *Transaction) { remove(tx, "base") }, ErrUnsupported, "changeDataFeed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := mustCreate(t, store.NewMemory(nil), c.spec)
			if c.spec.PartitionColumns == nil {
				tx := table.Begin(mustSnapshot(t, table))
				tx.AddFile(testFile("base", 1, 9))
				mustCommit(t, tx)
			}
			s := mustSnapshot(t, table)
			tx := table.Begin(s)
			c.do(tx)
			_, err := tx.Commit(t.Context())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v; want %v with %q", err, c.want, c.text)
			}
			if now := mustSnapshot(t, table); now.Version() != s.Version() {
				t.Errorf("version %d was written", now.Version())
			}
		})
	}
}

// TestAmbiguousCommitIsRecognisedAsOwn loses the answer of a commit's PUT.
func TestAmbiguousCommitIsRecognisedAsOwn(t *testing.T) {
	t.Parallel()
	for _, effect := range []store.Effect{store.Ambiguous, store.Fail} {
		mem := store.NewMemory(nil)
		mustCreate(t, mem, CreateSpec{})
		faulty := store.NewFaulty(mem, store.Fault{Op: store.OpPutIfAbsent, Path: "0001.json", Nth: 1, Effect: effect})
		table, err := Open(t.Context(), faulty, "orders", testOptions()...)
		if err != nil {
			t.Fatal(err)
		}
		tx := table.Begin(mustSnapshot(t, table))
		tx.SetTxn("a", 1)
		tx.AddFile(testFile("x", 1, 2))
		if v := mustCommit(t, tx); v != 1 {
			t.Errorf("effect %d: version %d", effect, v)
		}
		if s := mustSnapshot(t, table); s.Version() != 1 || s.NumFiles() != 1 {
			t.Errorf("effect %d: %s", effect, describe(s))
		}
	}
}

// TestOwnCommitIsFoundBehindOthers: the answer is lost, and so is every look,
// until others have committed behind.
func TestOwnCommitIsFoundAfterFailedLooks(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	mustCreate(t, mem, CreateSpec{})
	faulty := store.NewFaulty(mem,
		store.Fault{Op: store.OpPutIfAbsent, Path: "0001.json", Nth: 1, Effect: store.Ambiguous},
		store.Fault{Op: store.OpGet, Path: "0001.json", Nth: 1, Effect: store.Fail})
	table, err := Open(t.Context(), faulty, "orders", testOptions()...)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("x", 1, 2))
	if v := mustCommit(t, tx); v != 1 {
		t.Errorf("version %d", v)
	}
}

func TestUnknownOutcomeIsSaid(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	mustCreate(t, mem, CreateSpec{})
	faulty := store.NewFaulty(mem,
		store.Fault{Op: store.OpPutIfAbsent, Effect: store.Ambiguous},
		store.Fault{Op: store.OpGet, Path: "0001.json", Effect: store.Fail})
	table, err := Open(t.Context(), faulty, "orders", testOptions(WithRetry(Retry{Budget: time.Second, Base: time.Millisecond, Max: time.Second}))...)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("x", 1, 2))
	if _, err := tx.Commit(t.Context()); !errors.Is(err, ErrCommitUnknown) {
		t.Errorf("error %v", err)
	}
}

func TestPermanentFailureIsNotRepeated(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	mustCreate(t, mem, CreateSpec{})
	for _, cause := range []error{store.ErrPermission, store.ErrNoSpace, store.ErrUnsupported} {
		faulty := store.NewFaulty(mem, store.Fault{Op: store.OpPutIfAbsent, Effect: store.Fail, Err: cause})
		table, err := Open(t.Context(), faulty, "orders", testOptions()...)
		if err != nil {
			t.Fatal(err)
		}
		tx := table.Begin(mustSnapshot(t, table))
		tx.AddFile(testFile("x", 1, 2))
		_, err = tx.Commit(t.Context())
		if !errors.Is(err, cause) || errors.Is(err, ErrCommitUnknown) {
			t.Errorf("error %v, want %v", err, cause)
		}
		puts := 0
		for _, c := range faulty.Calls() {
			if c.Op == store.OpPutIfAbsent {
				puts++
			}
		}
		if puts != 1 {
			t.Errorf("%v was tried %d times", cause, puts)
		}
	}
}

func TestRetriesEndWithTheBudget(t *testing.T) {
	t.Parallel()
	mem := store.NewMemory(nil)
	other := mustCreate(t, mem, CreateSpec{}, WithoutCheckpoints())
	faulty := store.NewFaulty(mem)
	table, err := Open(t.Context(), faulty, "orders", testOptions(WithRetry(Retry{Budget: time.Second, Base: 100 * time.Millisecond, Max: time.Second}))...)
	if err != nil {
		t.Fatal(err)
	}
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("x", 1, 2))
	n := 0
	faulty.Before(func(c store.Call) {
		if c.Op == store.OpPutIfAbsent { // another writer is always quicker
			n++
			o := other.Begin(mustSnapshot(t, other))
			o.AddFile(testFile(fmt.Sprint("o", n), 1, 2))
			mustCommit(t, o)
		}
	})
	_, err = tx.Commit(t.Context())
	if !errors.Is(err, ErrRetriesExhausted) || !errors.Is(err, ErrConflict) || n < 2 {
		t.Errorf("error %v after %d", err, n)
	}
}

// TestEightWritersOneWinnerEach: every version has exactly one winner and no
// commit is lost.
func TestEightWritersOneWinnerEach(t *testing.T) {
	t.Parallel()
	const writers, commits = 8, 12
	for name, st := range map[string]store.Store{"memory": store.NewMemory(nil), "local": mustLocal(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustCreate(t, st, CreateSpec{})
			var mu sync.Mutex
			won := map[int64]string{}
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					table, err := Open(t.Context(), st, "orders", testOptions(WithRetry(Retry{Budget: time.Hour, Base: time.Millisecond, Max: time.Second}))...)
					if err != nil {
						t.Error(err)
						return
					}
					for i := range commits {
						s, err := table.Snapshot(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						name := fmt.Sprintf("w%d-%d", w, i)
						tx := table.Begin(s)
						tx.AddFile(testFile(name, 1, 2))
						tx.SetTxn(fmt.Sprint("w", w), int64(i))
						v, err := tx.Commit(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						if other, ok := won[v]; ok {
							t.Errorf("version %d was won by %s and %s", v, other, name)
						}
						won[v] = name
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			table, err := Open(t.Context(), st, "orders", testOptions()...)
			if err != nil {
				t.Fatal(err)
			}
			s := mustSnapshot(t, table)
			if s.Version() != writers*commits || s.NumFiles() != writers*commits || len(won) != writers*commits {
				t.Errorf("version %d, %d files, %d winners; want %d", s.Version(), s.NumFiles(), len(won), writers*commits)
			}
			for w := range writers {
				if v, _ := s.Txn(fmt.Sprint("w", w)); v != commits-1 {
					t.Errorf("writer %d ends at %d", w, v)
				}
			}
		})
	}
}

func mustLocal(t testing.TB) *store.Local {
	l, err := store.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCancelledCommitDoesNothing(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, store.NewMemory(nil), CreateSpec{})
	tx := table.Begin(mustSnapshot(t, table))
	tx.AddFile(testFile("x", 1, 2))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tx.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if s := mustSnapshot(t, table); s.Version() != 0 {
		t.Errorf("version %d", s.Version())
	}
}
