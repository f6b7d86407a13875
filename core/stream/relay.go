package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// attempts is how often a range is read, and a commit asked for, before an
// error that may go away by itself counts.
const attempts = 4

// Pauses between attempts: 1 to 2, 2 to 4 and 4 to 8 seconds.
const firstPause = 2 * time.Second

// target is where the rows of a write go.
type target struct {
	writeID   string
	constants []plugin.Constant
	// discard reads the rows and drops them: only what their ends say is wanted.
	discard bool
}

// relay reads every request into a part of its own, as many at once as there
// are slots, and returns the ends and the tokens in the order of the requests.
// The first failure stops the others.
func (s *stream) relay(ctx context.Context, into target, reads []plugin.ReadRequest) ([]plugin.End, []string, error) {
	ends := make([]plugin.End, len(reads))
	tokens := make([]string, len(reads))
	group, gctx := errgroup.WithContext(ctx)
	var crashes crashes
	for i, read := range reads {
		select {
		case s.Slots <- struct{}{}:
		case <-gctx.Done():
			if err := group.Wait(); err != nil {
				return nil, nil, err
			}
			return nil, nil, context.Cause(ctx) // it was cancelled before a range failed
		}
		group.Go(func() (err error) {
			defer func() { <-s.Slots }()
			attempt := 0
			return s.retry(gctx, func() error {
				ends[i], tokens[i], err = s.pair(gctx, into, i, attempt, read)
				attempt++
				if err != nil {
					err = fmt.Errorf("range %d of %d: %w", i+1, len(reads), err)
					if attempt < attempts && gctx.Err() == nil {
						crashes.tell(err, s.Warn)
					}
					return err
				}
				return nil
			})
		})
	}
	err := group.Wait()
	if into.discard {
		tokens = nil
	}
	return ends, tokens, err
}

// crashes are those of processes during one relay. Other errors that go away by
// themselves are not told before they count; that a process died is.
type crashes struct {
	mu   sync.Mutex
	told []string // pids
}

// tell warns once of a process whose ranges are read again.
func (c *crashes) tell(err error, warn func(diag.Diagnostic)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range diag.FromError(err) {
		if d.Code != plugin.CodeCrashed || slices.Contains(c.told, d.Data["pid"]) {
			continue
		}
		c.told = append(c.told, d.Data["pid"])
		d.Severity = diag.Warning
		d.Detail = strings.TrimSpace(d.Detail + "\nIt is started again, and what it was reading is read again.")
		warn(d)
	}
}

// pair is one try of one range. The part is opened before the read, so that a
// source which has begun to send never waits for a sink that has not.
func (s *stream) pair(ctx context.Context, into target, part, attempt int, read plugin.ReadRequest) (plugin.End, string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tap := &tap{reporter: &s.report, frames: plugin.Lazy(func() (plugin.FrameReader, error) { return s.Source.Read(ctx, read) })}
	var (
		written plugin.Part
		err     error
	)
	if into.discard {
		err = drain(tap)
	} else {
		written, err = s.Tables.WritePart(ctx, plugin.WritePartRequest{
			WriteID: into.writeID, Part: part, Attempt: attempt, Constants: into.constants,
		}, tap)
	}
	if cerr := tap.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("closing the read: %w", cerr)
	}
	// The sink fails too when the source does; the source's error is the cause.
	if tap.err != nil && !errors.Is(tap.err, context.Canceled) {
		err = fmt.Errorf("reading: %w", tap.err)
	} else if err != nil {
		err = fmt.Errorf("writing: %w", err)
	}
	switch {
	case err != nil:
	case tap.end == nil:
		err = errors.New("the sink took a stream of rows that has no end")
	case !into.discard && written.Rows != tap.end.Rows:
		err = fmt.Errorf("the source sent %d rows and the sink wrote %d", tap.end.Rows, written.Rows)
	default:
		return *tap.end, written.Token, nil
	}
	tap.forget()
	return plugin.End{}, "", err
}

// tap passes frames on and looks at them.
type tap struct {
	frames   plugin.FrameReader
	reporter *reporter
	rows     int64
	end      *plugin.End
	err      error
}

func (t *tap) Recv() (plugin.Frame, error) {
	f, err := t.frames.Recv()
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		if t.err == nil {
			t.err = err
		}
	case f.End != nil:
		end := *f.End
		t.end = &end
	case f.Batch != nil && f.Batch.Header != nil: // the first piece counts the rows
		t.rows += f.Batch.Rows
		t.reporter.update(func(p *Progress) { p.Rows += f.Batch.Rows })
	}
	return f, err
}

func (t *tap) Close() error { return t.frames.Close() }

// forget takes the rows of a try that failed out of the progress.
func (t *tap) forget() { t.reporter.update(func(p *Progress) { p.Rows -= t.rows }) }

// drain reads a stream to its end.
func drain(frames plugin.FrameReader) error {
	for {
		f, err := frames.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the stream of rows stopped without its end")
		case err != nil:
			return err
		case f.End != nil:
			return nil
		}
	}
}

// retry carries out do until it ends with something else than an error that
// may go away by itself, at most attempts times. A write that is lost stays so.
func (s *stream) retry(ctx context.Context, do func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == attempts || ctx.Err() != nil || !diag.Is(err, diag.KindTransient) || diag.HasCode(err, plugin.CodeWriteLost) {
			return err
		}
		random := rand.Float64
		if s.Random != nil {
			random = s.Random
		}
		if serr := s.Sleep(ctx, time.Duration((0.5+random()/2)*float64(pause))); serr != nil {
			return err
		}
		pause *= 2
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
