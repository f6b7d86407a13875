package state

import (
	"context"
	"time"
)

// Accepted is what apply accepted for one address.
type Accepted struct {
	// Target is the dotted name of the table, "" for an address without one.
	Target string `json:"target"`
	// Digest is of everything that run may not change by itself.
	Digest string `json:"digest"`
	// At is when it was accepted, UTC.
	At time.Time `json:"accepted"`
	// ReadAgain is set when it was accepted that a table is read once more: the
	// number of the stream's newest batch then, -1 for none. It means nothing
	// once the stream has gone on.
	ReadAgain *int64 `json:"read_again,omitempty"`
}

// Declared returns what was accepted, by address; empty when nothing was.
func (s *Store) Declared(ctx context.Context) (map[string]Accepted, error) {
	var f declaredFile
	if _, err := s.read(ctx, "declared.json", &f); err != nil {
		return nil, err
	}
	if f.Addresses == nil {
		f.Addresses = map[string]Accepted{}
	}
	return f.Addresses, nil
}

// PutDeclared replaces what was accepted. The caller holds the lock of apply
// (ApplyLock) from before it read.
func (s *Store) PutDeclared(ctx context.Context, accepted map[string]Accepted) error {
	return s.replace(ctx, "declared.json", declaredFile{Addresses: accepted})
}

type declaredFile struct {
	Addresses map[string]Accepted `json:"addresses"`
}
