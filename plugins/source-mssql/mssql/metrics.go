package mssql

import (
	"context"
	"time"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// What is measured never fails a read: what the server does not tell is nil.

// ping is the time of one round trip.
func (s *session) ping(ctx context.Context, c *conn, began time.Time) *float64 {
	if _, _, err := c.one(ctx, tsql.Ping()); err != nil {
		return nil
	}
	ms := float64(s.now().Sub(began).Microseconds()) / 1000
	return &ms
}

// networkWait is how long the session has waited for us to take rows.
func networkWait(ctx context.Context, c *conn) (int64, bool) {
	r, ok, err := c.one(ctx, tsql.NetworkWait())
	if err != nil {
		return 0, false
	}
	if !ok {
		return 0, true
	}
	return r.integer("wait_ms"), true
}

// measureSource adds what only the last range of a batch measures.
func (r *rangeRead) measureSource(ctx context.Context, c *conn, m lsn.LSN, into *plugin.ReadMetrics) {
	commit := func(l lsn.LSN) *int64 {
		t, ok, err := r.clock.time(ctx, c, l)
		if err != nil || !ok {
			return nil
		}
		return &t
	}
	newest, err := maxLSN(ctx, c)
	at := r.now()
	if err == nil && !newest.IsZero() {
		into.SourceMaxCommit = commit(newest)
	}
	into.RetentionWatermark = commit(m)
	into.ToCommit = commit(r.to)
	if into.SourceMaxCommit != nil {
		lag := float64(at.UnixMicro()-*into.SourceMaxCommit) / 1e6
		into.CaptureLagSeconds = &lag
	}
}
