package plan

import (
	"encoding/json"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
)

// FormatVersion is the version of the JSON form. Fields are only added under
// one number.
const FormatVersion = 1

type jsonPlan struct {
	FormatVersion int              `json:"format_version"`
	Config        string           `json:"config"`
	Name          string           `json:"name"`
	Environment   string           `json:"environment,omitempty"`
	Sinks         []jsonPlace      `json:"sinks"`
	Plugins       []jsonPlugin     `json:"plugins"`
	Tables        []jsonTable      `json:"tables"`
	Steps         []jsonStep       `json:"steps"`
	Removed       []jsonRemoved    `json:"removed"`
	Diagnostics   []JSONDiagnostic `json:"diagnostics"`
	Changed       bool             `json:"changed"`
}

type jsonPlace struct {
	Address string `json:"address"`
	Place   string `json:"place"`
}

type jsonPlugin struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

type jsonTable struct {
	Table    string   `json:"table"`
	Address  string   `json:"address"`
	Sharers  []string `json:"shared_with,omitempty"`
	Sink     string   `json:"sink"`
	Action   string   `json:"action"`
	Class    string   `json:"class,omitempty"`
	Changes  []string `json:"changes"`
	Captured int      `json:"captured_columns"`
	Extra    int      `json:"extra_columns"`
	Key      []string `json:"key"`
	ID       string   `json:"id,omitempty"`
	Version  int64    `json:"version"`
}

type jsonStep struct {
	Address     string           `json:"address"`
	Kind        string           `json:"kind"`
	Reason      string           `json:"reason,omitempty"`
	Detail      []string         `json:"detail"`
	After       []string         `json:"after"`
	Blocked     string           `json:"blocked_by,omitempty"`
	Pending     bool             `json:"pending"`
	Decision    bool             `json:"decision"`
	Accepted    bool             `json:"accepted"`
	NotAccepted string           `json:"not_accepted_because,omitempty"`
	Digest      string           `json:"digest"`
	Changes     []jsonChange     `json:"changes"`
	Diagnostics []JSONDiagnostic `json:"diagnostics"`
}

type jsonChange struct {
	Code    string `json:"code"`
	Class   string `json:"class"`
	Table   string `json:"table"`
	Column  string `json:"column,omitempty"`
	Text    string `json:"text"`
	Refused bool   `json:"refused"`
}

type jsonRemoved struct {
	Address string `json:"address"`
	Target  string `json:"target,omitempty"`
}

// JSONDiagnostic is the JSON form of a diagnostic, the same in every output.
type JSONDiagnostic struct {
	Severity string            `json:"severity"`
	Code     string            `json:"code"`
	Kind     string            `json:"kind,omitempty"`
	Summary  string            `json:"summary"`
	Detail   string            `json:"detail,omitempty"`
	Address  string            `json:"address,omitempty"`
	File     string            `json:"file,omitempty"`
	Line     int               `json:"line,omitempty"`
	Data     map[string]string `json:"data,omitempty"`
}

// MarshalJSON writes the versioned form, in stable order.
func (p *Plan) MarshalJSON() ([]byte, error) {
	out := jsonPlan{
		FormatVersion: FormatVersion, Config: p.Config, Name: p.Name, Environment: p.Environment,
		Sinks: []jsonPlace{}, Plugins: []jsonPlugin{}, Tables: []jsonTable{}, Steps: []jsonStep{}, Removed: []jsonRemoved{},
		Diagnostics: Diagnostics(p.Diagnostics), Changed: p.Changed(),
	}
	for _, s := range p.Places {
		out.Sinks = append(out.Sinks, jsonPlace{s.Sink.String(), s.Display})
	}
	for _, g := range p.Plugins {
		out.Plugins = append(out.Plugins, jsonPlugin{g.Name, g.Source, g.Version, g.Digest})
	}
	for _, t := range p.Tables {
		var sharers []string
		for _, a := range t.Sharers {
			sharers = append(sharers, a.String())
		}
		out.Tables = append(out.Tables, jsonTable{
			Sharers: sharers,
			Table:   t.Ref.Name, Address: t.Owner.String(), Sink: t.Sink.String(), Action: string(t.Action), Class: string(t.Class),
			Changes: filled(t.Changes), Captured: t.Captured, Extra: t.Extra, Key: filled(t.Key), ID: t.ID, Version: t.Version,
		})
	}
	for _, s := range p.Steps {
		step := jsonStep{
			Address: s.Address.String(), Kind: string(s.Kind), Reason: s.Reason, Detail: filled(s.Detail), After: []string{},
			Blocked: s.Blocked.String(), Pending: s.Pending, Decision: s.Decision, Accepted: s.Accepted, NotAccepted: s.NotAccepted, Digest: s.Digest, Changes: []jsonChange{}, Diagnostics: Diagnostics(s.Diagnostics),
		}
		for _, a := range s.After {
			step.After = append(step.After, a.String())
		}
		for _, c := range s.Changes {
			step.Changes = append(step.Changes, jsonChange{c.Code, string(c.Class), c.Table, c.Column, c.Text, c.Refused})
		}
		out.Steps = append(out.Steps, step)
	}
	for _, r := range p.Removed {
		out.Removed = append(out.Removed, jsonRemoved{r.Address.String(), r.Target})
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing a plan as JSON: %w", err)
	}
	return data, nil
}

// Diagnostics turns diagnostics into their JSON form; never nil.
func Diagnostics(list diag.List) []JSONDiagnostic {
	out := make([]JSONDiagnostic, 0, len(list))
	for _, d := range list {
		j := JSONDiagnostic{
			Severity: map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning"}[d.Severity],
			Code:     d.Code, Kind: string(d.Kind), Summary: d.Summary, Detail: d.Detail, Address: d.Address, Data: d.Data,
		}
		if d.Subject != nil {
			j.File, j.Line = d.Subject.Filename, d.Subject.Start.Line
		}
		out = append(out, j)
	}
	return out
}

// filled keeps an empty list from being written as null.
func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
