package stream_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/stream"
)

func TestAnIdlePollIsOneQueryAndAStopEndsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	stop := make(chan struct{})
	polls := 0
	var source []int
	faults := &memory.Faults{}
	got, err := w.run(faults, watching, func(c *stream.Config) {
		c.Stop = stop
		c.Poll = 7 * time.Second
		c.Sleep = func(_ context.Context, d time.Duration) error {
			if d != 7*time.Second {
				t.Errorf("pause %v", d)
			}
			polls++
			source = append(source, len(slices.DeleteFunc(faults.Points(), func(p memory.Point) bool { return p.After || strings.HasSuffix(p.Call, ".Recv") })))
			switch polls {
			case 2:
				w.insert(90, 2)
			case 5:
				close(stop)
			}
			return nil
		}
	})
	if err != nil || !got.Stopped || got.Batches != 2 || got.Rows != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if polls != 5 || source[1]-source[0] != 1 || source[4]-source[3] != 1 {
		t.Errorf("calls after each poll: %v", source)
	}
	if v := *got.Verdict; v != at(60).UnixMicro() {
		t.Errorf("verdict %d", v)
	}
}

func TestAWatchOutlivesAVerdictThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1)
	broken := diag.Errorf(diag.KindPermission, "memory.denied", "", "The control table is read-only").Err()
	fail := true
	stop := make(chan struct{})
	polls := 0
	faults := &memory.Faults{Hook: func(p memory.Point) error {
		if fail && p.Call == "Tables.BeginWrite" && p.Detail == verds && !p.After {
			return broken
		}
		return nil
	}}
	got, err := w.run(faults, watching, func(c *stream.Config) {
		c.Stop = stop
		c.Sleep = func(context.Context, time.Duration) error {
			switch polls++; polls {
			case 3:
				w.later() // two minutes: too early for another word
			case 4:
				fail = false
			case 5:
				close(stop)
			}
			return nil
		}
	})
	if err != nil || got.Verdict == nil || w.warned("stream.verdict") != 1 {
		t.Errorf("%+v, %v, %d warnings", got, err, w.warned("stream.verdict"))
	}
	// A run to the newest position fails with it instead.
	fail = true
	w.later()
	w.insert(90, 2)
	if _, err := w.run(faults); !diag.Is(err, diag.KindPermission) {
		t.Errorf("got %v", err)
	}
}

func TestProgressTellsRowsPositionAndLag(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.create(t)
	w.insert(1, 1, 2, 3)
	w.insert(31, 4)
	var last stream.Progress
	stages, longest := map[string]bool{}, time.Duration(0)
	w.mustRun(t, bootstrap, progress(func(p stream.Progress) {
		stages[p.Stage], last = true, p
	}))
	if !stages["snapshot"] || !stages["changes"] || last.Rows != 4 || last.Position != w.db.Newest() || last.Lag == nil || *last.Lag != 0 || last.Rate <= 0 {
		t.Errorf("stages %v, last %+v", stages, last)
	}
	w.insert(60, 5)
	w.insert(90, 6)
	w.mustRun(t, maxCommits(1), progress(func(p stream.Progress) {
		if p.Lag != nil {
			longest = max(longest, *p.Lag)
		}
	}))
	if longest != 59*time.Minute {
		t.Errorf("the longest lag was %v", longest)
	}
}
