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
	j := newJournal(func(number int, known []outcome) {
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
	tell(run.StepEnded, "d", run.Done) // the record of the whole run tells it
	close(slow)
	j.close()
	want := []string{
		"0: stream.a failed at 08:02, exit 6",
		"1: stream.a failed at 08:02, stream.b done at 08:05, stream.c failed at 08:04, exit 6",
	}
	if !slices.Equal(records, want) {
		t.Errorf("%q, want %q", records, want)
	}
}

func TestAJournalWithoutNewsWritesNothing(t *testing.T) {
	t.Parallel()
	j := newJournal(func(int, []outcome) { t.Error("a record of nothing") })
	j.close()
}
