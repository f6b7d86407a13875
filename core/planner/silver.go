package planner

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
)

// silverStep is a step of a silver while it is planned. answer and err are set
// when ask is.
type silverStep struct {
	silver *model.Silver
	step   plan.Step
	ask    bool
	answer plugin.SilverPlan
	err    error
}

func (p *planning) planSilvers(ctx context.Context) error {
	var steps []*silverStep
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for i := range p.Config.Silvers {
		v := &p.Config.Silvers[i]
		if !p.wanted(v.Addr) {
			continue
		}
		s := &silverStep{silver: v, step: p.step(v.Addr, v.Origin, v.To, v.From)}
		s.step.After = []addr.Address{v.From}
		steps = append(steps, s)
		lake := p.lakes[v.To]
		if s.ask = lake != nil && !s.step.Diagnostics.HasErrors() && s.step.Blocked.IsZero(); s.ask {
			group.Go(func() error {
				s.answer, s.err = p.askSilver(ctx, lake, v)
				return nil // belongs to the step
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, s := range steps {
		v, step := s.silver, &s.step
		if s.ask {
			err := s.err
			if err == nil {
				err = p.silver(ctx, p.lakes[v.To], v, s.answer, step)
			}
			if err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.fail(step, err)
			}
		}
		if step.Diagnostics.HasErrors() {
			p.broken[v.Addr] = step.Diagnostics
		} else if !step.Blocked.IsZero() {
			p.broken[v.Addr] = p.broken[step.Blocked]
		}
		p.out.Steps = append(p.out.Steps, *step)
	}
	return nil
}

// SilverRequest is what a silver plugin is asked with.
func SilverRequest(v *model.Silver, s *model.Stream, info plugin.TableInfo, bronze plugin.TableSpec) plugin.SilverRequest {
	return plugin.SilverRequest{
		Address: v.Addr.String(), Body: v.Body,
		Input:  plugin.TableRef{Name: s.Target, Path: s.Path},
		Target: plugin.TableRef{Name: v.Target, Path: v.Path},
		Key:    info.Key, Instances: info.Instances, InputSchema: bronze.Schema,
	}
}

// SilverHost is what a silver step may touch: it reads bronze, merges into its
// target, and reports its position.
func (l *Lake) SilverHost(v *model.Silver, s *model.Stream) (plugin.Host, error) {
	host, err := l.host(v, s)
	access := plugin.Access{
		Read: []plugin.TableRef{{Name: s.Target, Path: s.Path}}, Merge: []plugin.TableRef{{Name: v.Target, Path: v.Path}},
		Targets: []string{v.Target}, Advance: []string{v.Target},
	}
	return access.Narrow(host), err
}

func (l *Lake) host(v *model.Silver, s *model.Stream) (plugin.Host, error) {
	granularity, err := ledger.ParseGranularity(s.Granularity)
	bronze := plugin.TableRef{Name: s.Target, Path: s.Path}
	return plugin.Host{
		Tables: l.Tables,
		Ledger: l.Ledger.View(ledger.ViewOptions{
			Bronze: bronze, AppID: s.AppID, Targets: []plugin.TableRef{{Name: v.Target, Path: v.Path}}, Granularity: granularity,
		}),
	}, err
}

// askSilver asks the plugin what a silver needs. It runs beside others and only
// reads what was planned before.
func (p *planning) askSilver(ctx context.Context, lake *Lake, v *model.Silver) (plugin.SilverPlan, error) {
	if err := p.unreadable[tableIn{v.To, v.Target}]; err != nil {
		return plugin.SilverPlan{}, err
	}
	if err := p.named(lake, plugin.TableRef{Name: v.Target, Path: v.Path}); err != nil {
		return plugin.SilverPlan{}, err
	}
	s := p.Config.Stream(v.From)
	session, err := p.Plugins.Silver(ctx, v.Addr)
	if err != nil {
		return plugin.SilverPlan{}, err
	}
	host, err := lake.SilverHost(v, s)
	if err != nil {
		return plugin.SilverPlan{}, err
	}
	return session.PlanSilver(ctx, SilverRequest(v, s, p.info[s.Addr], p.specs[s.Addr]), host)
}

// silver plans the tables of one silver from what its plugin answered.
func (p *planning) silver(ctx context.Context, lake *Lake, v *model.Silver, answer plugin.SilverPlan, step *plan.Step) error {
	s := p.Config.Stream(v.From)
	info := p.info[s.Addr]
	step.Diagnostics = append(step.Diagnostics, v.Origin.Locate(v.Addr, answer.Diagnostics)...)
	for _, spec := range answer.Tables {
		if spec.Table.Name == v.Target {
			var err error
			if spec, err = silverKey(v, p.tables[v.To][v.Target], spec, info.Key, step); err != nil {
				return err
			}
		}
		if err := p.table(ctx, lake, v.Addr, spec, spec.Schema.NumFields()-extraSilverColumns(spec), info.Key); err != nil {
			return err
		}
	}
	step.Kind, step.Reason = plan.Apply, "follows "+s.Target
	step.Detail = []string{"follows " + s.Target}
	if answer.Pending != "" {
		step.Pending = true
		step.Detail = []string{fmt.Sprintf("follows %s: %s", s.Target, answer.Pending)}
	}
	return nil
}

// extraSilverColumns counts the columns that a silver adds to the source's:
// those with a name that the pipeline reserves.
func extraSilverColumns(spec plugin.TableSpec) int {
	n := 0
	for _, f := range spec.Schema.Fields() {
		if f.Name == plugin.ColumnStartLSN || f.Name == plugin.ColumnCommitTS {
			n++
		}
	}
	return n
}
