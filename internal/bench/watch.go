package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// poll is the pause of the watching program.
	poll = 100 * time.Millisecond
	// patience ends a watch in which nothing comes.
	patience  = time.Minute
	lookEvery = 2 * time.Millisecond
)

// visible is how long a committed row takes to be in silver while the program
// watches, beside a bare driver that looks at the change table as often.
func (b *bench) visible(ctx context.Context) (err error) {
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do(fmt.Sprintf("load %d", b.size.applied), "capture"); err != nil {
		return err
	}
	p, err := b.program("watch", sim.url, bootstrapFull)
	if err != nil {
		return err
	}
	if _, err := p.run(ctx, "apply", "-yes"); err != nil {
		return err
	}
	watching, err := p.watch(ctx)
	if err != nil {
		return err
	}
	var ours []float64
	for range b.size.commits + 1 {
		took, lerr := p.latency(ctx, sim)
		if lerr != nil {
			return errors.Join(lerr, watching.end())
		}
		ours = append(ours, took.Seconds())
	}
	if err := watching.end(); err != nil {
		return err
	}
	ours = ours[1:] // the first waits for the start, too
	var theirs []float64
	for range b.size.commits {
		took, err := driverLatency(ctx, sim)
		if err != nil {
			return err
		}
		theirs = append(theirs, took.Seconds())
	}
	after := median(ours) - poll.Seconds()
	b.add(figure{name: fmt.Sprintf("one commit visible in silver, -watch -poll %s", poll), ours: fmt.Sprintf("%.3f s", median(ours)),
		baseline: fmt.Sprintf("%.3f s, bare driver polling the change table", median(theirs)), ratio: fmt.Sprintf("%.1f x the driver", median(ours)/median(theirs)),
		aim: "<= 1 s after the poll", met: after <= 1})
	return nil
}

// watching is a program that watches.
type watching struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func (p *program) watch(ctx context.Context) (*watching, error) {
	w := &watching{cmd: p.command(ctx, "run", "-watch", "-poll", poll.String())}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.out
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting pipectl: %w", err)
	}
	return w, nil
}

// end interrupts it, which is the regular end of a watch.
func (w *watching) end() error {
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		return errors.Join(err, w.cmd.Wait())
	}
	err := w.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 128+int(syscall.SIGINT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pipectl run -watch: %w\n%s", err, w.out.String())
	}
	return nil
}

// latency commits one row and waits for silver's next version.
func (p *program) latency(ctx context.Context, sim *simulator) (time.Duration, error) {
	versions := func() (int, error) {
		entries, err := os.ReadDir(filepath.Join(p.table("silver"), "_delta_log"))
		n := 0
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), "_") {
				n++
			}
		}
		return n, err
	}
	before, err := versions()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := sim.do("insert 1"); err != nil {
		return 0, err
	}
	return waitFor(ctx, began, "silver's next version", lookEvery, func() (bool, error) {
		n, err := versions()
		return n > before, err
	})
}

// driverLatency commits one row and counts the change rows until it is there.
func driverLatency(ctx context.Context, sim *simulator) (time.Duration, error) {
	const count = "SELECT __$start_lsn FROM cdc." + shopInstance + "_CT"
	before, err := driverLoop(ctx, sim.url, count)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := sim.do("insert 1"); err != nil {
		return 0, err
	}
	return waitFor(ctx, began, "the change row", poll, func() (bool, error) {
		n, err := driverLoop(ctx, sim.url, count)
		return n > before, err
	})
}

// waitFor looks until it is true and says how long after began that was.
func waitFor(ctx context.Context, began time.Time, what string, every time.Duration, look func() (bool, error)) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
		done, err := look()
		if done || err != nil {
			return time.Since(began), err
		}
	}
}
