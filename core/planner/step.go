package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// SourceTable is how a stream reads its table. The address is the stream's:
// two streams of one table may read it differently.
func SourceTable(t *model.Table, s *model.Stream) plugin.SourceTable {
	out := plugin.SourceTable{Address: s.Addr.String(), Object: t.Body, Read: s.Read, Key: t.Key}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, plugin.ColumnRule{Name: c.Name, Drop: c.Drop, As: c.As})
	}
	return out
}

// NewestLog loads the log of a stream's live generation.
func NewestLog(ctx context.Context, s *state.Stream) (state.Log, error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return state.Log{Newest: -1, Committed: -1}, err
	}
	return s.Checkpoint(generation.Number).Load(ctx)
}

// CommittedEnd is the position that a stream has reached: a batch without its
// commit is carried out again, so it counts from its start.
func CommittedEnd(log state.Log) plugin.Position {
	if log.Committed == log.Newest {
		return log.Offset.End
	}
	return log.Offset.Start
}

// step starts the step of an address: its digest, whether it is accepted, and
// why it cannot run when something that it needs is broken: the errors of its
// source and sink are its own, those of a step before it are that step's, unless
// that is not chosen: nothing else would tell them.
func (p *planning) step(a addr.Address, origin model.Origin, sink addr.Address, needs ...addr.Address) plan.Step {
	s := plan.Step{Address: a}
	digest, err := p.Config.Digest(a)
	if err != nil {
		s.Diagnostics = origin.Locate(a, diag.FromError(err))
		return s
	}
	s.Digest = digest
	accepted, known := p.accepted[sink][a.String()]
	switch {
	case !known:
		s.NotAccepted = "it is new"
	case accepted.Digest != digest:
		s.NotAccepted = "its declaration changed"
	default:
		s.Accepted = true
	}
	for _, need := range append([]addr.Address{sink}, needs...) {
		for _, d := range p.broken[need] {
			if need.Kind == addr.Stream && need != a || need.Kind == addr.Silver {
				s.Blocked = need
				if p.wanted(need) {
					break
				}
			}
			if d.Severity == diag.Error && !slices.ContainsFunc(s.Diagnostics, func(e diag.Diagnostic) bool { return e.Code == d.Code && e.Summary == d.Summary }) {
				s.Diagnostics = append(s.Diagnostics, d)
			}
		}
	}
	return s
}

// fail adds the diagnostics of err to a step, placed in the text.
func (p *planning) fail(s *plan.Step, err error) {
	s.Diagnostics = append(s.Diagnostics, p.Config.Locate(s.Address, diag.FromError(err))...)
}

// table plans one table of a step; it reports whether the table can be used.
func (p *planning) table(ctx context.Context, lake *Lake, owner addr.Address, spec plugin.TableSpec, captured int, key []string) error {
	have := p.tables[lake.Sink.Addr][spec.Table.Name]
	if from := have.Properties[fromProperty]; from != "" && owner.Kind == addr.Stream {
		return diag.Errorf(diag.KindConfiguration, "stream.target_is_silver",
			"Its place is that of a silver table, perhaps a former one, or a link to one. Give the stream another target or path.",
			"Table %s holds current rows that were applied from %s, not changes", spec.Table.Name, from).At("target").Err()
	}
	take, err := p.owner(ctx, lake, have, owner)
	if err != nil {
		return err
	}
	spec = lake.Own(p.Config, spec)
	diff, err := lake.Tables.PlanTable(ctx, spec)
	if err != nil {
		return err
	}
	t := plan.Table{
		Owner: owner, Sink: lake.Sink.Addr, Ref: spec.Table, Action: diff.Action, ID: diff.ID, Version: diff.Version,
		Captured: captured, Extra: spec.Schema.NumFields() - captured, Key: key, Spec: spec,
	}
	for _, c := range diff.Changes {
		if take.words != "" && strings.Contains(c, ownerProperty) {
			c = take.words
		}
		if text, ok := remembers(spec, c); ok {
			c = text
		}
		if c != "" {
			t.Changes = append(t.Changes, c)
		}
	}
	if t.Action == plugin.TableAlter {
		t.Class = plan.ClassInPlace
		if take.class != "" {
			t.Class, t.TakeOver = take.class, true
		}
	}
	p.out.Tables = append(p.out.Tables, t)
	return nil
}

// planLedgers plans facts and control of each lake in use.
func (p *planning) planLedgers(ctx context.Context) error {
	for _, sink := range p.usedSinks() {
		lake := p.lakes[sink.Addr]
		if lake == nil {
			continue
		}
		changes, err := lake.Ledger.Plan(ctx)
		if err == nil {
			p.control[sink.Addr], err = lake.Ledger.ControlRows(ctx, targets(p.Config, sink.Addr)...)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p.breaks(sink.Addr, sink.Origin, fmt.Errorf("planning the ledger of %s: %w", sink.Addr, err))
			continue
		}
		for _, c := range changes {
			if c.Plan.Action == plugin.TableCreate && len(p.accepted[sink.Addr]) > 0 {
				p.out.Diagnostics = append(p.out.Diagnostics, sink.Origin.Locate(sink.Addr, diag.List{diag.Warningf(ledger.CodeTableGone,
					"Restore it, if that can be. Apply makes it anew: "+lake.Ledger.Loss(c.Spec.Table)+". Until then nothing runs.",
					"Table %s does not exist, and this lake has had one", c.Spec.Table.Name)})...)
			}
			p.out.Tables = append(p.out.Tables, plan.Table{
				Owner: sink.Addr, Sink: sink.Addr, Ref: c.Spec.Table, Action: c.Plan.Action, Changes: c.Plan.Changes,
				Extra: c.Spec.Schema.NumFields(), ID: c.Plan.ID, Version: c.Plan.Version, Spec: c.Spec,
			})
		}
	}
	return nil
}
