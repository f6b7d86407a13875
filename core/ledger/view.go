package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pipectl/pipectl/core/plugin"
)

// ViewOptions say what one step of a silver or a check may see.
type ViewOptions struct {
	Bronze plugin.TableRef
	// AppID is the stream's that fills bronze: snapshots of others are of another
	// table of this name.
	AppID string
	// Targets are the tables whose position the step may read and move.
	Targets     []plugin.TableRef
	Granularity Granularity
}

// View is the ledger as one step of a silver or check sees it: plugin.Ledger,
// narrowed to its bronze and targets. What the first ReadLedger of a target
// answered counts for the whole step: the verdict follows that bronze end and
// never a newer one, and the position moves only from there.
type View struct {
	ledger *Ledger
	opts   ViewOptions

	mu     sync.Mutex // guards starts
	starts map[string]start
}

// start is what a step began from.
type start struct {
	end      plugin.Position
	position plugin.TargetPosition
}

var _ plugin.Ledger = (*View)(nil)

// View returns the view of one step.
func (l *Ledger) View(opts ViewOptions) *View {
	return &View{ledger: l, opts: opts, starts: map[string]start{}}
}

func (v *View) target(name string) (plugin.TableRef, error) {
	for _, t := range v.opts.Targets {
		if t.Name == name {
			return t, nil
		}
	}
	return plugin.TableRef{}, fmt.Errorf("this step has no right to table %q in the ledger; it has %q", name, v.opts.Targets)
}

// place looks at a target for its identity.
func (v *View) place(ctx context.Context, target string) (Place, error) {
	ref, err := v.target(target)
	if err != nil {
		return Place{}, err
	}
	return v.ledger.place(ctx, ref)
}

// own fails when a row is about another table of the name. The table is looked at
// only where its place does not tell.
func (v *View) own(ctx context.Context, ref plugin.TableRef, row ControlRow) error {
	if row.Place.same(Place{Path: ref.Place()}) {
		return nil
	}
	at, err := v.ledger.place(ctx, ref)
	if err != nil {
		return err
	}
	return row.Names(ref.Name, at, v.ledger.control.Name)
}

// ReadLedger reads control, then facts, then plans. Rows of other tables of the
// name of bronze or of the target are refused.
func (v *View) ReadLedger(ctx context.Context, target string) (plugin.LedgerView, error) {
	ref, err := v.target(target)
	if err != nil {
		return plugin.LedgerView{}, err
	}
	l, bronze := v.ledger, v.opts.Bronze
	control, err := l.ControlRows(ctx, bronze.Name, target)
	if err != nil {
		return plugin.LedgerView{}, err
	}
	for _, t := range []plugin.TableRef{bronze, ref} {
		if err := v.own(ctx, t, control[t.Name]); err != nil {
			return plugin.LedgerView{}, err
		}
	}
	out := plugin.LedgerView{
		BronzeEnd: control[bronze.Name].End,
		Position:  control[target].Position,
		Verdict:   control[target].FinalizedUntil,
	}
	v.mu.Lock()
	if first, again := v.starts[target]; again {
		out.BronzeEnd = first.end
	} else {
		v.starts[target] = start{end: out.BronzeEnd, position: out.Position}
	}
	v.mu.Unlock()
	snapshots, err := l.Snapshots(ctx, bronze.Name)
	if err != nil {
		return plugin.LedgerView{}, err
	}
	if v.opts.AppID != "" {
		snapshots = slices.DeleteFunc(snapshots, func(s SnapshotRow) bool { return !Family(v.opts.AppID, s.AppID) })
	}
	var open *SnapshotRow
	for i, s := range snapshots {
		switch {
		case s.Event != EventSnapshotOpen:
			out.Snapshot = max(out.Snapshot, s.Stamp.Text)
		case s.Mode == ModeChunked && (open == nil || s.Stamp.Text > open.Stamp.Text):
			open = &snapshots[i]
		}
	}
	if open != nil {
		out.Open = &plugin.OpenSnapshot{Snapshot: open.Stamp.Text}
		// The keys of a completed snapshot are asked for by nobody, and an old
		// plans table may be gone by then.
		if open.Stamp.Text > out.Snapshot {
			if out.Open.Keys, err = l.snapshotKeys(ctx, bronze, *open); err != nil {
				return plugin.LedgerView{}, err
			}
		}
	}
	if len(snapshots) == 0 {
		out.FactsTargets, err = l.otherTargets(ctx, bronze.Name)
	}
	return out, err
}

// otherTargets lists the targets that facts hold rows of, nil when target is
// one of them.
func (l *Ledger) otherTargets(ctx context.Context, target string) ([]string, error) {
	found := false
	err := l.scan(ctx, l.facts, []string{"target"}, where(equal("target", target)), func(b batch) error {
		for i := range b.rows() {
			if b.text("target", i) == target {
				found = true
				return errEnough
			}
		}
		return nil
	})
	if err != nil || found {
		return nil, err
	}
	targets := []string{}
	err = l.scan(ctx, l.facts, []string{"target"}, plugin.Filter{}, func(b batch) error {
		for i := range b.rows() {
			if t := b.text("target", i); t != "" && !slices.Contains(targets, t) {
				targets = append(targets, t)
			}
		}
		return nil
	})
	slices.Sort(targets)
	return targets, err
}

// Chunks lists the recorded chunks of a snapshot of bronze.
func (v *View) Chunks(ctx context.Context, snapshot string) ([]plugin.ChunkRow, error) {
	return v.ledger.Chunks(ctx, v.opts.Bronze, snapshot)
}

// Advance stores the position, then moves the verdict to what the bronze end of
// this step's first ReadLedger proves. It ends with kind conflict when somebody
// else has moved the position since.
func (v *View) Advance(ctx context.Context, req plugin.AdvanceRequest) (*int64, error) {
	place, err := v.place(ctx, req.Target)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	begun, read := v.starts[req.Target]
	v.mu.Unlock()
	if !read {
		return nil, fmt.Errorf("the step moves the position of %q without having read it", req.Target)
	}
	if err := v.ledger.setPosition(ctx, req.Target, place, begun.position, req.Position); err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.starts[req.Target] = start{end: begun.end, position: req.Position}
	v.mu.Unlock()
	if req.HoldVerdict {
		return v.ledger.FinalizedUntil(ctx, req.Target)
	}
	stored, err := v.ledger.AdvanceAll(ctx, Verdict{Table: req.Target, End: begun.end, Granularity: v.opts.Granularity, Place: place})
	return stored[req.Target], err
}
