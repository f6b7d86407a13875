package deltalog

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/zeebo/xxh3"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// ErrRetention says that objects were to be deleted which versions of the table, or
// writers at work, may still need.
var ErrRetention = errors.New("the retention is shorter than the table's")

// VacuumOptions say what Vacuum deletes.
type VacuumOptions struct {
	// Retention is the age up to which nothing is deleted; 0 is the table's own
	// (delta.deletedFileRetentionDuration, a week when it is not set). Versions that
	// are older cannot be read any more.
	Retention time.Duration
	// Force allows a retention shorter than the table's: what a writer that is at work
	// has written and not yet committed may be deleted, too.
	Force bool
	// DryRun deletes nothing.
	DryRun bool
	// Each, if not nil, is told of every object that is deleted, before it is. An error
	// of it ends the call.
	Each func(store.Info) error
}

// VacuumResult is what Vacuum did.
type VacuumResult struct {
	// Version is the newest one that was looked at.
	Version int64
	// Cutoff is the time before which an object must have been written to be deleted,
	// by the store's clock.
	Cutoff time.Time
	// Deleted and Bytes count the objects that were deleted, or would be.
	Deleted int64
	Bytes   int64
}

// Vacuum deletes objects in the table's folder that no version needs which is younger
// than the retention, and that are older than it: files that were removed from the
// table, and those that a writer left which never committed. It never touches names that
// begin with an underscore or a dot (the log, change data, other programs' own), unless they
// are folders of a partition. Of a shallow clone of this table nothing is known: it loses what
// it shares with versions that are older.
//
// It takes the table as it is at the end, so that it is safe beside writers and beside
// another Vacuum, and one that was interrupted is run again. Fails with *UnsupportedError
// for a table that this package may not write to, and with ErrRetention.
func (t *Table) Vacuum(ctx context.Context, o VacuumOptions) (VacuumResult, error) {
	result, err := t.vacuum(ctx, o)
	if err != nil {
		return result, fmt.Errorf("vacuum table %q: %w", t.path, err)
	}
	return result, nil
}

func (t *Table) vacuum(ctx context.Context, o VacuumOptions) (VacuumResult, error) {
	var result VacuumResult
	s, err := t.Snapshot(ctx)
	if err != nil {
		return result, err
	}
	result.Version = s.version
	if err := checkWrite(s.protocol, s.metadata, s.schema); err != nil {
		return result, err
	}
	own := Properties(s.metadata.Configuration).deletedFileRetention()
	retention := o.Retention
	switch {
	case retention == 0:
		retention = own
	case retention < 0:
		return result, fmt.Errorf("%w: %s", ErrRetention, retention)
	case retention < own && !o.Force:
		return result, fmt.Errorf("%w: %s was asked for, and %s is %s", ErrRetention, retention, PropDeletedFileRetention, own)
	}
	now, err := t.storeTime(ctx, o.DryRun)
	if err != nil {
		return result, err
	}
	result.Cutoff = now.Add(-retention)
	kept, err := t.needed(ctx, s, result.Cutoff)
	if err != nil {
		return result, err
	}
	garbage, err := t.garbage(ctx, kept, result.Cutoff)
	if err != nil || len(garbage) == 0 {
		return result, err
	}
	// A commit since the first look may have brought a file back: a restored version has.
	if s, err = t.Snapshot(ctx); err != nil {
		return result, err
	}
	result.Version = s.version
	if kept, err = t.needed(ctx, s, result.Cutoff); err != nil {
		return result, err
	}
	for _, info := range garbage {
		if kept.has(t.relative(info.Path)) {
			continue
		}
		if o.Each != nil {
			if err := o.Each(info); err != nil {
				return result, err
			}
		}
		if !o.DryRun {
			if err := t.store.Delete(ctx, info.Path); err != nil {
				return result, err
			}
		}
		result.Deleted++
		result.Bytes += info.Size
	}
	return result, nil
}

// storeTime is now by the clock that dates objects, and no later than by this machine's:
// of two clocks that are apart the one behind deletes less. A dry run writes nothing, and
// has this machine's alone.
func (t *Table) storeTime(ctx context.Context, dry bool) (time.Time, error) {
	now := t.clock.Now()
	if dry {
		return now, nil
	}
	probe := t.object("_vacuum-" + uuid.NewString())
	if err := t.store.Put(ctx, probe, nil); err != nil {
		return now, fmt.Errorf("asking the store for its time: %w", err)
	}
	info, err := t.store.Head(ctx, probe)
	if derr := t.store.Delete(context.WithoutCancel(ctx), probe); err == nil {
		err = derr
	}
	if err != nil {
		return now, fmt.Errorf("asking the store for its time: %w", err)
	}
	if info.Modified.Before(now) {
		now = info.Modified
	}
	return now, nil
}

// clocksApart is how far the clocks of a store and of its writers are taken to be the same.
const clocksApart = time.Minute

// pathSet holds paths by their hashes: two with the same hash are both in it, so that it
// may keep a file too many and never one too few. Names holds the last elements of files
// that lie at absolute paths, which may lead into the table's own folder.
type pathSet struct {
	hashes map[uint64]struct{}
	names  map[string]struct{}
}

func (p *pathSet) has(object string) bool {
	if _, ok := p.hashes[xxh3.HashString(object)]; ok {
		return true
	}
	_, ok := p.names[path.Base(object)]
	return ok
}

func (p *pathSet) add(encoded string) error {
	location, object, err := decodePath(encoded)
	if err != nil {
		return err
	}
	if location != "" {
		p.names[path.Base(object)] = struct{}{}
		return nil
	}
	p.hashes[xxh3.HashString(object)] = struct{}{}
	return nil
}

func (p *pathSet) addFile(file string, dv *DeletionVector) error {
	if err := p.add(file); err != nil || dv == nil || dv.StorageType == "i" {
		return err
	}
	name, err := dv.file()
	if err != nil {
		return err
	}
	return p.add(name)
}

// needed are the files of the snapshot, and those of versions that were there after the
// cutoff, with their deletion vectors.
func (t *Table) needed(ctx context.Context, s *Snapshot, cutoff time.Time) (*pathSet, error) {
	p := &pathSet{hashes: make(map[uint64]struct{}, s.NumFiles()), names: map[string]struct{}{}}
	for r := range s.files.all() {
		if err := p.addFile(r.path, r.dv()); err != nil {
			return nil, err
		}
	}
	for _, r := range s.tombs.live(s.files, cutoff.UnixMilli()) {
		if err := p.addFile(r.path, r.dv); err != nil {
			return nil, err
		}
	}
	// A checkpoint remembers removed files for the table's own retention only, by the clock
	// of its writer.
	own := Properties(s.metadata.Configuration).deletedFileRetention()
	if cutoff.Add(clocksApart).Before(t.clock.Now().Add(-own)) {
		return p, t.addRemoved(ctx, p, cutoff)
	}
	return p, ctx.Err()
}

// addRemoved adds the files that commits after the cutoff removed.
func (t *Table) addRemoved(ctx context.Context, p *pathSet, cutoff time.Time) error {
	l, err := t.list(ctx, 0)
	if err != nil {
		return err
	}
	for _, info := range l.commits {
		if info.Modified.Before(cutoff) {
			continue
		}
		data, err := t.store.Get(ctx, info.Path)
		if err != nil {
			return err
		}
		b, err := parseCommit(info.Path, data)
		if err != nil {
			return err
		}
		for _, r := range b.removes {
			if err := p.addFile(r.Path, r.DeletionVector); err != nil {
				return err
			}
		}
	}
	return nil
}

// garbage are the objects that are older than the cutoff and not needed.
func (t *Table) garbage(ctx context.Context, kept *pathSet, cutoff time.Time) ([]store.Info, error) {
	prefix := ""
	if t.path != "" {
		prefix = t.path + "/"
	}
	var out []store.Info
	for info, err := range t.store.List(ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		object := t.relative(info.Path)
		if hidden(object) || !info.Modified.Before(cutoff) || kept.has(object) {
			continue
		}
		out = append(out, info)
	}
	return out, nil
}

func (t *Table) relative(object string) string {
	if t.path == "" {
		return object
	}
	return strings.TrimPrefix(object, t.path+"/")
}

// hidden reports whether an object is not the table's data: an element of its path
// begins with an underscore or a dot, and is no folder of a partition ("_day=1").
func hidden(object string) bool {
	folder, name := path.Split(object)
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
		return true
	}
	for element := range strings.SplitSeq(strings.TrimSuffix(folder, "/"), "/") {
		if strings.HasPrefix(element, ".") || strings.HasPrefix(element, "_") && !strings.Contains(element, "=") {
			return true
		}
	}
	return false
}
