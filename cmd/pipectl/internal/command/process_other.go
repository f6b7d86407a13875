//go:build !unix

package command

import "github.com/pipectl/pipectl/core/state"

// noticed is nil: no death of a process is known here.
func noticed() func(state.Holder) bool { return nil }

// processGone knows nothing here: a lock is taken over when it has expired.
func processGone(state.Holder) bool { return false }
