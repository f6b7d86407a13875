package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/quantity"
)

// settlePause is how long a check waits before it looks at what was in flight
// again.
const settlePause = 2 * time.Second

// captureWait is how long a later look may wait, when rows still differ, until
// capture has passed what it read: twice the pause that the capture job makes
// between two scans of the log, 5 seconds unless it was set otherwise (Microsoft:
// sys.sp_cdc_change_job, @pollinginterval). A commit that capture has not reached is
// in no change table and so cannot be told from a difference.
const captureWait = 10 * time.Second

// check compares, and looks again at what was in flight until it is decided or
// the check's time to settle is over, and once at what differs. A key that was
// equal at one look counts as equal: on a table that never stands still nothing
// more can be proven. What is undecided at the end is neither proof nor
// difference, and fails: a gate fails closed.
func (x *execution) check(ctx context.Context, a addr.Address, r *StepResult) error {
	c := x.Config.Check(a)
	// A look that is tried again goes on from those before it: a first look of
	// its own could choose other rows, and miss what was found.
	if r.looks == nil {
		first, err := x.compare(ctx, c, again{}, 0)
		if err != nil {
			return err
		}
		r.looks = begin(first, x.Clock().Add(c.Settle))
	}
	err := x.settle(ctx, c, r.looks)
	result := r.looks.result()
	r.Check, r.Findings = &result, r.looks.last.findings
	if err != nil {
		return err
	}
	for _, d := range result.Diagnostics {
		x.warn(r)(d)
	}
	x.proven(ctx, c, r)
	return x.judge(c, r)
}

// settle looks again for as long as that may change the outcome.
func (x *execution) settle(ctx context.Context, c *model.Check, l *looks) error {
	for !x.stopped() {
		pause, left := settlePause, l.deadline.Sub(x.Clock())
		switch {
		case l.last.Outcome == plugin.Different && !l.differed:
			pause = min(pause, left-1)
		case l.last.Outcome != plugin.Undecided:
			return nil
		}
		ask, ok := l.last.again()
		if !ok || pause <= 0 || pause >= left {
			return nil
		}
		if err := x.wait(ctx, pause); errors.Is(err, errStopped) {
			return nil
		} else if err != nil {
			return err
		}
		if err := x.catchUp(ctx, c); err != nil {
			return err
		}
		next, err := x.compare(ctx, c, ask, max(min(captureWait, l.deadline.Sub(x.Clock())), 0))
		if err != nil {
			return err
		}
		if !l.add(next, ask) {
			return nil
		}
	}
	return nil
}

// found tells what a check found, when its step is over; also where a later look
// failed, which must not hide a difference that an earlier one found.
func (x *execution) found(r *StepResult, err error) {
	for _, f := range r.Findings {
		x.tell(Event{Kind: StepFinding, Address: r.Address, Finding: &f})
	}
	if err == nil || r.Check == nil || r.Check.Outcome != plugin.Different || diag.KindOf(err) == diag.KindDifferent {
		return
	}
	c := x.Config.Check(r.Address)
	x.warn(r)(diag.Warningf("check.not_settled", "What differed is to be looked at once more, and that look failed: see its error. Run the check again.",
		"%s differed from its source: %s", x.Config.Silver(c.Silver).Target, differences(*r.Check)))
}

// proven tells the ledger that every row of silver was compared and found
// equal, so that what another program did to it is over. The outcome holds
// without it.
func (x *execution) proven(ctx context.Context, c *model.Check, r *StepResult) {
	version := r.looks.proven
	if r.Check.Outcome != plugin.Equal || version < 0 {
		return
	}
	target := x.Config.Silver(c.Silver).Target
	lake, err := x.lake(c.Addr)
	if err == nil {
		err = lake.Ledger.Proven(ctx, target, version)
	}
	if err != nil {
		x.warn(r)(diag.Warningf("check.not_recorded", "Warnings of what other programs wrote to the table go on until a check can record it.",
			"%s is equal to its source, which could not be recorded: %s", target, diag.FromError(err)[0].Summary))
	}
}

// compare runs the check once: a first look, or one at what an earlier one found,
// which may wait for the source's capture for so long.
func (x *execution) compare(ctx context.Context, c *model.Check, ask again, wait time.Duration) (look, error) {
	v := x.Config.Silver(c.Silver)
	s := x.Config.Stream(v.From)
	t := x.Config.Table(s.Table)
	lake, err := x.lake(c.Addr)
	if err != nil {
		return look{}, err
	}
	session, err := x.Plugins.Check(ctx, c.Addr)
	if err != nil {
		return look{}, err
	}
	source, err := x.Plugins.Source(ctx, t.Source)
	if err != nil {
		return look{}, err
	}
	info, err := x.info(s)
	if err != nil {
		return look{}, err
	}
	attention := x.attend(c.Addr, t.Source, tableIn(v.Target, v.To), nil)
	defer attention.end()
	asked := askedSource{Source: source, object: info.info.Object, attention: attention}
	host, err := lake.CheckHost(v, s, planner.SourceTable(t, s), asked, x.tablesOf(c.Addr))
	if err != nil {
		return look{}, err
	}
	var l look
	events := plugin.CheckEvents{Progress: x.progress(c.Addr, attention), Finding: l.note}
	req := planner.CheckRequest(c, v, s, t, info.info)
	req.Settle, req.Keys, req.Again, req.AwaitCapture = c.Settle > 0, ask.keys, ask.ranges, wait
	l.CheckResult, err = session.RunCheck(ctx, req, host, events)
	return l, err
}

// tablesOf are the tables that a step keeps for itself, such as a report.
func (x *execution) tablesOf(a addr.Address) []plugin.TableRef {
	var own []plugin.TableRef
	for _, t := range x.Plan.Tables {
		if t.WrittenBy(a) {
			own = append(own, t.Ref)
		}
	}
	return own
}

// catchUp lets what is in flight arrive: where this run also carries out the
// stream and the silver, it does so again. A plain check only waits.
func (x *execution) catchUp(ctx context.Context, c *model.Check) error {
	v := x.Config.Silver(c.Silver)
	for _, a := range []addr.Address{v.From, v.Addr} {
		r := x.results[a]
		if r == nil || r.Status != Done {
			return nil
		}
	}
	err := x.alone(v.From, func() error { return x.stream(ctx, v.From, x.results[v.From], false, nil) })
	if err != nil {
		return err
	}
	return x.alone(v.Addr, func() error { return x.silver(ctx, v.Addr, x.results[v.Addr]) })
}

// alone carries out work on a stream or silver while no other check does. The
// lock that a run has on its tables does not keep its own steps apart.
func (x *execution) alone(a addr.Address, work func() error) error {
	x.mu.Lock()
	one := x.catching[a]
	if one == nil {
		one = &sync.Mutex{}
		x.catching[a] = one
	}
	x.mu.Unlock()
	one.Lock()
	defer one.Unlock()
	return work()
}

// whyDifferent says where to look: what silver cannot have, a new silver over
// the same bronze cannot have either.
func (x *execution) whyDifferent(c *model.Check) string {
	stream := x.Config.Stream(x.Config.Silver(c.Silver).From)
	if stream.Bootstrap == model.BootstrapNone {
		return "The findings name keys and columns. " + stream.Addr.String() + " began without a snapshot, so rows that have not changed since are in no table of the lake. " + plugin.LoadAnew
	}
	return "The findings name keys and columns. A column that came or went at the source, or is captured only since, differs in each row until that row changes. " +
		"Other causes are a program that writes the table, a key that is not unique, and a capture job that is more than " + captureWait.String() + " behind. A silver with another target is built anew from bronze, without the source."
}

// judge turns the outcome into the end of the step.
func (x *execution) judge(c *model.Check, r *StepResult) error {
	result := r.Check
	var d diag.Diagnostic
	switch result.Outcome {
	case plugin.Equal:
		return nil
	case plugin.Different:
		d = diag.Errorf(diag.KindDifferent, "check.different", x.whyDifferent(c),
			"%s differs from its source: %s", x.Config.Silver(c.Silver).Target, differences(*result))
	default:
		if x.stopped() {
			r.CutShort = true
			d = diag.Errorf(diag.KindDifferent, "check.undecided", "Run it again.",
				"%s could not be decided: the run was asked to end while rows were in flight", x.Config.Silver(c.Silver).Target)
			break
		}
		v := x.Config.Silver(c.Silver)
		detail := "Run it again when less is changing, or give it more time with settle."
		const then = ", then check again; or check when less is changing."
		switch read, applied := x.results[v.From] != nil, x.results[v.Addr] != nil; {
		case !read && !applied:
			detail = "This carried out neither " + v.From.String() + " nor " + v.Addr.String() + ": what the source has and silver lacks is in flight until they run. Run them" + then
		case !read:
			detail = "This carried out " + v.Addr.String() + " without " + v.From.String() + ": what the source has and bronze lacks is in flight until that runs. Run it" + then
		case !applied:
			detail = "This carried out " + v.From.String() + " without " + v.Addr.String() + ": what bronze has and silver lacks is in flight until that runs. Run it" + then
		}
		d = diag.Errorf(diag.KindDifferent, "check.undecided", detail, "%s could not be decided: %s", v.Target, inFlight(*result, c.Settle))
	}
	if c.OnFailure == "warn" {
		d.Severity = diag.Warning
		x.warn(r)(d)
		return nil
	}
	return fmt.Errorf("checking %s: %w", c.Silver, d.Err())
}

// inFlight says what kept a check undecided. Rows that were compared one by one
// are in flight by their keys, whatever their range counts.
func inFlight(result plugin.CheckResult, settle time.Duration) string {
	var what string
	switch keys := result.Failures[plugin.FindingInFlight]; {
	case result.InFlight > 0:
		what = fmt.Sprintf("rows were in flight in %d of %s", result.InFlight, quantity.Of(result.Buckets, "range", "ranges"))
	case keys > 0:
		what = quantity.Of(keys, "key was in flight", "keys were in flight")
	default:
		what = "rows were in flight"
	}
	if settle > 0 {
		what += " for " + settle.String()
	}
	return what
}

// differences counts what a check found, for people.
func differences(result plugin.CheckResult) string {
	what := "1 finding"
	if n := result.Findings(); n != 1 {
		what = fmt.Sprintf("%d findings", n)
	}
	if result.Mismatch > 0 {
		what += fmt.Sprintf(", other counts in %d of %d ranges", result.Mismatch, result.Buckets)
	}
	return what
}
