package deltatable

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// roundBytes is after how many bytes of files an Optimize commits what it has:
// one that is interrupted has done that much.
const roundBytes = 8 << 30

// OptimizeResult is what Optimize did, or would do.
type OptimizeResult struct {
	// Version is the newest version that was written, or looked at.
	Version int64
	// Commits is how many versions were written.
	Commits int
	// Files that went and files that came instead, with their bytes; a dry run
	// knows only what would go.
	RemovedFiles, AddedFiles int
	RemovedBytes, AddedBytes int64
	// Purged is how many rows went that deletion vectors had taken before.
	Purged int64
	// Lost is how many files were left as they are, because another writer
	// changed them, or files that were to be packed with them, meanwhile.
	Lost int
}

// Optimize rewrites small data files into larger ones, and files with many
// deleted rows without those. It changes no row. It is safe beside writers: an
// append goes on beside it, and where another writer changed a file that was
// rewritten, the rewriting is dropped. Memory is bounded by Options; the files
// that it replaces stay for readers until Vacuum.
func (t *Table) Optimize(ctx context.Context, spec OptimizeSpec) (OptimizeResult, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return OptimizeResult{}, err
	}
	if err := s.CheckWrite(); err != nil {
		return OptimizeResult{}, err
	}
	if spec, err = spec.withDefaults(t.opts); err != nil {
		return OptimizeResult{}, fmt.Errorf("optimize: %w", err)
	}
	o := &optimizing{s: s, result: OptimizeResult{Version: s.Version()}}
	bins, err := s.planOptimize(spec)
	if err != nil {
		return OptimizeResult{}, fmt.Errorf("optimize: %w", err)
	}
	if spec.DryRun {
		for _, b := range bins {
			o.result.RemovedFiles += len(b.sources)
			o.result.RemovedBytes += b.bytes
		}
		return o.result, nil
	}
	if len(bins) == 0 {
		return o.result, nil
	}
	if o.layout, err = s.newLayout(s.log.Schema()); err != nil {
		return OptimizeResult{}, err
	}
	o.layout.target = math.MaxInt64 // each bin becomes one file
	for len(bins) > 0 {
		n, size := 0, int64(0)
		for n < len(bins) && (n == 0 || size+bins[n].bytes <= roundBytes) {
			size += bins[n].bytes
			n++
		}
		if err := o.round(ctx, bins[:n]); err != nil {
			return o.result, err
		}
		bins = bins[n:]
	}
	return o.result, nil
}

// optimizing is an Optimize at work.
type optimizing struct {
	s      *Snapshot // what was planned on
	layout *fileLayout
	result OptimizeResult
}

// packed is a bin that has been written.
type packed struct {
	bin
	adds   []*deltalog.Add
	purged int64
}

// round rewrites some bins and commits them.
func (o *optimizing) round(ctx context.Context, bins []bin) error {
	done := make([]packed, len(bins))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.s.table.opts.Parallel)
	for i, b := range bins {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() (err error) {
			done[i], err = o.pack(gctx, b)
			return err
		})
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = o.commit(ctx, done)
	}
	if err != nil && !errors.Is(err, deltalog.ErrCommitUnknown) {
		o.discard(context.WithoutCancel(ctx), done)
	}
	return err
}

// discard deletes what was written for bins.
func (o *optimizing) discard(ctx context.Context, bins []packed) {
	for i := range bins {
		o.layout.deleteFiles(ctx, bins[i].adds)
		bins[i].adds = nil
	}
}

// pack writes the rows of a bin that are left. adds are what is to be deleted
// when it fails.
func (o *optimizing) pack(ctx context.Context, b bin) (p packed, err error) {
	w := o.layout.newSink(ctx)
	p.bin = b
	defer func() {
		if err != nil {
			w.abort()
		}
		p.adds = w.files()
		for _, a := range p.adds {
			a.DataChange = false
		}
	}()
	var left int64
	for _, add := range b.sources {
		f := &touchedFile{add: add}
		if f.gone, err = o.s.deletionVector(ctx, add, math.MaxInt64); err != nil {
			return p, err
		}
		rows, err := o.s.copyLeft(ctx, f, w)
		if err != nil {
			return p, err
		}
		if f.gone != nil {
			gone := int64(f.gone.GetCardinality())
			p.purged += gone
			rows -= gone
		}
		left += rows
	}
	if err := w.close(); err != nil {
		return p, err
	}
	if w.written() != left {
		return p, fmt.Errorf("%d of %d rows came out of %d files that were rewritten; nothing was changed", w.written(), left, len(b.sources))
	}
	return p, nil
}

// commit puts the new files in the place of the old ones, except where another
// writer was there first.
func (o *optimizing) commit(ctx context.Context, bins []packed) error {
	retry := o.s.table.newRetrier()
	for {
		now, err := o.s.table.Snapshot(ctx)
		if err != nil {
			return err
		}
		if err := o.fits(now); err != nil {
			return err
		}
		tx := o.s.table.log.Begin(now.log)
		round := OptimizeResult{}
		vectors := 0
		for i := range bins {
			if !now.has(bins[i].sources) {
				o.result.Lost += len(bins[i].sources)
				o.discard(context.WithoutCancel(ctx), bins[i:i+1])
				bins[i].sources = nil
			}
			for _, a := range bins[i].sources {
				if a.DeletionVector != nil {
					vectors++
				}
				tx.RemoveFile(a, false)
			}
			for _, a := range bins[i].adds {
				tx.AddFile(a)
			}
			if bins[i].sources != nil {
				round.RemovedFiles += len(bins[i].sources)
				round.RemovedBytes += bins[i].bytes
				round.AddedFiles += len(bins[i].adds)
				round.AddedBytes += totalSize(bins[i].adds)
				round.Purged += bins[i].purged
			}
		}
		if round.RemovedFiles == 0 {
			return nil
		}
		tx.SetOperation("OPTIMIZE", map[string]string{"predicate": "[]", "zOrderBy": "[]", "auto": strconv.FormatBool(false)})
		tx.SetMetrics(map[string]int64{
			"numRemovedFiles": int64(round.RemovedFiles), "numRemovedBytes": round.RemovedBytes,
			"numAddedFiles": int64(round.AddedFiles), "numAddedBytes": round.AddedBytes,
			"numDeletionVectorsRemoved": int64(vectors),
		})
		version, err := tx.Commit(ctx)
		switch {
		case err == nil:
			o.result.add(version, round)
			return nil
		case !errors.Is(err, deltalog.ErrConflict):
			return fmt.Errorf("committing the optimize: %w", err)
		}
		more, waitErr := retry.again(ctx)
		if waitErr != nil {
			return errors.Join(err, waitErr)
		}
		if !more {
			return fmt.Errorf("committing the optimize: %w", err)
		}
	}
}

// add counts a round that was committed.
func (r *OptimizeResult) add(version int64, round OptimizeResult) {
	r.Version = version
	r.Commits++
	r.RemovedFiles += round.RemovedFiles
	r.RemovedBytes += round.RemovedBytes
	r.AddedFiles += round.AddedFiles
	r.AddedBytes += round.AddedBytes
	r.Purged += round.Purged
}

// fits says that files which were written for the version that was planned on
// are still what the table wants.
func (o *optimizing) fits(now *Snapshot) error {
	switch was := o.s.log; {
	case was.Metadata().ID != now.log.Metadata().ID, now.Version() < o.s.Version():
		return fmt.Errorf("%w while its files were rewritten", ErrReplaced)
	case !reflect.DeepEqual(was.Protocol(), now.log.Protocol()):
		return &deltalog.ConflictError{Kind: deltalog.ErrProtocolChanged, Version: now.Version()}
	case !reflect.DeepEqual(was.Metadata(), now.log.Metadata()):
		return &deltalog.ConflictError{Kind: deltalog.ErrMetadataChanged, Version: now.Version()}
	}
	return nil
}

// has says that the version has all of these files as they are.
func (s *Snapshot) has(files []*deltalog.Add) bool {
	for _, a := range files {
		live, ok := s.log.File(a.Path)
		if !ok || live.DeletionVector.ID() != a.DeletionVector.ID() {
			return false
		}
	}
	return true
}
