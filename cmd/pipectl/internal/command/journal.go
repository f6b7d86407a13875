package command

import (
	"slices"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/run"
)

// journal records what becomes of the steps of a watch while it goes on, perhaps
// for weeks: status is to know of it now. Writing may be slow and delays no step:
// events are taken at once, and a goroutine writes what has come. Each record
// holds all that is known by then, so the newest one tells everything. What does
// not work is recorded again now and then: other commands write records, too, and
// status reads the newest ones only.
type journal struct {
	write func(number int, known []outcome)
	again <-chan time.Time

	mu    sync.Mutex
	known []outcome
	news  chan struct{} // holds one when there is something to write
	done  chan struct{} // closed when the goroutine has ended
}

// outcome is how a step stood at a time.
type outcome struct {
	step run.StepResult
	at   time.Time
}

// recordAgain is the pause between two records of what does not work.
const recordAgain = time.Hour

// newJournal starts a journal that records again what does not work at each tick
// of again; close ends it.
func newJournal(again <-chan time.Time, write func(number int, known []outcome)) *journal {
	j := &journal{write: write, again: again, news: make(chan struct{}, 1), done: make(chan struct{})}
	go j.run()
	return j
}

// hear takes an event; it returns at once.
func (j *journal) hear(e run.Event, at time.Time) {
	switch {
	case e.Kind == run.StepWorking, e.Kind == run.StepFailing, e.Kind == run.StepRecovered, e.Kind == run.StepEnded && e.Step.Status == run.Failed:
	default:
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := outcome{*e.Step, at}
	if i := j.of(e.Address); i >= 0 {
		j.known[i] = now
	} else {
		j.known = append(j.known, now)
	}
	select {
	case j.news <- struct{}{}:
	default: // what is waiting is written with this
	}
}

// of is where a step stands in known, -1 when nowhere.
func (j *journal) of(a addr.Address) int {
	return slices.IndexFunc(j.known, func(o outcome) bool { return o.step.Address == a })
}

func (j *journal) run() {
	defer close(j.done)
	for number := 0; ; {
		news, more := true, true
		select {
		case _, more = <-j.news:
		case <-j.again:
			news = false
		}
		if !more {
			return
		}
		j.mu.Lock()
		known := slices.Clone(j.known)
		j.mu.Unlock()
		if news || slices.ContainsFunc(known, func(o outcome) bool { return o.step.Status == run.Failed }) {
			j.write(number, known)
			number++
		}
	}
}

// close waits until what was heard is written. Nothing is heard any more.
func (j *journal) close() {
	close(j.news)
	<-j.done
}
