package mssql

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// A database that is restored in place begins another history from an LSN that
// streams have passed, and gives LSNs that they have read to other commits. The
// time of a commit tells: a stored position was one of this history when the
// mapping has its LSN with the time that it had.
//
// A position without a commit time proves nothing either way: it was given as
// an LSN, or lies just before an instance's first change, and is no commit's.

// newestOn is the newest commit, told by the same statement that looks whether
// the database still has a stored position.
func (s *session) newestOn(ctx context.Context, c *conn, p plugin.Position, l lsn.LSN) (lsn.LSN, error) {
	if !p.HasCommit {
		return maxLSN(ctx, c)
	}
	r, _, err := c.one(ctx, tsql.MaxLSNBeside(l.String()))
	if err != nil {
		return lsn.LSN{}, err
	}
	newest, _, err := r.lsn("lsn")
	if err != nil {
		return lsn.LSN{}, err
	}
	now, err := r.localTime("local_time")
	if err != nil {
		return lsn.LSN{}, err
	}
	if err := s.past(ctx, c, p, l, newest); err != nil {
		return lsn.LSN{}, err
	}
	// Where the position has no entry there is a newer commit, and planning
	// the batch looks why.
	return newest, s.sameCommit(ctx, c, p, l, now)
}

// past is the error of a position behind which no commit lies, not even its own. On
// a readable secondary it has not come yet.
func (s *session) past(ctx context.Context, c *conn, p plugin.Position, l, newest lsn.LSN) error {
	// NULL is a state of capture, not of the past: there is nothing new.
	if newest.IsZero() || !newest.Less(l) || !p.HasCommit {
		return nil
	}
	r, _, err := c.one(ctx, tsql.Updateability())
	if err != nil {
		return err
	}
	if r.text("updateability") == "READ_ONLY" {
		return behind(c, newest, l)
	}
	return rewound(p, fmt.Sprintf("The newest commit it knows is %s.", newest))
}

// caughtUp makes sure that the server behind a connection has all commits up to a
// position. Connections of one session may lead to different replicas, and a copy
// that was restored under the same name has the same identity: what such a one
// lacks would be missing without a word. captured tells that what is read comes
// from change tables: where nothing is captured, which NULL says, there are none,
// and the read says so itself.
func (s *session) caughtUp(ctx context.Context, c *conn, to lsn.LSN, captured bool) error {
	newest, err := maxLSN(ctx, c)
	if err != nil || !newest.Less(to) || newest.IsZero() && captured {
		return err
	}
	return behind(c, newest, to)
}

// behind is the error of a server that lacks commits.
func behind(c *conn, newest, to lsn.LSN) error {
	return diag.Errorf(diag.KindTransient, codeBehind,
		"A replica that lags behind answers, or a copy that was restored from an older backup; connections with ApplicationIntent=ReadOnly may each lead to another one. Nothing was read there. Where it comes again, let the address lead to one server.",
		"The database %s that answers has commits up to %s, and those up to %s are to be read", c.database.display, newest, to).Err()
}

// checkTimeLine looks whether the positions between which a batch lies are still
// commits of this database with the times they had.
func (b *batch) checkTimeLine(ctx context.Context, c *conn) error {
	for _, p := range []struct {
		plugin.Position
		lsn lsn.LSN
	}{{b.req.Start, b.start}, {b.req.End, b.end}} {
		if !p.HasCommit {
			continue
		}
		now, err := entryTime(ctx, c, p.lsn)
		if err != nil {
			return err
		}
		if err := b.onTimeLine(ctx, c, p.Position, p.lsn, now, b.found.instances); err != nil {
			return err
		}
	}
	return nil
}

// entryTime is the local time of an LSN's entry, nil when it has none.
func entryTime(ctx context.Context, c *conn, l lsn.LSN) (*int64, error) {
	q, err := tsql.Entry(l.String(), "")
	if err != nil {
		return nil, err
	}
	r, _, err := c.one(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.localTime("local_time")
}

// onTimeLine looks whether a position is of this database's history; now is the
// local time of its entry, nil when it has none. Below the low watermarks entries
// are gone, and that is the retention guard's case.
func (s *session) onTimeLine(ctx context.Context, c *conn, p plugin.Position, l lsn.LSN, now *int64, instances []instance) error {
	if now != nil || !p.HasCommit {
		return s.sameCommit(ctx, c, p, l, now)
	}
	// Cleanup moves a watermark before it deletes, and keeps entries from the
	// lowest watermark of all instances on, which is at or below the lowest of
	// this table's. Asked after the entry was found missing, it is no cleanup
	// under way that took it.
	for _, ci := range instances {
		m, err := minLSN(ctx, c, ci.name)
		if err != nil {
			return err
		}
		if !m.IsZero() && m.Compare(l) <= 0 {
			newest, err := maxLSN(ctx, c)
			if err == nil {
				err = s.past(ctx, c, p, l, newest)
			}
			if err != nil {
				return err
			}
			// A replica may have come so far since it was asked for the entry.
			now, err := entryTime(ctx, c, l)
			if err != nil {
				return err
			}
			if now != nil {
				return s.sameCommit(ctx, c, p, l, now)
			}
			return rewound(p, fmt.Sprintf("Changes of %s are kept from %s on, so it should.", ci.name, m))
		}
	}
	return nil
}

// sameCommit looks whether a position's entry, whose local time is now, is of the
// commit that the position was of.
func (s *session) sameCommit(ctx context.Context, c *conn, p plugin.Position, l lsn.LSN, now *int64) error {
	if now == nil || !p.HasCommit || sameTime(*now, p.CommitMicros) {
		return nil
	}
	is, err := s.position(ctx, c, l)
	if err != nil {
		return err
	}
	return rewound(p, fmt.Sprintf("That commit is now of %s, it was of %s.", formatLocal(is.CommitMicros), formatLocal(p.CommitMicros)))
}

// sameTime compares an entry's local time with the UTC time that was stored of a
// commit. They differ by the offset of the clock by which it was stored, and that
// may have been another one than today's: a guess on an older server, of another
// source_time_zone, or of a server in another zone from which the database was
// moved since. So every offset that a clock can have counts: whole quarters of an
// hour, up to 14 hours (Microsoft: datetimeoffset; Default time zones).
func sameTime(local, stored int64) bool {
	d := local - stored
	return d%minutes(15) == 0 && -minutes(14*60) <= d && d <= minutes(14*60)
}

func rewound(p plugin.Position, how string) error {
	d := diag.Errorf(diag.KindRewound, codeRewound,
		"This happens when another server answers, which is to be checked first, or when a database is restored. "+how+" Nothing was read. Bronze holds changes of the time line that was lost. "+plugin.LoadAnew,
		"The source no longer has the commit %s that was read", p.Text)
	d.Data = map[string]string{"lsn": p.Text}
	return d.Err()
}
