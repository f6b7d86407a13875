package run_test

import (
	"context"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/memory"
	"github.com/pipectl/pipectl/core/run"
)

// stale is a silver whose calls meet these errors in turn, and then none.
type stale struct {
	*sessions
	met *[]error
}

func (s stale) Silver(context.Context, addr.Address) (plugin.Silver, error) {
	return staleSilver{met: s.met}, nil
}

type staleSilver struct {
	memory.Silver
	met *[]error
}

func (s staleSilver) RunSilver(ctx context.Context, req plugin.SilverRequest, host plugin.Host, progress func(plugin.Progress)) (plugin.SilverResult, error) {
	if len(*s.met) > 0 {
		err := (*s.met)[0]
		*s.met = (*s.met)[1:]
		return plugin.SilverResult{}, err
	}
	return s.Silver.RunSilver(ctx, req, host, progress)
}

// A silver whose table was taken away, or put in place by another, while it worked
// begins again from what is there: that works, or says what the table is now.
func TestASilverWhoseTableChangedUnderItBeginsAgain(t *testing.T) {
	t.Parallel()
	changed := diag.Errorf(diag.KindStale, "test.replaced", "", "the table is another one").Err()
	begun := diag.Errorf(diag.KindStale, "test.stale", "", "the table is not what this began with").Err()
	gone := diag.Errorf(diag.KindStale, "test.no_table", "", "the table does not exist").Err()
	lost := diag.Errorf(diag.KindStale, "silver.rows_lost", "", "the table was put back").Err()
	broken := diag.Errorf(diag.KindInternal, "test.broken", "", "something else").Err()
	for name, tt := range map[string]struct {
		met  []error
		code string // of the end, "" = done
		left int    // errors that were not met
	}{
		"it can be applied":  {[]error{changed}, "", 0},
		"it is gone":         {[]error{changed, gone}, "test.no_table", 0},
		"it changes again":   {[]error{changed, changed, gone}, "test.replaced", 1},
		"it was stale":       {[]error{begun}, "", 0},
		"it was gone":        {[]error{gone}, "", 0},
		"it is refused":      {[]error{lost, gone}, "silver.rows_lost", 1},
		"and then refused":   {[]error{changed, lost}, "silver.rows_lost", 0},
		"of another kind":    {[]error{broken, gone}, "test.broken", 1},
		"of several at once": {[]error{diag.List{diag.FromError(broken)[0], diag.FromError(changed)[0]}.Err(), gone}, "test.broken", 1},
	} {
		for _, watch := range []bool{false, true} {
			w := newWorld(t, "orders")
			w.commit(memory.Insert("orders", row(1, "a")))
			w.mustExecute(true)
			w.commit(memory.Insert("orders", row(2, "b")))
			met := tt.met
			r, err := w.execute(false, func(q *run.Request) {
				q.Plugins = stale{q.Plugins.(*sessions), &met}
				if q.Watch = watch; watch {
					there := w.caughtUp(2)
					stopWhen(q, func(e run.Event) bool {
						return tt.code == "" && there(e) || e.Kind == run.StepEnded && e.Address.Kind == addr.Silver
					})
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			end := ""
			if list := r.Steps[1].Diagnostics.Errors(); len(list) > 0 {
				end = list[0].Code
			}
			if end != tt.code || len(met) != tt.left || (tt.code == "") != (len(w.silver("orders")) == 2) {
				t.Errorf("%s, watch %v: %s, ended with %q, %d not met, silver %v", name, watch, statuses(r), end, len(met), w.silver("orders"))
			}
		}
	}
}
