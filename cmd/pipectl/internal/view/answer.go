package view

import (
	"errors"
	"io"
	"runtime"
	"syscall"
)

// answer writes to Out for the views, which hold the lock, and keeps the first
// error: most of them print many lines, and none has to look at each.
type answer struct{ s *Streams }

// Write writes to Out.
func (a answer) Write(p []byte) (int, error) {
	n, err := a.s.Out.Write(p)
	if err != nil && a.s.unwritten == nil {
		a.s.unwritten = err
	}
	return n, err
}

// answer is where views write what goes to Out.
func (s *Streams) answer() io.Writer { return answer{s} }

// Unwritten is the first error of a write to Out, nil when all was written: an
// answer that it is not nil for is not whole.
func (s *Streams) Unwritten() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unwritten
}

// ReaderGone reports whether an error of a write means that the reader of a pipe
// has seen enough, as head has. Where there is SIGPIPE, it ends the process before
// anybody sees such an error (package os/signal: SIGPIPE); this is for systems without.
func ReaderGone(err error) bool {
	const noData = syscall.Errno(232) // ERROR_NO_DATA: "The pipe is being closed"
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && errors.Is(err, noData)
}
