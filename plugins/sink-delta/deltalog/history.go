package deltalog

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Commit is one entry of the history.
type Commit struct {
	Version int64
	// Timestamp is the commit's in-commit timestamp, else the time of its file.
	Timestamp time.Time
	// Info is what the writer says; its zero value when it says nothing.
	Info CommitInfo
	// DataChange is true when the commit changed rows, not only their place.
	DataChange bool
	// Added and Removed count files.
	Added, Removed int
	// MetadataChanged and ProtocolChanged say whether the commit has such an
	// action.
	MetadataChanged, ProtocolChanged bool
	// Txns are the application versions that the commit recorded.
	Txns []Txn
}

// UserMetadata is the text that the commit carries, "" when there is none.
func (c *Commit) UserMetadata() string {
	if c.Info.UserMetadata == nil {
		return ""
	}
	return *c.Info.UserMetadata
}

// Metric is a number of the operation metrics, for example numOutputRows.
func (c *Commit) Metric(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(c.Info.OperationMetrics[name], 10, 64)
	return n, err == nil
}

// History yields the commits after a version (-1: from the first), oldest
// first, up to the newest at the time of the call. Commits that log cleanup has
// deleted are missing at the start, so the first may be later than after+1; a
// gap behind it is an error. It stops after the first error.
func (t *Table) History(ctx context.Context, after int64) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		l, err := t.list(ctx, after+1)
		if err != nil {
			yield(nil, err)
			return
		}
		versions := slices.Sorted(maps.Keys(l.commits))
		if len(versions) == 0 {
			return
		}
		for v := versions[0]; v <= versions[len(versions)-1]; v++ {
			c, err := t.readCommit(ctx, l, v)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (t *Table) readCommit(ctx context.Context, l *listing, version int64) (*Commit, error) {
	info, err := t.commitInfo(ctx, l, version)
	if err != nil {
		return nil, fmt.Errorf("history of table %q: version %d: %w", t.path, version, err)
	}
	data, err := t.store.Get(ctx, info.Path)
	if err != nil {
		return nil, fmt.Errorf("history of table %q: version %d: %w", t.path, version, err)
	}
	b, err := parseCommit(info.Path, data)
	if err != nil {
		return nil, fmt.Errorf("history of table %q: %w", t.path, err)
	}
	c := &Commit{
		Version: version, Timestamp: info.Modified.UTC(), Added: len(b.adds), Removed: len(b.removes),
		MetadataChanged: b.metadata != nil, ProtocolChanged: b.protocol != nil,
	}
	if b.info != nil {
		c.Info = *b.info
		if b.info.InCommitTimestamp != nil {
			c.Timestamp = time.UnixMilli(*b.info.InCommitTimestamp).UTC()
		}
	}
	c.DataChange = slices.ContainsFunc(b.adds, func(a *Add) bool { return a.DataChange }) ||
		slices.ContainsFunc(b.removes, func(r *Remove) bool { return r.DataChange })
	for _, txn := range b.txns {
		c.Txns = append(c.Txns, *txn)
	}
	return c, nil
}
