// Package plan is what would happen: tables that would be created or changed,
// and work that would be done, each with its reason. A plan is plain values;
// it has a JSON form that is versioned and stable, and a saved form that apply
// compares with a plan made anew. It knows nothing of how plans are made,
// carried out or shown.
package plan

import (
	"slices"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// Plan is the difference between a configuration and what exists, and the
// work that waits.
type Plan struct {
	// Config is what the user named: a folder or a file.
	Config string
	// Name and Environment are those of the pipectl block.
	Name, Environment string
	// Places say for people where each sink lies, in the order of the configuration.
	Places []Place
	// Plugins are the plugins in use.
	Plugins []Plugin
	// Tables that exist or would exist in a sink, each once, in the order of their
	// addresses. One that a step which cannot run would make or change is left out.
	Tables []Table
	// Steps in the order of their addresses; After orders them.
	Steps []Step
	// Removed are addresses that were accepted once and are declared no more;
	// their data is kept.
	Removed []Removed
	// Diagnostics are warnings of the plan as a whole. What concerns one step
	// stands in the step.
	Diagnostics diag.List
}

// Place is where a sink lies.
type Place struct {
	Sink addr.Address
	// Display is for people: /data/lake.
	Display string
	// NoState says for people that nothing was accepted there yet; "" otherwise.
	NoState string
	// Lineage is that of the state in the lake, and of that in each copy of the
	// lake; "" as long as there is none, or when the state lies
	// elsewhere. Digest tells places apart without naming them, since they may be
	// sensitive.
	Lineage, Digest string
}

// Plugin is one plugin and what identifies its file.
type Plugin struct {
	Name, Source, Version string
	// Digest is the sha256 of a third-party plugin's file, "" for bundled ones.
	Digest string
}

// Table is one table of a sink.
type Table struct {
	// Owner is the address that writes the table; the sink's for the ledger's.
	Owner addr.Address
	// Sharers are the others that write to it: checks may share a report.
	Sharers []addr.Address
	Sink    addr.Address
	Ref     plugin.TableRef
	// Action is what apply does.
	Action  plugin.TableAction
	Changes []string
	// Captured and Extra count columns: those of the source and those that the
	// pipeline adds.
	Captured, Extra int
	Key             []string
	// ID and Version of the table compared with, "" and -1 when it does not exist.
	ID      string
	Version int64
	// Class names the change; "" for create and none.
	Class Class
	// TakeOver tells that the table is another owner's, or nobody's, until apply
	// has carried the change out. Before that no run writes one of another owner. One
	// that is nobody's is written by runs of what was accepted already, as when
	// somebody took the owner away.
	TakeOver bool
	// Spec is what ApplyTable is given; not part of any text form.
	Spec plugin.TableSpec
}

// WrittenBy reports whether the address writes the table, alone or with others.
func (t Table) WrittenBy(a addr.Address) bool { return t.Owner == a || slices.Contains(t.Sharers, a) }

// Kind is what a step does.
type Kind string

// Kinds of steps.
const (
	// FullSnapshot reads the whole table, then follows its changes.
	FullSnapshot Kind = "full snapshot"
	// Changes follows changes from the stored position.
	Changes Kind = "changes"
	// Start begins to follow changes without a snapshot.
	Start Kind = "start"
	// Apply brings silver to bronze's head.
	Apply Kind = "apply"
	// Rebuild replaces silver from a snapshot.
	Rebuild Kind = "rebuild"
	// Reconcile compares source and silver.
	Reconcile Kind = "reconcile"
)

// Large reports whether the step reads a whole table, which run never starts
// by itself.
func (k Kind) Large() bool { return k == FullSnapshot }

// Step is one piece of work.
type Step struct {
	Address addr.Address
	Kind    Kind
	// Reason says why it is this kind: "it has no position yet".
	Reason string
	// Detail says how much, for people; numbers that are estimates say so.
	Detail []string
	// After are the steps that it waits for.
	After []addr.Address
	// Blocked is a step before it that cannot run; this one then was not planned
	// and is skipped. Where that step is not part of the plan, its errors are among
	// the diagnostics of this one.
	Blocked addr.Address
	// Pending tells that data waits; a plan with pending data is no change.
	Pending bool
	// Decision tells that a person may have to decide before the work goes on; a
	// warning says what.
	Decision bool
	// Digest identifies what was declared; Accepted tells whether apply has
	// accepted it, and NotAccepted why not.
	Digest      string
	Accepted    bool
	NotAccepted string
	// ReadAgain is set for a snapshot that was taken before and whose rows are
	// gone: the number of the stream's newest batch, for which it is accepted.
	ReadAgain *int64
	// Changes are what is declared or found otherwise than what stands, each with
	// its class; those of the columns and keys of the step's table.
	Changes []Change
	// Diagnostics are the step's own; with an error it cannot run.
	Diagnostics diag.List
	// Source is the identity of the source table, for a stream.
	Source Identity
}

// Identity is what a stream's source was when the plan was made.
type Identity struct{ Database, Table, Schema string }

// Removed is an address that is declared no more.
type Removed struct {
	Address addr.Address
	Target  string
	Sink    addr.Address
}

// Changed reports whether apply has something to do that a run would not: what
// -detailed-exitcode answers 2 to. That is a table to create, change or read
// whole, a step that is not accepted yet or an accepted one that is declared no
// more, or a decision that may be pending. Data that waits to be read is no
// change.
func (p *Plan) Changed() bool {
	for _, t := range p.Tables {
		if t.Action != plugin.TableNone {
			return true
		}
	}
	for _, s := range p.Steps {
		if !s.Accepted || s.Kind.Large() {
			return true
		}
	}
	return len(p.Removed) > 0 || p.Undecided()
}

// Undecided reports whether a decision of a person may be pending.
func (p *Plan) Undecided() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Decision })
}

// Errors returns the errors of the plan and of all its steps. What spoils
// several steps, such as a source out of reach, is there once.
func (p *Plan) Errors() diag.List {
	list := p.Diagnostics.Errors()
	for _, s := range p.Steps {
		list = append(list, s.Diagnostics.Errors()...)
	}
	return list.Unique()
}

// Warnings returns the warnings of the plan and of all its steps, each once.
func (p *Plan) Warnings() diag.List {
	list := p.Diagnostics.Warnings()
	for _, s := range p.Steps {
		list = append(list, s.Diagnostics.Warnings()...)
	}
	return list.Unique()
}

// Step returns the step of an address, or nil.
func (p *Plan) Step(a addr.Address) *Step {
	for i := range p.Steps {
		if p.Steps[i].Address == a {
			return &p.Steps[i]
		}
	}
	return nil
}

// Count returns how many tables have the action.
func (p *Plan) Count(action plugin.TableAction) int {
	n := 0
	for _, t := range p.Tables {
		if t.Action == action {
			n++
		}
	}
	return n
}
