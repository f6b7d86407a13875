package deltatable

import (
	"context"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// heldVectorBytes bounds the deletion vectors that a scan keeps between looking
// at them and reading their files; what is over is loaded again.
const heldVectorBytes = 64 << 20

// heldVectors are the deletion vectors of a scan's files, by path.
type heldVectors struct {
	mu   sync.Mutex
	maps map[string]*roaring64.Bitmap
	left int64
}

// take returns the vector of a file, once; nil when it is not held.
func (h *heldVectors) take(path string) *roaring64.Bitmap {
	h.mu.Lock()
	defer h.mu.Unlock()
	bitmap := h.maps[path]
	delete(h.maps, path)
	return bitmap
}

func (h *heldVectors) hold(path string, bitmap *roaring64.Bitmap) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := int64(bitmap.GetSizeInBytes()); n <= h.left {
		h.left -= n
		h.maps[path] = bitmap
	}
}

// lookAhead loads the deletion vectors of all files that a scan will read, so
// that one that is damaged or gone is found before a row is given that it may
// take away. With sizes it looks at every data file too: one that is gone or cut
// is found before a row of the others is given.
func (s *Snapshot) lookAhead(ctx context.Context, filter deltalog.Predicate, sizes bool) (*heldVectors, error) {
	held := &heldVectors{maps: map[string]*roaring64.Bitmap{}, left: heldVectorBytes}
	if !sizes && !s.log.Protocol().Supports("deletionVectors") {
		return held, nil
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.table.opts.Parallel)
	for add := range s.log.Files(filter) {
		if gctx.Err() != nil {
			break
		}
		if add.DeletionVector == nil && !sizes {
			continue
		}
		g.Go(func() error {
			if sizes {
				if err := s.checkSize(gctx, add); err != nil {
					return err
				}
			}
			if add.DeletionVector == nil {
				return nil
			}
			// The statistics of a file with a deletion vector say how many rows it
			// has; the file itself is asked when it is read.
			rows, ok := add.NumRecords()
			if !ok {
				rows = 1 << 62
			}
			bitmap, err := s.deletionVector(gctx, add, rows)
			if err != nil {
				return err
			}
			held.hold(add.Path, bitmap)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return held, ctx.Err()
}

// checkSize says that the data file is there, as long as the log says.
func (s *Snapshot) checkSize(ctx context.Context, add *deltalog.Add) error {
	st, path, err := s.table.log.Locate(ctx, add.Path)
	if err != nil {
		return fmt.Errorf("locating data file %q: %w", add.Path, err)
	}
	info, err := st.Head(ctx, path)
	if err != nil {
		return fmt.Errorf("looking for data file %q: %w", path, err)
	}
	return sizeFits(path, info.Size, add)
}

func sizeFits(path string, size int64, add *deltalog.Add) error {
	if size != add.Size {
		return fmt.Errorf("%w %q: it has %d bytes, the log says %d, so it was changed or cut", ErrDamaged, path, size, add.Size)
	}
	return nil
}
