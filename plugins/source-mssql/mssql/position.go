package mssql

import (
	"context"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// Start is the position of a new stream, exclusive.
func (s *session) Start(ctx context.Context, req plugin.StartRequest) (plugin.Position, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return plugin.Position{}, err
	}
	var out plugin.Position
	err = s.plan(ctx, "start", func(c *conn) error {
		var l lsn.LSN
		switch word := strings.ToLower(strings.TrimSpace(req.From)); word {
		case "", "earliest", "latest":
			r, err := s.discover(ctx, c, cfg, st)
			if err != nil {
				return err
			}
			oldest := r.instances[0]
			if word == "latest" {
				if l, err = stamp(ctx, c, oldest); err != nil {
					return err
				}
				if l.IsZero() {
					return neverCaptured(oldest.name)
				}
				break
			}
			m, err := needMinLSN(ctx, c, oldest.name)
			if err != nil {
				return err
			}
			if l, err = decrement(ctx, c, m); err != nil {
				return err
			}
		default:
			if l, err = lsn.Parse(req.From); err != nil {
				return diag.Errorf(diag.KindConfiguration, codePosition, `Write "earliest", "latest", or an LSN such as 0x0000002A000001F00003.`,
					"%q is no starting position", req.From).At("starting_position").Err()
			}
			if err := s.canStart(ctx, c, cfg, st, l); err != nil {
				return err
			}
		}
		out, err = s.position(ctx, c, l)
		return err
	})
	return out, err
}

// canStart refuses a starting position that the stream could not go on from. Once
// its first batch is stored, another position is of no use to it.
func (s *session) canStart(ctx context.Context, c *conn, cfg tableConfig, st *tableState, at lsn.LSN) error {
	newest, err := maxLSN(ctx, c)
	if err != nil {
		return err
	}
	if newest.Less(at) {
		// A stream that starts there would wait without a word.
		return diag.Errorf(diag.KindConfiguration, codePosition, `Write "latest" or "earliest", or check which database this is: a position means something only in the one that it comes from. The newest commit here is `+newest.String()+".",
			"The starting position %s lies after every commit of this database", at).At("starting_position").Err()
	}
	r, err := s.discover(ctx, c, cfg, st)
	if err != nil {
		return err
	}
	next, err := increment(ctx, c, at)
	if err != nil {
		return err
	}
	ci := responsible(r.instances, next)
	m, err := needMinLSN(ctx, c, ci.name)
	if err != nil || !next.Less(m) {
		return err
	}
	d := diag.Errorf(diag.KindDataLoss, codeDataLoss, "The oldest change of "+ci.name+" that is kept is "+m.String()+`, and what came before it was purged by cleanup, or is from before the capture instance. Write "earliest", or a later position; or bootstrap = "full" in its place, which reads the rows of the table first.`,
		"Changes after the starting position %s are no longer kept", at).At("starting_position")
	d.Data = map[string]string{"capture_instance": ci.name, "from": next.String(), "min_lsn": m.String()}
	return d.Err()
}

func neverCaptured(instance string) error {
	d := diag.Errorf(diag.KindNotReady, codeNotReady, "Retry once the capture job has run; is SQL Server Agent running?", "Nothing was ever captured, and the start of %s is not known", instance)
	d.Data = map[string]string{"capture_instance": instance}
	return d.Err()
}

// stamp is a position that a read which starts later covers: the newest
// commit that capture has processed, or just before the start of an instance
// that capture has not reached yet.
func stamp(ctx context.Context, c *conn, ci instance) (lsn.LSN, error) {
	newest, err := maxLSN(ctx, c)
	if err != nil || !ci.hasStart {
		return newest, err
	}
	before, err := decrement(ctx, c, ci.start)
	return lsn.Max(newest, before), err
}

// Stamp records a position before a read of the source table.
func (s *session) Stamp(ctx context.Context, table plugin.SourceTable) (plugin.Position, error) {
	cfg, st, err := s.parse(table)
	if err != nil {
		return plugin.Position{}, err
	}
	var out plugin.Position
	err = s.plan(ctx, "stamp", func(c *conn) error {
		r, err := s.discover(ctx, c, cfg, st)
		if err != nil {
			return err
		}
		l, err := stamp(ctx, c, r.reader())
		if err != nil {
			return err
		}
		out, err = s.position(ctx, c, l)
		return err
	})
	return out, err
}

// Latest is the end of the next batch. With nothing new it is one query.
func (s *session) Latest(ctx context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	after, err := parsePosition(req.After, "the position to go on from")
	if err != nil {
		return plugin.LatestResponse{}, err
	}
	var until lsn.LSN
	if !req.Until.IsZero() {
		if until, err = parsePosition(req.Until, "this run's target"); err != nil {
			return plugin.LatestResponse{}, err
		}
	}
	var out plugin.LatestResponse
	st := s.state(req.Table.Address)
	err = s.plan(ctx, "latest", func(c *conn) error {
		// Before the newest position, which is then at least as new.
		lag, err := captureLag(ctx, c, req.CaptureLag)
		if err != nil {
			return err
		}
		newest, err := s.newestOn(ctx, c, req.After, after)
		if err != nil {
			return err
		}
		upper := newest
		if !req.Until.IsZero() && until.Less(upper) {
			upper = until
		}
		if upper.Compare(after) <= 0 {
			out = plugin.LatestResponse{End: req.After, Newest: s.seen(newest, req), CaptureLag: lag}
			return nil
		}
		if req.MaxCommits > 0 {
			q, err := tsql.NthAfter(after.String(), req.MaxCommits)
			if err != nil {
				return err
			}
			l, ok, err := c.lsn(ctx, q)
			if err != nil {
				return err
			}
			if ok && l.Less(upper) {
				upper = l
			}
		}
		k, err := s.clocks.refresh(ctx, c)
		if err != nil {
			return err
		}
		if upper, err = s.beforeSwitch(ctx, c, req.Table, after, upper); err != nil {
			return err
		}
		if out.End, err = k.position(ctx, c, upper); err != nil {
			return err
		}
		st.mu.Lock()
		st.clock = &k
		st.mu.Unlock()
		out.CaptureLag = lag
		out.Newest, err = s.timeOfNewest(ctx, c, newest, out.End)
		return err
	})
	return out, err
}

// captureLag is how far capture is behind the server's clock, nil when nobody asks
// or nothing was captured yet. In the hour that a clock set back tells twice it may
// be below zero: that is not known, too.
func captureLag(ctx context.Context, c *conn, asked bool) (*time.Duration, error) {
	if !asked {
		return nil, nil
	}
	r, ok, err := c.one(ctx, tsql.CaptureLag())
	if err != nil || !ok || r.null("lag_ms") || r.integer("lag_ms") < 0 {
		return nil, err
	}
	return new(time.Duration(r.integer("lag_ms")) * time.Millisecond), nil
}

// seen is the newest position without asking for its time.
func (s *session) seen(newest lsn.LSN, req plugin.LatestRequest) plugin.Position {
	if newest.IsZero() {
		return plugin.Position{}
	}
	text := newest.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range []plugin.Position{req.After, req.Until, s.newest} {
		if known.Text == text {
			return known
		}
	}
	return plugin.Position{Text: text}
}

// timeOfNewest looks a newest commit's time up once.
func (s *session) timeOfNewest(ctx context.Context, c *conn, newest lsn.LSN, end plugin.Position) (plugin.Position, error) {
	s.mu.Lock()
	have := s.newest
	s.mu.Unlock()
	text := newest.String()
	var err error
	switch text {
	case have.Text:
		return have, nil
	case end.Text:
		have = end
	default:
		have, err = s.position(ctx, c, newest)
	}
	if err != nil {
		return plugin.Position{}, err
	}
	s.mu.Lock()
	s.newest = have
	s.mu.Unlock()
	return have, nil
}

// Lost tells for positions whether the changes right after them are purged.
func (s *session) Lost(ctx context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	cfg, st, err := s.parse(req.Table)
	if err != nil {
		return plugin.LostResponse{}, err
	}
	var out plugin.LostResponse
	err = s.plan(ctx, "lost", func(c *conn) error {
		out = plugin.LostResponse{Lost: make([]bool, len(req.Positions))}
		r, err := s.discover(ctx, c, cfg, st)
		if err != nil {
			return err
		}
		marks := map[string]lsn.LSN{}
		for i, p := range req.Positions {
			l, err := parsePosition(p, "a position to test")
			if err != nil {
				return err
			}
			next, err := increment(ctx, c, l)
			if err != nil {
				return err
			}
			ci := responsible(r.instances, next)
			m, ok := marks[ci.name]
			if !ok {
				if m, err = needMinLSN(ctx, c, ci.name); err != nil {
					return err
				}
				marks[ci.name] = m
			}
			out.Lost[i] = next.Less(m)
		}
		m, err := minLSN(ctx, c, r.instances[0].name)
		if err != nil || m.IsZero() {
			return err
		}
		out.Oldest, err = s.position(ctx, c, m)
		return err
	})
	return out, err
}

// responsible is the instance that changes from an LSN on are read from: the
// newest one that had started, else the oldest.
func responsible(instances []instance, from lsn.LSN) instance {
	for i := len(instances) - 1; i > 0; i-- {
		if ci := instances[i]; ci.hasStart && ci.start.Compare(from) <= 0 {
			return ci
		}
	}
	return instances[0]
}
