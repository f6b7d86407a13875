// Package exit is the exit codes of pipectl. They are part of its interface:
// schedulers decide by them.
package exit

import (
	"slices"

	"github.com/pipectl/pipectl/core/diag"
)

// Codes. When several steps fail in different ways the first of Decision,
// Schema, Stale, Different, Configuration, Surroundings, Failed and Unhealthy
// counts.
const (
	// Done: carried out, or nothing to do.
	Done = 0
	// Failed: something went wrong that has no code of its own.
	Failed = 1
	// Pending: a plan with -detailed-exitcode has something for apply: a table to
	// create, change or read whole, a step that is not accepted or is declared no
	// more, or a decision that may be pending.
	Pending = 2
	// Configuration: the configuration or the command line is invalid.
	Configuration = 3
	// Surroundings: a plugin is missing or cannot do what is asked, a source or
	// sink cannot be reached or refuses, a lock is held.
	Surroundings = 4
	// Different: a check failed, or a period is not final yet.
	Different = 5
	// Stale: a plan is out of date, tables are not what was planned on, or a
	// step was not accepted by apply.
	Stale = 6
	// Decision: data is lost or the source went back in time.
	Decision = 7
	// Schema: a schema change needs a decision.
	Schema = 8
	// Unhealthy: done, but something will not come by itself.
	Unhealthy = 9
	// Interrupted, Terminated: SIGINT or SIGTERM ended it before all was done.
	Interrupted = 130
	Terminated  = 143
)

var order = []int{Decision, Schema, Stale, Different, Configuration, Surroundings, Failed, Unhealthy}

// Of returns the code of one kind of error.
func Of(kind diag.Kind) int {
	switch kind {
	case "":
		return Done
	case diag.KindConfiguration:
		return Configuration
	case diag.KindUnavailable, diag.KindPermission, diag.KindNotReady, diag.KindTransient, diag.KindUnsupported:
		return Surroundings
	case diag.KindDifferent:
		return Different
	case diag.KindConflict, diag.KindStale:
		return Stale
	case diag.KindDataLoss, diag.KindRewound:
		return Decision
	case diag.KindSchemaChanged:
		return Schema
	}
	return Failed
}

// First returns the code that counts among several; Done when there is none.
func First(codes ...int) int {
	for _, c := range order {
		if slices.Contains(codes, c) {
			return c
		}
	}
	for _, c := range codes {
		if c != Done {
			return c
		}
	}
	return Done
}

// OfList returns the code of a list of diagnostics.
func OfList(list diag.List) int {
	var codes []int
	for _, d := range list.Errors() {
		codes = append(codes, Of(d.Kind))
	}
	return First(codes...)
}

// OfError returns the code of an error.
func OfError(err error) int { return OfList(diag.FromError(err)) }
