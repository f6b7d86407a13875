package tds

import (
	"context"
	"fmt"
	"time"
)

// DropPoint is where a Fault cuts the connection.
type DropPoint byte

// Where a connection can be cut; always with a TCP reset.
const (
	DropNever      DropPoint = iota
	DropBefore               // the request is not run
	DropUnanswered           // the request is run, nothing of its answer is sent: the client cannot know
	DropRows                 // in the answer, after Fault.Rows rows; at its end when it has fewer
	DropAfter                // after the whole answer
)

// Fault is what a server does wrong on purpose with one request.
type Fault struct {
	// Delay is waited before the request runs; an attention or a lost client ends it.
	Delay time.Duration
	Drop  DropPoint
	// Error is sent after Rows rows of the answer, in place of the rest; at its end when it has fewer. With Rows = 0
	// the request is not run.
	Error *Error
	// Rows counts over all results of the answer.
	Rows uint64
	// IgnoreAttention: an attention neither stops the request nor is it acknowledged. A client then waits until its own
	// time-out.
	IgnoreAttention bool
}

// faultState is a fault at work.
type faultState struct {
	Fault
	left uint64
}

// err is what the fault ends the request with.
func (f *faultState) err() error {
	switch {
	case f.Drop == DropRows, f.drops():
		return fmt.Errorf("tds: fault: %w", ErrDrop)
	case f.Drop == DropNever && f.Error != nil:
		return f.Error
	}
	return nil
}

// row counts a row of the answer.
func (f *faultState) row() error {
	if f.Drop != DropRows && (f.Error == nil || f.Drop != DropNever) {
		return nil
	}
	f.left--
	if f.left == 0 {
		return f.err()
	}
	return nil
}

// silent: the answer is not sent.
func (f *faultState) silent() bool { return f != nil && f.Drop == DropUnanswered }

// drops: the connection is to be cut when the request has ended.
func (f *faultState) drops() bool {
	return f != nil && (f.Drop == DropAfter || f.Drop == DropUnanswered)
}

// begin does what the fault does before the request runs; with an error the request is not to be run.
func (f *faultState) begin(ctx context.Context) error {
	f.left = f.Rows
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch {
	case f.Drop == DropBefore:
		return fmt.Errorf("tds: fault: %w", ErrDrop)
	case f.Rows == 0 && (f.Drop == DropRows || f.Drop == DropNever && f.Error != nil):
		return f.err()
	}
	return nil
}
