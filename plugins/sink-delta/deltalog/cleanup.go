package deltalog

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const (
	// PropLogRetention is how long commits are kept, and with them history and versions
	// to go back to: 30 days when it is not set.
	PropLogRetention = "delta.logRetentionDuration"
	// PropLogCleanup says whether commits that are older are deleted at all.
	PropLogCleanup      = "delta.enableExpiredLogCleanup"
	defaultLogRetention = 30 * 24 * time.Hour
	// cleanupEvery is how many checkpoints are written between two cleanups, each of
	// which looks at all names in the log.
	cleanupEvery = 10
)

// logRetention is how long commits are kept.
func (p Properties) logRetention() time.Duration {
	if d, ok := parseInterval(p[PropLogRetention]); ok {
		return d
	}
	return defaultLogRetention
}

// logFile is an object of the log that belongs to a version.
type logFile struct {
	logName
	info store.Info
}

// CleanLog deletes what of the log is older than delta.logRetentionDuration, unless
// delta.enableExpiredLogCleanup is false, and returns how many objects that were. It keeps
// the newest checkpoint that is that old, the commit of its version, and all after it (Delta protocol:
// Metadata Cleanup): every version of the time that is kept can be read, and none before it.
//
// Objects go in the order of their versions, so that one that was interrupted leaves no gap.
// Commits clean the log by themselves now and then, after a checkpoint; see
// WithoutCheckpoints.
func (t *Table) CleanLog(ctx context.Context) (deleted int64, err error) {
	s, err := t.Snapshot(ctx)
	if err == nil {
		deleted, err = t.cleanLog(ctx, s)
	}
	if err != nil {
		return deleted, fmt.Errorf("clean the log of table %q: %w", t.path, err)
	}
	return deleted, nil
}

func (t *Table) cleanLog(ctx context.Context, s *Snapshot) (deleted int64, err error) {
	if err := checkWrite(s.protocol, s.metadata, s.schema); err != nil {
		return 0, err
	}
	props := s.Properties()
	if !props.Bool(PropLogCleanup, true) {
		return 0, nil
	}
	files, err := t.logFiles(ctx)
	if err != nil {
		return 0, err
	}
	keep, ok := t.cutoff(ctx, files, props.logRetention())
	if !ok {
		return 0, nil
	}
	for _, f := range files {
		// A compaction that begins in what goes holds what is in the checkpoint.
		if f.version > keep || f.version == keep && f.kind != compactionFile {
			continue
		}
		if err := t.store.Delete(ctx, f.info.Path); err != nil {
			return deleted, err
		}
		deleted++
	}
	sidecars, err := t.cleanSidecars(ctx, s)
	return deleted + sidecars, err
}

// logFiles are the objects of the log that belong to versions, in their order; those of
// one version with its commit first.
func (t *Table) logFiles(ctx context.Context) ([]logFile, error) {
	folder := t.object(logDir) + "/"
	var out []logFile
	for info, err := range t.store.List(ctx, folder, "") {
		if err != nil {
			return nil, err
		}
		name := info.Path[len(folder):]
		if name[0] > '9' {
			break
		}
		n := parseLogName(name)
		if n.kind == otherFile {
			version, rest, ok := cutNumber(name, versionLen)
			if !ok || rest != ".crc" {
				continue // somebody's own
			}
			n = logName{kind: otherFile, version: version}
		}
		out = append(out, logFile{n, info})
	}
	order := func(f logFile) int {
		if f.kind == commitFile {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b logFile) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(order(a), order(b)))
	})
	return out, nil
}

// cutoff is the version of the newest whole checkpoint that is not newer than the newest
// commit of before the retention; false when there is none. Its commit must be there, since
// other readers want it.
func (t *Table) cutoff(ctx context.Context, files []logFile, retention time.Duration) (int64, bool) {
	// Of two clocks that are apart the one behind counts: the store has dated the newest
	// object. In a table that nobody writes to nothing gets older.
	now := t.clock.Now()
	var newest time.Time
	for _, f := range files {
		if f.info.Modified.After(newest) {
			newest = f.info.Modified
		}
	}
	if newest.Before(now) {
		now = newest
	}
	// Midnight of the day, as Spark has it: a day more is kept, never less.
	before := now.Add(-retention).UTC().Truncate(24 * time.Hour)
	commits := map[int64]bool{}
	last := int64(-1)
	var committed time.Time // which only grows
	for _, f := range files {
		if f.kind != commitFile {
			continue
		}
		commits[f.version] = true
		if f.info.Modified.After(committed) {
			committed = f.info.Modified
		}
		if !committed.After(before) {
			last = f.version
		}
	}
	parts := map[[2]int64]int{}
	keep := int64(-1)
	for _, f := range files {
		whole := f.kind == classicCheckpoint || f.kind == uuidCheckpoint
		if f.kind == multiPartCheckpoint {
			key := [2]int64{f.version, int64(f.of)}
			parts[key]++
			whole = parts[key] == f.of
		}
		if whole && f.version <= last && commits[f.version] {
			keep = max(keep, f.version)
		}
	}
	if keep <= 0 {
		return 0, false
	}
	// It takes the place of all before it, so it is read before they go.
	if err := t.readable(ctx, keep); err != nil {
		t.log.WarnContext(ctx, "the log of a Delta table is not cleaned: a checkpoint cannot be read", "table", t.path, "version", keep, "error", err)
		return 0, false
	}
	return keep, true
}

// readable reports why no checkpoint of a version can be read.
func (t *Table) readable(ctx context.Context, version int64) error {
	l, err := t.list(ctx, version)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%w: it is gone", store.ErrNotExist)
	for _, c := range l.checkpoints {
		if c.version != version {
			continue
		}
		s := newState(t)
		if err = t.readCheckpoint(ctx, s, c); err == nil && (s.protocol == nil || s.metadata == nil) {
			err = fmt.Errorf("%w: it has no protocol or metaData", ErrCorrupt)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// cleanSidecars deletes sidecars that no checkpoint names and that are older than a day:
// younger ones may be of a checkpoint that is being written.
func (t *Table) cleanSidecars(ctx context.Context, s *Snapshot) (deleted int64, err error) {
	if !s.protocol.supports(featV2Checkpoint) {
		return 0, nil
	}
	l, err := t.list(ctx, 0)
	if err != nil {
		return 0, err
	}
	named := map[string]bool{}
	var newest time.Time
	for _, c := range l.checkpoints {
		sidecars, err := t.sidecarsOf(ctx, c)
		if err != nil {
			return 0, err // one that cannot be read may name any
		}
		for _, sc := range sidecars {
			named[path.Base(sc.Path)] = true
		}
		for _, f := range c.files {
			if f.Modified.After(newest) {
				newest = f.Modified
			}
		}
	}
	folder := t.object(logDir, sidecarDir) + "/"
	for info, err := range t.store.List(ctx, folder, "") {
		if err != nil {
			return deleted, err
		}
		name := strings.TrimPrefix(info.Path, folder)
		if named[EncodePath(name)] || named[name] || !info.Modified.Before(newest.Add(-24*time.Hour)) {
			continue
		}
		if err := t.store.Delete(ctx, info.Path); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}
