package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pipectl/pipectl/core/quantity"
)

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// bronze is change rows of the simulator into bronze, beside the bare driver
// and arrow-go's writer one after the other over the same rows.
func (b *bench) bronze(ctx context.Context) (err error) {
	rows := b.size.changes
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do(fmt.Sprintf("load %d", rows), "capture", fmt.Sprintf("change %d", rows)); err != nil {
		return err
	}
	p, err := b.program("bronze", sim.url, bootstrapNone)
	if err != nil {
		return err
	}
	var ours, theirs, cpu []float64
	for range b.size.rounds {
		if err := errors.Join(p.reset(), p.prepare(ctx)); err != nil {
			return err
		}
		s, r, err := p.one(ctx, streamStep)
		if err != nil {
			return err
		}
		if err := wantRows("bronze", s.Result.Rows, rows); err != nil {
			return err
		}
		bare, err := b.bronzeBaseline(ctx, sim.url, p.table("bronze"), rows)
		if err != nil {
			return err
		}
		ours, cpu, theirs = append(ours, s.Seconds), append(cpu, r.cpu.Seconds()), append(theirs, bare.Seconds())
	}
	f := figure{name: quantity.Grouped(rows) + " changes into bronze", ours: fmt.Sprintf("%s, %.2f s CPU", rate(rows, median(ours)), median(cpu)),
		baseline: rate(rows, median(theirs)) + ", driver loop then Parquet", ratio: fmt.Sprintf("%.2f of both", median(theirs)/median(ours))}
	f.aim, f.met = ">= 200,000 rows/s", float64(rows)/median(ours) >= 200_000
	b.add(f)
	return nil
}

func (b *bench) bronzeBaseline(ctx context.Context, url, table string, rows int64) (time.Duration, error) {
	files, err := dataFiles(table)
	if err != nil {
		return 0, err
	}
	batches, _, err := load(ctx, files)
	if err != nil {
		return 0, err
	}
	return timed(func() error {
		n, err := driverChanges(ctx, url)
		if err != nil {
			return err
		}
		return errors.Join(wantRows("the driver loop", n, rows), writeParquet(filepath.Join(b.dir, "raw.parquet"), batches))
	})
}

// silver builds silver from a snapshot, applies changes to it and checks it,
// each beside arrow-go reading and writing the same rows.
func (b *bench) silver(ctx context.Context) (err error) {
	rows, changes := b.size.table, b.size.applied
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do(fmt.Sprintf("load %d", rows), "capture"); err != nil {
		return err
	}
	p, err := b.program("silver", sim.url, bootstrapFull)
	if err != nil {
		return err
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if _, _, err := p.one(ctx, streamStep); err != nil {
		return err
	}
	if err := b.firstBuild(ctx, p, rows); err != nil {
		return err
	}
	if err := b.compare(ctx, p, sim.url, rows); err != nil {
		return err
	}
	var ours, theirs, cpu []float64
	for range b.size.rounds {
		before, err := dataFiles(p.table("bronze"))
		if err != nil {
			return err
		}
		if err := sim.do(fmt.Sprintf("change %d", changes)); err != nil {
			return err
		}
		if s, _, err := p.one(ctx, streamStep); err != nil {
			return err
		} else if err := wantRows("bronze", s.Result.Rows, changes); err != nil {
			return err
		}
		silver, err := dataFiles(p.table("silver"))
		if err != nil {
			return err
		}
		s, r, err := p.one(ctx, silverStep)
		if err != nil {
			return err
		}
		after, err := dataFiles(p.table("bronze"))
		if err != nil {
			return err
		}
		added := slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) })
		bare, err := b.copyRows(ctx, added, silver)
		if err != nil {
			return err
		}
		ours, cpu, theirs = append(ours, s.Seconds), append(cpu, r.cpu.Seconds()), append(theirs, bare.Seconds())
	}
	f := figure{name: fmt.Sprintf("%s changes into silver of %s rows", quantity.Grouped(changes), quantity.Grouped(rows)), ours: fmt.Sprintf("%s, %.2f s CPU", seconds(median(ours)), median(cpu)),
		baseline: seconds(median(theirs)) + ", arrow-go: bronze in, keys in, rows out", ratio: fmt.Sprintf("%.2f x arrow-go", median(ours)/median(theirs))}
	f.aim, f.met = "<= 1 s", median(ours) <= 1
	b.add(f)
	return nil
}

// copyRows is the least that applying must do: read the new rows of bronze,
// read the keys of silver, write as many rows.
func (b *bench) copyRows(ctx context.Context, bronze, keys []string) (time.Duration, error) {
	return timed(func() error {
		batches, _, err := load(ctx, bronze)
		if err != nil {
			return err
		}
		if keys != nil {
			if err := readFiles(ctx, keys, []int{0}, nil); err != nil {
				return err
			}
		}
		return writeParquet(filepath.Join(b.dir, "raw.parquet"), batches)
	})
}

// firstBuild is silver made from nothing.
func (b *bench) firstBuild(ctx context.Context, p *program, rows int64) error {
	s, r, err := p.one(ctx, silverStep)
	if err != nil {
		return err
	}
	if err := wantRows("silver", s.Result.Inserted, rows); err != nil {
		return err
	}
	files, err := dataFiles(p.table("bronze"))
	if err != nil {
		return err
	}
	bare, err := b.copyRows(ctx, files, nil)
	if err != nil {
		return err
	}
	f := figure{name: quantity.Grouped(rows) + " rows: first build of silver", ours: fmt.Sprintf("%s, %.2f s CPU", seconds(s.Seconds), r.cpu.Seconds()),
		baseline: seconds(bare.Seconds()) + ", arrow-go: bronze in, rows out", ratio: fmt.Sprintf("%.2f x arrow-go", s.Seconds/bare.Seconds())}
	f.aim, f.met = "<= 2 s CPU", r.cpu.Seconds() <= 2
	b.add(f)
	return nil
}

// compare is a check of every row.
func (b *bench) compare(ctx context.Context, p *program, url string, rows int64) error {
	s, r, err := p.one(ctx, checkStep)
	if err != nil {
		return err
	}
	if s.Result.Outcome != "equal" {
		return fmt.Errorf("the check ended as %q", s.Result.Outcome)
	}
	files, err := dataFiles(p.table("silver"))
	if err != nil {
		return err
	}
	bare, err := timed(func() error {
		n, err := driverLoop(ctx, url, wholeTable)
		if err != nil {
			return err
		}
		return errors.Join(wantRows("the driver loop", n, rows), readFiles(ctx, files, nil, nil))
	})
	if err != nil {
		return err
	}
	b.add(figure{name: quantity.Grouped(rows) + " rows: check of every row", ours: fmt.Sprintf("%s, %.2f s CPU", seconds(s.Seconds), r.cpu.Seconds()),
		baseline: seconds(bare.Seconds()) + ", driver loop then arrow-go reading silver", ratio: fmt.Sprintf("%.2f x both", s.Seconds/bare.Seconds())})
	return nil
}

// memory is the peak of every process with a small budget and large batches.
func (b *bench) memory(ctx context.Context) (err error) {
	const budget, limit = "64MiB", 400
	rows := b.size.batch
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do("capture", fmt.Sprintf("insert %d", rows)); err != nil {
		return err
	}
	p, err := b.program("memory", sim.url, bootstrapNone)
	if err != nil {
		return err
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	for _, address := range []string{streamStep, silverStep, checkStep} {
		_, r, err := p.one(ctx, address, "-memory", budget)
		if err != nil {
			return err
		}
		f := figure{name: fmt.Sprintf("peak memory, %s rows, -memory %s: %s", quantity.Grouped(rows), budget, address), aim: fmt.Sprintf("<= %d MiB each", limit), met: true}
		if r.peak == nil {
			b.note("%s is left out: this system has no /proc.", f.name)
			continue
		}
		names := make([]string, 0, len(r.peak))
		for name := range r.peak {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			f.ours += fmt.Sprintf("%s %.0f  ", name, r.peak[name])
			f.met = f.met && r.peak[name] <= limit
		}
		f.ours += "MiB"
		f.baseline = fmt.Sprintf("pipectl idle %.0f MiB", b.idle["pipectl"])
		b.add(f)
	}
	return nil
}

// settle runs the program once without work, for the memory of processes that
// do nothing.
func (b *bench) settle(ctx context.Context) (err error) {
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do("capture"); err != nil {
		return err
	}
	p, err := b.program("idle", sim.url, bootstrapNone)
	if err != nil {
		return err
	}
	r, err := p.run(ctx, "apply", "-yes")
	b.idle = r.peak
	return errors.Join(err, os.RemoveAll(p.dir))
}
