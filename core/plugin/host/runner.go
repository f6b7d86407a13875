package host

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// runner runs the command of a plugin for go-plugin. Unlike go-plugin's own it
// lets the host kill the process, with those that it started, and see how it
// ended.
type runner struct {
	name   string
	cmd    *exec.Cmd
	stdout io.ReadCloser
	stderr io.ReadCloser

	clock  func() time.Time
	exited chan struct{} // closed when Wait has returned
	// over is closed when the process has ended, watched when nobody looks for that
	// any more: not every system tells of an end before it is waited for.
	over, watched chan struct{}
	once          sync.Once
	// What Wait found, read after exited is closed.
	err   error
	ended time.Time

	mu      sync.Mutex
	started time.Time
	killed  bool
	// silent is set when standard output has ended, left when the process had ended
	// before it was killed: go-plugin kills what does not come up, and the exit status
	// alone does not say who was first.
	silent, left bool
	// zombie is set when the process has ended and its number is still its own,
	// alone when it has no group that could be killed, reaped when its number may
	// be another's.
	zombie, alone, reaped bool
}

func newRunner(name string, cmd *exec.Cmd, clock func() time.Time) (*runner, error) {
	lead(cmd)
	r := &runner{name: name, cmd: cmd, clock: clock, exited: make(chan struct{}), over: make(chan struct{}), watched: make(chan struct{})}
	var err error
	if r.stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if r.stderr, err = cmd.StderrPipe(); err != nil {
		return nil, err
	}
	return r, nil
}

// Start starts the process, unless it was killed before.
func (r *runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed {
		return errors.New("killed before it was started")
	}
	r.started = r.clock()
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go r.watch() // ends with the process, and Wait waits for it
	return nil
}

// watch looks for the end of the process. Its group goes with it, while the number
// of both is still its own: what is left in it would hold the pipes, and nobody
// would learn of the end.
func (r *runner) watch() {
	defer close(r.watched)
	ended := awaitEnd(r.cmd.Process.Pid)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ended {
		r.alone = true
		return
	}
	r.zombie = true
	r.drain()
	// Nothing is lost when that cannot be killed.
	_ = killGroup(r.cmd.Process)
	close(r.over)
}

// Wait waits for the end of the process; go-plugin calls it once, after it has
// read both pipes to their end.
func (r *runner) Wait(context.Context) error {
	r.once.Do(func() {
		r.err = r.reap()
		r.ended = r.clock()
		close(r.exited)
	})
	return r.err
}

// reap gives the number of the process back. Where that takes no time it is done
// under the lock, so that Kill never meets another's.
func (r *runner) reap() error {
	r.mu.Lock()
	begun := r.cmd.Process != nil
	r.mu.Unlock()
	if begun {
		<-r.watched
	}
	r.mu.Lock()
	if !r.zombie {
		r.mu.Unlock()
		return r.cmd.Wait()
	}
	defer r.mu.Unlock()
	r.reaped = true
	return r.cmd.Wait()
}

// lived is how long the process ran. It waits for the end.
func (r *runner) lived() time.Duration {
	<-r.exited
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended.Sub(r.started)
}

// drained is how long after a kill, or the end, the pipes of the process are still read. A
// process that left the group may hold them, and would never end them.
const drained = time.Second

// drain ends the reading of the pipes. The caller holds the lock.
func (r *runner) drain() {
	for _, pipe := range []io.ReadCloser{r.stdout, r.stderr} {
		if f, ok := pipe.(*os.File); ok {
			// The only error is of a system, or an end, that knows no deadlines.
			_ = f.SetReadDeadline(time.Now().Add(drained))
		}
	}
}

// ending is how long after its output the end of a process may be: whoever dies
// has no open files a moment before.
const ending = time.Second

// settle waits for the end of a process that has become silent, if that is one.
func (r *runner) settle() {
	r.mu.Lock()
	open := r.silent && !r.killed && r.cmd.Process != nil
	r.mu.Unlock()
	if !open {
		return
	}
	late := time.NewTimer(ending)
	defer late.Stop()
	select {
	case <-r.watched:
	case <-late.C:
	}
}

// Kill kills the process and its group; one that has ended is no error.
func (r *runner) Kill(context.Context) error {
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = r.wentFirstLocked()
	r.killed = true
	if r.cmd.Process == nil || r.reaped {
		return nil
	}
	r.drain()
	if r.alone {
		if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil
	}
	return killGroup(r.cmd.Process)
}

// wentFirst reports whether the process ended before the host killed it, if it did.
func (r *runner) wentFirst() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wentFirstLocked()
}

func (r *runner) wentFirstLocked() bool {
	if r.killed {
		return r.left
	}
	return r.zombie || r.alone && r.silent // where the system does not tell, the output has to
}

// ID is the pid.
func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(r.cmd.Process.Pid)
}

// Name is the plugin's, for log lines.
func (r *runner) Name() string { return r.name }

// Stdout carries go-plugin's handshake.
func (r *runner) Stdout() io.ReadCloser { return heard{r.stdout, r} }

// heard is standard output, which tells the runner of its end.
type heard struct {
	io.ReadCloser
	of *runner
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if err != nil {
		h.of.mu.Lock()
		h.of.silent = true
		h.of.mu.Unlock()
	}
	return n, err
}

// Stderr carries log lines.
func (r *runner) Stderr() io.ReadCloser { return r.stderr }

// Diagnose has nothing to add: the lines of standard error are shown.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin leave addresses as they are.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin leaves addresses as they are.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
