package plan_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
)

// What `plan -detailed-exitcode` answers 2 to.
func TestWhatApplyHasToDoThatARunWouldNot(t *testing.T) {
	t.Parallel()
	orders := addr.New(addr.Stream, "orders")
	accepted := plan.Step{Address: orders, Kind: plan.Changes, Accepted: true}
	with := func(change func(*plan.Step)) plan.Plan {
		s := accepted
		change(&s)
		return plan.Plan{Steps: []plan.Step{s}}
	}
	for name, c := range map[string]struct {
		plan plan.Plan
		want bool
	}{
		"nothing":              {plan.Plan{Steps: []plan.Step{accepted}, Tables: []plan.Table{{Action: plugin.TableNone}}}, false},
		"data that waits":      {with(func(s *plan.Step) { s.Pending = true }), false},
		"a table to create":    {plan.Plan{Steps: []plan.Step{accepted}, Tables: []plan.Table{{Action: plugin.TableCreate}}}, true},
		"a table to change":    {plan.Plan{Steps: []plan.Step{accepted}, Tables: []plan.Table{{Action: plugin.TableAlter}}}, true},
		"not accepted yet":     {with(func(s *plan.Step) { s.Accepted = false }), true},
		"a table to read":      {with(func(s *plan.Step) { s.Kind = plan.FullSnapshot }), true},
		"a possible decision":  {with(func(s *plan.Step) { s.Decision = true }), true},
		"declared no more":     {plan.Plan{Steps: []plan.Step{accepted}, Removed: []plan.Removed{{Address: orders}}}, true},
		"without anything yet": {plan.Plan{}, false},
	} {
		if got := c.plan.Changed(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
