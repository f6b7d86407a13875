package mssql

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// signpost is an address that leads to one server, later to another, as a name
// in DNS, a proxy and a fail-over do: connections that stand stay where they
// are.
type signpost struct {
	listener net.Listener
	served   sync.WaitGroup

	mu sync.Mutex
	to []*mssqlsim.Server // taken in turn
}

func newSignpost(t *testing.T, to *mssqlsim.Server) *signpost {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &signpost{listener: l, to: []*mssqlsim.Server{to}}
	p.served.Go(p.serve)
	t.Cleanup(func() { l.Close(); p.served.Wait() })
	return p
}

func (p *signpost) lead(to ...*mssqlsim.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
}

func (p *signpost) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		address := p.to[0].Addr()
		p.to = append(p.to[1:], p.to[0])
		p.mu.Unlock()
		server, err := net.Dial("tcp", address)
		if err != nil {
			client.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			p.served.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // either end may go
				way[0].Close()
				way[1].Close()
			})
		}
	}
}

// twoDatabases are a database and a copy that went another way: the same
// tables, positions and times, and other rows.
type twoDatabases struct {
	*signpost
	one, other *mssqlsim.Server
	plugin     *Plugin
	session    *session
	slept      []time.Duration
	log        *recorder
}

// newTwoDatabases opens a session of at most connections. With wander its
// address leads to the other database from the first wait before a retry on.
func newTwoDatabases(t *testing.T, connections int, wander bool, prepare func(one, other *mssqlsim.Database)) *twoDatabases {
	t.Helper()
	clock := mssqlsim.NewManualClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	w := &twoDatabases{log: &recorder{}}
	var one, other *mssqlsim.Database
	w.one, one = ownServer(t, mssqlsim.Options{Clock: clock, Name: "PROD"})
	w.other, other = ownServer(t, mssqlsim.Options{Clock: clock, Name: "STAGING"})
	if prepare != nil {
		prepare(one, other)
	}
	for id := 1; id <= 4; id++ {
		clock.Advance(time.Second)
		for db, note := range map[*mssqlsim.Database]string{one: "right", other: "WRONG"} {
			_, err := write(db, func(tx writer) error { return tx.Insert("dbo.orders", id, note, "1.50") })
			must(t, err)
		}
	}
	w.signpost = newSignpost(t, w.one)
	w.plugin = newPlugin(nil, w.log)
	w.plugin.retry.sleep = func(_ context.Context, d time.Duration) error {
		w.slept = append(w.slept, d)
		if wander {
			w.lead(w.other)
		}
		return nil
	}
	at, err := url.Parse(w.one.DSN("shop"))
	must(t, err)
	at.Host = w.listener.Addr().String()
	s, err := w.plugin.OpenSource(ctx, plugin.OpenRequest{Component: Type, Address: "source.shop", MaxConnections: connections,
		Config: object(connectionSchema().EmptyValue(), written{"url": str(at.String())})})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	w.session = s.(*session)
	return w
}

// refused checks that a call ended with the words about another database, that
// nothing was read there, and that no connection is held.
func (w *twoDatabases) refused(t *testing.T, lines []string, err error, waits int) {
	t.Helper()
	d := wantDiag(t, err, diag.KindConfiguration, codeAnotherDatabase, "shop on PROD", "shop on STAGING", "run again")
	if len(lines) > 0 {
		t.Errorf("read %q", lines)
	}
	if d.Path.String() != argURL || len(w.slept) != waits {
		t.Errorf("path %s, waited %v", d.Path, w.slept)
	}
	if n := len(w.session.pool.slots); n != 0 {
		t.Errorf("%d connections in use", n)
	}
	// Who it is was asked last, and nothing after it.
	if got := w.log.during(func() {
		_, err := w.session.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: table()})
		wantDiag(t, err, diag.KindConfiguration, codeAnotherDatabase)
	}); fmt.Sprint(got) != "[database]" {
		t.Errorf("the other database is asked for %q", got)
	}
	// The way back is no reason to complain.
	w.lead(w.one)
	again, _, _, err := read(w.session.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{Last: true}, Keys: []string{"id"}, Stamp: plugin.Position{Text: at(1).String()}}))
	if err != nil || len(again) != 4 || strings.Contains(strings.Join(again, "\n"), "WRONG") {
		t.Errorf("back where it began: %q, %v", again, err)
	}
}

func (w *twoDatabases) drop(t *testing.T, match string) {
	t.Helper()
	_, err := w.one.Inject(mssqlsim.DropFault(match, 1, tds.DropBefore, 0))
	must(t, err)
}

func TestAPartOfASnapshotIsNeverOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		connections int
		broken      bool
		waits       int
	}{
		"the planning connection stands": {2, false, 0},
		"all connections broke":          {2, true, 1},
		"there is one connection":        {1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTwoDatabases(t, tc.connections, false, nil)
			info, err := w.session.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: table()})
			must(t, err)
			chunks, err := w.session.PlanChunks(ctx, plugin.PlanChunksRequest{Table: table(), Keys: info.Keys, Extent: info.Extent, Parts: 2})
			must(t, err)
			if len(chunks) != 2 {
				t.Fatalf("chunks %+v", chunks)
			}
			part := func(n int) ([]string, error) {
				lines, _, _, err := read(w.session.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &chunks[n], Keys: info.Keys, Stamp: info.Stamp}))
				return lines, err
			}
			first, err := part(0)
			must(t, err)
			equal(t, short(first), []string{"0|1|right|1.50", "0|2|right|1.50"})
			if w.lead(w.other); tc.broken {
				w.one.DropConnections()
			}
			second, err := part(1)
			w.refused(t, second, err, tc.waits)
		})
	}
}

func TestABatchIsNeverOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	t.Run("planned again after a broken connection", func(t *testing.T) {
		t.Parallel()
		w := newTwoDatabases(t, 1, true, nil)
		from := start(t, w.session, table(), "earliest")
		to := latest(t, w.session, table(), from)
		w.drop(t, "cdc.[dbo_orders_CT] WHERE")
		b, err := w.session.PlanBatch(ctx, plugin.PlanBatchRequest{Table: table(), Start: from, End: to})
		if len(b.Ranges) > 0 {
			t.Errorf("planned %s", b.Ranges)
		}
		w.refused(t, nil, err, 1)
	})
	t.Run("read from a replica that lags behind", func(t *testing.T) {
		t.Parallel()
		var primary *mssqlsim.Database
		w := newTwoDatabases(t, 1, false, func(one, other *mssqlsim.Database) {
			primary = one
			one.JoinGroup([16]byte{15: 7})
			other.JoinGroup([16]byte{15: 7})
		})
		from := start(t, w.session, table(), "earliest")
		_, err := write(primary, func(tx writer) error { return tx.Insert("dbo.orders", 5, "right", "1.50") })
		must(t, err)
		b := plan(t, w.session, table(), from, latest(t, w.session, table(), from))
		last := b.Ranges[len(b.Ranges)-1]
		w.lead(w.other)
		lines, _, _, err := read(w.session.Read(ctx, plugin.ReadRequest{Table: table(), Range: last}))
		wantDiag(t, err, diag.KindTransient, codeBehind, "STAGING")
		if len(lines) > 0 {
			t.Errorf("read %q", lines)
		}
		w.lead(w.one)
		if lines, _, _, err := read(w.session.Read(ctx, plugin.ReadRequest{Table: table(), Range: last})); err != nil || len(lines) == 0 {
			t.Errorf("read %q, %v", lines, err)
		}
	})
	t.Run("read after the plan", func(t *testing.T) {
		t.Parallel()
		w := newTwoDatabases(t, 1, false, nil)
		from := start(t, w.session, table(), "earliest")
		b := plan(t, w.session, table(), from, latest(t, w.session, table(), from))
		w.lead(w.other)
		lines, _, _, err := read(w.session.Read(ctx, plugin.ReadRequest{Table: table(), Range: b.Ranges[0]}))
		w.refused(t, lines, err, 0)
	})
}

func TestAnAggregateIsNeverOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	for _, kind := range []plugin.AggregateKind{plugin.AggregateBounds, plugin.AggregateCount, plugin.AggregateBuckets} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newTwoDatabases(t, 1, true, nil)
			start(t, w.session, table(), "earliest")
			w.drop(t, "FROM [dbo].[orders]")
			lines, _, _, err := read(w.session.Aggregate(ctx, plugin.AggregateRequest{Table: table(), Kind: kind, Keys: []string{"id"}, Width: 10}))
			w.refused(t, lines, err, 1)
		})
	}
}

// Microsoft: sys.databases (group_database_id is NULL outside an availability group).
func TestADatabaseThatJoinsOrLeavesAGroupIsTheSame(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	alone := inspectedDatabase(t, s)
	if alone.Alias != "" {
		t.Errorf("known by %q outside a group", alone.Alias)
	}
	before := alone
	for _, change := range []func(){func() { db.JoinGroup([16]byte{15: 7}) }, db.LeaveGroup} {
		change()
		// Reads open connections, which are held to what the session knows.
		info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: table()})
		must(t, err)
		lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{Last: true}, Keys: info.Keys, Stamp: info.Stamp}))
		if err != nil || len(lines) != 1 {
			t.Errorf("read %q, %v", lines, err)
		}
		now := inspectedDatabase(t, s)
		if now == before || !now.Same(before) {
			t.Errorf("%+v, before %+v", now, before)
		}
		before = now
	}
	if before != alone {
		t.Errorf("%+v outside the group again, before %+v", before, alone)
	}
}

func inspectedDatabase(t *testing.T, s *session) plugin.Database {
	t.Helper()
	r, err := s.Inspect(ctx, plugin.InspectRequest{})
	must(t, err)
	return r.Database()
}

func TestAnAggregateIsNeverOfAReplicaThatLagsBehind(t *testing.T) {
	t.Parallel()
	for _, kind := range []plugin.AggregateKind{plugin.AggregateBounds, plugin.AggregateCount, plugin.AggregateBuckets, plugin.AggregateTiles} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var primary *mssqlsim.Database
			w := newTwoDatabases(t, 1, false, func(one, other *mssqlsim.Database) {
				primary = one
				one.JoinGroup([16]byte{15: 7})
				other.JoinGroup([16]byte{15: 7})
			})
			_, err := write(primary, func(tx writer) error { return tx.Insert("dbo.orders", 5, "right", "1.50") })
			must(t, err)
			end := latest(t, w.session, table(), start(t, w.session, table(), "earliest"))
			count := plugin.AggregateRequest{Table: table(), Kind: kind, Keys: []string{"id"}, Width: 10, Tiles: 2, At: end}
			w.lead(w.other)
			lines, _, _, err := read(w.session.Aggregate(ctx, count))
			wantDiag(t, err, diag.KindTransient, codeBehind, "STAGING")
			if len(lines) > 0 {
				t.Errorf("counted %q", lines)
			}
			w.lead(w.one)
			if lines, _, _, err := read(w.session.Aggregate(ctx, count)); err != nil || len(lines) == 0 {
				t.Errorf("counted %q, %v", lines, err)
			}
		})
	}
}

func TestAnInspectionThatComesBackElsewhereSaysSo(t *testing.T) {
	t.Parallel()
	w := newTwoDatabases(t, 1, true, nil)
	inspect(t, w.session, table())
	w.drop(t, "sp_cdc_help_change_data_capture")
	_, err := w.session.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table()}})
	w.refused(t, nil, err, 1)
}

// A copy that was restored under the same name has the name and the broker's
// identifier of what it is a copy of. That it is older is seen.
func TestAPartOfASnapshotIsNeverOlderThanItsStamp(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	older := insert(t, db, 1)[0]
	insert(t, db, 2)
	s := open(t, db, nil)
	info, err := s.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: table()})
	must(t, err)
	part := plugin.ReadRequest{Table: table(), Chunk: &plugin.Chunk{Last: true}, Keys: info.Keys, Stamp: info.Stamp}
	_, _, end, err := read(s.Read(ctx, part))
	must(t, err)
	if end.High.Text != info.Stamp.Text {
		t.Errorf("read at %s, stamped %s", end.High.Text, info.Stamp.Text)
	}
	db.Restore(mssqlsim.LSN(older))
	_, _, end, err = read(s.Read(ctx, part))
	wantDiag(t, err, diag.KindTransient, codeBehind, older.String(), info.Stamp.Text)
	if end.Rows != 0 {
		t.Errorf("an end came: %+v", end)
	}
}

// A replica of the same availability group is the same source, whatever server
// it is on.
func TestAFailOverToAReplicaIsTheSameDatabase(t *testing.T) {
	t.Parallel()
	w := newTwoDatabases(t, 1, true, func(one, other *mssqlsim.Database) {
		one.JoinGroup([16]byte{15: 7})
		other.JoinGroup([16]byte{15: 7})
	})
	before := inspect(t, w.session, table())
	from := start(t, w.session, table(), "earliest")
	to := latest(t, w.session, table(), from)
	w.drop(t, "cdc.[dbo_orders_CT] WHERE")
	lines, _ := readRanges(t, w.session, table(), plan(t, w.session, table(), from, to))
	if len(lines) != 4 || !strings.Contains(lines[0], "WRONG") { // the rows of the one it failed over to
		t.Errorf("read %q", lines)
	}
	after := inspect(t, w.session, table())
	if before.Identity != after.Identity || !strings.Contains(before.Display, "PROD") || !strings.Contains(after.Display, "STAGING") {
		t.Errorf("before %q on %q, after %q on %q", before.Identity, before.Display, after.Identity, after.Display)
	}
}

// Of connections that are made at the same time one decides which database is
// the session's, and those that lead elsewhere are refused.
func TestTheFirstConnectionDecides(t *testing.T) {
	t.Parallel()
	w := newTwoDatabases(t, 1, false, nil)
	w.lead(w.one, w.other)
	p := newPool(w.session.config, 8, slog.New(slog.DiscardHandler))
	defer p.close()
	var mu sync.Mutex
	led := map[string]int{}
	var wg sync.WaitGroup
	for range cap(p.slots) {
		wg.Go(func() {
			c, err := p.open(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				led[string(diag.FromError(err)[0].Code)]++
				return
			}
			led[c.database.display]++
			p.drop(c)
		})
	}
	wg.Wait()
	if refused := led[codeAnotherDatabase]; refused != 4 || len(led) != 2 {
		t.Errorf("led to %v", led)
	}
}

// Asking who answers is part of connecting: it is bounded like the log-in, and
// a link that breaks meanwhile is tried again. A server that let the login in and
// keeps silent can be reached.
func TestAskingWhoAnswersIsPartOfConnecting(t *testing.T) {
	t.Parallel()
	own, _ := ownServer(t, mssqlsim.Options{})
	var slept []time.Duration
	s := openWith(t, newPlugin(&slept, slog.DiscardHandler), own.DSN("shop"), nil)
	_, err := own.Inject(mssqlsim.DropFault("FROM sys.databases", 1, tds.DropBefore, 0))
	must(t, err)
	inspect(t, s, table())
	if len(slept) != 1 {
		t.Errorf("waited %v", slept)
	}
	_, err = own.Inject(mssqlsim.Fault{Match: "FROM sys.databases", Wrong: tds.Fault{Delay: time.Hour}})
	must(t, err)
	s = openWith(t, newPlugin(nil, slog.DiscardHandler), own.DSN("shop"), written{"connect_timeout": str("300ms")})
	_, err = s.Inspect(ctx, plugin.InspectRequest{})
	wantDiag(t, err, diag.KindTransient, codeNoAnswer, "asked which database it is: no answer within 300ms", "let the login in")
	if n := len(s.pool.slots); n != 0 {
		t.Errorf("%d connections in use", n)
	}
}
