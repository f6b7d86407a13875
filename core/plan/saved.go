package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
)

// savedVersion is the version of the file. Up to 1 a condition did not say which
// sink its table is of, and nothing said which lake a sink was.
const savedVersion = 2

// Saved is a plan in a file: the text it was made from, so that secrets are
// read anew, and the conditions under which it may be carried out. Versions
// and positions are for display only: scheduled runs move them.
type Saved struct {
	FormatVersion int `json:"format_version"`
	// Path is what the user named; File tells that it was one file.
	Path string `json:"path"`
	// Files are the texts of the configuration and of what file() read.
	Files []SavedFile `json:"files"`
	// Variables are the given ones that are not sensitive, as HCL expressions.
	Variables map[string]string `json:"variables"`
	// Targets and Exclude are the choice of steps.
	Targets []string `json:"targets,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
	// Lakes are what the sinks must be when the plan is made anew.
	Lakes []SavedLake `json:"lakes"`
	// Conditions must hold when the plan is made anew.
	Conditions []Condition `json:"conditions"`
	// Plan is the JSON form, for display.
	Plan json.RawMessage `json:"plan"`
}

// SavedFile is one text.
type SavedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Config  bool   `json:"config"`
}

// SavedLake is one lake that a plan is for: the one at the place with the digest,
// with the state of the lineage. It holds nothing sensitive.
type SavedLake struct {
	Sink string `json:"sink"`
	// Place is for people.
	Place   string `json:"place"`
	Lineage string `json:"lineage,omitempty"`
	Digest  string `json:"digest"`
}

// Lakes lists the lakes that the plan is for.
func (p *Plan) Lakes() []SavedLake {
	var out []SavedLake
	for _, s := range p.Places {
		out = append(out, SavedLake{Sink: s.Sink.String(), Place: s.Display, Lineage: s.Lineage, Digest: s.Digest})
	}
	return out
}

// is reports whether now is the lake that l was. One that has got its state since
// is still that lake; a copy has the same lineage and tables, and is told by its
// place alone. So one that was moved is not known again: a new plan is cheap.
func (l SavedLake) is(now SavedLake) bool {
	return l.Digest == now.Digest && (l.Lineage == "" || l.Lineage == now.Lineage)
}

// words say for people which lake it is, told apart from other.
func (l SavedLake) words(other SavedLake) string {
	switch {
	case l.Lineage != other.Lineage && l.Lineage != "":
		return l.Place + ", with the state " + l.Lineage
	case l.Lineage != other.Lineage:
		return l.Place + ", without a state"
	case l.Place == other.Place: // a sensitive place is told by its line
		return fmt.Sprintf("%s (its sha256 begins with %.12s)", l.Place, l.Digest)
	}
	return l.Place
}

// Condition is one fact that a plan rests on.
type Condition struct {
	// Subject is what it is about: a plugin, table or step.
	Subject string `json:"subject"`
	// Fact is its value in a form that can be compared and shown.
	Fact string `json:"fact"`
}

// Conditions lists what must be the same when the plan is made again: plugin
// digests, per source table identity and structure, per lake table id and
// structure, per step kind and reason.
func (p *Plan) Conditions() []Condition {
	var out []Condition
	for _, g := range p.Plugins {
		out = append(out, Condition{"plugin " + g.Name, fmt.Sprintf("%s %s %s", g.Source, g.Version, g.Digest)})
	}
	for _, t := range p.Tables {
		// A name is one table's in its sink only.
		out = append(out, Condition{fmt.Sprintf("table %s of %s", t.Ref.Name, t.Sink), fmt.Sprintf("id %q, %s %v", t.ID, t.Action, t.Changes)})
	}
	for _, s := range p.Steps {
		out = append(out, Condition{"step " + s.Address.String(), fmt.Sprintf("%s because %s, declared as %s", s.Kind, s.Reason, s.Digest)})
		for _, c := range s.Changes {
			// Not its class: a run that comes or goes makes a restart of what is in place.
			out = append(out, Condition{fmt.Sprintf("change of %s by %s", strings.TrimSpace(c.Table+" "+c.Column), s.Address), fmt.Sprintf("%s (%s)", c.Text, c.Code)})
		}
		if s.Source != (Identity{}) {
			out = append(out, Condition{"source of " + s.Address.String(), fmt.Sprintf("database %s, table %s, columns %s", s.Source.Database, s.Source.Table, s.Source.Schema)})
		}
	}
	return out
}

// Differences compares the lakes and conditions of a saved plan with those of one
// made anew; each difference is a diagnostic of kind stale. Of another lake
// nothing else is said: all of it is of that lake.
func (s Saved) Differences(fresh *Plan) diag.List {
	if list := s.otherLakes(fresh); len(list) > 0 {
		return list
	}
	now := fresh.Conditions()
	find := func(list []Condition, subject string) string {
		i := slices.IndexFunc(list, func(c Condition) bool { return c.Subject == subject })
		if i < 0 {
			return ""
		}
		return list[i].Fact
	}
	const again = "Make a new plan and look at it again."
	var list diag.List
	for _, c := range s.Conditions {
		switch fact := find(now, c.Subject); fact {
		case c.Fact:
		case "":
			list = append(list, diag.Errorf(diag.KindStale, "plan.stale", again, "The plan is out of date: the %s is no part of it any more", c.Subject))
		default:
			list = append(list, diag.Errorf(diag.KindStale, "plan.stale", fmt.Sprintf("planned: %s\nnow:     %s\n%s", c.Fact, fact, again),
				"The plan is out of date: the %s is not what it was", c.Subject))
		}
	}
	for _, c := range now {
		if find(s.Conditions, c.Subject) == "" {
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

// Edited warns of files whose text is another one now than in the plan. A path is
// relative to the folder in which the plan was made; files that are not there,
// or cannot be read, tell nothing.
func (s Saved) Edited() diag.List {
	var list diag.List
	for _, f := range s.Files {
		now, err := os.ReadFile(f.Path)
		if err != nil || string(now) == f.Content {
			continue
		}
		list = append(list, diag.Warningf("plan.edited", "The plan carries out the text that it was made from, and a run refuses what was changed since. Make a new plan to carry out the text of now.",
			"%s was edited after the plan was made", f.Path))
	}
	return list
}

// Write saves a plan; only its owner can read the file.
func (s Saved) Write(path string) error {
	s.FormatVersion = savedVersion
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	return nil
}

// IsSaved reports whether a file is a saved plan, of any format.
func IsSaved(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var s struct {
		FormatVersion int             `json:"format_version"`
		Plan          json.RawMessage `json:"plan"`
	}
	return json.Unmarshal(data, &s) == nil && s.FormatVersion > 0 && s.Plan != nil
}

// reason is the cause of a file error without the path, which the message names.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// ReadSaved reads a saved plan.
func ReadSaved(path string) (Saved, error) {
	var s Saved
	data, err := os.ReadFile(path)
	if err != nil {
		return s, diag.Errorf(diag.KindConfiguration, "plan.file", "Check the path and who may read the file: a plan can be read only by who wrote it.", "The plan %s cannot be read: %v", path, reason(err)).Err()
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, diag.Errorf(diag.KindConfiguration, "plan.file", "Give a file that `pipectl plan -out FILE` wrote, or a configuration.", "%s is no saved plan: %v", path, err).Err()
	}
	if s.FormatVersion != savedVersion {
		return s, diag.Errorf(diag.KindUnavailable, "plan.format", "Use the version of pipectl that wrote it, or make a new plan: `pipectl plan -out FILE`.",
			"The plan %s has format %d; this program reads %d", path, s.FormatVersion, savedVersion).Err()
	}
	return s, nil
}
