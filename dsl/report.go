package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// place is where a message points: a range in a text and the block around it.
type place struct {
	rng     hcl.Range
	header  string
	address addr.Address
}

// report collects diagnostics. One fault in a block with for_each would be
// found once per instance, so what reads the same at the same place is kept
// once.
type report struct {
	list diag.List
	seen map[string]bool
	// faulty are the addresses that errors were found in.
	faulty map[string]bool
	// secrets are left out of messages.
	secrets []string
}

func newReport() *report { return &report{seen: map[string]bool{}, faulty: map[string]bool{}} }

func (r *report) add(d diag.Diagnostic) {
	if d.Severity == diag.Error {
		r.faulty[d.Address] = true
	}
	d.Summary, d.Detail = r.redact(d.Summary), r.redact(d.Detail)
	key := strings.Join([]string{d.Code, d.Summary, d.Detail, fmt.Sprint(d.Severity)}, "\x00")
	if d.Subject != nil {
		key += fmt.Sprint(*d.Subject)
	}
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.list = append(r.list, d)
}

// error reports a fault of the configuration at a place.
func (r *report) error(at place, code, summary, detail string) {
	r.add(diag.Diagnostic{Severity: diag.Error, Kind: diag.KindConfiguration, Code: code, Summary: summary, Detail: detail,
		Subject: rangeOf(at.rng), Context: at.header, Address: at.address.String()})
}

func (r *report) warn(at place, code, summary, detail string) {
	r.add(diag.Diagnostic{Severity: diag.Warning, Kind: diag.KindConfiguration, Code: code, Summary: summary, Detail: detail,
		Subject: rangeOf(at.rng), Context: at.header, Address: at.address.String()})
}

// shortestSecret is the length from which a secret is looked for in messages.
// Shorter ones would blank out ordinary words; messages about expressions that
// a sensitive value goes into carry no values anyway.
const shortestSecret = 4

// secret makes every later message leave the text out.
func (r *report) secret(text string) {
	if len(text) >= shortestSecret && !slices.Contains(r.secrets, text) {
		r.secrets = append(r.secrets, text)
		// Longest first, so that a secret inside another does not uncover it.
		slices.SortFunc(r.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
}

func (r *report) redact(text string) string {
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, "(sensitive)")
	}
	return text
}

// sorted returns the diagnostics by file and line; those without a place come
// first.
func (r *report) sorted() diag.List {
	out := slices.Clone(r.list)
	slices.SortStableFunc(out, func(a, b diag.Diagnostic) int {
		switch {
		case a.Subject == nil && b.Subject == nil:
			return 0
		case a.Subject == nil:
			return -1
		case b.Subject == nil:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Subject.Filename, b.Subject.Filename), cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte))
	})
	return out
}

func rangeOf(r hcl.Range) *diag.Range {
	if r.Filename == "" {
		return nil
	}
	return &diag.Range{Filename: r.Filename,
		Start: diag.Pos{Line: r.Start.Line, Column: r.Start.Column, Byte: r.Start.Byte},
		End:   diag.Pos{Line: r.End.Line, Column: r.End.Column, Byte: r.End.Byte}}
}

// secretsOf makes every later message leave out the texts in v.
func (r *report) secretsOf(v cty.Value) {
	for _, text := range textsIn(v) {
		r.secret(text)
	}
}

// textsIn are the texts that are known anywhere in v.
func textsIn(v cty.Value) []string {
	var out []string
	v, _ = v.UnmarkDeep()
	// The callback never fails, so neither does the walk.
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) {
		if part.IsKnown() && !part.IsNull() && part.Type() == cty.String && part.AsString() != "" {
			out = append(out, part.AsString())
		}
		return true, nil
	})
	return out
}
