package mssql

import (
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// How far capture is behind is told by the server's clock, in its zone, and follows what capture has passed
// (Microsoft: cdc.lsn_time_mapping).
func TestHowFarCaptureIs(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), nil)
	tab := table()
	lag := func(after plugin.Position) (plugin.Position, time.Duration) {
		t.Helper()
		r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: after, CaptureLag: true})
		must(t, err)
		if r.CaptureLag == nil {
			t.Fatal("not known")
		}
		return r.End, *r.CaptureLag
	}
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	at := latest(t, s, tab, start(t, s, tab, "earliest"))
	clock.Advance(7 * time.Second)
	if end, got := lag(at); end != at || got != 7*time.Second {
		t.Errorf("7 s after the commit that was read: %s, %+v", got, end)
	}
	db.Freeze()
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	clock.Advance(2 * time.Second)
	if end, got := lag(at); end != at || got != 10*time.Second {
		t.Errorf("a commit more that capture has not read: %s, %+v", got, end)
	}
	db.Resume()
	if end, got := lag(at); end.Compare(at) <= 0 || got != 2*time.Second {
		t.Errorf("capture has read it: %s, %+v", got, end)
	}
	if r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at}); err != nil || r.CaptureLag != nil {
		t.Errorf("nobody asked: %+v, %v", r, err)
	}
}

// In the hour that a clock set back tells twice, what was captured seems to lie ahead: then nothing is known.
func TestHowFarCaptureIsWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{Zone: "W. Europe Standard Time"}, time.Date(2026, 10, 25, 0, 59, 0, 0, time.UTC))
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN(db.Name()), nil)
	tab := table()
	commitsAt(t, db, clock, clock.Now().Add(time.Second))
	at := latest(t, s, tab, start(t, s, tab, "earliest"))
	clock.Advance(2 * time.Minute)
	if r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at, CaptureLag: true}); err != nil || r.CaptureLag != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
