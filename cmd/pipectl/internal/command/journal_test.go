package command

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/run"
)

// A lake that is slow, or does not answer, delays no step of a watch; what came
// meanwhile is in the next record, with what was known before.
func TestAJournalDelaysNobodyAndForgetsNothing(t *testing.T) {
	t.Parallel()
	begun, slow := make(chan struct{}), make(chan struct{})
	var records []string
	j := newJournal(nil, func(number int, known []outcome) {
		if number == 0 {
			close(begun)
			<-slow
		}
		text := fmt.Sprint(number, ":")
		for _, o := range known {
			text += fmt.Sprintf(" %s %s at %s,", o.step.Address, o.step.Status, o.at.Format("15:04"))
		}
		records = append(records, fmt.Sprint(text, " exit ", exitOf(known)))
	})
	minute := 0
	tell := func(kind run.EventKind, name string, status run.Status, list ...diag.Diagnostic) {
		a := addr.New(addr.Stream, name)
		minute++
		j.hear(run.Event{Kind: kind, Address: a, Step: &run.StepResult{Address: a, Status: status, Diagnostics: list}}, time.Date(2026, 3, 1, 8, minute, 0, 0, time.UTC))
	}
	stale := diag.Errorf(diag.KindStale, "a.b", "", "gone")
	tell(run.StepStarted, "a", run.Skipped)
	tell(run.StepEnded, "a", run.Failed, stale)
	<-begun
	tell(run.StepFailing, "b", run.Failed, diag.Errorf(diag.KindTransient, "c.d", "", "away"))
	tell(run.StepFailing, "c", run.Failed, diag.Errorf(diag.KindTransient, "c.d", "", "away"))
	tell(run.StepRecovered, "b", run.Done)
	tell(run.StepWorking, "e", run.Done)
	tell(run.StepEnded, "d", run.Done) // the record of the whole run tells it
	close(slow)
	j.close()
	want := []string{
		"0: stream.a failed at 08:02, exit 6",
		"1: stream.a failed at 08:02, stream.b done at 08:05, stream.c failed at 08:04, stream.e done at 08:06, exit 6",
	}
	if !slices.Equal(records, want) {
		t.Errorf("%q, want %q", records, want)
	}
}

func TestAJournalWithoutNewsWritesNothing(t *testing.T) {
	t.Parallel()
	j := newJournal(nil, func(int, []outcome) { t.Error("a record of nothing") })
	j.close()
}

// Other commands write records, too: what does not work stays among the newest.
func TestAJournalRepeatsWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	again, written := make(chan time.Time), make(chan string)
	j := newJournal(again, func(number int, known []outcome) {
		written <- fmt.Sprint(number, " ", known[0].step.Status, " at ", known[0].at.Format("15:04"))
	})
	a := addr.New(addr.Stream, "a")
	tell := func(kind run.EventKind, status run.Status, hour int) {
		j.hear(run.Event{Kind: kind, Address: a, Step: &run.StepResult{Address: a, Status: status}}, time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC))
	}
	expect := func(want string) {
		t.Helper()
		if got := <-written; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	again <- time.Time{} // nothing is known
	tell(run.StepFailing, run.Failed, 8)
	expect("0 failed at 08:00")
	again <- time.Time{}
	expect("1 failed at 08:00")
	tell(run.StepRecovered, run.Done, 9)
	expect("2 done at 09:00")
	again <- time.Time{}
	j.close() // a record of what works would wait here for ever
}
