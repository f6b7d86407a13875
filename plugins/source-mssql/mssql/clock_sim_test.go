package mssql

import (
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// clockServer is a server whose clock stands in a zone, and that clock.
func clockServer(t *testing.T, o mssqlsim.Options, begin time.Time) (*mssqlsim.Server, *mssqlsim.Database, *mssqlsim.ManualClock) {
	t.Helper()
	clock := mssqlsim.NewManualClock(begin)
	o.Clock = clock
	own, db := ownServer(t, o)
	return own, db, clock
}

// commitsAt commits one order at each moment and returns their LSNs.
func commitsAt(t *testing.T, db *mssqlsim.Database, clock *mssqlsim.ManualClock, moments ...time.Time) []lsn.LSN {
	t.Helper()
	var out []lsn.LSN
	for i, m := range moments {
		clock.Set(m)
		l, err := db.Tx(ctx, func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.orders", int(m.Unix()%1_000_000_000)+i, "x", "1") })
		must(t, err)
		out = append(out, parsed(t, l.String()))
	}
	return out
}

func parsed(t *testing.T, text string) lsn.LSN {
	t.Helper()
	l, err := lsn.Parse(text)
	must(t, err)
	return l
}

const stampLayout = "2006-01-02T15:04:05.000000"

// commitTimes are the commit times of rows.
func commitTimes(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.Split(l, "|")[5])
	}
	return out
}

func layouts(moments []time.Time) []string {
	var out []string
	for _, m := range moments {
		out = append(out, m.Format(stampLayout))
	}
	return out
}

func utc(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// The server's clock is local (report G-100); what is compared are the true
// moments of the commits.
func TestCommitTimesAreUTC(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		zone    string
		begin   string
		moments []time.Time
		perRow  bool
	}{
		"far from a change":           {"Eastern Standard Time", "2026-06-30 00:00:00", []time.Time{utc("2026-07-01 12:00:00"), utc("2026-07-02 12:00:00")}, false},
		"no daylight saving":          {"E. South America Standard Time", "2026-06-30 00:00:00", []time.Time{utc("2026-07-01 12:00:00"), utc("2026-07-20 12:00:00")}, true},
		"a week and more":             {"Eastern Standard Time", "2026-06-30 00:00:00", []time.Time{utc("2026-07-01 12:00:00"), utc("2026-07-08 12:00:00")}, true},
		"over a spring forward":       {"Eastern Standard Time", "2026-03-08 00:00:00", []time.Time{utc("2026-03-08 06:30:00"), utc("2026-03-08 07:30:00"), utc("2026-03-08 09:00:00")}, true},
		"over a fall-back":            {"Eastern Standard Time", "2026-11-01 00:00:00", []time.Time{utc("2026-11-01 04:10:00"), utc("2026-11-01 05:10:00"), utc("2026-11-01 05:50:00"), utc("2026-11-01 06:05:00"), utc("2026-11-01 06:30:00"), utc("2026-11-01 06:59:59"), utc("2026-11-01 07:30:00"), utc("2026-11-01 11:00:00")}, true},
		"only the first pass":         {"Eastern Standard Time", "2026-11-01 00:00:00", []time.Time{utc("2026-11-01 05:10:00"), utc("2026-11-01 05:50:00")}, true},
		"over a fall-back in the sum": {"W. Europe Standard Time", "2026-10-24 12:00:00", []time.Time{utc("2026-10-25 00:20:00"), utc("2026-10-25 00:55:00"), utc("2026-10-25 01:10:00"), utc("2026-10-25 02:10:00")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, db, clock := clockServer(t, mssqlsim.Options{Zone: tc.zone}, utc(tc.begin))
			ids := commitsAt(t, db, clock, tc.moments...)
			log := &recorder{}
			s := openWith(t, newPlugin(nil, log), own.DSN("shop"), nil)
			tab := table()
			before, err := ids[0].Prev()
			must(t, err)
			from := plugin.Position{Text: before.String()}
			to := latest(t, s, tab, from)
			if got, _ := to.Commit(); !got.Equal(tc.moments[len(tc.moments)-1]) {
				t.Errorf("the end's time is %v", got)
			}
			b := plan(t, s, tab, from, to)
			var lines []string
			statements := log.during(func() { lines, _ = readRanges(t, s, tab, b) })
			equal(t, commitTimes(lines), layouts(tc.moments))
			if got := strings.Contains(strings.Join(statements, ","), "clock set back"); got != tc.perRow {
				t.Errorf("converted row by row: %v; %s", got, statements)
			}
			if strings.Contains(strings.Join(statements, ","), "version") || strings.Contains(strings.Join(statements, ","), "time zone") {
				t.Errorf("a reader asks for the clock: %s", statements)
			}
			// Each commit alone, as a start or an end, has the same time.
			for i, l := range ids {
				p := start(t, s, tab, l.String())
				if got, ok := p.Commit(); !ok || !got.Equal(tc.moments[i]) {
					t.Errorf("%s is of %v, committed at %v", l, got, tc.moments[i])
				}
			}
		})
	}
}

// A plan says it before the first time is stored, once for all tables.
func TestAPlanTellsThatAClockIsAGuess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version mssqlsim.Version
		zone    string
		told    int
	}{
		"an old server":                       {mssqlsim.V2019, "auto", 1},
		"an old server whose zone is told":    {mssqlsim.V2019, "Eastern Standard Time", 0},
		"an old server with its clock in UTC": {mssqlsim.V2019, "UTC", 0},
		"one that names its zone":             {mssqlsim.V2022, "auto", 0},
	} {
		own, db, clock := clockServer(t, mssqlsim.Options{Zone: "Eastern Standard Time", Version: tc.version}, utc("2026-11-01 00:00:00"))
		commitsAt(t, db, clock, utc("2026-11-01 03:00:00"))
		s := openWith(t, newPlugin(nil, &recorder{}), own.DSN("shop"), map[string]cty.Value{"source_time_zone": cty.StringVal(tc.zone)})
		again := table()
		again.Address = "stream.again"
		answer, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table(), again}})
		must(t, err)
		told := 0
		for _, info := range answer.Tables {
			for _, d := range info.Diagnostics {
				if d.Code == codeClockOffset && d.Severity == diag.Warning && strings.Contains(d.Summary, "UTC-04:00") {
					told++
				}
			}
		}
		if told != tc.told {
			t.Errorf("%s: told %d times, want %d: %+v", name, told, tc.told, answer.Tables)
		}
	}
}

func TestAnOldServersClockIsAGuess(t *testing.T) {
	t.Parallel()
	own, db, clock := clockServer(t, mssqlsim.Options{Zone: "Eastern Standard Time", Version: mssqlsim.V2019}, utc("2026-11-01 00:00:00"))
	commitsAt(t, db, clock, utc("2026-11-01 03:00:00"))
	log := &recorder{}
	s := openWith(t, newPlugin(nil, log), own.DSN("shop"), nil)
	tab := table()
	var b plugin.BatchPlan
	var from, to plugin.Position
	sent := log.during(func() {
		from = start(t, s, tab, "earliest")
		to = latest(t, s, tab, from)
		b = plan(t, s, tab, from, to)
	})
	if strings.Contains(strings.Join(sent, ","), "server time zone") {
		t.Errorf("an old server is asked for its zone: %s", sent)
	}
	if len(b.Warnings) != 1 || b.Warnings[0].Code != codeClockOffset || !strings.Contains(b.Warnings[0].Summary, "UTC-04:00") || !strings.Contains(b.Warnings[0].Detail, "source_time_zone") {
		t.Errorf("warnings %v", b.Warnings)
	}
	lines, _ := readRanges(t, s, tab, b)
	equal(t, commitTimes(lines), []string{"2026-11-01T03:00:00.000000"})
	// An idle poll does not ask; a batch after the change does, once.
	if got := log.during(func() { latest(t, s, tab, to) }); len(got) != 1 {
		t.Errorf("an idle poll sends %s", got)
	}
	commitsAt(t, db, clock, utc("2026-11-01 12:00:00"))
	end := latest(t, s, tab, to)
	b = plan(t, s, tab, to, end)
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Summary, "UTC-05:00") {
		t.Errorf("warnings %v", b.Warnings)
	}
	lines, _ = readRanges(t, s, tab, b)
	equal(t, commitTimes(lines), []string{"2026-11-01T12:00:00.000000"})
	if said := strings.Join(log.said(), "\n"); strings.Count(said, "the server's clock moved") != 1 || !strings.Contains(said, "-240 -300") {
		t.Errorf("said %s", said)
	}
	t.Run("a zone that is configured", func(t *testing.T) {
		s := openWith(t, newPlugin(nil, log), own.DSN("shop"), written{"source_time_zone": str("Eastern Standard Time")})
		p := latest(t, s, tab, from)
		if got, _ := p.Commit(); !got.Equal(utc("2026-11-01 12:00:00")) {
			t.Errorf("%v", got)
		}
		if b := plan(t, s, tab, to, p); len(b.Warnings) != 0 {
			t.Errorf("warnings %v", b.Warnings)
		}
	})
	t.Run("a zone that the server does not know", func(t *testing.T) {
		s := openWith(t, newPlugin(nil, log), own.DSN("shop"), written{"source_time_zone": str("Middle Earth Standard Time")})
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: from})
		list := diag.FromError(err)
		if len(list) != 1 || list[0].Kind != diag.KindConfiguration || list[0].Path.String() != "source_time_zone" || list[0].Summary != `The server knows no time zone "Middle Earth Standard Time"` {
			t.Errorf("got %+v", list)
		}
	})
}

// What another stream's batch learns of an old server's clock does not change
// the one in hand: its end has a time, and its rows are read by the same clock.
func TestABatchHasOneClock(t *testing.T) {
	t.Parallel()
	log := &recorder{}
	own, db, clock := clockServer(t, mssqlsim.Options{Zone: "Eastern Standard Time", Version: mssqlsim.V2019}, utc("2026-11-01 03:00:00"))
	commitsAt(t, db, clock, utc("2026-11-01 03:00:00"))
	s := openWith(t, newPlugin(nil, log), own.DSN("shop"), nil)
	tab, other := table(), table()
	other.Address = "table.other"
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	commitsAt(t, db, clock, utc("2026-11-01 12:00:00"))
	latest(t, s, other, from)
	lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, to))
	equal(t, commitTimes(lines), []string{"2026-11-01T03:00:00.000000"})
	if got, _ := to.Commit(); !got.Equal(utc("2026-11-01 03:00:00")) {
		t.Errorf("end %v", got)
	}
	end := latest(t, s, tab, to)
	lines, _ = readRanges(t, s, tab, plan(t, s, tab, to, end))
	equal(t, commitTimes(lines), []string{"2026-11-01T12:00:00.000000"})
}

func TestACapturedTimeIsNeverShifted(t *testing.T) {
	t.Parallel()
	own, _, clock := clockServer(t, mssqlsim.Options{Zone: "E. South America Standard Time"}, utc("2026-07-01 12:00:00"))
	db := own.Database("shop")
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.v", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "at", Type: "datetime"}}}))
	must(t, db.EnableTable("dbo.v", mssqlsim.Capture{}))
	clock.Advance(time.Second)
	_, err := db.Tx(ctx, func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.v", 1, "2026-07-01T09:00:00") })
	must(t, err)
	s := openWith(t, newPlugin(nil, &recorder{}), own.DSN("shop"), nil)
	tab := table(written{"object": str("dbo.v")})
	from := start(t, s, tab, "earliest")
	lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, latest(t, s, tab, from)))
	equal(t, short(lines), []string{"2|1|2026-07-01T09:00:00.000000"})
	equal(t, commitTimes(lines), []string{"2026-07-01T12:00:01.000000"})
}
