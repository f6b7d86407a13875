package mssql

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// clock is how the server's local commit times become UTC: by a named zone,
// by one offset (servers before 2022), or not at all. The server computes
// offsets: its rules are those of Windows, not of IANA.
type clock struct {
	zone string
	// offset is minutes east of UTC, for fixed only.
	offset int
	fixed  bool
}

// shift is the window in which a zone moves its clock at most once and by no
// more: 3 hours.
const shift = 3 * time.Hour

// stable is how far apart the commits of a range may be for one offset to be
// proof: no zone moves its clock twice in a week.
const stable = 7 * 24 * time.Hour

// offsetName is the printable name of a fixed offset: UTC-03:00.
func offsetName(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("UTC%c%02d:%02d", sign, minutes/60, minutes%60)
}

// clocks is the clock of a session: detected once, shared by all tables.
type clocks struct {
	configured string
	log        *slog.Logger

	mu       sync.Mutex
	known    bool
	clock    clock
	warnings diag.List
}

// get detects the clock at the first call.
func (k *clocks) get(ctx context.Context, c *conn) (clock, error) {
	k.mu.Lock()
	known, have := k.known, k.clock
	k.mu.Unlock()
	if known {
		return have, nil
	}
	found, err := k.detect(ctx, c)
	if err != nil {
		return clock{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.known {
		k.known, k.clock = true, found
		if found.fixed {
			k.warnFixed(found.offset)
		}
	}
	return k.clock, nil
}

func (k *clocks) detect(ctx context.Context, c *conn) (clock, error) {
	switch k.configured {
	case "UTC":
		return clock{}, nil
	case "", "auto":
	default:
		return clock{zone: k.configured}, nil
	}
	r, _, err := c.one(ctx, tsql.ServerVersion())
	if err != nil {
		return clock{}, err
	}
	if !knowsItsZone(r.text("version"), r.text("edition")) {
		minutes, err := currentOffset(ctx, c)
		return clock{offset: minutes, fixed: true}, err
	}
	r, _, err = c.one(ctx, tsql.ZoneName())
	if err != nil {
		return clock{}, err
	}
	zone := r.text("zone")
	if err := tsql.CheckZone(zone); err != nil {
		return clock{}, fmt.Errorf("the server names its zone: %w", err)
	}
	if strings.EqualFold(zone, "UTC") {
		return clock{}, nil
	}
	return clock{zone: zone}, nil
}

// knowsItsZone reports whether CURRENT_TIMEZONE_ID compiles: SQL Server 2022,
// Azure SQL Database (edition 5) and Managed Instance (8). An older server
// refuses a batch that merely mentions it.
func knowsItsZone(version, edition string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 16 || edition == "5" || edition == "8"
}

func currentOffset(ctx context.Context, c *conn) (int, error) {
	r, _, err := c.one(ctx, tsql.ZoneOffset())
	return int(r.integer("minutes")), err
}

// refresh reads a fixed offset again, once per new batch.
func (k *clocks) refresh(ctx context.Context, c *conn) (clock, error) {
	have, err := k.get(ctx, c)
	if err != nil || !have.fixed {
		return have, err
	}
	minutes, err := currentOffset(ctx, c)
	if err != nil {
		return have, err
	}
	have.offset = minutes
	k.mu.Lock()
	defer k.mu.Unlock()
	if minutes != k.clock.offset {
		k.log.Warn("the server's clock moved", "old_minutes", k.clock.offset, "new_minutes", minutes)
		k.clock.offset = minutes
		k.warnFixed(minutes)
	}
	return have, nil
}

// batchClock is the clock of a table's batch: the one by which Latest told the
// time of its end, however often the batches of other tables have asked since.
// A batch that this session did not begin has the session's.
func (s *session) batchClock(ctx context.Context, c *conn, st *tableState) (clock, error) {
	st.mu.Lock()
	have := st.clock
	st.mu.Unlock()
	if have != nil {
		return *have, nil
	}
	return s.clocks.get(ctx, c)
}

// warnFixed says once per offset that it is a guess; k.mu is held.
func (k *clocks) warnFixed(minutes int) {
	w := diag.Warningf(codeClockOffset, "Where its clock has daylight saving set source_time_zone to its Windows zone, or times around a change are an hour off.",
		"Commit times are taken to be %s, the offset of the server's clock now", offsetName(minutes))
	if slices.ContainsFunc(k.warnings, func(d diag.Diagnostic) bool { return d.Summary == w.Summary }) {
		return
	}
	k.warnings = append(k.warnings, w)
	k.log.Warn(w.Summary)
}

// said are the warnings so far.
func (k *clocks) said() diag.List {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.warnings)
}

// parseLocal reads ISO 8601 without zone, with or without a fraction, as
// microseconds.
func parseLocal(text string) (int64, error) {
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		return 0, fmt.Errorf("commit time: %w", err)
	}
	return t.UnixMicro(), nil
}

func formatLocal(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000")
}

func minutes(n int64) int64 { return n * time.Minute.Microseconds() }

// entry is one commit: its LSN and its time in UTC.
type entry struct {
	lsn    lsn.LSN
	commit int64
}

// repeated tells whether a zone's clock shows the record's time twice, and
// whether the record stands right behind a clock set back.
func repeated(r record) bool {
	return r.integer("off_3") < r.integer("off_0") && r.integer("off_1") == r.integer("off_3")
}

// drop is a commit at a repeated time that reads earlier than the one before
// it: from there on the second pass counts.
type drop struct {
	lsn   lsn.LSN
	local int64
}

// second reports whether a commit is in the second pass.
func second(drops []drop, l lsn.LSN, local int64) bool {
	for _, d := range drops {
		if d.lsn.Compare(l) <= 0 && d.local > local-shift.Microseconds() {
			return true
		}
	}
	return false
}

// drops lists those that commits from the local time since up to an LSN can
// follow.
func (k clock) drops(ctx context.Context, c *conn, since int64, to lsn.LSN) ([]drop, error) {
	q, err := tsql.Drops(formatLocal(since-shift.Microseconds()), to.String(), k.zone)
	if err != nil {
		return nil, err
	}
	var out []drop
	err = c.each(ctx, q, func(r record) error {
		if !repeated(r) {
			return nil
		}
		l, _, err := r.lsn("lsn")
		if err != nil {
			return err
		}
		local, err := parseLocal(r.text("local_time"))
		out = append(out, drop{l, local})
		return err
	})
	return out, err
}

// entries converts mapping entries.
func (k clock) entries(ctx context.Context, c *conn, q tsql.Query) ([]entry, error) {
	type repeat struct {
		index       int
		local, off3 int64
	}
	var out []entry
	var again []repeat
	err := c.each(ctx, q, func(r record) error {
		l, _, err := r.lsn("lsn")
		if err != nil {
			return err
		}
		local, err := parseLocal(r.text("local_time"))
		if err != nil {
			return err
		}
		e := entry{lsn: l, commit: local - minutes(int64(k.offset))}
		if k.zone != "" {
			if e.commit, err = parseLocal(r.text("utc_time")); err != nil {
				return err
			}
			if repeated(r) {
				again = append(again, repeat{len(out), local, r.integer("off_3")})
			}
		}
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, a := range again {
		e := &out[a.index]
		drops, err := k.drops(ctx, c, a.local, e.lsn)
		if err != nil {
			return nil, err
		}
		if second(drops, e.lsn, a.local) {
			e.commit = a.local - minutes(a.off3)
		}
	}
	return out, nil
}

// time is the commit time of an LSN; ok is false when it is no commit's.
func (k clock) time(ctx context.Context, c *conn, l lsn.LSN) (micros int64, ok bool, err error) {
	return k.first(ctx, c, tsql.Entry, l)
}

// timeBefore is the time of the last commit at or before an LSN.
func (k clock) timeBefore(ctx context.Context, c *conn, l lsn.LSN) (micros int64, ok bool, err error) {
	return k.first(ctx, c, tsql.EntryBefore, l)
}

func (k clock) first(ctx context.Context, c *conn, statement func(l, zone string) (tsql.Query, error), l lsn.LSN) (int64, bool, error) {
	q, err := statement(l.String(), k.zone)
	if err != nil {
		return 0, false, err
	}
	found, err := k.entries(ctx, c, q)
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	return found[0].commit, true, nil
}

// rangeClock is how the rows of one range are converted: by one shift, or row
// by row near a change of the zone's clock.
type rangeClock struct {
	// minutes is subtracted from every local time unless perRow.
	minutes int64
	perRow  bool
	drops   []drop
}

// forRange asks once how the rows of a range are converted. A conversion per
// row costs more than twice the read.
func (k clock) forRange(ctx context.Context, c *conn, from, to lsn.LSN) (rangeClock, error) {
	if k.zone == "" {
		return rangeClock{minutes: int64(k.offset)}, nil
	}
	q, err := tsql.RangeOffsets(from.String(), to.String(), k.zone)
	if err != nil {
		return rangeClock{}, err
	}
	r, ok, err := c.one(ctx, q)
	if err != nil {
		return rangeClock{}, err
	}
	if !ok || r.null("first") {
		return rangeClock{perRow: true}, nil // no commits, so no rows
	}
	first, err := parseLocal(r.text("first"))
	if err != nil {
		return rangeClock{}, err
	}
	last, err := parseLocal(r.text("last"))
	if err != nil {
		return rangeClock{}, err
	}
	if r.integer("off_first") == r.integer("off_last") && last-first < stable.Microseconds() {
		return rangeClock{minutes: r.integer("off_first")}, nil
	}
	drops, err := k.drops(ctx, c, first, to)
	return rangeClock{perRow: true, drops: drops}, err
}
