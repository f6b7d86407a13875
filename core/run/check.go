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

// settlePause is how long a check waits before it looks at undecided ranges
// again.
const settlePause = 2 * time.Second

// check compares, again while rows are in flight, until all ranges are decided
// or the check's time to settle is over. What is undecided then is neither
// proof nor difference, and fails: a gate fails closed.
func (x *execution) check(ctx context.Context, a addr.Address, r *StepResult) error {
	c := x.Config.Check(a)
	deadline := x.Clock().Add(c.Settle)
	for {
		result, findings, err := x.compare(ctx, c)
		if err != nil {
			return err
		}
		r.Check, r.Findings = &result, findings
		if result.Outcome != plugin.Undecided || !x.Clock().Add(settlePause).Before(deadline) || x.stopped() {
			for _, f := range findings {
				x.tell(Event{Kind: StepFinding, Address: a, Finding: &f})
			}
			for _, d := range result.Diagnostics {
				x.warn(r)(d)
			}
			return x.judge(c, r)
		}
		if err := x.Sleep(ctx, settlePause); err != nil {
			return err
		}
		if err := x.catchUp(ctx, c); err != nil {
			return err
		}
	}
}

// compare runs the check once.
func (x *execution) compare(ctx context.Context, c *model.Check) (plugin.CheckResult, []plugin.Finding, error) {
	v := x.Config.Silver(c.Silver)
	s := x.Config.Stream(v.From)
	t := x.Config.Table(s.Table)
	lake, err := x.lake(c.Addr)
	if err != nil {
		return plugin.CheckResult{}, nil, err
	}
	session, err := x.Plugins.Check(ctx, c.Addr)
	if err != nil {
		return plugin.CheckResult{}, nil, err
	}
	source, err := x.Plugins.Source(ctx, t.Source)
	if err != nil {
		return plugin.CheckResult{}, nil, err
	}
	info, err := x.info(s)
	if err != nil {
		return plugin.CheckResult{}, nil, err
	}
	host, err := lake.CheckHost(v, s, planner.SourceTable(t, s), source, x.tablesOf(c.Addr))
	if err != nil {
		return plugin.CheckResult{}, nil, err
	}
	var findings []plugin.Finding
	events := plugin.CheckEvents{
		Progress: x.progress(c.Addr),
		Finding: func(f plugin.Finding) {
			if len(findings) < MaxFindings {
				findings = append(findings, f)
			}
		},
	}
	result, err := session.RunCheck(ctx, planner.CheckRequest(c, v, s, t, info.info), host, events)
	return result, findings, err
}

// tablesOf names the tables that a step keeps for itself, such as a report.
func (x *execution) tablesOf(a addr.Address) []string {
	var names []string
	for _, t := range x.Plan.Tables {
		if t.Owner == a {
			names = append(names, t.Ref.Name)
		}
	}
	return names
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
		n := int64(0)
		for kind, count := range result.Failures {
			if kind != "IN_FLIGHT" {
				n += count
			}
		}
		d = diag.Errorf(diag.KindDifferent, "check.different", "The findings name keys and columns. Look for other writers of the table first; a rebuild from bronze mends what they did.",
			"%s differs from its source: %d of %d ranges, %d findings", x.Config.Silver(c.Silver).Target, result.Mismatch, result.Buckets, n)
	default:
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
