package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// Keys in flight at the first look are looked at again, alone, after stream and
// silver have caught up; the counts stay the first look's.
func TestACheckSettlesByLookingAgainAtKeysInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "orders")
	w.cfg.Checks[0].Settle = time.Minute
	w.commit(memory.Insert("orders", row(1, "a")))
	w.mustExecute(true)
	w.commit(memory.Insert("orders", row(2, "b")))
	looks := &looking{answers: []plugin.CheckResult{
		{Outcome: plugin.Undecided, Buckets: 3, Match: 2, InFlight: 1, Failures: map[string]int64{"IN_FLIGHT": 1}},
		{Outcome: plugin.Undecided, Failures: map[string]int64{"IN_FLIGHT": 1}},
		{Outcome: plugin.Equal},
	}}
	r, err := w.execute(false, func(q *run.Request) { q.Plugins = watched{q.Plugins.(*sessions), looks} })
	if err != nil || r.Steps[2].Status != run.Done {
		t.Fatalf("%s %v %+v", statuses(r), err, r.Steps[2].Diagnostics)
	}
	if got := fmt.Sprint(looks.asked); got != `[[] [{"id":1}] [{"id":1}]]` || !looks.settle {
		t.Fatalf("looked at %s", got)
	}
	if c := r.Steps[2].Check; c.Outcome != plugin.Equal || c.Buckets != 3 || c.Match != 3 || c.InFlight != 0 || len(r.Steps[2].Findings) != 0 {
		t.Fatalf("%+v", c)
	}
}

// Rows that were compared one by one are in flight by their keys: their range,
// whose counts agree, is not.
func TestAnUndecidedCheckSaysWhatWasInFlight(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer plugin.CheckResult
		settle time.Duration
		steps  string // of the three, "" = all
		says   string
		detail string
	}{
		"a range": {plugin.CheckResult{Buckets: 1, InFlight: 1}, 3 * time.Second, "",
			"silver.orders could not be decided: rows were in flight in 1 of 1 range for 3s", "when less is changing"},
		"a key in a range whose counts agree": {plugin.CheckResult{Buckets: 1, Match: 1, Failures: map[string]int64{"IN_FLIGHT": 1}}, 3 * time.Second, "",
			"silver.orders could not be decided: 1 key was in flight for 3s", "when less is changing"},
		"keys at the one look of a check alone": {plugin.CheckResult{Buckets: 4, Match: 4, Failures: map[string]int64{"IN_FLIGHT": 2}}, 0, "check",
			"silver.orders could not be decided: 2 keys were in flight", "This carried out neither stream.orders nor silver.orders"},
		"a check with its silver": {plugin.CheckResult{Buckets: 4, InFlight: 1}, 0, "silver check",
			"silver.orders could not be decided: rows were in flight in 1 of 4 ranges", "This carried out silver.orders without stream.orders: what the source has and bronze lacks"},
		"a check with its stream": {plugin.CheckResult{Buckets: 4, InFlight: 1}, 0, "stream check",
			"silver.orders could not be decided: rows were in flight in 1 of 4 ranges", "This carried out stream.orders without silver.orders: what bronze has and silver lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.cfg.Checks[0].Settle = tt.settle
			tt.answer.Outcome = plugin.Undecided
			looks := &looking{answers: slices.Repeat([]plugin.CheckResult{tt.answer}, 5)}
			var steps []addr.Address
			for _, kind := range strings.Fields(tt.steps) {
				steps = append(steps, addr.New(addr.Kind(kind), "orders"))
			}
			r, err := w.execute(false, func(q *run.Request) {
				q.Plan, _, _ = w.plan(steps...)
				q.Plugins = watched{q.Plugins.(*sessions), looks}
				q.Sleep = func(context.Context, time.Duration) error { w.commit(); return nil } // a minute passes
			})
			if err != nil {
				t.Fatal(err)
			}
			d := r.Steps[len(r.Steps)-1].Diagnostics.Errors()
			if len(d) != 1 || d[0].Code != "check.undecided" || d[0].Summary != tt.says || !strings.Contains(d[0].Detail, tt.detail) {
				t.Errorf("%s %+v", statuses(r), d)
			}
		})
	}
}

// A commit that capture has not reached yet looks like a difference: what
// differs is looked at once more, and what stays different is one.
func TestADifferenceIsLookedAtOnceMore(t *testing.T) {
	t.Parallel()
	different := plugin.CheckResult{Outcome: plugin.Different, Buckets: 3, Match: 3, Failures: map[string]int64{"RECORD_DIFF": 1}}
	mismatch := plugin.CheckResult{Outcome: plugin.Different, Buckets: 3, Match: 2, Mismatch: 1, Failures: map[string]int64{"MISMATCH": 1}}
	undecided := plugin.CheckResult{Outcome: plugin.Undecided, Failures: map[string]int64{"IN_FLIGHT": 1}}
	equal := plugin.CheckResult{Outcome: plugin.Equal}
	whole := plugin.CheckResult{Outcome: plugin.Equal, Buckets: 3, Match: 3}
	for name, tt := range map[string]struct {
		settle  time.Duration
		answers []plugin.CheckResult
		asked   string
		failed  bool
	}{
		"it was on its way":              {time.Minute, []plugin.CheckResult{different, equal}, `[[] [{"id":2}]]`, false},
		"it stays":                       {time.Minute, []plugin.CheckResult{different, different}, `[[] [{"id":2}]]`, true},
		"counts are compared once more":  {time.Minute, []plugin.CheckResult{mismatch, whole}, `[[] []]`, false},
		"then it is in flight":           {time.Minute, []plugin.CheckResult{different, undecided, equal}, `[[] [{"id":2}] [{"id":1}]]`, false},
		"in flight, then different":      {time.Minute, []plugin.CheckResult{undecided, different, equal}, `[[] [{"id":1}] [{"id":2}]]`, false},
		"once only":                      {time.Minute, []plugin.CheckResult{different, undecided, different}, `[[] [{"id":2}] [{"id":1}]]`, true},
		"there is no time to settle":     {0, []plugin.CheckResult{different}, `[[]]`, true},
		"there is little time to settle": {3 * time.Second, []plugin.CheckResult{different, equal}, `[[] [{"id":2}]]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.cfg.Checks[0].Settle = tt.settle
			looks := &looking{answers: tt.answers}
			var pauses []time.Duration
			r, err := w.execute(false, func(q *run.Request) {
				q.Plugins = watched{q.Plugins.(*sessions), looks}
				q.Sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
			})
			if err != nil || (r.Steps[2].Status == run.Failed) != tt.failed {
				t.Fatalf("%s %v %+v", statuses(r), err, r.Steps[2].Diagnostics)
			}
			if got := fmt.Sprint(looks.asked); got != tt.asked {
				t.Errorf("looked at %s, not %s", got, tt.asked)
			}
			if c := r.Steps[2].Check; !tt.failed && (c.Outcome != plugin.Equal || tt.answers[0].Buckets != c.Buckets && tt.answers[0].Buckets > 0 || c.Findings() != 0) {
				t.Errorf("%+v", c)
			}
			for _, d := range pauses {
				if d >= tt.settle {
					t.Errorf("waits %v of %v", d, tt.settle)
				}
			}
			for i, d := range looks.waits {
				if want := min(10*time.Second, tt.settle); i == 0 && d != 0 || i > 0 && d != want {
					t.Errorf("look %d may wait %v for capture, want %v", i, d, want)
				}
			}
		})
	}
}

type watched struct {
	*sessions
	check *looking
}

func (w watched) Check(context.Context, addr.Address) (plugin.Check, error) { return w.check, nil }

// looking answers one look after the other and keeps what was asked.
type looking struct {
	memory.Check
	answers []plugin.CheckResult
	asked   [][]string
	again   [][]plugin.KeyRange
	settle  bool
	// waits are for how long each look may wait for capture.
	waits []time.Duration
	// forgets leaves it unsaid that a later look was at all that was asked for.
	forgets bool
	// finds are the findings of a look, by its number; others are made up.
	finds map[int][]plugin.Finding
	// fails is the error of a look, by its number.
	fails map[int]error
}

func (l *looking) RunCheck(_ context.Context, req plugin.CheckRequest, _ plugin.Host, events plugin.CheckEvents) (plugin.CheckResult, error) {
	n := len(l.asked)
	l.asked, l.again = append(l.asked, req.Keys), append(l.again, req.Again)
	l.settle, l.waits = req.Settle, append(l.waits, req.AwaitCapture)
	if err := l.fails[n]; err != nil {
		return plugin.CheckResult{}, err
	}
	answer := l.answers[n]
	answer.LookedAgain = n > 0 && !l.forgets
	if list, ok := l.finds[n]; ok {
		for _, f := range list {
			events.Finding(f)
		}
		return answer, nil
	}
	switch answer.Outcome {
	case plugin.Undecided:
		events.Finding(plugin.Finding{Kind: "IN_FLIGHT", Key: `{"id":1}`})
	case plugin.Different:
		if answer.Mismatch > 0 {
			events.Finding(plugin.Finding{Kind: "MISMATCH", Lo: "1", Hi: "9"})
		} else {
			events.Finding(plugin.Finding{Kind: "RECORD_DIFF", Key: `{"id":2}`})
		}
	}
	return answer, nil
}
