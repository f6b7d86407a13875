package deltalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const (
	logDir      = "_delta_log"
	sidecarDir  = "_sidecars"
	versionLen  = 20
	newest      = int64(-1) // as a target: the newest version
	beforeFirst = int64(-1) // as a start: before version 0
)

// commitName is the name of a version's commit inside the log folder.
func commitName(version int64) string { return fmt.Sprintf("%020d.json", version) }

// logName is a parsed name inside the log folder.
type logName struct {
	kind     logKind
	version  int64
	end      int64 // of a compaction
	part, of int   // of a multi-part checkpoint
}

type logKind int

const (
	otherFile logKind = iota
	commitFile
	compactionFile
	classicCheckpoint
	multiPartCheckpoint
	uuidCheckpoint
)

// parseLogName recognises the names that the protocol gives files of the log.
func parseLogName(name string) logName {
	version, rest, ok := cutNumber(name, versionLen)
	if !ok {
		return logName{}
	}
	switch rest {
	case ".json":
		return logName{kind: commitFile, version: version}
	case ".checkpoint.parquet":
		return logName{kind: classicCheckpoint, version: version}
	}
	if mid, ok := strings.CutPrefix(rest, ".checkpoint."); ok {
		if part, rest, ok := cutNumber(mid, 10); ok && strings.HasPrefix(rest, ".") {
			if of, rest, ok := cutNumber(rest[1:], 10); ok && rest == ".parquet" && part >= 1 && part <= of && of < 1<<20 {
				return logName{kind: multiPartCheckpoint, version: version, part: int(part), of: int(of)}
			}
		}
		if id, ext, ok := strings.Cut(mid, "."); ok && len(id) == 36 && (ext == "json" || ext == "parquet") {
			return logName{kind: uuidCheckpoint, version: version}
		}
		return logName{}
	}
	if end, rest, ok := cutNumber(strings.TrimPrefix(rest, "."), versionLen); ok && rest == ".compacted.json" && end > version {
		return logName{kind: compactionFile, version: version, end: end}
	}
	return logName{}
}

// cutNumber reads a number of exactly width digits at the start of s.
func cutNumber(s string, width int) (n int64, rest string, ok bool) {
	if len(s) < width {
		return 0, "", false
	}
	for _, c := range []byte(s[:width]) {
		if c < '0' || c > '9' {
			return 0, "", false
		}
	}
	n, err := strconv.ParseInt(s[:width], 10, 64)
	return n, s[width:], err == nil
}

// checkpointFiles are the objects of one complete checkpoint.
type checkpointFiles struct {
	version int64
	kind    logKind
	files   []store.Info
}

// listing is what a look at the log folder found.
type listing struct {
	commits     map[int64]store.Info
	compactions []compaction
	checkpoints []checkpointFiles // complete ones, ascending
	newest      int64             // newest commit or checkpoint, -1 if there is none
}

type compaction struct {
	from, to int64
	info     store.Info
}

// list reads the names in the log folder from a version on. Names of the log
// begin with digits and so stand before folders such as _sidecars, which are
// never walked.
func (t *Table) list(ctx context.Context, from int64) (*listing, error) {
	l := &listing{commits: map[int64]store.Info{}, newest: -1}
	folder := t.object(logDir) + "/"
	parts := map[[2]int64][]store.Info{}
	for info, err := range t.store.List(ctx, folder, folder+fmt.Sprintf("%020d", max(from, 0))) {
		if err != nil {
			return nil, fmt.Errorf("list the log of table %q: %w", t.path, err)
		}
		name := info.Path[len(folder):]
		if name[0] > '9' {
			break
		}
		n := parseLogName(name)
		switch n.kind {
		case otherFile:
			continue
		case commitFile:
			l.commits[n.version] = info
		case compactionFile:
			l.compactions = append(l.compactions, compaction{n.version, n.end, info})
			continue
		case classicCheckpoint, uuidCheckpoint:
			l.checkpoints = append(l.checkpoints, checkpointFiles{n.version, n.kind, []store.Info{info}})
		case multiPartCheckpoint:
			// Names list in the order of their parts.
			key := [2]int64{n.version, int64(n.of)}
			parts[key] = append(parts[key], info)
			if len(parts[key]) < n.of {
				continue
			}
			l.checkpoints = append(l.checkpoints, checkpointFiles{n.version, n.kind, parts[key]})
		}
		l.newest = max(l.newest, n.version)
	}
	slices.SortStableFunc(l.checkpoints, func(a, b checkpointFiles) int { return int(a.version - b.version) })
	return l, nil
}

// commit returns the object of a version's commit. A listing of a folder that
// is being written may miss a name and show a later one, so a gap is looked at
// before it is believed.
func (t *Table) commitInfo(ctx context.Context, l *listing, version int64) (store.Info, error) {
	if info, ok := l.commits[version]; ok {
		return info, nil
	}
	info, err := t.store.Head(ctx, t.object(logDir, commitName(version)))
	if err != nil {
		return store.Info{}, err
	}
	l.commits[version] = info
	return info, nil
}

// step is one file to replay: a commit or a compaction.
type step struct {
	from, to int64
	info     store.Info
}

// steps says which files lead from after version start to version target.
func (t *Table) steps(ctx context.Context, l *listing, start, target int64) ([]step, error) {
	var out []step
	for v := start + 1; v <= target; {
		best := step{from: v, to: -1}
		for _, c := range l.compactions {
			if c.from == v && c.to <= target && c.to > best.to {
				best.to, best.info = c.to, c.info
			}
		}
		if best.to < 0 {
			info, err := t.commitInfo(ctx, l, v)
			if errors.Is(err, store.ErrNotExist) {
				return nil, t.missing(l, v)
			}
			if err != nil {
				return nil, fmt.Errorf("look for version %d of table %q: %w", v, t.path, err)
			}
			best.to, best.info = v, info
		}
		out = append(out, best)
		v = best.to + 1
	}
	return out, nil
}

func (t *Table) missing(l *listing, version int64) error {
	oldest := int64(-1)
	for v := range l.commits {
		if oldest < 0 || v < oldest {
			oldest = v
		}
	}
	return fmt.Errorf("%w: table %q: version %d is missing in the log (%s); its oldest commit is %d and no checkpoint covers the gap",
		ErrCorrupt, t.path, version, commitName(version), oldest)
}

// loadAt builds the state of a version from checkpoint and commits. It takes
// the newest checkpoint that can be read, since an older one or the commits
// alone give the same state.
func (t *Table) loadAt(ctx context.Context, target int64) (*Snapshot, error) {
	from := int64(0)
	if h, ok := t.readHint(ctx); ok && (target == newest || h.Version <= target) {
		from = h.Version
	}
	for {
		l, err := t.list(ctx, from)
		if err != nil {
			return nil, err
		}
		if len(l.checkpoints) == 0 && from > 0 {
			// The hint is wrong, or cleanup is at work.
			from = 0
			continue
		}
		s, err := t.loadFrom(ctx, l, target)
		if err != nil && from > 0 && errors.Is(err, ErrCorrupt) {
			from = 0
			continue
		}
		return s, err
	}
}

func (t *Table) loadFrom(ctx context.Context, l *listing, target int64) (*Snapshot, error) {
	if l.newest < 0 {
		return nil, fmt.Errorf("%w: no commit in %q", ErrNotTable, t.object(logDir))
	}
	if target == newest {
		target = l.newest
	} else if target > l.newest {
		return nil, fmt.Errorf("%w: table %q is at version %d, not %d", ErrVersionNotFound, t.path, l.newest, target)
	}
	var failed error
	for i := len(l.checkpoints) - 1; i >= 0; i-- {
		c := l.checkpoints[i]
		if c.version > target {
			continue
		}
		s := newState(t)
		err := t.readCheckpoint(ctx, s, c)
		if err == nil {
			s.version = c.version
			if info, ok := l.commits[c.version]; ok {
				s.commit = info
			}
			return t.finish(ctx, s, l, target)
		}
		if !errors.Is(err, ErrCorrupt) {
			return nil, err
		}
		t.log.WarnContext(ctx, "a checkpoint of a Delta table cannot be read; an older one is tried",
			"table", t.path, "version", c.version, "error", err)
		if failed == nil {
			failed = err
		}
	}
	if _, err := t.commitInfo(ctx, l, 0); errors.Is(err, store.ErrNotExist) {
		switch {
		case failed != nil:
			return nil, failed
		case len(l.checkpoints) > 0:
			return nil, fmt.Errorf("%w: table %q: version %d was cleaned up; the oldest that can be read is %d",
				ErrVersionNotFound, t.path, target, l.checkpoints[0].version)
		}
		return nil, t.missing(l, 0)
	} else if err != nil {
		return nil, fmt.Errorf("look for version 0 of table %q: %w", t.path, err)
	}
	return t.finish(ctx, newState(t), l, target)
}

// finish replays the commits after s up to target and seals the state.
func (t *Table) finish(ctx context.Context, s *state, l *listing, target int64) (*Snapshot, error) {
	steps, err := t.steps(ctx, l, s.version, target)
	if err != nil {
		return nil, err
	}
	for _, st := range steps {
		if err := t.replay(ctx, s, st); err != nil {
			return nil, err
		}
	}
	return t.seal(ctx, s, l)
}

// replay applies one file of the log.
func (t *Table) replay(ctx context.Context, s *state, st step) error {
	data, err := t.store.Get(ctx, st.info.Path)
	if err != nil {
		return fmt.Errorf("read version %d of table %q: %w", st.to, t.path, err)
	}
	b, err := parseCommit(st.info.Path, data)
	if err != nil {
		return err
	}
	s.apply(b)
	s.version = st.to
	s.ict = nil
	s.commit = store.Info{}
	if st.from == st.to {
		s.commit = st.info
		if b.info != nil {
			s.ict = b.info.InCommitTimestamp
		}
	}
	return nil
}

// seal checks what every version must have and makes the snapshot.
func (t *Table) seal(ctx context.Context, s *state, l *listing) (*Snapshot, error) {
	if s.protocol == nil {
		return nil, fmt.Errorf("%w: table %q: no protocol in the log up to version %d", ErrCorrupt, t.path, s.version)
	}
	if err := checkRead(s.protocol); err != nil {
		return nil, fmt.Errorf("table %q, version %d: %w", t.path, s.version, err)
	}
	if s.metadata == nil {
		return nil, fmt.Errorf("%w: table %q: no metaData in the log up to version %d", ErrCorrupt, t.path, s.version)
	}
	if err := s.resolve(); err != nil {
		return nil, fmt.Errorf("table %q, version %d: %w", t.path, s.version, err)
	}
	// A checkpoint or a compaction says nothing of the commit's own time.
	if s.commit.Path == "" || s.ict == nil && s.protocol.supports(featICT) {
		info, err := t.commitInfo(ctx, l, s.version)
		switch {
		case errors.Is(err, store.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("look for version %d of table %q: %w", s.version, t.path, err)
		default:
			s.commit = info
			if s.protocol.supports(featICT) {
				data, err := t.store.Get(ctx, info.Path)
				if err != nil {
					return nil, fmt.Errorf("read version %d of table %q: %w", s.version, t.path, err)
				}
				b, err := parseCommit(info.Path, data)
				if err != nil {
					return nil, err
				}
				if b.info != nil {
					s.ict = b.info.InCommitTimestamp
				}
			}
		}
	}
	s.files.seal()
	return &Snapshot{state: *s}, nil
}

// update returns the newest snapshot, given an older one: itself when nothing
// is new. ok is false when the log no longer continues from it.
func (t *Table) update(ctx context.Context, s *Snapshot) (next *Snapshot, ok bool, err error) {
	l, err := t.list(ctx, s.version)
	if err != nil {
		return nil, false, err
	}
	info, ok := l.commits[s.version]
	if !ok || info.Size != s.commit.Size || !info.Modified.Truncate(time.Second).Equal(s.commit.Modified.Truncate(time.Second)) {
		return nil, false, nil // cleaned up, or another table in the same place
	}
	if l.newest <= s.version {
		return s, true, nil
	}
	n := s.fork()
	next, err = t.finish(ctx, n, l, l.newest)
	if errors.Is(err, ErrCorrupt) {
		return nil, false, nil // the full way says what is wrong, or finds a checkpoint
	}
	return next, err == nil, err
}
