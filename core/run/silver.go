package run

import (
	"context"
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/planner"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

// silver brings one silver to bronze's head, under the lock of its target: two
// calls must never work on one table.
func (x *execution) silver(ctx context.Context, a addr.Address, r *StepResult) (err error) {
	v := x.Config.Silver(a)
	s := x.Config.Stream(v.From)
	lake, err := x.lake(a)
	if err != nil {
		return err
	}
	session, err := x.Plugins.Silver(ctx, a)
	if err != nil {
		return err
	}
	info, err := x.info(s)
	if err != nil {
		return err
	}
	bronze, err := stream.BronzeSpec(plugin.TableRef{Name: s.Target, Path: s.Path}, info.info.Schema)
	if err != nil {
		return err
	}
	host, err := x.silverHost(lake, v, s)
	if err != nil {
		return err
	}
	lock, err := lake.State.Lock(ctx, v.Target, x.Holder)
	if err != nil {
		return err
	}
	held, release := lock.Keep(ctx)
	defer func() {
		if rerr := release(); err == nil {
			err = rerr
		}
	}()
	attention := x.attend(a, x.Config.Table(s.Table).Source, tableIn(v.Target, v.To), nil)
	defer attention.end()
	progress := x.progress(a, attention)
	result, err := session.RunSilver(held, planner.SilverRequest(v, s, info.info, bronze), host, progress)
	if plugin.TableMoved(err) && held.Err() == nil {
		// A table went, or was put in place by another, perhaps in the middle. A call
		// that begins with what is there now says what it is, or works. What a silver or
		// the ledger refuses is refused.
		result, err = session.RunSilver(held, planner.SilverRequest(v, s, info.info, bronze), host, progress)
	}
	if unknownInstance(err) {
		// A name that came, or went, while this run was on its way.
		if more, lerr := x.learned(held, s); lerr != nil {
			err = lerr
		} else if more {
			if info, err = x.info(s); err != nil {
				return err
			}
			if host, err = x.silverHost(lake, v, s); err == nil {
				result, err = session.RunSilver(held, planner.SilverRequest(v, s, info.info, bronze), host, progress)
			}
		}
	}
	if err != nil && held.Err() != nil && ctx.Err() == nil {
		return context.Cause(held) // the lock was lost; what broke on the way tells less
	}
	if err != nil {
		return err
	}
	x.warnAnew(r, result.Diagnostics)
	if previous := r.Silver; previous != nil { // a watch adds up
		result.RowsRead += previous.RowsRead
		result.Inserted += previous.Inserted
		result.Updated += previous.Updated
		result.Deleted += previous.Deleted
	}
	r.Silver = &result
	return nil
}

// silverHost is what the step may touch.
func (x *execution) silverHost(lake *planner.Lake, v *model.Silver, s *model.Stream) (plugin.Host, error) {
	host, err := lake.SilverHost(v, s)
	host.Tables = ownedTables{Tables: host.Tables, lake: lake, x: x, step: v.Addr}
	return host, err
}

// warnAnew tells the warnings of a call of silver, each once: not again at every
// call of a watch, and one of the plan stands in the result no second time.
func (x *execution) warnAnew(r *StepResult, list diag.List) {
	for _, d := range list {
		same := func(have diag.Diagnostic) bool { return have.Code == d.Code && have.Summary == d.Summary }
		x.mu.Lock()
		said := slices.ContainsFunc(r.Diagnostics, same)
		if said && r.Silver == nil { // by the plan, which a run does not print
			r.Diagnostics = slices.DeleteFunc(r.Diagnostics, same)
			said = false
		}
		x.mu.Unlock()
		if !said {
			x.warn(r)(d)
		}
	}
}

// unknownInstance reports whether a silver met rows under a name that is not known to
// be the table's.
func unknownInstance(err error) bool {
	return slices.ContainsFunc(diag.FromError(err), func(d diag.Diagnostic) bool { return d.Code == plugin.CodeUnknownInstance })
}

func (x *execution) progress(a addr.Address, attention *attention) func(plugin.Progress) {
	return func(p plugin.Progress) {
		attention.comes(sign{stage: p.Stage, rows: p.Rows})
		x.tell(Event{Kind: StepProgress, Address: a, Stage: p.Stage, Rows: p.Rows, RowsTotal: p.RowsTotal, Batch: -1})
	}
}
