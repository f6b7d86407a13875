package planner

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
)

func (p *planning) planChecks(ctx context.Context) error {
	for i := range p.Config.Checks {
		c := &p.Config.Checks[i]
		if !p.wanted(c.Addr) {
			continue
		}
		v := p.Config.Silver(c.Silver)
		step := p.step(c.Addr, c.Origin, v.To, c.Silver, v.From)
		step.After = []addr.Address{c.Silver}
		if lake := p.lakes[v.To]; lake != nil && !step.Diagnostics.HasErrors() && step.Blocked.IsZero() {
			if err := p.check(ctx, lake, c, v, &step); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.fail(&step, err)
			}
		}
		p.out.Steps = append(p.out.Steps, step)
	}
	return nil
}

// CheckRequest is what a check plugin is asked with.
func CheckRequest(c *model.Check, v *model.Silver, s *model.Stream, t *model.Table, info plugin.TableInfo) plugin.CheckRequest {
	return plugin.CheckRequest{
		Address: c.Addr.String(), Body: c.Body,
		Source: SourceTable(t, s), Object: info.Object, SourceSchema: info.Schema,
		Silver: plugin.TableRef{Name: v.Target, Path: v.Path},
		Bronze: plugin.TableRef{Name: s.Target, Path: s.Path},
		Key:    info.Key, Instances: info.Instances,
	}
}

// CheckHost is what a check step may touch: it reads bronze, silver and the
// source table, and appends to its own tables. It reads the ledger and moves nothing.
func (l *Lake) CheckHost(v *model.Silver, s *model.Stream, table plugin.SourceTable, source plugin.Source, own []plugin.TableRef) (plugin.Host, error) {
	host, err := l.host(v, s)
	host.Source = source
	access := plugin.Access{
		Read:   []plugin.TableRef{{Name: s.Target, Path: s.Path}, {Name: v.Target, Path: v.Path}},
		Append: own, Source: []plugin.SourceTable{table}, Targets: []string{v.Target},
	}
	return access.Narrow(host), err
}

// askCheck asks the plugin what a check would do, and into which tables.
func (p *planning) askCheck(ctx context.Context, lake *Lake, c *model.Check) (plugin.CheckPlan, error) {
	v := p.Config.Silver(c.Silver)
	s := p.Config.Stream(v.From)
	t := p.Config.Table(s.Table)
	session, err := p.Plugins.Check(ctx, c.Addr)
	if err != nil {
		return plugin.CheckPlan{}, err
	}
	source, err := p.Plugins.Source(ctx, t.Source)
	if err != nil {
		return plugin.CheckPlan{}, err
	}
	host, err := lake.CheckHost(v, s, SourceTable(t, s), inspected{Source: source, response: p.sources[t.Source]}, nil)
	if err != nil {
		return plugin.CheckPlan{}, err
	}
	return session.PlanCheck(ctx, CheckRequest(c, v, s, t, p.info[s.Addr]), host)
}

func (p *planning) check(ctx context.Context, lake *Lake, c *model.Check, v *model.Silver, step *plan.Step) error {
	answer, err := p.askCheck(ctx, lake, c)
	if err != nil {
		return err
	}
	step.Diagnostics = append(step.Diagnostics, c.Origin.Locate(c.Addr, answer.Diagnostics)...)
	for _, spec := range answer.Tables {
		if err := p.checkTable(ctx, lake, c, spec); err != nil {
			return err
		}
		if err := p.table(ctx, lake, c.Addr, spec, 0, nil); err != nil {
			return err
		}
		if made := p.out.Tables[len(p.out.Tables)-1]; made.Action == plugin.TableCreate && step.Accepted {
			// A run never makes a table: what it held is gone, and a person is to know.
			step.Accepted, step.NotAccepted = false, "its table "+spec.Table.Name+" does not exist any more"
		}
		p.share()
	}
	step.Kind, step.Reason = plan.Reconcile, "compares "+v.Target+" with its source"
	step.Detail = []string{answer.Summary}
	return nil
}

// share makes one of the table that was planned last and the same one of
// another check, such as a report: a table stands once in a plan, with the
// action that does most. It is made for the first check that can run.
func (p *planning) share() {
	last := len(p.out.Tables) - 1
	t := p.out.Tables[last]
	i := slices.IndexFunc(p.out.Tables[:last], func(o plan.Table) bool { return o.Sink == t.Sink && o.Ref.Name == t.Ref.Name })
	if i < 0 {
		return
	}
	p.out.Tables = p.out.Tables[:last]
	first := &p.out.Tables[i]
	switch {
	case !p.able(first.Owner):
		t.Sharers = append(first.Sharers, first.Owner)
		*first = t
		return
	case does(t.Action) > does(first.Action):
		own := t
		own.Owner, own.Sharers = first.Owner, first.Sharers
		*first = own
	}
	first.Sharers = append(first.Sharers, t.Owner)
}

// does orders actions by how much they do.
func does(a plugin.TableAction) int {
	return slices.Index([]plugin.TableAction{plugin.TableNone, plugin.TableAlter, plugin.TableCreate}, a)
}

// able reports whether the step of an address is planned and has no errors.
func (p *planning) able(a addr.Address) bool {
	step := p.out.Step(a)
	return step != nil && !step.Diagnostics.HasErrors()
}

// leaveOutIdle takes tables out that nothing would make or change: those of
// steps that cannot run.
func (p *planning) leaveOutIdle() {
	p.out.Tables = slices.DeleteFunc(p.out.Tables, func(t plan.Table) bool {
		return t.Action != plugin.TableNone && t.Owner.Kind != addr.Sink && !p.able(t.Owner)
	})
}
