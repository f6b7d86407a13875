// Package diag carries what a user is told: what is wrong, where, and what to
// do. Diagnostics are found in one layer and placed in the text of a
// configuration in another, so they are values, never printed strings.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity tells whether a diagnostic stops the work.
type Severity int

// Severities. The zero value is invalid, so that a forgotten field shows.
const (
	SeverityInvalid Severity = iota
	Error
	Warning
)

// String returns "Error", "Warning" or "invalid".
func (s Severity) String() string {
	switch s {
	case Error:
		return "Error"
	case Warning:
		return "Warning"
	}
	return "invalid"
}

// Kind says what sort of thing went wrong. It chooses the exit code and
// whether the step that failed is tried again.
type Kind string

// The kinds. Only Transient and Conflict are ever retried.
const (
	// KindConfiguration: the text or its meaning is wrong; a person edits it.
	KindConfiguration Kind = "configuration"
	// KindUnavailable: something outside is missing or out of reach: plugin,
	// server, lake, lock.
	KindUnavailable Kind = "unavailable"
	// KindPermission: a grant is missing or a login was refused.
	KindPermission Kind = "permission"
	// KindNotReady: the source exists but cannot answer yet.
	KindNotReady Kind = "not_ready"
	// KindTransient: trying again may work; when tries ran out it counts as
	// unavailable.
	KindTransient Kind = "transient"
	// KindConflict: another writer won.
	KindConflict Kind = "conflict"
	// KindStale: what exists is not what the plan or the accepted declaration
	// was made for.
	KindStale Kind = "stale"
	// KindDataLoss: changes that are needed next no longer exist.
	KindDataLoss Kind = "data_loss"
	// KindRewound: the source went back in time, as a restore does.
	KindRewound Kind = "rewound"
	// KindSchemaChanged: a structure changed in a way that needs a decision.
	KindSchemaChanged Kind = "schema_changed"
	// KindUnsupported: the plugin does not do this.
	KindUnsupported Kind = "unsupported"
	// KindDifferent: a check found that tables differ, or could not decide.
	KindDifferent Kind = "different"
	// KindInternal: a bug, or a state that should not exist.
	KindInternal Kind = "internal"
)

// Pos is a place in a text: line and column count from 1, Byte from 0.
type Pos struct{ Line, Column, Byte int }

// Range is a piece of a configuration file.
type Range struct {
	Filename   string
	Start, End Pos
}

// Path leads from a body to the attribute that a diagnostic is about.
// Each step is a string (attribute name or map key) or an int (index).
type Path []any

// String prints the path as a user would write it: read.partitions,
// columns["IBAN"].mask.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		default:
			fmt.Fprintf(&b, "[%v]", s)
		}
	}
	return b.String()
}

// Diagnostic is one thing a user is told.
type Diagnostic struct {
	Severity Severity
	// Code is stable and documented: "reference.unknown", "mssql.permission".
	Code string
	Kind Kind
	// Summary is one line without a final stop: what is wrong.
	Summary string
	// Detail says what to do.
	Detail string
	// Path is relative to the body that the failing call carried; the host
	// turns it into Subject.
	Path Path
	// Subject is the place in the text, nil when there is none.
	Subject *Range
	// Context names the block around Subject: `table "orders"`.
	Context string
	// Address is the thing being worked on, "" when none.
	Address string
	// Data holds machine-readable facts: capture_instance, lsn.
	Data map[string]string
}

// Errorf builds an error diagnostic; the detail may be "".
func Errorf(kind Kind, code, detail, summary string, args ...any) Diagnostic {
	return Diagnostic{Severity: Error, Kind: kind, Code: code, Summary: fmt.Sprintf(summary, args...), Detail: detail}
}

// Warningf builds a warning.
func Warningf(code, detail, summary string, args ...any) Diagnostic {
	return Diagnostic{Severity: Warning, Code: code, Summary: fmt.Sprintf(summary, args...), Detail: detail}
}

// At returns d with an attribute path.
func (d Diagnostic) At(path ...any) Diagnostic {
	d.Path = path
	return d
}

// Err returns d as an error.
func (d Diagnostic) Err() error { return &Err{List: List{d}} }

// List is an ordered collection of diagnostics.
type List []Diagnostic

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Errors returns the errors only.
func (l List) Errors() List { return l.only(Error) }

// Warnings returns the warnings only.
func (l List) Warnings() List { return l.only(Warning) }

func (l List) only(s Severity) List {
	var out List
	for _, d := range l {
		if d.Severity == s {
			out = append(out, d)
		}
	}
	return out
}

// Unique returns the list without what it says twice: diagnostics that a
// person could not tell apart.
func (l List) Unique() List {
	type text struct {
		severity              Severity
		code, summary, detail string
		subject               Range
		context               string
	}
	seen := map[text]bool{}
	var out List
	for _, d := range l {
		t := text{severity: d.Severity, code: d.Code, summary: d.Summary, detail: d.Detail, context: d.Context}
		if d.Subject != nil {
			t.subject = *d.Subject
		}
		if !seen[t] {
			seen[t] = true
			out = append(out, d)
		}
	}
	return out
}

// Err returns nil when l holds no error, else an error that carries all of l.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return &Err{List: l}
}

// Err is an error made of diagnostics. It survives wrapping: use FromError.
type Err struct{ List List }

// Error prints summary and detail of each error, one per line.
func (e *Err) Error() string {
	var lines []string
	for _, d := range e.List.Errors() {
		line := d.Summary
		if d.Detail != "" {
			line += ": " + d.Detail
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "no error"
	}
	return strings.Join(lines, "\n")
}

// FromError returns the diagnostics that err carries. An error that carries
// none becomes one internal diagnostic; nil becomes an empty list.
func FromError(err error) List {
	if err == nil {
		return nil
	}
	var e *Err
	if errors.As(err, &e) {
		return e.List
	}
	return List{{Severity: Error, Code: "internal", Kind: KindInternal, Summary: err.Error()}}
}

// KindOf returns the kind of the first error diagnostic in err, KindInternal
// when err carries no diagnostics, "" for nil.
func KindOf(err error) Kind {
	for _, d := range FromError(err) {
		if d.Severity == Error {
			return d.Kind
		}
	}
	return ""
}

// Is reports whether err carries an error diagnostic of the kind.
func Is(err error, kind Kind) bool {
	for _, d := range FromError(err) {
		if d.Severity == Error && d.Kind == kind {
			return true
		}
	}
	return false
}

// HasCode reports whether err has a diagnostic with a code; nil has none.
func HasCode(err error, code string) bool {
	return err != nil && slices.ContainsFunc(FromError(err), func(d Diagnostic) bool { return d.Code == code })
}
