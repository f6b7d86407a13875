package deltalog

import (
	"context"
	"errors"
)

// Checkpoint writes a classic checkpoint of the snapshot and the hint to it.
func (t *Table) Checkpoint(ctx context.Context, s *Snapshot) error {
	return errors.New("not built yet")
}
