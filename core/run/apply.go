package run

import (
	"context"
	"fmt"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// apply makes the plan's tables and accepts its steps, in each lake under the
// lock of apply. Tables come first: what is accepted has its tables. A step
// with errors is not accepted, and its tables are left alone.
func (x *execution) apply(ctx context.Context) ([]plan.Table, error) {
	var made []plan.Table
	for i := range x.Config.Sinks {
		lake := x.Lakes[x.Config.Sinks[i].Addr]
		if lake == nil {
			continue
		}
		tables, err := x.applyLake(ctx, lake)
		made = append(made, tables...)
		if err != nil {
			return made, x.placed(lake.Sink.Addr, err)
		}
	}
	return made, nil
}

func (x *execution) applyLake(ctx context.Context, lake *planner.Lake) (made []plan.Table, err error) {
	if err := lake.State.Initialize(ctx); err != nil {
		return nil, fmt.Errorf("creating the state of %s: %w", lake.Sink.Addr, err)
	}
	lock, err := lake.State.Lock(ctx, state.ApplyLock, x.Holder)
	if err != nil {
		return nil, err
	}
	held, release := lock.Keep(ctx)
	defer func() {
		if rerr := release(); err == nil {
			err = rerr
		}
	}()
	if err := lake.Ledger.Ensure(held); err != nil {
		return nil, fmt.Errorf("preparing the ledger of %s: %w", lake.Sink.Addr, err)
	}
	for i := range x.Plan.Tables {
		t := x.Plan.Tables[i]
		if t.Sink != lake.Sink.Addr || t.Action == plugin.TableNone {
			continue
		}
		if t.Owner == lake.Sink.Addr { // the ledger's own, just made
			made = append(made, t)
			x.tell(Event{Kind: TableReady, Address: t.Owner, Table: &t})
			continue
		}
		if step := x.Plan.Step(t.Owner); step == nil || step.Diagnostics.HasErrors() {
			continue
		}
		if err := x.applyTable(held, lake, t); err != nil {
			return made, err
		}
		made = append(made, t)
		x.tell(Event{Kind: TableReady, Address: t.Owner, Table: &t})
	}
	return made, x.accept(held, lake)
}

// applyTable converges one table, unless it is another one than was planned
// on.
func (x *execution) applyTable(ctx context.Context, lake *planner.Lake, t plan.Table) error {
	require := t.ID
	if require == "" {
		require = "-"
	}
	// The plan may be older than the state's lineage.
	spec := lake.Own(x.Config, t.Spec)
	_, err := lake.Tables.ApplyTable(ctx, plugin.ApplyTableRequest{Spec: spec, RequireID: require})
	if err != nil {
		return fmt.Errorf("making table %s: %w", t.Ref.Name, err)
	}
	return nil
}

// accept records the digests of the plan's steps.
func (x *execution) accept(ctx context.Context, lake *planner.Lake) error {
	declared, err := lake.State.Declared(ctx)
	if err != nil {
		return err
	}
	changed := false
	for i := range x.Plan.Steps {
		step := &x.Plan.Steps[i]
		sink, target := x.sinkOf(step.Address)
		if sink != lake.Sink.Addr || step.Diagnostics.HasErrors() || !step.Blocked.IsZero() || step.Accepted {
			continue
		}
		declared[step.Address.String()] = state.Accepted{Target: target, Digest: step.Digest, At: x.Clock().UTC(), ReadAgain: step.ReadAgain}
		changed = true
	}
	if x.Whole {
		for _, r := range x.Plan.Removed {
			if _, there := declared[r.Address.String()]; there && r.Sink == lake.Sink.Addr {
				delete(declared, r.Address.String())
				changed = true
			}
		}
	}
	if !changed {
		return nil
	}
	if err := lake.State.PutDeclared(ctx, declared); err != nil {
		return fmt.Errorf("recording what was accepted: %w", err)
	}
	return nil
}

// sinkOf is the sink of a step and the table that it writes.
func (x *execution) sinkOf(a addr.Address) (sink addr.Address, target string) {
	switch a.Kind {
	case addr.Stream:
		s := x.Config.Stream(a)
		return s.To, s.Target
	case addr.Silver:
		v := x.Config.Silver(a)
		return v.To, v.Target
	case addr.Check:
		v := x.Config.Silver(x.Config.Check(a).Silver)
		return v.To, ""
	}
	return addr.Address{}, ""
}

// lake is the open lake of a step.
func (x *execution) lake(a addr.Address) (*planner.Lake, error) {
	sink, _ := x.sinkOf(a)
	if lake := x.Lakes[sink]; lake != nil {
		return lake, nil
	}
	return nil, diag.Errorf(diag.KindInternal, "run.no_lake", "", "%s is not open for %s", sink, a).Err()
}
