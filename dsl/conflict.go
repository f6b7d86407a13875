package dsl

import (
	"fmt"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// writer is what writes a table of the lake.
type writer struct {
	words   string
	address addr.Address
	origin  model.Origin
	name    string
}

// checkConflicts reports what each block alone cannot show: a table with two
// writers, a place with two tables, an app id with two streams.
func (ev *evaluator) checkConflicts() {
	c := ev.config
	targets, places, apps := map[[2]string]writer{}, map[[2]string]writer{}, map[[2]string]writer{}
	for _, s := range c.Sinks {
		ev.claim(targets, s.Addr, s.Facts, writer{"the facts of " + s.Addr.String(), s.Addr, s.Origin, "ledger"}, targetConflict)
		ev.claim(targets, s.Addr, s.Control, writer{"the control table of " + s.Addr.String(), s.Addr, s.Origin, "ledger"}, targetConflict)
	}
	for _, s := range c.Streams {
		w := writer{s.Addr.String(), s.Addr, s.Origin, "target"}
		ev.claim(targets, s.To, s.Target, w, targetConflict)
		w.name = "path"
		ev.claim(places, s.To, s.Path, w, placeConflict)
		w.name = "app_id"
		// An app id that is a target is compared as such.
		if s.AppID != s.Target {
			ev.claim(apps, s.To, s.AppID, w, appConflict)
		}
	}
	for _, s := range c.Streams {
		if first, taken := apps[[2]string{s.To.String(), s.AppID}]; taken && s.AppID == s.Target {
			ev.conflict(s.AppID, writer{s.Addr.String(), s.Addr, s.Origin, "target"}, first, appConflict)
		}
	}
	for _, s := range c.Silvers {
		w := writer{s.Addr.String(), s.Addr, s.Origin, "target"}
		ev.claim(targets, s.To, s.Target, w, targetConflict)
		w.name = "path"
		ev.claim(places, s.To, s.Path, w, placeConflict)
	}
}

// conflictWords are the texts of one sort of conflict.
type conflictWords struct{ code, summary, detail string }

var (
	targetConflict = conflictWords{codeTargetDuplicate, "Both %s and %s write the table %q", "A table has one writer. Give one of them another target."}
	placeConflict  = conflictWords{codeTargetDuplicate, "Both %s and %s put their table at the path %q", "A place holds one table. Give one of them another path."}
	appConflict    = conflictWords{codeAppIDDuplicate, "Both %s and %s have the app id %q", "The app id tells the writes of streams apart. Give one of them another."}
)

// claim takes a name in a sink for a writer, or reports who has it.
func (ev *evaluator) claim(taken map[[2]string]writer, sink addr.Address, name string, w writer, words conflictWords) {
	if name == "" || sink.IsZero() {
		return
	}
	key := [2]string{sink.String(), name}
	first, ok := taken[key]
	if !ok {
		taken[key] = w
		return
	}
	ev.conflict(name, w, first, words)
}

func (ev *evaluator) conflict(name string, w, first writer, words conflictWords) {
	d := diag.Errorf(diag.KindConfiguration, words.code, words.detail, words.summary, first.words, w.words, name)
	detail := d.Detail
	if place := first.origin.Place(diag.Path{first.name}); place != nil {
		detail += fmt.Sprintf(" The other one is in %s line %d.", place.Filename, place.Start.Line)
	}
	d.Detail = detail
	d.Subject = w.origin.Place(diag.Path{w.name})
	d.Context, d.Address = w.origin.Header, w.address.String()
	ev.report.add(d)
}
