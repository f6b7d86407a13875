package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/pipectl/pipectl/core/diag"
)

// savedVersion is the version of the file. Up to 1 a condition did not say which
// sink its table is of, and nothing said which lake a sink was; up to 2 it was one
// text.
const savedVersion = 3

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
