package mssql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// inject puts a fault to work for statements that name the table; it ends with
// the test.
func inject(t *testing.T, f mssqlsim.Fault) *mssqlsim.InjectedFault {
	t.Helper()
	x, err := server.Inject(f)
	must(t, err)
	t.Cleanup(x.Remove)
	return x
}

// ownTable makes a captured table whose name no other test uses, with rows
// 1 to n in one commit, so that faults can match it.
func ownTable(t *testing.T, name string, n int) (*mssqlsim.Database, plugin.SourceTable) {
	t.Helper()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo." + name, Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "note", Type: "varchar(40)", Nullable: true}}}))
	must(t, db.EnableTable("dbo."+name, mssqlsim.Capture{}))
	commit(t, db, func(tx writer) error {
		var errs []error
		for id := 1; id <= n; id++ {
			errs = append(errs, tx.Insert("dbo."+name, id, "row"))
		}
		return errors.Join(errs...)
	})
	return db, table(written{"object": str("dbo." + name)})
}

// A cut read must not look complete (reports C-40 to C-42).
func TestAReadThatIsCutIsNeverAShortOne(t *testing.T) {
	t.Parallel()
	db, tab := ownTable(t, "cut", 3000)
	s := open(t, db, nil)
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
	must(t, err)
	chunk := plugin.ReadRequest{Table: tab, Chunk: &plugin.Chunk{Last: true}, Stamp: info.Stamp, Keys: info.Keys}
	changes := plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}
	const changeRead, tableRead = "cdc.[dbo_cut_CT] AS c", "FROM [dbo].[cut]"
	for name, tc := range map[string]struct {
		req   plugin.ReadRequest
		fault mssqlsim.Fault
		kind  diag.Kind
		code  string
	}{
		"changes, dropped before the answer":    {changes, mssqlsim.DropFault(changeRead, 1, tds.DropBefore, 0), diag.KindTransient, codeTransient},
		"changes, dropped in the middle":        {changes, mssqlsim.DropFault(changeRead, 1, tds.DropRows, 1500), diag.KindTransient, codeTransient},
		"changes, dropped after the last row":   {changes, mssqlsim.DropFault(changeRead, 1, tds.DropRows, 3000), diag.KindTransient, codeTransient},
		"changes, dropped before the first row": {changes, mssqlsim.DropFault(changeRead, 1, tds.DropUnanswered, 0), diag.KindTransient, codeTransient},
		"changes, deadlock after 2,000 rows":    {changes, mssqlsim.ErrorFault(changeRead, 1, 1205, "Transaction was deadlocked", 2000), diag.KindTransient, codeTransient},
		"changes, range error after 100 rows":   {changes, mssqlsim.ErrorFault(changeRead, 1, 313, "An insufficient number of arguments were supplied", 100), diag.KindUnavailable, codeServer},
		"snapshot, dropped in the middle":       {chunk, mssqlsim.DropFault(tableRead, 1, tds.DropRows, 1500), diag.KindTransient, codeTransient},
		"snapshot, dropped after the last row":  {chunk, mssqlsim.DropFault(tableRead, 1, tds.DropRows, 3000), diag.KindTransient, codeTransient},
		"snapshot, lock time-out":               {chunk, mssqlsim.ErrorFault(tableRead, 1, 1222, "Lock request time out period exceeded.", 0), diag.KindTransient, codeLockTimeout},
		"snapshot, isolation not allowed":       {chunk, mssqlsim.ErrorFault(tableRead, 1, 3952, "Snapshot isolation transaction failed", 0), diag.KindConfiguration, codeIsolation},
	} {
		t.Run(name, func(t *testing.T) {
			x := inject(t, tc.fault)
			_, _, end, err := read(s.Read(ctx, tc.req))
			x.Remove()
			if x.Hits() != 1 {
				t.Fatalf("the fault struck %d times", x.Hits())
			}
			wantDiag(t, err, tc.kind, tc.code)
			if end.Rows != 0 {
				t.Errorf("an end came: %+v", end)
			}
			lines, _, _, err := read(s.Read(ctx, tc.req))
			if err != nil || len(lines) != 3000 {
				t.Errorf("read again: %d rows, %v", len(lines), err)
			}
		})
	}
}

func TestPlannerCallsAreTriedAgain(t *testing.T) {
	t.Parallel()
	db, tab := ownTable(t, "again", 1)
	var slept []time.Duration
	log := &recorder{}
	s := openWith(t, newPlugin(&slept, log), server.DSN(db.Name()), nil)
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	for name, tc := range map[string]struct {
		fault mssqlsim.Fault
		waits string
		code  string
	}{
		"a broken connection once":  {mssqlsim.DropFault("cdc.[dbo_again_CT] WHERE", 1, tds.DropBefore, 0), "[1s]", ""},
		"a deadlock twice":          {mssqlsim.ErrorFault("cdc.[dbo_again_CT] WHERE", 2, 1205, "Transaction was deadlocked", 0), "[1s 2s]", ""},
		"an outage of three tries":  {mssqlsim.DropFault("cdc.[dbo_again_CT] WHERE", 3, tds.DropUnanswered, 0), "[1s 2s 4s]", ""},
		"an outage of four tries":   {mssqlsim.DropFault("cdc.[dbo_again_CT] WHERE", 0, tds.DropBefore, 0), "[1s 2s 4s]", codeTransient},
		"an error that stays":       {mssqlsim.ErrorFault("cdc.[dbo_again_CT] WHERE", 0, 8134, "Divide by zero error encountered.", 0), "[]", codeServer},
		"a lock that is held":       {mssqlsim.ErrorFault("cdc.[dbo_again_CT] WHERE", 0, 1222, "Lock request time out period exceeded.", 0), "[]", codeLockTimeout},
		"a permission that is lost": {mssqlsim.ErrorFault("cdc.[dbo_again_CT] WHERE", 0, 229, "The SELECT permission was denied on the object", 0), "[]", codeSourceGrant},
	} {
		t.Run(name, func(t *testing.T) {
			x := inject(t, tc.fault)
			slept = nil
			b, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: to})
			x.Remove()
			if got := fmt.Sprint(slept); got != tc.waits {
				t.Errorf("waited %s, want %s", got, tc.waits)
			}
			if tc.code == "" {
				if err != nil || len(b.Ranges) != 1 {
					t.Fatalf("%+v, %v", b, err)
				}
				return
			}
			if diag.FromError(err)[0].Code != tc.code {
				t.Fatalf("got %v", err)
			}
		})
	}
	if warned := strings.Join(log.said(), "\n"); strings.Count(warned, "trying again") != 9 || !strings.Contains(warned, "plan batch") {
		t.Errorf("warnings:\n%s", warned)
	}
}

func TestWaitsOfRetries(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"1s 2s", "2s 4s", "4s 8s"} {
		if got := fmt.Sprint(wait(n, 0), wait(n, 1)); got != want {
			t.Errorf("retry %d waits between %s", n, got)
		}
	}
}

// A server that accepts and never answers lets each try fail only when the
// connection's time is over.
func TestTriesThatTakeLongAreNotMany(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]int{time.Second: 4, 10 * time.Second: 2, 30 * time.Second: 1} {
		r, clock, calls := newRetrier(slog.New(slog.DiscardHandler)), time.Time{}, 0
		r.now = func() time.Time { return clock }
		r.sleep = func(context.Context, time.Duration) error { return nil }
		err := r.do(ctx, "latest", masker{}, func() error {
			calls++
			clock = clock.Add(took)
			return &connectError{err: fmt.Errorf("no connection within %s", took)}
		})
		if calls != want || !transient(err) {
			t.Errorf("%d tries of %s each, want %d: %v", calls, took, want, err)
		}
	}
}

// A call may work for an hour before its server goes away, and then has as many
// tries as any other.
func TestTheTimeThatACallWorkedIsNoOutage(t *testing.T) {
	t.Parallel()
	r, clock, calls := newRetrier(slog.New(slog.DiscardHandler)), time.Time{}, 0
	r.now = func() time.Time { return clock }
	r.sleep = func(_ context.Context, d time.Duration) error { clock = clock.Add(d); return nil }
	err := r.do(ctx, "plan batch", masker{}, func() error {
		switch calls++; calls {
		case 1:
			clock = clock.Add(time.Hour)
			return &queryError{doing: "split", lost: true, err: errors.New("EOF")}
		case 4:
			return nil
		}
		clock = clock.Add(time.Second)
		return &connectError{err: errors.New("connection refused")}
	})
	if calls != 4 || err != nil {
		t.Errorf("%d tries: %v", calls, err)
	}
}

// ownServer is a simulator of the test alone, with orders in the database shop.
func ownServer(t *testing.T, o mssqlsim.Options) (*mssqlsim.Server, *mssqlsim.Database) {
	t.Helper()
	if o.Clock == nil {
		o.Clock = now
	}
	own, err := mssqlsim.Start(ctx, o)
	must(t, err)
	t.Cleanup(own.Close)
	db := own.Database("shop")
	must(t, db.EnableCDC())
	orders(t, db)
	return own, db
}

func TestARangeWhoseWatermarkCannotBeAskedIsNotWhole(t *testing.T) {
	t.Parallel()
	own, db := ownServer(t, mssqlsim.Options{})
	insert(t, db, 1)
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), own.DSN("shop"), nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	_, err := own.Inject(mssqlsim.ErrorFault("fn_cdc_get_min_lsn", 1, 1205, "Transaction was deadlocked", 0))
	must(t, err)
	_, _, _, err = read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
	wantDiag(t, err, diag.KindTransient, codeTransient)
}

// What is measured is best effort.
func TestMetricsNeverFailARead(t *testing.T) {
	t.Parallel()
	own, db := ownServer(t, mssqlsim.Options{})
	insert(t, db, 1)
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), own.DSN("shop"), nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	for _, match := range []string{"SELECT 1 AS one", "dm_exec_session_wait_stats", "fn_cdc_get_max_lsn", "SELECT TOP (1) CONVERT"} {
		f := mssqlsim.ErrorFault(match, 0, 8134, "Divide by zero error encountered.", 0)
		if match == "fn_cdc_get_max_lsn" {
			f.Skip = 1 // whether the server has the range is no metric
		}
		_, err := own.Inject(f)
		must(t, err)
	}
	lines, ends := readRanges(t, s, tab, b)
	m := ends[0].Metrics
	if len(lines) != 1 || m.RTTMillis != nil || m.NetworkWaitMs != nil || m.SourceMaxCommit != nil || m.ToCommit != nil || m.CaptureLagSeconds != nil || m.Rows != 1 {
		t.Errorf("%v, %+v", lines, m)
	}
}

func TestAKilledConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	own, db := ownServer(t, mssqlsim.Options{})
	insert(t, db, 1)
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), own.DSN("shop"), nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	own.DropConnections()
	to := latest(t, s, tab, from)
	if to == from {
		t.Error("nothing new")
	}
}

func TestALoginThatIsRefusedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	var slept []time.Duration
	s := openWith(t, newPlugin(&slept, slog.DiscardHandler), server.UserDSN("sa", "wrong-Pa55word", db.Name()), nil)
	_, err := s.Latest(ctx, plugin.LatestRequest{Table: table(), After: plugin.Position{Text: at(1).String()}})
	d := wantDiag(t, err, diag.KindPermission, codeLogin, "refused the login", "Login failed")
	if len(slept) > 0 || d.Path.String() != argURL || strings.Contains(err.Error(), "wrong-Pa55word") || strings.Contains(err.Error(), "'sa'") {
		t.Errorf("slept %v, path %s, error %v", slept, d.Path, err)
	}
	_, err = openWith(t, newPlugin(nil, slog.DiscardHandler), server.DSN("nowhere"), nil).Inspect(ctx, plugin.InspectRequest{})
	wantDiag(t, err, diag.KindPermission, codeDatabase, `"nowhere" cannot be opened`)
}

func TestAServerOutOfReach(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	l.Close()
	var slept []time.Duration
	s := openWith(t, newPlugin(&slept, slog.DiscardHandler), "sqlserver://reader:s3cret-Pa55@"+address+"?database=shop&encrypt=disable", nil)
	_, err = s.Inspect(ctx, plugin.InspectRequest{})
	d := wantDiag(t, err, diag.KindTransient, codeUnreachable, address, "firewall")
	if len(slept) != 0 || d.Path.String() != argURL || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a person who looks waits %v; path %s; %v", slept, d.Path, err)
	}
	_, err = s.Latest(ctx, plugin.LatestRequest{Table: table(), After: plugin.Position{Text: at(1).String()}})
	wantDiag(t, err, diag.KindTransient, codeUnreachable)
	if len(slept) != retries {
		t.Errorf("a run waits %v", slept)
	}
}

// A read opens a connection of its own. A server that is away when it does may
// be back for the next try; a login that is refused, or a database that is not
// there, is no better then.
func TestAReadThatCannotConnectMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	plan, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: to})
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	away := "sqlserver://reader:s3cret-Pa55@" + l.Addr().String() + "?database=shop&encrypt=disable"
	l.Close()
	for dsn, want := range map[string]diag.Kind{
		away: diag.KindTransient,
		server.UserDSN("sa", "wrong-Pa55word", db.Name()): diag.KindPermission,
		server.DSN("nowhere"):                             diag.KindPermission,
	} {
		other := openWith(t, newPlugin(nil, slog.DiscardHandler), dsn, nil)
		for name, read := range map[string]plugin.ReadRequest{
			"range": {Table: tab, Range: plan.Ranges[0]}, "chunk": {Table: tab, Chunk: &plugin.Chunk{Last: true}, Stamp: to, Keys: []string{"id"}},
		} {
			frames, err := other.Read(ctx, read)
			if err == nil {
				for err == nil {
					_, err = frames.Recv()
				}
				frames.Close()
			}
			if diag.KindOf(err) != want {
				t.Errorf("%s: %s, not %s: %v", name, diag.KindOf(err), want, err)
			}
		}
	}
}

// A server that takes the connection and never answers (report H-117).
func TestConnectingIsBounded(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), "sqlserver://u:p4ss@"+l.Addr().String()+"?database=shop&encrypt=disable", written{"connect_timeout": str("50ms")})
	_, err = s.Inspect(ctx, plugin.InspectRequest{})
	wantDiag(t, err, diag.KindTransient, codeUnreachable, "no connection within 50ms")
	l.Close()
	<-done
}

// Cancelling returns soon and is no diagnostic (report C-44).
func TestCancelling(t *testing.T) {
	t.Parallel()
	db, tab := ownTable(t, "cancel", 100)
	s := open(t, db, nil)
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	inject(t, mssqlsim.Fault{Match: "cdc.[dbo_cancel_CT] AS c", Wrong: tds.Fault{Delay: time.Hour}})
	limited, cancel := context.WithCancel(ctx)
	f, err := s.Read(limited, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]})
	must(t, err)
	cancel()
	if _, _, _, err := read(f, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Latest(limited, plugin.LatestRequest{Table: tab, After: from}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// The session is of use afterwards.
	if to := latest(t, s, tab, from); to == from {
		t.Error("nothing new")
	}
}
