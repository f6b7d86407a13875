package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// checkConflicts reports what each block alone cannot show: a table with two
// writers, a place with two tables, a table inside another one, an app id with
// two streams.
func (ev *evaluator) checkConflicts() {
	ev.checkPlaces()
	ev.checkNames()
	ev.checkTargets()
}

// checkTargets reports a table that is called as another block is addressed:
// commands take either, so that the name would mean two things. The silver
// "orders" may well make the table silver.orders, and another sink have a table
// of that name, too.
func (ev *evaluator) checkTargets() {
	named := map[string]addr.Address{}
	for _, a := range ev.config.Addresses() {
		named[a.String()], named[a.Block().String()] = a, a.Block()
	}
	check := func(target string, a addr.Address, origin model.Origin) {
		other, ok := named[target]
		if v := ev.config.Silver(other); !ok || other == a || v != nil && v.Target == target {
			return
		}
		d := diag.Errorf(diag.KindConfiguration, codeTargetInvalid,
			"Commands take an address or the name of a table, and this one would mean both. Give the table another target, or the block another name.",
			"The target of %s is the address of something else: %s", a, other)
		d.Subject, d.Context, d.Address = origin.Place(diag.Path{"target"}), origin.Header, a.String()
		ev.report.add(d)
	}
	for _, s := range ev.config.Streams {
		check(s.Target, s.Addr, s.Origin)
	}
	for _, v := range ev.config.Silvers {
		check(v.Target, v.Addr, v.Origin)
	}
}

// checkPlaces compares the folders of everything that is written.
func (ev *evaluator) checkPlaces() {
	writers := slices.DeleteFunc(ev.config.Writers(), func(w model.Writer) bool {
		// What it lacks has been reported.
		return !w.State && (w.Target == "" || w.Sink.IsZero())
	})
	first := map[string]model.Writer{}
	for _, w := range writers {
		other, taken := first[w.Place]
		switch {
		case !taken:
			first[w.Place] = w
		case other.Meets(w) == model.Same:
			ev.conflict(w, other, samePlace(w, other))
		}
	}
	for _, w := range writers {
		if w.Beside {
			continue // it stands where its stream's table does, which is looked at
		}
		for end := strings.LastIndexByte(w.Place, '/'); end > 0; end = strings.LastIndexByte(w.Place[:end], '/') {
			if other, taken := first[w.Place[:end]]; taken && w.Meets(other) == model.Inside {
				ev.conflict(w, other, nested(w, other))
				break
			}
		}
	}
}

// conflictWords are the texts of one sort of conflict.
type conflictWords struct{ code, summary, detail string }

// samePlace are the words for two writers of one folder.
func samePlace(w, first model.Writer) conflictWords {
	const detail = "A table has one writer. Give one of them another target."
	both := fmt.Sprintf("Both %s and %s", first.Words, w.Words)
	switch {
	case w.Sink == first.Sink && w.Target == first.Target:
		return conflictWords{codeTargetDuplicate, fmt.Sprintf("%s write the table %q", both, w.Target), detail}
	case w.Sink == first.Sink:
		return conflictWords{codeTargetDuplicate, fmt.Sprintf("%s put their table at %q", both, w.Folder),
			"A place holds one table. A table stands at its path, else in the folders that its target names. Give one of them another path."}
	}
	return conflictWords{codeTargetDuplicate, fmt.Sprintf("%s put their table into one place: %q of %s is %q of %s", both, w.Folder, w.Sink, first.Folder, first.Sink),
		"A table has one writer, and these sinks are one lake. Give one of them another target, or a sink another root."}
}

// nested are the words for a writer whose folder lies in that of another.
func nested(w, outer model.Writer) conflictWords {
	switch {
	case outer.State:
		return conflictWords{codeTargetNested, fmt.Sprintf("The table of %s lies in the folder of %s: %q", w.Words, outer.Words, w.Folder),
			"That folder holds positions and locks, and is no place for a table. Give it another target or path."}
	case w.State:
		return conflictWords{codeTargetNested, fmt.Sprintf("The folder of %s lies inside the table of %s: %q", w.Words, outer.Words, outer.Folder),
			"Upkeep of a table, such as VACUUM, removes files in its folder that are not its own. Put the state or the table elsewhere."}
	}
	return conflictWords{codeTargetNested, fmt.Sprintf("The table of %s lies inside that of %s: %q in %q", w.Words, outer.Words, w.Folder, outer.Folder),
		"Upkeep of the outer table, such as VACUUM, removes files in its folder that are not its own. Give one of them another target or path."}
}

func (ev *evaluator) conflict(w, first model.Writer, words conflictWords) {
	d := diag.Errorf(diag.KindConfiguration, words.code, words.detail, "%s", words.summary)
	if place := first.Origin.Place(first.Path); place != nil {
		d.Detail += fmt.Sprintf(" The other one is in %s line %d.", place.Filename, place.Start.Line)
	}
	d.Subject = w.Origin.Place(w.Path)
	d.Context, d.Address = w.Origin.Header, w.Addr.String()
	ev.report.add(d)
}

// applyLock is the name of the lock that apply takes.
const applyLock = "#apply"

// checkNames reports app ids that two streams have, and names of locks that
// two steps have: a stream is locked under its app id, a silver under its
// target, each in the state of its sink.
func (ev *evaluator) checkNames() {
	c := ev.config
	type name struct{ state, text string }
	taken := map[name]model.Writer{}
	explicit := func(s model.Stream) bool { return s.AppID != s.Target }
	claim := func(s model.Stream) {
		w := model.Writer{Words: s.Addr.String(), Addr: s.Addr, Origin: s.Origin, Sink: s.To, Target: s.AppID, Path: diag.Path{"target"}}
		if explicit(s) {
			w.Path = diag.Path{"app_id"}
		}
		key := name{c.StateOf(s.To), s.AppID}
		other, known := taken[key]
		switch {
		case s.AppID == "" || s.To.IsZero():
		case !known:
			taken[key] = w
		case other.Target == s.Target && other.Sink == s.To && !explicit(s) && other.Path.String() == "target":
			// Two streams with one target, which has been reported.
		default:
			ev.conflict(w, other, conflictWords{codeAppIDDuplicate, fmt.Sprintf("Both %s and %s have the app id %q", other.Words, w.Words, s.AppID),
				"The app id tells the writes of streams apart" + inOneState(other.Sink, s.To) + ". Give one of them another."})
		}
	}
	// An app id that was written is told from all others first, so that the
	// message stands where it is.
	for _, s := range c.Streams {
		if explicit(s) {
			claim(s)
		}
	}
	for _, s := range c.Streams {
		if !explicit(s) {
			claim(s)
		}
	}
	for _, v := range c.Silvers {
		w := model.Writer{Words: v.Addr.String(), Addr: v.Addr, Origin: v.Origin, Sink: v.To, Path: diag.Path{"target"}}
		key := name{c.StateOf(v.To), v.Target}
		other, known := taken[key]
		switch {
		case v.Target == "" || v.To.IsZero():
		case v.Target == applyLock:
			ev.conflict(w, model.Writer{}, conflictWords{codeTargetInvalid, fmt.Sprintf("%q is the name of a lock of pipectl's own", v.Target), "Give the silver another target."})
		case !known:
			taken[key] = w
		case other.Addr.Kind == addr.Silver && other.Sink == v.To:
			// Two silvers with one target, which has been reported.
		case other.Addr.Kind == addr.Silver:
			ev.conflict(w, other, conflictWords{codeTargetDuplicate, fmt.Sprintf("Both %s and %s have the target %q in one state", other.Words, w.Words, v.Target),
				"A silver is locked under its target, and state { path } is one for all sinks. Give one of them another target, or leave the state in the sinks."})
		case other.Path.String() == "target" && other.Sink == v.To:
			// A stream and a silver with one target, which has been reported.
		default:
			ev.conflict(w, other, conflictWords{codeAppIDDuplicate, fmt.Sprintf("The target of %s is the app id of %s: %q", w.Words, other.Words, v.Target),
				"A stream is locked under its app id and a silver under its target, so each would keep the other out" + inOneState(other.Sink, v.To) +
					". Give the silver another target, or a stream that has not run yet another app_id."})
		}
	}
}

// inOneState says why two sinks matter to each other.
func inOneState(a, b addr.Address) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf(", and %s and %s keep one state", a, b)
}
