package run

import (
	"context"
	"fmt"
	"time"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
)

// settlePause is how long a check waits before it looks at what was in flight
// again.
const settlePause = 2 * time.Second

// maxKeysInFlight bounds the keys that a later look is narrowed to; with more
// in flight or different, it looks at everything again.
const maxKeysInFlight = 10_000

// capturePause is how long a check waits before it looks once more at what
// differs: twice the pause that the capture job makes between two scans of the
// log, 5 seconds unless it was set otherwise (Microsoft: sys.sp_cdc_change_job,
// @pollinginterval). A commit that capture has not reached is in no change table
// and so cannot be told from a difference.
const capturePause = 10 * time.Second

// check compares, and looks again at what was in flight until it is decided or
// the check's time to settle is over, and once at what differs. A key that was
// equal at one look counts as equal: on a table that never stands still nothing
// more can be proven. What is undecided at the end is neither proof nor
// difference, and fails: a gate fails closed.
func (x *execution) check(ctx context.Context, a addr.Address, r *StepResult) error {
	c := x.Config.Check(a)
	deadline := x.Clock().Add(c.Settle)
	first, err := x.compare(ctx, c, nil)
	if err != nil {
		return err
	}
	last, differed := first, false
	for !x.stopped() {
		pause, left := settlePause, deadline.Sub(x.Clock())
		if last.Outcome == plugin.Different && !differed {
			differed = true
			pause = min(capturePause, left-1)
		} else if last.Outcome != plugin.Undecided {
			break
		}
		if pause <= 0 || pause >= left {
			break
		}
		if err := x.Sleep(ctx, pause); err != nil {
			return err
		}
		if err := x.catchUp(ctx, c); err != nil {
			return err
		}
		keys := last.again()
		if last, err = x.compare(ctx, c, keys); err != nil {
			return err
		}
		if keys == nil {
			first = last
		}
	}
	result := first.settledBy(last)
	r.Check, r.Findings = &result, last.findings
	for _, f := range last.findings {
		x.tell(Event{Kind: StepFinding, Address: a, Finding: &f})
	}
	for _, d := range result.Diagnostics {
		x.warn(r)(d)
	}
	if err := x.proven(ctx, c, result); err != nil {
		return err
	}
	return x.judge(c, r)
}

// proven tells the ledger that every row of silver was compared and found
// equal, so that what another program did to it is over.
func (x *execution) proven(ctx context.Context, c *model.Check, result plugin.CheckResult) error {
	if result.Outcome != plugin.Equal || result.Hashed != result.Buckets || result.SilverVersion < 0 {
		return nil
	}
	lake, err := x.lake(c.Addr)
	if err != nil {
		return err
	}
	return lake.Ledger.Proven(ctx, x.Config.Silver(c.Silver).Target, result.SilverVersion)
}

// look is one look of a check.
type look struct {
	plugin.CheckResult
	// findings are the first ones, at most MaxFindings.
	findings []plugin.Finding
	// keys are those in flight and those that differ, at most one more than
	// maxKeysInFlight.
	keys []string
	// unnamed tells that something is in flight, or differs, that no key names.
	unnamed bool
}

// again are the keys that a later look is narrowed to, nil for everything.
func (l look) again() []string {
	if l.unnamed || l.Mismatch > 0 || len(l.keys) > maxKeysInFlight {
		return nil
	}
	return l.keys
}

// settledBy is the result of a look whose keys were decided by a later one: the counts are the first look's, the outcome is the later one's.
func (l look) settledBy(last look) plugin.CheckResult {
	result := l.CheckResult
	result.Outcome, result.Failures = last.Outcome, last.Failures
	if last.Outcome != plugin.Undecided {
		result.Match, result.InFlight = result.Match+result.InFlight, 0
	}
	return result
}

// compare runs the check once, over everything or over some keys only.
func (x *execution) compare(ctx context.Context, c *model.Check, keys []string) (look, error) {
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
	host, err := lake.CheckHost(v, s, planner.SourceTable(t, s), source, x.tablesOf(c.Addr))
	if err != nil {
		return look{}, err
	}
	var l look
	events := plugin.CheckEvents{
		Progress: x.progress(c.Addr),
		Finding: func(f plugin.Finding) {
			if len(l.findings) < MaxFindings {
				l.findings = append(l.findings, f)
			}
			switch {
			case f.Key == "":
				l.unnamed = true
			case len(l.keys) <= maxKeysInFlight:
				l.keys = append(l.keys, f.Key)
			}
		},
	}
	req := planner.CheckRequest(c, v, s, t, info.info)
	req.Settle, req.Keys = c.Settle > 0, keys
	l.CheckResult, err = session.RunCheck(ctx, req, host, events)
	return l, err
}

// tablesOf are the tables that a step keeps for itself, such as a report.
func (x *execution) tablesOf(a addr.Address) []plugin.TableRef {
	var own []plugin.TableRef
	for _, t := range x.Plan.Tables {
		if t.Owner == a {
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
	if err := x.stream(ctx, v.From, x.results[v.From], false, nil); err != nil {
		return err
	}
	return x.silver(ctx, v.Addr, x.results[v.Addr])
}

// judge turns the outcome into the end of the step.
func (x *execution) judge(c *model.Check, r *StepResult) error {
	result := r.Check
	var d diag.Diagnostic
	switch result.Outcome {
	case plugin.Equal:
		return nil
	case plugin.Different:
		what := "1 finding"
		if n := result.Findings(); n != 1 {
			what = fmt.Sprintf("%d findings", n)
		}
		if result.Mismatch > 0 {
			what += fmt.Sprintf(", other counts in %d of %d ranges", result.Mismatch, result.Buckets)
		}
		d = diag.Errorf(diag.KindDifferent, "check.different", "The findings name keys and columns. Look for other writers of the table first. A silver with another target is built anew from bronze.",
			"%s differs from its source: %s", x.Config.Silver(c.Silver).Target, what)
	default:
		if x.stopped() {
			d = diag.Errorf(diag.KindDifferent, "check.undecided", "Run it again.",
				"%s could not be decided: the run was asked to end while rows were in flight", x.Config.Silver(c.Silver).Target)
			break
		}
		d = diag.Errorf(diag.KindDifferent, "check.undecided", "Run it again when less is changing, or give it more time with settle.",
			"%s could not be decided: rows were in flight in %d of %d ranges for %s", x.Config.Silver(c.Silver).Target, result.InFlight, result.Buckets, c.Settle)
	}
	if c.OnFailure == "warn" {
		d.Severity = diag.Warning
		x.warn(r)(d)
		return nil
	}
	return fmt.Errorf("checking %s: %w", c.Silver, d.Err())
}
