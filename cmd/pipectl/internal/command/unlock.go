package command

import (
	"context"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/nearest"
)

// unlock releases a lock whose holder is gone.
func unlock(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseUnlock(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, false)
	defer w.close()
	if err != nil {
		return w.fail(err), nil
	}
	patient := w.patient()
	defer patient.End()
	lakes, err := w.lakes(ctx, patient)
	if err != nil {
		return w.fail(err), nil
	}
	// Each lake has locks of its own, and one run may have taken the same name
	// in several: all are looked at before one is released.
	var held []string
	var released []view.ReleasedLock
	for _, release := range []bool{false, true} {
		for _, lake := range lakes {
			locks, err := lake.State.Locks(ctx)
			if err != nil {
				return w.fail(err), nil
			}
			for _, l := range locks {
				switch {
				case l.Name != a.Name:
					held = append(held, l.Name)
				case !release && !a.Force && l.Unreadable != nil:
					return w.fail(l.Unreadable), nil
				case !release && !a.Force && l.Holder.Host == w.holder().Host && !processGone(l.Holder):
					return w.fail(diag.Errorf(diag.KindUnavailable, "unlock.alive", "Stop that process first. If it is another program that got its number, give -force.",
						"%s is locked by run %s, and its process %d is alive on this machine", a.Name, l.Holder.Run, l.Holder.PID).Err()), nil
				case release:
					if err := lake.State.Unlock(ctx, a.Name); err != nil {
						return w.fail(err), nil
					}
					released = append(released, view.ReleasedLock{Name: a.Name, Run: l.Holder.Run, Process: l.Holder.PID, Host: l.Holder.Host, Unreadable: l.Unreadable != nil})
				}
			}
		}
	}
	if len(released) > 0 {
		return exit.Done, e.Streams.Released(released)
	}
	detail := "No lock is held. Each has the name of an app id, of the target of a silver, or '#apply'."
	if len(held) > 0 {
		slices.Sort(held)
		held = slices.Compact(held) // lakes may share one state
		detail = strings.TrimSpace("Held are the locks of " + diag.Listed(held) + ". " + nearest.DidYouMean(a.Name, "", held))
	}
	return w.fail(diag.Errorf(diag.KindConfiguration, "unlock.none", detail, "Nothing holds a lock of %s", a.Name).Err()), nil
}
