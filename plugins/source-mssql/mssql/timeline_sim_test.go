package mssql

import (
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// restoredTo sets a database back to just before a commit and gives that
// commit's LSN to another one.
func restoredTo(t *testing.T, db *mssqlsim.Database, clock *mssqlsim.ManualClock, before, again plugin.Position) {
	t.Helper()
	l, err := mssqlsim.ParseLSN(before.Text)
	must(t, err)
	db.Restore(l)
	if got := commitsAt(t, db, clock, clock.Now().Add(83*time.Second))[0]; got.String() != again.Text {
		t.Fatalf("the commit after the restore has %s, not %s", got, again.Text)
	}
}

func TestAnotherCommitAtAStoredPositionIsARestore(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), nil)
	tab := table()
	before := latest(t, s, tab, start(t, s, tab, "earliest"))
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	at := latest(t, s, tab, before)
	restoredTo(t, db, clock, before, at)
	told := func(t *testing.T, err error) {
		t.Helper()
		wantDiag(t, err, diag.KindRewound, codeRewound, at.Text, "2026-03-02T08:01:25.000, it was of 2026-03-02T08:00:02.000")
	}
	t.Run("when it is the newest", func(t *testing.T) {
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at})
		told(t, err)
		told(t, inspectedSince(t, s, tab, at).Err())
	})
	t.Run("a position before what was undone still stands", func(t *testing.T) {
		latest(t, s, tab, before)
		if list := inspectedSince(t, s, tab, before); list.HasErrors() {
			t.Error(list.Err())
		}
	})
	t.Run("when it is followed by others", func(t *testing.T) {
		commitsAt(t, db, clock, clock.Now().Add(time.Second))
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at})
		told(t, err)
		told(t, inspectedSince(t, s, tab, at).Err())
	})
	t.Run("a position that has no time proves nothing", func(t *testing.T) {
		given := start(t, s, tab, at.Text)
		given.HasCommit, given.CommitMicros = false, 0
		latest(t, s, tab, given)
		if list := inspectedSince(t, s, tab, given); list.HasErrors() {
			t.Error(list.Err())
		}
	})
}

func TestInspectSaysThatAPositionIsGone(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	ids := commitsAt(t, db, clock, clock.Now().Add(time.Second), clock.Now().Add(2*time.Second), clock.Now().Add(3*time.Second))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), nil)
	tab := table()
	at := latest(t, s, tab, start(t, s, tab, "earliest"))
	t.Run("a position that cleanup took may be", func(t *testing.T) {
		cleaned := plugin.Position{Text: ids[0].String(), CommitMicros: at.CommitMicros - 2_000_000, HasCommit: true}
		cleanup(t, db, "dbo_orders", ids[1])
		if list := inspectedSince(t, s, tab, cleaned); list.HasErrors() {
			t.Error(list.Err())
		}
	})
	l, err := mssqlsim.ParseLSN(ids[1].String())
	must(t, err)
	db.Restore(l)
	t.Run("when no commit is as new", func(t *testing.T) {
		wantDiag(t, inspectedSince(t, s, tab, at).Err(), diag.KindRewound, codeRewound, at.Text, "The newest commit it knows is "+ids[1].String())
	})
	t.Run("when newer ones jumped over it", func(t *testing.T) {
		between := plugin.Position{Text: at0(t, plugin.Position{Text: ids[1].String()}).String()[:21] + "F", CommitMicros: at.CommitMicros, HasCommit: true}
		commitsAt(t, db, clock, clock.Now().Add(time.Second), clock.Now().Add(2*time.Second))
		wantDiag(t, inspectedSince(t, s, tab, between).Err(), diag.KindRewound, codeRewound, between.Text, "Changes of dbo_orders are kept from "+ids[1].String())
	})
}

// A readable secondary has what the primary's log has brought so far (Microsoft:
// Offload read-only workload to secondary replica; DATABASEPROPERTYEX, Updateability).
func TestASecondaryThatLagsIsNoRestore(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	ids := commitsAt(t, db, clock, clock.Now().Add(time.Second), clock.Now().Add(2*time.Second), clock.Now().Add(3*time.Second))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	at := latest(t, s, tab, from)
	l, err := mssqlsim.ParseLSN(ids[1].String())
	must(t, err)
	db.Restore(l) // which is how far its redo has come
	for name, call := range map[string]func() error{
		"latest":       func() error { _, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at}); return err },
		"inspect":      func() error { return inspectedSince(t, s, tab, at).Err() },
		"planned to":   func() error { return planError(s, tab, from, at) },
		"planned from": func() error { return planError(s, tab, at, plugin.Position{Text: at.Text[:21] + "F"}) },
	} {
		db.BeSecondary(true)
		wantDiag(t, call(), diag.KindTransient, codeBehind, ids[1].String(), at.Text)
		db.BeSecondary(false)
		wantDiag(t, call(), diag.KindRewound, codeRewound, at.Text)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	t.Run("another commit in its place is one there, too", func(t *testing.T) {
		db.BeSecondary(true)
		if got := commitsAt(t, db, clock, clock.Now().Add(83*time.Second))[0]; got.String() != at.Text {
			t.Fatalf("got %s", got)
		}
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at})
		wantDiag(t, err, diag.KindRewound, codeRewound, at.Text)
	})
}

// Times are stored by the clock of that day: a setting that was mended since, or
// a move of the database to a server in another zone, is no restore.
func TestAnotherZoneIsNoRestore(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{Zone: "Tokyo Standard Time"}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	tab := table()
	first := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), written{argZone: cty.StringVal("auto")})
	at := latest(t, first, tab, start(t, first, tab, "earliest"))
	for _, zone := range []string{"UTC", "Eastern Standard Time"} {
		s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), written{argZone: cty.StringVal(zone)})
		if latest(t, s, tab, at) != at {
			t.Error("something is new")
		}
		if list := inspectedSince(t, s, tab, at); list.HasErrors() {
			t.Errorf("%s: %v", zone, list.Err())
		}
	}
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), written{argZone: cty.StringVal("Eastern Standard Time")})
	if b := plan(t, s, tab, at, latest(t, s, tab, at)); len(b.Ranges) != 1 {
		t.Errorf("%+v", b)
	}
}

// inspectedSince is what Inspect says of a table whose stream stands somewhere.
func inspectedSince(t *testing.T, s *session, tab plugin.SourceTable, at plugin.Position) diag.List {
	t.Helper()
	r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}, Since: map[string]plugin.Position{tab.Address: at}, PendingLimit: 10})
	must(t, err)
	return r.Tables[0].Diagnostics
}
