package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
)

// Condition is what a plan rests on of one thing.
type Condition struct {
	// Subject is what it is about: a plugin, table or step.
	Subject string `json:"subject"`
	Facts   []Fact `json:"facts"`
}

// Fact is one fact of a condition, of which each kind is there once.
type Fact struct {
	// Kind names it: "declaration".
	Kind string `json:"kind"`
	// Text can be compared, and shown.
	Text string `json:"text"`
}

// Kinds of facts that are not shown as they are.
const (
	// kindDeclaration is a digest, which says nothing to a person.
	kindDeclaration = "declaration"
	// kindFile is the digest of a plugin's file, "" for a bundled one.
	kindFile = "file"
)

// Conditions lists what must be the same when the plan is made again: plugin
// digests, per source table identity and structure, per lake table id and
// structure, per step kind and reason.
func (p *Plan) Conditions() []Condition {
	var out []Condition
	add := func(subject string, facts ...Fact) { out = append(out, Condition{subject, facts}) }
	for _, g := range p.Plugins {
		add("plugin "+g.Name, Fact{"source", g.Source}, Fact{"version", "version " + g.Version}, Fact{kindFile, g.Digest})
	}
	for _, t := range p.Tables {
		work := string(t.Action)
		if len(t.Changes) > 0 {
			work += ": " + strings.Join(t.Changes, ", ")
		}
		// A name is one table's in its sink only.
		id := "no table there"
		if t.ID != "" {
			id = "table id " + t.ID
		}
		add(fmt.Sprintf("table %s of %s", t.Ref.Name, t.Sink), Fact{"id", id}, Fact{"work", "to do: " + work})
	}
	for _, s := range p.Steps {
		add("step "+s.Address.String(), Fact{"work", fmt.Sprintf("%s because %s", s.Kind, s.Reason)}, Fact{kindDeclaration, s.Digest})
		for _, c := range s.Changes {
			// Not its class: a run that comes or goes makes a restart of what is in place.
			add(fmt.Sprintf("change of %s by %s", strings.TrimSpace(c.Table+" "+c.Column), s.Address), Fact{"text", fmt.Sprintf("%s (%s)", c.Text, c.Code)})
		}
		if s.Source != (Identity{}) {
			add("source of "+s.Address.String(), Fact{"database", "database " + s.Source.Database}, Fact{"table", "table " + s.Source.Table}, Fact{"columns", "columns " + s.Source.Schema})
		}
	}
	return out
}

// fact is the text of a kind, "" when there is none.
func (c Condition) fact(kind string) string {
	for _, f := range c.Facts {
		if f.Kind == kind {
			return f.Text
		}
	}
	return ""
}

// against says for people in what the condition is another one now: only that, so
// that nobody has to look for it. "" when nothing is.
func (c Condition) against(now Condition) string {
	var planned, found, words []string
	for _, f := range c.Facts {
		other := now.fact(f.Kind)
		switch {
		case other == f.Text:
		case f.Kind == kindDeclaration:
			words = append(words, "Its declaration is another one, though its text is the plan's: it takes a value from outside that has changed, from the environment, a sensitive variable or a default of a plugin.")
		case f.Kind == kindFile:
			planned, found = append(planned, fileWords(f.Text)), append(found, fileWords(other))
		default:
			planned, found = append(planned, f.Text), append(found, other)
		}
	}
	if len(planned) > 0 {
		words = append([]string{"planned: " + strings.Join(planned, ", ") + "\nnow:     " + strings.Join(found, ", ")}, words...)
	}
	return strings.Join(words, "\n")
}

func fileWords(digest string) string {
	if digest == "" {
		return "no file"
	}
	return "a file with the sha256 " + digest
}

// Differences compares the lakes and conditions of a saved plan with those of one
// made anew; each difference is a diagnostic of kind stale. Of another lake
// nothing else is said: all of it is of that lake.
func (s Saved) Differences(fresh *Plan) diag.List {
	if list := s.otherLakes(fresh); len(list) > 0 {
		return list
	}
	now := fresh.Conditions()
	find := func(list []Condition, subject string) (Condition, bool) {
		i := slices.IndexFunc(list, func(c Condition) bool { return c.Subject == subject })
		if i < 0 {
			return Condition{}, false
		}
		return list[i], true
	}
	const again = "Make a new plan and look at it again."
	var list diag.List
	for _, c := range s.Conditions {
		found, there := find(now, c.Subject)
		if !there {
			list = append(list, diag.Errorf(diag.KindStale, "plan.stale", again, "The plan is out of date: the %s is no part of it any more", c.Subject))
		} else if words := c.against(found); words != "" {
			list = append(list, diag.Errorf(diag.KindStale, "plan.stale", words+"\n"+again, "The plan is out of date: the %s is not what it was", c.Subject))
		}
	}
	for _, c := range now {
		if _, there := find(s.Conditions, c.Subject); !there {
			list = append(list, diag.Errorf(diag.KindStale, "plan.stale", again, "The plan is out of date: the %s is new in it", c.Subject))
		}
	}
	return list
}

// otherLakes finds the sinks that lead to another lake than the one that the plan
// was made for: the environment may say where a lake is, a relative place begins
// in the folder in which pipectl is started, and a lake may be a copy.
func (s Saved) otherLakes(fresh *Plan) diag.List {
	var list diag.List
	lakes := fresh.Lakes()
	for _, l := range s.Lakes {
		i := slices.IndexFunc(lakes, func(n SavedLake) bool { return n.Sink == l.Sink })
		if i < 0 || l.is(lakes[i]) {
			continue // a sink that is none of the plan any more has conditions that fail
		}
		copied := ""
		if l.Lineage != "" && l.Lineage == lakes[i].Lineage {
			copied = "Both have the state " + l.Lineage + ": one is a copy of the other, or the lake was moved.\n"
		}
		list = append(list, diag.Errorf(diag.KindStale, "plan.stale",
			fmt.Sprintf("planned: %s\nnow:     %s\n%sCarry it out with the environment and in the folder that it was made in, or make a new plan and look at it again.", l.words(lakes[i]), lakes[i].words(l), copied),
			"The plan was made for another lake than the one that %s is now", l.Sink))
	}
	return list
}
